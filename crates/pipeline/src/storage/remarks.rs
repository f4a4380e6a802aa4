//! What the author of bound buffers wants to know once there is a schedule (A45, A49).

use warploom_alias::schedule::{Binding, Times, unordered};
use warploom_bufassign::{Assignment, Problem, Record, RegionKind};
use warploom_ir::diag::{Code, Diagnostic, Severity};
use warploom_ir::{Module, OpId};

use super::Bindings;
use crate::buffers::depth::RingDepth;
use crate::buffers::problem::value_fill;
use crate::place::remark;
use crate::select::Selection;

/// A bound value with its record.
type Bound<'a> = (OpId, &'a Binding, &'a Record);

impl Bindings {
    /// Leaves with more or fewer buffers than the schedule asks for (A45), and shared leaves whose uses nothing orders
    /// although they never meet (A49).
    pub fn remarks(
        &self,
        module: &Module,
        selection: &Selection,
        layout: Option<&warploom_alias::AliasLayout>,
        (problem, assignment): (&Problem, &Assignment),
        depths: &[RingDepth],
    ) -> Vec<Diagnostic> {
        let Some(layout) = layout else { return Vec::new() };
        let record = |op: OpId| {
            let fills = |r: &&Record| value_fill(module, selection, r.value) == Some(op);
            assignment.records.iter().find(fills)
        };
        let bound: Vec<Bound<'_>> =
            self.bound.iter().filter_map(|(op, binding)| Some((*op, binding, record(*op)?))).collect();
        let loops = problem.regions.iter().filter(|r| r.kind == RegionKind::Loop);
        let mut out = Vec::new();
        for (region, ii) in loops.filter_map(|r| Some((r.id, r.ii.filter(|ii| *ii > 0)?))) {
            let here: Vec<Bound<'_>> = bound.iter().filter(|b| b.2.region == region).copied().collect();
            for (op, binding, record) in &here {
                let Some((_, leaf)) = layout.leaf(binding.leaf) else { continue };
                let ring = selection.rings.iter().position(|ring| {
                    ring.payloads().iter().any(|&l| selection.loads.get(l).is_some_and(|l| l.op == *op))
                });
                let buffers = binding.period(leaf.count);
                let alive = match ring.and_then(|ring| depths.get(ring)) {
                    Some(depth) => depth.law,
                    None => record.length.div_ceil(ii).max(1),
                };
                // Where the schedule had to wait for a buffer, the best one keeps more alive than there are.
                let free = depths.first().and_then(|d| u64::try_from(d.unlimited_ii).ok()).unwrap_or(ii);
                let plural = if buffers == 1 { "" } else { "s" };
                let text = if buffers > alive {
                    format!("leaf %{} has {buffers} buffers, this schedule keeps {alive} alive", leaf.name)
                } else if buffers < alive || free < ii && ring.is_none() {
                    format!("leaf %{} has {buffers} buffer{plural}: II rises from {free} to {ii}", leaf.name)
                } else {
                    continue;
                };
                out.push(remark(module, *op, Code::Layout, text).rule("A45"));
            }
            out.extend(self.unordered(module, layout, &here, ii));
        }
        out
    }

    /// A49 of the values of one loop.
    fn unordered(
        &self,
        module: &Module,
        layout: &warploom_alias::AliasLayout,
        bound: &[Bound<'_>],
        ii: u64,
    ) -> Vec<Diagnostic> {
        let at = |[stage, cycle]: [u64; 2]| stage.saturating_mul(ii).saturating_add(cycle);
        let mut times = Times { ii, issue: Vec::new(), done: Vec::new() };
        let mut bindings = Vec::new();
        // Bindings stand in the order of the text: a position is an operation of the body.
        for (n, (_, binding, record)) in (0u32..).zip(bound) {
            times.issue.push(at(record.start));
            times.done.push(at(record.end));
            bindings.push(Binding {
                value: record.name.clone(),
                write: n,
                reads: vec![n],
                ..Binding::clone(binding)
            });
        }
        let shown = unordered(layout, &bindings, &times).into_iter().filter_map(|(edge, warning)| {
            let (op, ..) = bound.get(edge.src)?;
            let mut out = remark(module, *op, Code::Layout, warning.message).rule("A49");
            out.severity = Severity::Warning;
            Some(warning.help.into_iter().fold(out, |out, help| out.note("instead", help)))
        });
        shown.collect()
    }
}
