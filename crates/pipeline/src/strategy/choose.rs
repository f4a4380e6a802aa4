//! Which strategy a kernel is compiled by (Q4): each is asked whether it is legal, every split of the loops among
//! partitions is priced by the cost model and judged by the scheduler's objective `kernel` (S66, S69), and the cheapest
//! that has a plan is taken.
//!
//! A split that has no code for a kernel is priced all the same, so that `explain` can say what it would have given.

use std::cell::OnceCell;

use warploom_chips::mma::MmaInstruction;
use warploom_ir::diag::{Code, Diagnostic, Diagnostics, Severity};
use warploom_ir::{Module, OpId, Opcode, ValueId};

use super::candidates::{SplitCandidate, SplitVerdict};
use super::expanded::Whole;
use super::plan::{Plan, Work};
use super::price::{SplitPrice, cost_of, price};
use super::source::Source;
use super::specialized;
use super::split::PartitionSplit;
use super::tiles;
use super::types::{Partitions, Strategy};
use crate::normalize::block_scaled;
use crate::options::CompileOptions;
use crate::place::refuse;
use crate::transports::made;
use crate::views::look_through;
use crate::walk::preorder;

/// The plan of a kernel by the best strategy, and the splits that were looked at, the one taken first. What is in `out`
/// gave programs that our own checkers refuse.
///
/// # Errors
/// Every reason why no strategy holds the kernel, in file order (C90).
pub(crate) fn choose(
    source: &Source<'_>,
    out: &[Strategy],
) -> Result<(Plan, Vec<SplitCandidate>), Diagnostics> {
    let chosen = choose_split(source, out)?;
    Ok(if source.given.is_some() { chosen } else { tiles::weigh(source, out, chosen) })
}

/// The best strategy where one computing partition takes all tiles.
fn choose_split(source: &Source<'_>, out: &[Strategy]) -> Result<(Plan, Vec<SplitCandidate>), Diagnostics> {
    if let Some((strategy, _)) = source.given {
        if source.options.partitions.is_some_and(|asked| asked != strategy.partitions) {
            let text = "the form was made for other partitions than the option asks for";
            let error = refuse(source.written, source.func, Code::Verify, text).rule("Q4");
            return Err(error.note("instead", "start from the kernel, or leave the option away").into());
        }
        let plan = match strategy.partitions {
            Partitions::Several => specialized::plan(source, strategy.turns)?,
            Partitions::One => Whole::new(source)?.plan(source, strategy)?,
        };
        return Ok((plan, Vec::new()));
    }
    let several = || match out.contains(&Strategy::SEVERAL) {
        true => {
            Err(vec![Diagnostic::error(Code::Op, "partitions of their own gave a broken program").rule("Q5")])
        }
        false => specialized::plan(source, false),
    };
    let (whole, blocks) = (OnceCell::new(), OnceCell::new());
    let one = |slow: bool| {
        let mut lacks = None;
        if !slow {
            let blocks = blocks.get_or_init(|| Whole::scaled_by_blocks(source));
            match blocks.as_ref().map(|blocks| blocks.as_ref().map(|whole| whole.best(source, slow, out))) {
                Ok(Some(Ok(plan))) => return Ok(plan),
                Ok(Some(Err(errors))) => lacks = errors.into_iter().next(),
                Err(errors) => lacks = errors.first().cloned(),
                Ok(None) => {}
            }
        }
        let whole = whole.get_or_init(|| Whole::new(source)).as_ref().map_err(Clone::clone)?;
        let mut plan = whole.best(source, slow, out)?;
        plan.remarks.extend(lacks.map(|why| {
            let message = format!("products are scaled before, not by the tensor core: {}", why.message);
            Diagnostic { severity: Severity::Remark, message, ..why }
        }));
        Ok(plan)
    };
    match source.options.partitions {
        Some(Partitions::One) => return Ok((one(false)?, Vec::new())),
        Some(Partitions::Several) => return Ok((several()?, Vec::new())),
        None => {}
    }
    if one_is_natural(source) {
        return Ok(weigh(source, one(false)?, None, several, one));
    }
    let refused = match several() {
        Ok(plan) => return Ok(weigh(source, plan, None, several, one)),
        Err(refused) => refused,
    };
    if !refused.iter().all(lacks_code) || source.places_bound() {
        return Err(refused.into());
    }
    // What one partition would say of such a kernel is about a form nobody asked for.
    let Ok(mut plan) = one(false) else { return Err(refused.into()) };
    plan.remarks.splice(0..0, refused.first().map(told));
    let why = refused.into_iter().next().map(|d| d.message);
    Ok(weigh(source, plan, why, several, one))
}

