//! What was learnt, with two watched literals each (Moskewicz and others 2001).

/// A block is below another: twice the number of the pair, and one if it is the second that is below.
pub(super) type Literal = u32;

/// Clauses; of each the first two literals are watched.
pub(super) struct Clauses {
    start: Vec<(u32, u32)>,
    all: Vec<Literal>,
    /// How many levels a clause spans: few is good (Audemard and Simon 2009).
    levels: Vec<u32>,
    watchers: Vec<Vec<u32>>,
}

impl Clauses {
    /// For so many pairs.
    pub fn new(pairs: usize) -> Clauses {
        let watchers = vec![Vec::new(); 2 * pairs];
        Clauses { start: Vec::new(), all: Vec::new(), levels: Vec::new(), watchers }
    }

    pub fn len(&self) -> usize {
        self.start.len()
    }

    pub fn literals(&self, c: u32) -> &[Literal] {
        let (from, to) = self.start[c as usize];
        &self.all[from as usize..to as usize]
    }

    /// Keeps a clause of at least two literals.
    pub fn add(&mut self, literals: &[Literal], levels: u32) -> u32 {
        let c = self.start.len() as u32;
        self.start.push((self.all.len() as u32, (self.all.len() + literals.len()) as u32));
        self.all.extend_from_slice(literals);
        self.levels.push(levels);
        literals[..2].iter().for_each(|&l| self.watchers[l as usize].push(c));
        c
    }

    pub fn take_watchers(&mut self, l: Literal) -> Vec<u32> {
        std::mem::take(&mut self.watchers[l as usize])
    }

    pub fn give_watchers(&mut self, l: Literal, mut list: Vec<u32>) {
        let now = &mut self.watchers[l as usize];
        list.append(now);
        *now = list;
    }

    /// The other watched literal; this one becomes the second.
    pub fn other(&mut self, c: u32, l: Literal) -> Literal {
        let from = self.start[c as usize].0 as usize;
        if self.all[from] == l {
            self.all.swap(from, from + 1);
        }
        self.all[from]
    }

    /// Watches the literal at a place instead of the second.
    pub fn rewatch(&mut self, c: u32, at: usize) {
        let from = self.start[c as usize].0 as usize;
        self.all.swap(from + 1, from + at);
        self.watchers[self.all[from + 1] as usize].push(c);
    }

    /// Forgets the half that spans most levels; the newer stay among equals. Nothing may rest on a clause now.
    pub fn forget(&mut self) {
        let mut by: Vec<u32> = (0..self.start.len() as u32).collect();
        by.sort_by_key(|&c| (self.levels[c as usize], std::cmp::Reverse(c)));
        by.truncate(by.len() / 2);
        by.sort_unstable();
        let mut kept = Clauses::new(self.watchers.len() / 2);
        for c in by {
            kept.add(self.literals(c), self.levels[c as usize]);
        }
        *self = kept;
    }
}
