//! What is said where rings do not fit, or cannot be placed (B73, C90-C92).

use warploom_bufassign::{AssignError, ErrorKind};
use warploom_ir::diag::{Code, Diagnostic};

use crate::buffers::depth::search::Search;
use crate::buffers::problem::value_fill;
use crate::place::refuse;
use crate::tma::padded;

impl Search<'_> {
    /// An assignment error other than capacity: of the author's storage, or one that she can do nothing about.
    pub fn assign_error(&self, error: &AssignError) -> Diagnostic {
        let storage =
            matches!(error.kind, ErrorKind::AliasLive | ErrorKind::LayoutTooShallow | ErrorKind::Impossible);
        let filled = error.value.as_ref().and_then(|value| value_fill(self.module, self.selection, value.id));
        match filled.filter(|_| storage) {
            Some(op) => {
                let refusal = refuse(self.module, op, Code::Layout, error.message.clone()).rule("B20");
                let storage = self.options.storage.as_ref();
                let refusal = self.bindings.name_leaves(self.module, storage, op, refusal);
                refusal.note("instead", "make the leaves distinct, or give the leaf more or larger buffers")
            }
            None => assign_error(error),
        }
    }

    pub(super) fn no_cost(&self, error: &warploom_chips::cost::CostError) -> Diagnostic {
        let at = self.selection.loops.first().copied().unwrap_or(self.selection.func);
        refuse(self.module, at, Code::Target, error.to_string()).rule(error.rule())
    }

    /// The refusal of C92: who needs how much, and what would fit.
    pub(super) fn too_big(&self, depths: &[u64], error: &AssignError) -> Box<Diagnostic> {
        let selection = self.selection;
        let limit = error.limit.unwrap_or(self.target.smem.per_cta);
        let (mut owners, mut loop_bytes, mut tile_bytes, mut barriers) = (Vec::new(), 0u64, 0u64, 0u64);
        for (ring, &depth) in selection.rings.iter().zip(depths) {
            for load in ring.payloads().iter().filter_map(|&l| selection.loads.get(l)) {
                let bytes = padded(&load.plan);
                if ring.looped {
                    owners.push(format!("{} ring {depth} x {bytes}", load.name));
                    loop_bytes = loop_bytes.saturating_add(bytes.saturating_mul(depth));
                } else {
                    owners.push(format!("{} tile {bytes}", load.name));
                    tile_bytes = tile_bytes.saturating_add(bytes);
                }
            }
            barriers = barriers.saturating_add(16 * depth);
        }
        let stage_bytes = selection.stores.iter().map(|s| padded(&s.plan)).max().unwrap_or(0);
        if stage_bytes > loop_bytes {
            owners.push(format!("staging {stage_bytes}"));
        }
        owners.push(format!("barriers {barriers}"));
        let need = error.need.unwrap_or(loop_bytes.max(stage_bytes) + tile_bytes + barriers);
        let text = format!("shared memory {need} B of {limit} B");
        let at = selection.loops.first().copied().unwrap_or(selection.func);
        let refusal = refuse(self.module, at, Code::Capacity, text)
            .rule("C92")
            .note("", owners.join(", "))
            .note("fits", self.what_fits(depths, limit, tile_bytes));
        Box::new(refusal)
    }

    /// A number of slots, or else a smaller tile.
    fn what_fits(&self, depths: &[u64], limit: u64, tile_bytes: u64) -> String {
        let selection = self.selection;
        let slot: u64 = self.looped().map(|r| self.slot_bytes(r)).sum::<u64>()
            + 16 * self
                .looped()
                .map(|r| selection.rings.get(r).map_or(0, |r| r.payloads().len() as u64))
                .sum::<u64>();
        let slots = limit.saturating_sub(tile_bytes) / slot.max(1);
        let depth = self.looped().filter_map(|r| depths.get(r)).max().copied().unwrap_or(1);
        if slots > 0 && slots < depth {
            return format!("{slots} slots");
        }
        let Some(dot) = selection.dots.first() else { return "no tile".to_owned() };
        let [m, n, k] = dot.extents;
        let width = u64::from(dot.element.bits()) / 8;
        let out: u64 = selection.stores.iter().map(|s| s.plan.element_bytes).max().unwrap_or(4);
        let once = selection.rings.iter().filter(|r| !r.looped).flat_map(|r| r.payloads());
        let epilogue: u64 = once.filter_map(|&l| selection.loads.get(l)).map(|l| l.plan.element_bytes).sum();
        let need =
            |m: u64, n: u64, k: u64| ((m + n) * k * width * 2).max(m * n * out) + m * n * epilogue + 128;
        let smaller = [(m, n, k / 2), (m, n / 2, k), (m / 2, n, k), (m / 2, n / 2, k / 2), (64, 64, 32)];
        let legal = |&(m, n, k): &(u64, u64, u64)| m >= 64 && n >= 8 && k * width >= 32;
        let found = smaller.into_iter().filter(legal).find(|&(m, n, k)| need(m, n, k) <= limit);
        found.map_or_else(|| "no tile".to_owned(), |(m, n, k)| format!("a tile of {m}x{n}x{k}"))
    }
}

/// An assignment error that the kernel's author can do nothing about.
pub(crate) fn assign_error(error: &AssignError) -> Diagnostic {
    Diagnostic::error(Code::Internal, format!("buffers cannot be assigned: {error}")).rule("B73")
}