/// Whether one partition is asked first: the chip multiplies synchronously, or the kernel does not multiply at all, or
/// what it multiplies comes through pointers, or through descriptors that partitions cannot share.
fn one_is_natural(source: &Source<'_>) -> bool {
    let (module, func) = (source.written, source.func);
    let multiplies = |op: &OpId| multiplies(source, *op);
    let dots: Vec<OpId> = preorder(module, func).into_iter().filter(multiplies).collect();
    source.target.mma_instruction() == MmaInstruction::MmaSync
        || dots.is_empty()
        || dots.iter().any(|&dot| through_pointers(module, dot))
        || made::shared(&source.kernel, func).is_err()
}

/// Whether an operation of the kernel as written multiplies tiles: a scaled product where the tensor core scales it.
fn multiplies(source: &Source<'_>, op: OpId) -> bool {
    match source.written.ops[op].opcode {
        Opcode::DotScaled => block_scaled::refused(source.written, op, source.target).is_none(),
        opcode => opcode == Opcode::Dot,
    }
}

/// Whether an operand of a product is loaded through pointers, or scales of it are.
fn through_pointers(module: &Module, dot: OpId) -> bool {
    let mut operands = module.ops[dot].operands.iter().copied().enumerate().filter(|&(n, _)| n != 2);
    operands.any(|(index, operand)| {
        let mut base = look_through(module, operand).base;
        if index > 2 {
            base = behind_views(module, base);
        }
        let base = module.def_op(base);
        base.is_some_and(|op| module.ops[op].opcode == Opcode::Load)
    })
}

/// What reshapes and transposes make a value of.
fn behind_views(module: &Module, value: ValueId) -> ValueId {
    let view = |op: &OpId| matches!(module.ops[*op].opcode, Opcode::Reshape | Opcode::Trans);
    let before = |&v: &ValueId| module.ops[module.def_op(v).filter(view)?].operands.first().copied();
    std::iter::successors(Some(value), before).last().unwrap_or(value)
}

/// A plan with the splits that the kernel might have had; where another one has code and costs less, that one.
/// `refused` is why partitions of their own have no code for it, where that was asked already.
fn weigh(
    source: &Source<'_>,
    made: Plan,
    refused: Option<String>,
    several: impl Fn() -> Result<Plan, Vec<Diagnostic>>,
    one: impl Fn(bool) -> Result<Plan, Vec<Diagnostic>>,
) -> (Plan, Vec<SplitCandidate>) {
    let native = native(source);
    let (is_one, alone) = match &made.work {
        Work::Specialized(_) => (false, MmaInstruction::MmaSync),
        Work::Expanded { shape, .. } => (true, shape.instruction()),
    };
    let lacks = made.synchronous.clone();
    let split = |one_partition: bool| PartitionSplit {
        one_partition,
        turns: false,
        instruction: if one_partition { native.map(|_| alone) } else { native },
    };
    let slow = || match source.places_bound() {
        true => Err("the author gave its buffers their places".to_owned()),
        false => one(true).map_err(first),
    };
    let taken = SplitCandidate {
        split: split(is_one),
        price: cost_of(&made, source.options),
        tile: None,
        verdict: SplitVerdict::Taken,
    };
    let mut field = Field { best: made, candidates: vec![taken], options: source.options };
    let other = split(!is_one);
    let expected = price(source, other);
    match refused {
        Some(why) => field.add(other, expected, SplitVerdict::Refused(why)),
        // What partitions of their own have no code for is refused at once; one partition is planned where it may win.
        None if other.one_partition && !field.loses_to(other, &expected) => {
            field.add(other, expected, SplitVerdict::Dearer)
        }
        None if other.one_partition => field.enter(other, expected, slow()),
        None => field.enter(other, expected, several().map_err(first)),
    }
    if alone != MmaInstruction::MmaSync {
        let by_lanes =
            PartitionSplit { one_partition: true, turns: false, instruction: Some(MmaInstruction::MmaSync) };
        let expected = price(source, by_lanes);
        match field.loses_to(by_lanes, &expected) {
            false => field.add(by_lanes, expected, SplitVerdict::Dearer),
            true => field.enter(by_lanes, expected, slow()),
        }
    } else if let Some(fast) = native.filter(|&i| i != MmaInstruction::MmaSync) {
        let fast = PartitionSplit { one_partition: true, turns: false, instruction: Some(fast) };
        let why = lacks.unwrap_or_else(|| match is_one {
            true => "one partition multiplies by mma.sync".to_owned(),
            false => "not planned: partitions of their own have code".to_owned(),
        });
        field.add(fast, price(source, fast), SplitVerdict::Refused(why));
    }
    (field.best, field.candidates)
}

