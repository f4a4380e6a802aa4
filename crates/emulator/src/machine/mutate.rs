//! Which synchronisation a launch does not need: each instruction is left out alone, and somebody should notice (E102).

use super::device::Device;
use super::launch::{Launch, RunOptions};
use crate::code::Code;
use crate::error::EmulatorRefusal;
use crate::isa::op::{Inst, MbarOp, Op, Order, PSrc, Presence};
use crate::module::Module;
use crate::report::Report;
use std::sync::Arc;

/// A launch may take so many times the steps that it took with everything in it, and some more, before it is given up.
const PATIENCE: u64 = 8;

impl Device {
    /// The PTX lines of synchronising instructions that can be left out of this launch, one at a time, without a
    /// finding or another result under any of these options: either they are not needed, or this launch is too
    /// small to need them. Those that never run, and waits with nothing to wait for, are not tried:
    /// [`crate::Coverage`] names them. The buffers stay as they are.
    ///
    /// Barriers, fences, waits and arrivals are taken out; strong loads and stores become weak, atomics relaxed.
    ///
    /// # Errors
    /// As [`Device::run`].
    pub fn dispensable(
        &self,
        module: &Module,
        launch: &Launch,
        options: &[RunOptions],
    ) -> Result<Vec<u32>, EmulatorRefusal> {
        let code = module.entry(&launch.entry)?.code.clone()?;
        let whole: Vec<(Device, Report)> =
            options.iter().map(|o| self.tried(module, launch, o)).collect::<Result<_, _>>()?;
        let mut lines = Vec::new();
        for (i, inst) in code.insts.iter().enumerate().filter(|(_, inst)| inst.op.synchronises()) {
            let idle =
                |c: &crate::report::Coverage| c.never.contains(&inst.line) || c.trivial.contains(&inst.line);
            let Some(less) = without(inst) else { continue };
            if whole.iter().all(|(_, report)| idle(&report.coverage)) {
                continue;
            }
            let module = module.with(&launch.entry, leave_out(&code, i, less));
            let mut noticed = false;
            for (o, (device, report)) in options.iter().zip(&whole) {
                let steps = report.stats.steps.saturating_mul(PATIENCE).saturating_add(10_000);
                let o = o.clone().max_steps(o.max_steps.min(steps)).max_findings(1);
                let (changed, other) = self.tried(&module, launch, &o)?;
                noticed = report.clean() != other.clean() || !changed.holds_what(device);
                if noticed {
                    break;
                }
            }
            if !noticed {
                lines.push(inst.line);
            }
        }
        lines.sort_unstable();
        lines.dedup();
        Ok(lines)
    }

    /// A launch on a copy of the device, and the copy behind it.
    fn tried(
        &self,
        module: &Module,
        launch: &Launch,
        o: &RunOptions,
    ) -> Result<(Device, Report), EmulatorRefusal> {
        let mut device = self.clone();
        let report = device.run(module, launch, o)?;
        Ok((device, report))
    }

    /// Whether all buffers hold the same bytes as those of a copy.
    fn holds_what(&self, other: &Device) -> bool {
        self.store.buffers.iter().zip(&other.store.buffers).all(|(a, b)| a.data == b.data)
    }
}

/// The code with another instruction in one place.
fn leave_out(code: &Code, at: usize, less: Inst) -> Arc<Code> {
    let mut code = code.clone();
    if let (Some(inst), Some(uses)) = (code.insts.get_mut(at), code.uses.get_mut(at)) {
        if matches!(less.op, Op::Nop | Op::PMov { .. }) {
            uses.clear();
        }
        *inst = less;
    }
    Arc::new(code)
}

/// An instruction that does what this one does but for the synchronisation; `None` where its result is needed.
fn without(inst: &Inst) -> Option<Inst> {
    let op = match &inst.op {
        Op::Ld(l) => {
            let mut l = l.clone();
            l.order = Order::Weak;
            Op::Ld(l)
        }
        Op::St(s) => {
            let mut s = s.clone();
            s.order = Order::Weak;
            Op::St(s)
        }
        Op::Atom(a) => {
            let mut a = a.clone();
            a.order = Order::Relaxed;
            Op::Atom(a)
        }
        Op::Mbar { op, .. } => match **op {
            // A wait that passes at once.
            MbarOp::Wait { p: Some(p), .. } => Op::PMov { d: p, a: PSrc::Imm(true) },
            MbarOp::Arrive { d: Some(_), .. } => return None,
            _ => Op::Nop,
        },
        Op::Bar { d: Some(_), .. } | Op::Bar { p: Some(_), .. } => return None,
        _ => Op::Nop,
    };
    let presence = if matches!(op, Op::Nop | Op::PMov { .. }) { Presence::Alone } else { inst.presence };
    Some(Inst { op, presence, ..inst.clone() })
}
