//! What must hold of the reader, the printer and the control flow.

use std::collections::BTreeSet;
use warploom_ptx::{Code, Flow, Operand, parse};

/// Any text is read or refused with a place in it; what is read prints back, and resolves its labels or says which
/// stand twice.
///
/// # Errors
/// What does not hold.
pub fn any_text_is_judged(text: &str) -> Result<(), String> {
    let lines = text.split('\n').count() as u32;
    let judged = |e: warploom_ptx::SyntaxError| match e.line {
        line if (1..=lines).contains(&line) && !e.message.is_empty() => Ok(()),
        line => Err(format!("an error at line {line} of {lines}: {e}")),
    };
    match parse(text) {
        Err(e) => judged(e),
        Ok(module) => {
            prints_back(text)?;
            module.functions().try_for_each(|f| match Code::of(f) {
                Err(e) => judged(e),
                Ok(code) => {
                    let flow = Flow::of(&code);
                    let covered: usize = flow.blocks().iter().map(|b| b.instructions.len()).sum();
                    let all = code.steps().len();
                    (covered == all)
                        .then_some(())
                        .ok_or(format!("blocks cover {covered} of {all} instructions"))
                }
            })
        }
    }
}

/// What is read prints, reads back as the same tree, and prints the same again.
///
/// # Errors
/// The text is no PTX, or what does not hold.
pub fn prints_back(text: &str) -> Result<(), String> {
    let first = parse(text).map_err(|e| e.to_string())?;
    let printed = first.to_string();
    let second = parse(&printed).map_err(|e| format!("what was printed does not read: {e}\n{printed}"))?;
    if first != second {
        return Err(format!("another tree reads back from\n{printed}"));
    }
    let again = second.to_string();
    if printed == again { Ok(()) } else { Err(format!("printed twice:\n{printed}\n{again}")) }
}

/// Dominators, post-dominators and loops of every function are those of the definition: a block is dominated by
/// what cannot be left out on any way to it. Takes time that grows with the square of the blocks.
///
/// # Errors
/// The text is no PTX, or what does not hold.
pub fn flow_is_right(text: &str) -> Result<(), String> {
    let module = parse(text).map_err(|e| e.to_string())?;
    for function in module.functions() {
        let code = Code::of(function).map_err(|e| e.to_string())?;
        let flow = Flow::of(&code);
        let graph = Graph::of(&code);
        let n = flow.blocks().len();
        let first = |b: usize| flow.blocks()[b].instructions.start;
        let found = flow.dominators();
        for (b, found) in found.iter().enumerate() {
            let want = graph.nearest((0..n).map(first), 0, first(b), &graph.forward);
            let found = found.map(first);
            if found != want {
                return Err(format!("dominator of instruction {}: {found:?}, not {want:?}", first(b)));
            }
        }
        let last = |b: usize| flow.blocks()[b].instructions.end - 1;
        for (b, found) in flow.post_dominators().iter().enumerate() {
            let want = graph.nearest((0..n).map(last), graph.end, last(b), &graph.backward);
            let found = found.map(last);
            if found != want {
                return Err(format!("post-dominator of instruction {}: {found:?}, not {want:?}", last(b)));
            }
        }
        let found: Vec<Vec<usize>> = flow.loops().iter().map(|l| l.instructions(&flow).collect()).collect();
        let want = graph.loops();
        if found != want {
            return Err(format!("loops {found:?}, not {want:?}"));
        }
    }
    Ok(())
}

/// Control flow between single instructions, by its own reading of the jumps; `end` is behind the last one.
struct Graph {
    forward: Vec<Vec<usize>>,
    backward: Vec<Vec<usize>>,
    end: usize,
}

impl Graph {
    fn of(code: &Code<'_, '_>) -> Graph {
        let end = code.steps().len();
        let mut forward = vec![Vec::new(); end + 1];
        for (i, step) in code.steps().iter().enumerate() {
            let at = |name: &str| code.label(name, step.scope).map(|i| i as usize);
            let guarded = step.instruction.guard.is_some();
            let opcode = step.instruction.opcode;
            let labels: Vec<usize> = match step.instruction.operands.last() {
                Some(Operand::Name(name)) if opcode.starts_with("bra") => at(name).into_iter().collect(),
                Some(Operand::Name(name)) if opcode.starts_with("brx") => {
                    let list = code.targets(name, step.scope).map_or(&[][..], |(list, _)| list);
                    list.iter().filter_map(|name| at(name)).collect()
                }
                _ => Vec::new(),
            };
            let leaves = ["ret", "exit", "trap"].contains(&opcode);
            forward[i].extend(labels);
            if leaves {
                forward[i].push(end);
            }
            if guarded || !(leaves || opcode.starts_with("br")) {
                forward[i].push(i + 1);
            }
        }
        let mut backward = vec![Vec::new(); end + 1];
        for (i, list) in forward.iter().enumerate() {
            list.iter().for_each(|&to| backward[to].push(i));
        }
        Graph { forward, backward, end }
    }

    /// What is reached from a place without going through another.
    fn reach(from: usize, without: Option<usize>, next: &[Vec<usize>]) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut work = vec![from];
        while let Some(at) = work.pop() {
            if Some(at) != without && seen.insert(at) {
                work.extend(&next[at]);
            }
        }
        seen
    }

    /// Of some places, the one nearest to `at` that every way from `root` to it leads through.
    fn nearest(
        &self,
        places: impl Iterator<Item = usize>,
        root: usize,
        at: usize,
        next: &[Vec<usize>],
    ) -> Option<usize> {
        if !Graph::reach(root, None, next).contains(&at) {
            return None;
        }
        let stops = |p: &usize| *p != at && !Graph::reach(root, Some(*p), next).contains(&at);
        let all: Vec<usize> = places.filter(stops).collect();
        // The nearest is the one that no other stands behind.
        let behind = |p: usize, q: usize| p != q && !Graph::reach(root, Some(p), next).contains(&q);
        all.iter().copied().find(|&p| !all.iter().any(|&q| behind(p, q)))
    }

    fn loops(&self) -> Vec<Vec<usize>> {
        let live = Graph::reach(0, None, &self.forward);
        let mut out = Vec::new();
        for head in (0..self.end).filter(|head| live.contains(head)) {
            let without = Graph::reach(0, Some(head), &self.forward);
            let tails = self.backward[head].iter().filter(|t| live.contains(t) && !without.contains(t));
            let mut body = BTreeSet::from([head]);
            for &tail in tails.clone() {
                body.extend(Graph::reach(tail, Some(head), &self.backward).intersection(&live));
            }
            if tails.count() > 0 {
                out.push(body.into_iter().collect());
            }
        }
        out
    }
}