fn first(refused: Vec<Diagnostic>) -> String {
    refused.into_iter().next().map(|d| d.message).unwrap_or_default()
}

/// Products that are waited for where they are issued must be cheaper by three fifths of their cost: what asynchronous ones
/// leave to others is in no price of one loop (Q21), and nobody has measured what the others take on chips that have them.
const MARGIN: (i64, i64) = (3, 5);

/// The cheapest plan so far, and all splits that were looked at, the one that is taken first.
struct Field<'a> {
    best: Plan,
    candidates: Vec<SplitCandidate>,
    options: &'a CompileOptions,
}

impl Field<'_> {
    /// Whether a split of this price would be taken.
    fn loses_to(&self, split: PartitionSplit, price: &SplitPrice) -> bool {
        let Some(taken) = self.candidates.first() else { return false };
        let Some(best) = taken.price.cost() else { return false };
        let waits = |split: PartitionSplit| split.instruction == Some(MmaInstruction::MmaSync);
        let part = |ii: i64| ii.saturating_mul(MARGIN.0) / MARGIN.1;
        let margin = |ii: i64| if waits(split) && !waits(taken.split) { part(ii) } else { 0 };
        if price.least_ii().is_none_or(|ii| ii.saturating_add(margin(ii)) > best.ii) {
            return false;
        }
        let Some(mut cost) = price.cost() else { return false };
        cost.ii = cost.ii.saturating_add(margin(cost.ii));
        cost < best
    }

    fn add(&mut self, split: PartitionSplit, price: SplitPrice, verdict: SplitVerdict) {
        self.candidates.push(SplitCandidate { split, price, tile: None, verdict });
    }

    /// A rival, planned or refused: it is taken where what it really costs is less.
    fn enter(&mut self, split: PartitionSplit, expected: SplitPrice, rival: Result<Plan, String>) {
        let rival = match rival {
            Ok(rival) => rival,
            Err(why) => return self.add(split, expected, SplitVerdict::Refused(why)),
        };
        let price = cost_of(&rival, self.options);
        if !self.loses_to(split, &price) {
            return self.add(split, price, SplitVerdict::Dearer);
        }
        self.best = rival;
        for before in self.candidates.iter_mut().filter(|c| c.verdict == SplitVerdict::Taken) {
            before.verdict = SplitVerdict::Dearer;
        }
        self.candidates.insert(0, SplitCandidate { split, price, tile: None, verdict: SplitVerdict::Taken });
    }
}

/// The instruction of the chip, where the kernel multiplies.
fn native(source: &Source<'_>) -> Option<MmaInstruction> {
    let any = preorder(source.written, source.func).into_iter().any(|op| multiplies(source, op));
    any.then(|| source.target.mma_instruction())
}

/// Whether a refusal says that a strategy has no code for something. What is broken, contradicts the author, asks for a
/// precision or for more than there is stays refused: its own message says what to mend.
fn lacks_code(refusal: &Diagnostic) -> bool {
    matches!(refusal.code, Code::Op | Code::Loop | Code::Shape | Code::Layout | Code::Type)
}

/// The first refusal as a remark.
fn told(refusal: &Diagnostic) -> Diagnostic {
    let message =
        format!("one partition runs this kernel; partitions of their own were refused: {}", refusal.message);
    Diagnostic { severity: Severity::Remark, message, ..refusal.clone() }
}
