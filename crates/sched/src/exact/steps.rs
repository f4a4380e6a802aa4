//! What a search may spend (S45).

/// What a search may spend, and has spent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepBudget {
    /// Search nodes left.
    pub nodes: u64,
    /// Search nodes there were.
    pub granted: u64,
    /// Elementary operations: keeps the cost of a node in step with the size of the loop.
    pub work: u64,
    /// Search nodes spent, over all questions.
    pub spent: u64,
    /// Elementary operations a search node may take on average.
    work_per_node: u64,
}

/// Elementary operations a search node may take on average, unless told otherwise.
const WORK_PER_NODE: u64 = 3_000;

impl StepBudget {
    pub fn new(nodes: u64) -> Self {
        StepBudget::of(nodes, WORK_PER_NODE)
    }

    /// Search nodes that may take so much work each, on average.
    pub fn with_work(nodes: u64, work_per_node: u64) -> Self {
        StepBudget::of(nodes, work_per_node)
    }

    fn of(nodes: u64, work_per_node: u64) -> Self {
        let work = nodes.saturating_mul(work_per_node);
        StepBudget { nodes, granted: nodes, work, spent: 0, work_per_node }
    }

    /// From now on, a search node may take only so much work on average.
    pub fn limit_work(&mut self, per_node: u64) {
        self.work_per_node = self.work_per_node.min(per_node);
        self.work = self.work.min(self.nodes.saturating_mul(per_node));
    }

    /// The same budget for another question, with what was spent so far.
    pub fn renewed(self, nodes: u64) -> Self {
        StepBudget { spent: self.spent, ..StepBudget::of(nodes, self.work_per_node) }
    }

    /// Asks a question that may take so much of the work that is left, and no more.
    pub fn in_part<T>(&mut self, work: u64, ask: impl FnOnce(&mut StepBudget) -> T) -> T {
        let mut part = StepBudget { work: self.work.min(work), ..*self };
        let most = part.work;
        let answer = ask(&mut part);
        self.nodes = self.nodes.saturating_sub(part.spent - self.spent);
        self.work -= most - part.work;
        self.spent = part.spent;
        answer
    }

    pub fn take(&mut self, work: u64) -> bool {
        self.spent += 1;
        if self.nodes == 0 || self.work < work {
            self.nodes = 0;
            return false;
        }
        self.nodes -= 1;
        self.work -= work;
        true
    }
}
