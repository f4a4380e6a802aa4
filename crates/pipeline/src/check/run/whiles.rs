//! `scf.while`: the condition's region and the body's in turns (C7).

use warploom_ir::{OpId, Opcode};

use super::{MOST_TRIPS, Run, Step, Val};
use crate::check::report::Rule;
use crate::check::warp::{Frame, Trip};

impl Run<'_, '_> {
    /// Whether a warp is in a region of an `scf.while`, directly.
    pub(super) fn in_while(&self, w: usize) -> bool {
        let trip = self.warps.get(w).and_then(|x| x.frames.last()).and_then(|f| f.scf_for);
        trip.is_some_and(|trip| self.model.module.ops[trip.op].opcode == Opcode::While)
    }

    /// Binds values to the arguments of a region's block and goes there.
    fn go_to(&mut self, w: usize, trip: Trip, region: usize, values: Vec<Val>) -> Step {
        let module = self.model.module;
        let Some(block) = module.entry(trip.op, region) else {
            return self.broken(w, Rule::Form, "a loop without its regions");
        };
        for (&arg, val) in module.blocks[block].args.iter().zip(values) {
            self.set(w, arg, val);
        }
        if let Some(frame) = self.warps.get_mut(w).and_then(|warp| warp.frames.last_mut()) {
            *frame = Frame { block, at: 0, scf_for: Some(trip), scf_if: None };
        }
        Step::Went
    }

    pub(super) fn enter_while(&mut self, w: usize, op: OpId) -> Step {
        let module = self.model.module;
        let values = match self.carried(w, &module.ops[op].operands) {
            Ok(values) => values,
            Err(broken) => return broken,
        };
        let Some(block) = module.entry(op, 0) else {
            return self.broken(w, Rule::Form, "a loop without its regions");
        };
        let trip = Trip { op, number: 0, of: MOST_TRIPS, lower: 0, step: 0 };
        if let Some(warp) = self.warps.get_mut(w) {
            warp.frames.push(Frame { block, at: 0, scf_for: None, scf_if: None });
        }
        self.go_to(w, trip, 0, values)
    }

    /// `scf.condition`: on to the body, or out of the loop.
    pub(super) fn condition(&mut self, w: usize, op: OpId) -> Step {
        let module = self.model.module;
        let frame = self.warps.get(w).and_then(|x| x.frames.last()).cloned();
        let Some(trip) = frame.and_then(|f| f.scf_for).filter(|_| self.in_while(w)) else {
            return self.broken(w, Rule::Form, "scf.condition outside scf.while");
        };
        let values = match self.carried(w, module.ops[op].operands.get(1..).unwrap_or_default()) {
            Ok(values) => values,
            Err(broken) => return broken,
        };
        match self.model.operand(op, 0).map(|v| self.value(w, v)) {
            Some(Val::Int(0)) => {
                for (&result, val) in module.ops[trip.op].results.iter().zip(values) {
                    self.set(w, result, val);
                }
                if self.warps.get(w).is_some_and(|warp| warp.first) {
                    self.entered.push((w, trip.number));
                }
                if let Some(warp) = self.warps.get_mut(w) {
                    warp.frames.pop();
                    if let Some(frame) = warp.frames.last_mut() {
                        frame.at += 1;
                    }
                }
                Step::Went
            }
            Some(Val::Int(_)) if trip.number < trip.of => {
                self.go_to(w, Trip { number: trip.number + 1, ..trip }, 1, values)
            }
            // More trips than a run can take, or nobody knows how many.
            Some(Val::Int(_) | Val::Undefined) => {
                self.too_long = true;
                Step::Broken
            }
            _ => self.broken(w, Rule::Form, "the condition of the loop cannot be computed"),
        }
    }

    /// The end of a body: back to the condition.
    pub(super) fn again(&mut self, w: usize, op: OpId) -> Step {
        let trip = self.warps.get(w).and_then(|x| x.frames.last()).and_then(|f| f.scf_for);
        let Some(trip) = trip else { return self.broken(w, Rule::Form, "a yield outside a loop") };
        match self.carried(w, &self.model.module.ops[op].operands) {
            Ok(values) => self.go_to(w, trip, 0, values),
            Err(broken) => broken,
        }
    }
}
