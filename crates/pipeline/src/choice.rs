//! Which agents run a kernel, and how they multiply: every split of its loops among agents is priced by the cost model and
//! judged by the scheduler's objective `kernel` (S66, S69); the cheapest that has code is taken.
//!
//! A split that has no code for a kernel is priced all the same, so that `explain` can say what it would have given.

use std::collections::BTreeSet;
use std::fmt::Write;

use warploom_ir::{Module, OpId, Opcode};
use warploom_sched::{Algorithm, Objective, schedule, validate};
use warploom_target::Target;
use warploom_target::mma::MmaInstruction;

use crate::bound::with_agents;
use crate::compile::{Options, compile_to_program};
use crate::fallback::places_bound;
use crate::loops::{GraphOptions, PipelinedLoop, loop_graphs};
use crate::resumed::Resumed;
use crate::select::entry_function;
use crate::single;
use crate::walk::preorder;

/// A split of a kernel's loops among agents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Split {
    /// One agent copies, multiplies and computes; otherwise copies have an agent of their own, and so have products into
    /// tensor memory.
    pub one_agent: bool,
    /// How it multiplies; none where the kernel does not.
    pub instruction: Option<MmaInstruction>,
}

/// What a split costs: the sums over all loops of what S69 compares, most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Cost {
    /// Cycles between the starts of two trips.
    pub ii: i64,
    /// Cycles of hand-over between agents in each trip.
    pub handoffs: i64,
    /// Bytes of everything that lives from operation to operation.
    pub bytes: u64,
    /// Cycles of a trip alone.
    pub length: i64,
}

/// What became of a split.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The kernel is compiled so.
    Taken,
    /// It costs more.
    Dearer,
    /// There is no code for it, and why.
    Refused(String),
}

/// A split that was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// The split.
    pub split: Split,
    /// Its cost; none where the chip has no cost for it, or nothing is pipelined.
    pub cost: Option<Cost>,
    /// What became of it.
    pub verdict: Verdict,
}

impl Split {
    /// The split as text.
    pub fn name(&self) -> String {
        let by = match self.instruction {
            None => String::new(),
            Some(MmaInstruction::MmaSync) => " by mma.sync".to_owned(),
            Some(MmaInstruction::Wgmma) => " by wgmma".to_owned(),
            Some(MmaInstruction::Tcgen05) => " by tcgen05.mma".to_owned(),
        };
        match (self.one_agent, self.instruction) {
            (true, _) => format!("one agent{by}"),
            (false, Some(MmaInstruction::Tcgen05)) => format!("load, mma, math{by}"),
            (false, _) => format!("load, math{by}"),
        }
    }
}

/// A compiled kernel with the splits that it might have had; where another one has code and costs less, that one. `refused`
/// is why agents of their own have no code for it, where that was tried already.
pub(crate) fn weigh(
    module: &Module,
    target: &Target,
    options: &Options,
    made: Resumed,
    refused: Option<String>,
) -> Resumed {
    let single = match &made {
        Resumed::Compiled(_) => None,
        Resumed::Single(single) => Some(single),
        Resumed::Program(_) => return made,
    };
    let (one_agent, native) = (single.is_some(), native(module, target, options));
    let alone = single.map_or(MmaInstruction::MmaSync, |single| single.shape.instruction());
    let lacks = single.and_then(|single| single.synchronous.clone());
    let split = |one_agent: bool| Split {
        one_agent,
        instruction: if one_agent { native.map(|_| alone) } else { native },
    };
    let price = |split: Split| price(module, target, options, split);
    let cost = cost_of(&made, options);
    let taken = Candidate { split: split(one_agent), cost, verdict: Verdict::Taken };
    let mut field = Field { best: made, candidates: vec![taken], options };
    let (other, expected) = (split(!one_agent), price(split(!one_agent)));
    let compiled = || compiled_as(module, target, options, other);
    match refused {
        Some(why) => field.add(other, expected, Verdict::Refused(why)),
        // What agents of their own have no code for is refused at once; one agent is compiled where it may win.
        None if other.one_agent && !field.loses_to(expected) => field.add(other, expected, Verdict::Dearer),
        None => field.enter(other, expected, compiled()),
    }
    if alone != MmaInstruction::MmaSync {
        let slow = Split { one_agent: true, instruction: Some(MmaInstruction::MmaSync) };
        let expected = price(slow);
        match field.loses_to(expected) {
            false => field.add(slow, expected, Verdict::Dearer),
            true => field.enter(slow, expected, compiled_as(module, target, options, slow)),
        }
    } else if let Some(fast) = native.filter(|&i| i != MmaInstruction::MmaSync) {
        let fast = Split { one_agent: true, instruction: Some(fast) };
        let why = lacks.unwrap_or_else(|| "one agent multiplies by mma.sync".to_owned());
        field.add(fast, price(fast), Verdict::Refused(why));
    }
    let Field { mut best, candidates, .. } = field;
    match &mut best {
        Resumed::Compiled(compiled) => compiled.candidates = candidates,
        Resumed::Single(single) => single.candidates = candidates,
        Resumed::Program(_) => {}
    }
    best
}

/// The cheapest way so far, and all that were looked at, the one that is taken first.
struct Field<'a> {
    best: Resumed,
    candidates: Vec<Candidate>,
    options: &'a Options,
}

