//! Functions that the driver provides: printing, failing, the heap (E98).

use super::flow::Flow;
use super::memory::place;
use crate::code::KERNEL_BASE;
use crate::isa::op::{Call, Callee, Space};
use crate::machine::actor::actor;
use crate::machine::child::{Child, PENDING};
use crate::machine::core::{Core, Spot};
use crate::machine::printf;
use crate::machine::warp::Warp;
use crate::race::access::Act;

/// What CUDA calls the stream whose grids run last.
const TAIL: u64 = 3;
/// cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorLaunchPendingCountExceeded
const INVALID: u64 = 1;
const NO_MEMORY: u64 = 2;
const TOO_MANY: u64 = 69;
/// Bytes of a string that are read.
const LONGEST: u64 = 4096;
/// Bytes that a cluster may print.
const PRINTED: usize = 1 << 20;

/// Runs a built-in function, lane after lane.
pub(crate) fn run(core: &mut Core<'_>, w: &mut Warp, c: &Call, pc: u32, mask: u32) -> Flow {
    for lane in (0..32_u32).filter(|l| mask >> l & 1 == 1) {
        let argument = |w: &Warp, i: usize| {
            let mut bytes = [0; 8];
            if let Some(at) = c.arguments.get(i) {
                w.stack.read(lane, w.stack.base(lane) + u64::from(*at), &mut bytes);
            }
            u64::from_le_bytes(bytes)
        };
        let result = match c.callee {
            Callee::Print => {
                let (format, values) = (text(core, w, lane, argument(w, 0)), argument(w, 1));
                let (line, count) = printf::format(&format, &mut Passed { core, w, lane, values });
                if core.printed.len() + line.len() <= PRINTED {
                    core.printed.push_str(&line);
                }
                count
            }
            Callee::Fail => {
                let (what, file) = (text(core, w, lane, argument(w, 0)), text(core, w, lane, argument(w, 1)));
                let (line, function) = (argument(w, 2) as u32, text(core, w, lane, argument(w, 3)));
                let a = actor(w, pc, 1 << lane);
                let message =
                    format!("the kernel's own assertion '{what}' does not hold: {file}:{line} {function}");
                core.error("D03", &a, message, "the kernel found an error by itself");
                core.dead = true;
                0
            }
            Callee::Allocate => core.world.heap.allocate(argument(w, 0)),
            Callee::ChildBuffer => {
                let three = |i: usize| {
                    let at = c.arguments.get(i).map_or(0, |at| w.stack.base(lane) + u64::from(*at));
                    [0, 4, 8].map(|k| {
                        let mut word = [0; 4];
                        w.stack.read(lane, at + k, &mut word);
                        u32::from_le_bytes(word)
                    })
                };
                prepare(core, argument(w, 0), three(1), three(2), argument(w, 3) as u32)
            }
            Callee::Release => {
                if let Err(misuse) = core.world.heap.release(argument(w, 0)) {
                    let (message, remedy) = misuse.explain();
                    core.error("A01", &actor(w, pc, 1 << lane), message, remedy);
                }
                0
            }
            Callee::AllocateTo => {
                let made = core.world.heap.allocate(argument(w, 1));
                put(core, w, pc, (lane, argument(w, 0)), &made.to_le_bytes());
                if made == 0 { NO_MEMORY } else { 0 }
            }
            Callee::ChildLaunch => launch(core, argument(w, 0), argument(w, 1)),
            _ => 0,
        };
        if let Some(to) = c.results.first() {
            let at = w.stack.base(lane) + u64::from(*to);
            let bytes = result.to_le_bytes();
            let size = if matches!(c.callee, Callee::Allocate | Callee::ChildBuffer) { 8 } else { 4 };
            w.stack.write(lane, at, bytes.get(..size).unwrap_or(&bytes));
        }
    }
    core.progress += 1;
    Flow::Next
}

/// Writes bytes at the generic address that a lane passed.
fn put(core: &mut Core<'_>, w: &mut Warp, pc: u32, (lane, at): (u32, u64), bytes: &[u8]) {
    let a = actor(w, pc, 1 << lane);
    let size = bytes.len() as u64;
    match place(core, w, &a, Space::Generic, at, size) {
        Some(Spot::Global(g)) => {
            // Bounds were just checked.
            let _ = core.world.global.write(g, bytes);
            core.touch_global(g, size, &a, Act::Write);
        }
        Some(Spot::Shared(c, s)) => {
            let (from, to) = (s as usize, (s + size) as usize);
            if let Some(slot) = core.cta(c).and_then(|c| c.shared.get_mut(from..to)) {
                slot.copy_from_slice(bytes);
            }
            core.touch_shared(c, s, size, &a, Act::Write);
        }
        Some(Spot::Local(l)) => w.stack.write(lane, l, bytes),
        Some(Spot::Param(_) | Spot::Nowhere) | None => {}
    }
}

/// Memory for the parameters of a grid that is to be launched; 0 where no kernel is at the address.
fn prepare(core: &mut Core<'_>, kernel: u64, grid: [u32; 3], block: [u32; 3], smem: u32) -> u64 {
    let number = (kernel.wrapping_sub(KERNEL_BASE) / 16).checked_sub(1);
    let number = number.and_then(|n| usize::try_from(n).ok());
    let Some((number, bytes)) = number.and_then(|n| Some((n, *core.code.kernels.get(n)?))) else { return 0 };
    let at = core.world.heap.allocate(bytes.max(1));
    if at != 0 {
        let params = vec![0; bytes as usize];
        core.world.prepared.insert(at, Child { kernel: number, grid, block, smem, params, tail: false });
    }
    at
}

/// Launches a grid whose parameters are written; what CUDA says then.
fn launch(core: &mut Core<'_>, at: u64, stream: u64) -> u64 {
    let Some(mut child) = core.world.prepared.remove(&at) else { return INVALID };
    if core.world.children.len() >= PENDING {
        return TOO_MANY;
    }
    // The heap lies in global memory.
    let _ = core.world.global.read(at, &mut child.params);
    child.tail = stream == TAIL;
    core.world.children.push(child);
    0
}

/// Arguments that a lane of a warp passed in memory.
struct Passed<'c, 'a> {
    core: &'c mut Core<'a>,
    w: &'c Warp,
    lane: u32,
    values: u64,
}

impl printf::Arguments for Passed<'_, '_> {
    fn number(&mut self, at: u64, bytes: u64) -> u64 {
        let one = |i: u64| byte(self.core, self.w, self.lane, self.values + at + i);
        (0..bytes).rev().map(one).fold(0, |v, b| v << 8 | u64::from(b.unwrap_or(0)))
    }

    fn text(&mut self, at: u64) -> String {
        text(self.core, self.w, self.lane, at)
    }
}

/// A byte at a generic address; nothing where no memory is.
fn byte(core: &mut Core<'_>, w: &Warp, lane: u32, at: u64) -> Option<u8> {
    let mut out = [0];
    match core.spot(Space::Generic, at, w.cta) {
        Spot::Global(g) => core.world.global.read(g, &mut out).ok()?,
        Spot::Shared(c, s) => out[0] = *core.ctas.get(c as usize)?.shared.get(s as usize)?,
        Spot::Local(l) => w.stack.read(lane, l, &mut out),
        Spot::Param(p) => out[0] = *core.params.get(p as usize)?,
        Spot::Nowhere => return None,
    }
    Some(out[0])
}

fn text(core: &mut Core<'_>, w: &Warp, lane: u32, at: u64) -> String {
    let bytes: Vec<u8> =
        (0..LONGEST).map_while(|i| byte(core, w, lane, at + i).filter(|b| *b != 0)).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
