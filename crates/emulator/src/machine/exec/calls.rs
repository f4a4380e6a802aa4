//! Calls of device functions (E98). Arguments and results are copied between the frames of caller and function.

use super::builtin;
use super::flow::Flow;
use super::leave::exit;
use crate::code::{FUNCTION_BASE, Function};
use crate::isa::op::{Call, Callee, Op};
use crate::machine::actor::actor;
use crate::machine::core::Core;
use crate::machine::stack::MOST;
use crate::machine::warp::Warp;

/// `call`: lanes go into the function, or a built-in one is done at once.
pub(crate) fn call(core: &mut Core<'_>, w: &mut Warp, c: &Call, pc: u32, mask: u32) -> Flow {
    let through = match c.callee {
        Callee::Function(number) => {
            let group = w.standing(pc);
            w.jump(group & !mask, pc + 1);
            enter(core, w, number, c, pc, mask);
            return Flow::Set;
        }
        Callee::Through(address) => w.value(core, address),
        _ => return builtin::run(core, w, c, pc, mask),
    };
    let group = w.standing(pc);
    w.spread();
    w.jump(group & !mask, pc + 1);
    let mut rest = mask;
    while rest != 0 {
        let address = through[rest.trailing_zeros() as usize & 31];
        let same =
            (0..32).filter(|l| rest >> l & 1 == 1 && through[*l] == address).fold(0, |m, l| m | 1 << l);
        rest &= !same;
        let number = (address.wrapping_sub(FUNCTION_BASE) / 16).checked_sub(1);
        let at = core.code.functions.iter().position(|f| Some(u64::from(f.number)) == number);
        match at {
            Some(at) => enter(core, w, at as u32, c, pc, same),
            None => {
                let a = actor(w, pc, same);
                core.error(
                    "A01",
                    &a,
                    format!("a call to {address:#x}, where no function is"),
                    "mend the pointer",
                );
                exit(core, w, same);
            }
        }
    }
    Flow::Set
}

/// Some lanes enter a function.
fn enter(core: &mut Core<'_>, w: &mut Warp, number: u32, c: &Call, pc: u32, lanes: u32) {
    let Some(f) = core.code.functions.get(number as usize) else { return };
    let mut over = 0;
    for lane in (0..32_u32).filter(|l| lanes >> l & 1 == 1) {
        let saved = if f.recursive { registers(w, f, lane) } else { Default::default() };
        let from = w.stack.base(lane);
        let arguments: Vec<Vec<u8>> = f
            .parameters
            .iter()
            .zip(&c.arguments)
            .map(|((_, bytes), at)| {
                let mut value = vec![0; *bytes as usize];
                w.stack.read(lane, from + u64::from(*at), &mut value);
                value
            })
            .collect();
        let Some(back) = w.stack.enter(lane, f.frame, pc, number) else {
            over |= 1 << lane;
            continue;
        };
        (back.saved, back.predicates) = saved;
        let base = w.stack.base(lane);
        for ((at, _), value) in f.parameters.iter().zip(arguments) {
            w.stack.write(lane, base + u64::from(*at), &value);
        }
    }
    w.jump(lanes & !over, f.first);
    if over != 0 {
        let a = actor(w, pc, over);
        let message = format!("the call of {} takes a thread's stack beyond {} KiB", f.name, MOST >> 10);
        core.error("A01", &a, message, "end the recursion, or pass less by value");
        exit(core, w, over);
    }
}

/// `alloca` and its kin, lane after lane.
pub(crate) fn stack(core: &mut Core<'_>, w: &mut Warp, op: &Op, pc: u32, mask: u32) -> Flow {
    let (mut over, mut out) = (0, [0; 32]);
    let given = match op {
        Op::Alloca { bytes, .. } => w.value(core, *bytes),
        Op::StackRestore { a } => w.value(core, *a),
        _ => [0; 32],
    };
    for lane in (0..32_u32).filter(|l| mask >> l & 1 == 1) {
        let value = given[lane as usize];
        let at = match op {
            Op::Alloca { align, .. } => w.stack.extend(lane, value, u64::from(*align)),
            Op::StackRestore { .. } => w.stack.cut(lane, value).then_some(0),
            _ => Some(w.stack.top(lane)),
        };
        over |= u32::from(at.is_none()) << lane;
        out[lane as usize] = at.unwrap_or(0);
    }
    if let Op::Alloca { d, .. } | Op::StackSave { d } = op {
        w.put(*d, &out, (0, false), mask);
    }
    if over != 0 {
        let a = actor(w, pc, over);
        let message = format!("the stack of a thread would leave its {} KiB", MOST >> 10);
        core.error("A01", &a, message, "take less, and give back what stacksave gave");
    }
    Flow::Next
}

/// Registers of a function in one lane, with their poison, and its predicates.
fn registers(w: &Warp, f: &Function, lane: u32) -> (Vec<(u64, u64)>, Vec<bool>) {
    let l = lane as usize;
    let value = |r: u32| w.regs.get(r as usize).map_or(0, |v| v[l]);
    let registers = f
        .registers
        .clone()
        .map(|r| (value(r), w.poison_at(r) >> lane & 1 << 32 | w.poison_at(r) >> lane & 1));
    let truth = |p: u32| w.preds.get(p as usize).is_some_and(|v| v >> lane & 1 == 1);
    (registers.collect(), f.predicates.clone().map(truth).collect())
}

/// `ret` of a function: results go to the caller, and each lane back to where it came from.
pub(crate) fn back(core: &mut Core<'_>, w: &mut Warp, pc: u32, mask: u32) -> Flow {
    let group = w.standing(pc);
    let code = core.code;
    w.spread();
    w.jump(group & !mask, pc + 1);
    for lane in (0..32_u32).filter(|l| mask >> l & 1 == 1) {
        let inner = w.stack.base(lane);
        let Some(back) = w.stack.leave(lane) else {
            exit(core, w, 1 << lane);
            continue;
        };
        let (Some(f), Some(Op::Call(c))) =
            (code.functions.get(back.function as usize), code.insts.get(back.call as usize).map(|i| &i.op))
        else {
            continue;
        };
        let outer = w.stack.base(lane);
        for ((at, bytes), to) in f.results.iter().zip(&c.results) {
            let mut value = vec![0; *bytes as usize];
            w.stack.read(lane, inner + u64::from(*at), &mut value);
            w.stack.write(lane, outer + u64::from(*to), &value);
        }
        for (r, (value, poison)) in f.registers.clone().zip(&back.saved) {
            w.set(r, &[*value; 32], poison << lane, 1 << lane);
        }
        for (p, value) in f.predicates.clone().zip(&back.predicates) {
            w.set_pred(p, if *value { u32::MAX } else { 0 }, 0, 1 << lane);
        }
        w.jump(1 << lane, back.pc);
    }
    Flow::Set
}