impl Field<'_> {
    /// Whether something of this cost would be taken.
    fn loses_to(&self, cost: Option<Cost>) -> bool {
        cost.is_some() && cost < self.candidates.first().and_then(|taken| taken.cost)
    }

    fn add(&mut self, split: Split, cost: Option<Cost>, verdict: Verdict) {
        self.candidates.push(Candidate { split, cost, verdict });
    }

    /// A rival, compiled or refused: it is taken where what it really costs is less.
    fn enter(&mut self, split: Split, expected: Option<Cost>, rival: Result<Resumed, String>) {
        let rival = match rival {
            Ok(rival) => rival,
            Err(why) => return self.add(split, expected, Verdict::Refused(why)),
        };
        let cost = cost_of(&rival, self.options);
        if !self.loses_to(cost) {
            return self.add(split, cost, Verdict::Dearer);
        }
        self.best = rival;
        for before in self.candidates.iter_mut().filter(|c| c.verdict == Verdict::Taken) {
            before.verdict = Verdict::Dearer;
        }
        self.candidates.insert(0, Candidate { split, cost, verdict: Verdict::Taken });
    }
}

/// A kernel compiled by a split, or why it has no code.
fn compiled_as(module: &Module, target: &Target, options: &Options, split: Split) -> Result<Resumed, String> {
    let made = match split.one_agent {
        true if places_bound(module, options) => {
            return Err("the author gave its buffers their places".to_owned());
        }
        true => single::compile_synchronous(module, target, options).map(|s| Resumed::Single(Box::new(s))),
        false => compile_to_program(module, target, options).map(|c| Resumed::Compiled(Box::new(c))),
    };
    made.map_err(|refused| refused.first().map(|d| d.message.clone()).unwrap_or_default())
}

/// The instruction of the chip, where the kernel multiplies.
fn native(module: &Module, target: &Target, options: &Options) -> Option<MmaInstruction> {
    let func = entry_function(module, options.entry.as_deref()).ok()?;
    let multiplies = |op: &OpId| module.ops[*op].opcode == Opcode::Dot;
    preorder(module, func).iter().any(multiplies).then(|| target.mma_instruction())
}

/// Search nodes per question where a split is priced: what it would cost need not be proven.
const STEPS: u64 = 300;

/// What the loops of a kernel would cost by a split, whether or not there is code for it.
fn price(module: &Module, target: &Target, options: &Options, split: Split) -> Option<Cost> {
    let synchronous = split.instruction == Some(MmaInstruction::MmaSync);
    let graph = GraphOptions {
        pending: u64::from(!synchronous),
        instruction: split.instruction,
        one_agent: split.one_agent,
        max_depth: options.depth,
        ..GraphOptions::default()
    };
    let loops = loop_graphs(module, options.entry.as_deref(), target, graph).ok()?;
    cost(&loops.iter().collect::<Vec<_>>(), options)
}

fn cost_of(resumed: &Resumed, options: &Options) -> Option<Cost> {
    let loops: Vec<&PipelinedLoop> = match resumed {
        Resumed::Compiled(compiled) => compiled.loops.iter().map(|l| &l.pipelined).collect(),
        Resumed::Single(single) => single.loops.iter().map(|l| &l.pipelined).collect(),
        Resumed::Program(_) => return None,
    };
    cost(&loops, options)
}

/// The keys of S69, summed over loops. Beside the chip's units each agent's issue stream is one that its operations hold
/// (S65): what would wait for each other in one agent may run at once in two.
fn cost(loops: &[&PipelinedLoop], options: &Options) -> Option<Cost> {
    let how = options.schedule.clone().objective(Objective::Kernel).algorithm(Algorithm::Auto).steps(STEPS);
    let mut sum: Option<Cost> = None;
    for pipelined in loops {
        let graph = with_agents(pipelined);
        let answer = schedule(&validate(&graph).ok()?, &how).ok()?;
        let before = sum.unwrap_or(Cost { ii: 0, handoffs: 0, bytes: 0, length: 0 });
        sum = Some(Cost {
            ii: before.ii.saturating_add(answer.ii),
            handoffs: before.handoffs.saturating_add(handoffs(pipelined)),
            bytes: before.bytes.saturating_add(answer.bytes.unwrap_or(0)),
            length: before.length.saturating_add(answer.length),
        });
    }
    sum
}

/// Cycles of hand-over in each trip: each pair of operations of different agents once.
fn handoffs(pipelined: &PipelinedLoop) -> i64 {
    let role = |node: usize| pipelined.nodes.get(node).map(|n| n.role);
    let crossing = pipelined.graph.edges.iter().filter(|e| role(e.src) != role(e.dst));
    let pairs: BTreeSet<(usize, usize)> = crossing.map(|e| (e.src, e.dst)).collect();
    let each = i64::try_from(pipelined.handoff).unwrap_or(i64::MAX);
    i64::try_from(pairs.len()).unwrap_or(i64::MAX).saturating_mul(each)
}

/// What was chosen from, as text; nothing where there was no choice.
pub(crate) fn explain(candidates: &[Candidate]) -> String {
    let mut out = String::new();
    if candidates.len() < 2 {
        return out;
    }
    out += "\nchosen by what the loops take together with their agents' issue streams: II, hand-over, bytes, length (S65, S69)\n";
    for candidate in candidates {
        let verdict = match &candidate.verdict {
            Verdict::Taken => "taken",
            Verdict::Dearer => "dearer",
            Verdict::Refused(_) => "no code",
        };
        let _ = write!(out, "  {verdict:<7}  {:<30}", candidate.split.name());
        let _ = match candidate.cost {
            Some(c) => {
                write!(out, "  II {}, {} of hand-over, {} B, length {}", c.ii, c.handoffs, c.bytes, c.length)
            }
            None => write!(out, "  no loop that is priced"),
        };
        let _ = match &candidate.verdict {
            Verdict::Refused(why) => writeln!(out, ": {why}"),
            _ => writeln!(out),
        };
    }
    out
}
