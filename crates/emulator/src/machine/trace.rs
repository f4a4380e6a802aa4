//! What happened when, for pictures (E74): kept only where [`crate::Options::trace`] asks for it.

use super::core::Core;
use super::operations::Operation;
use super::warp::Warp;
use crate::report::TraceEvent;

impl Core<'_> {
    /// A warp runs the instruction at `pc`.
    pub(crate) fn trace_step(&mut self, w: &Warp, pc: u32) {
        if self.trace.len() < self.opts.trace {
            self.trace_event(w.id, None, pc, self.steps.saturating_sub(1));
        }
    }

    /// An operation is over.
    pub(crate) fn trace_operation(&mut self, op: &Operation) {
        if self.trace.len() < self.opts.trace {
            self.trace_event(op.warp, Some(op.kind.name().to_string()), op.pc, op.issued);
        }
    }

    fn trace_event(&mut self, warp: u32, operation: Option<String>, pc: u32, begin: u64) {
        let Some(inst) = self.code.insts.get(pc as usize) else { return };
        let of = self.ctas.iter().find(|c| (c.warps.0..c.warps.0 + c.warps.1).contains(&warp));
        self.trace.push(TraceEvent {
            cta: of.map_or([0; 3], |c| c.ctaid),
            warp: warp - of.map_or(0, |c| c.warps.0),
            operation,
            line: inst.line,
            source: self.code.source(inst.loc),
            opcode: self.code.opcodes.get(inst.opcode as usize).cloned().unwrap_or_default(),
            begin,
            end: self.steps,
        });
    }
}
