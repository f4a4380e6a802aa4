//! Functions that the driver provides: printing, failing, the heap (E98).

use super::flow::Flow;
use crate::isa::op::{Call, Callee, Space};
use crate::machine::actor::actor;
use crate::machine::core::{Core, Spot};
use crate::machine::printf;
use crate::machine::warp::Warp;

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
            Callee::Allocate => core.world.allocate(argument(w, 0)),
            _ => 0,
        };
        if let Some(to) = c.results.first() {
            let at = w.stack.base(lane) + u64::from(*to);
            let bytes = result.to_le_bytes();
            let size = if c.callee == Callee::Allocate { 8 } else { 4 };
            w.stack.write(lane, at, bytes.get(..size).unwrap_or(&bytes));
        }
    }
    core.progress += 1;
    Flow::Next
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
