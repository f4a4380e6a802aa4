//! Evaluating a chip's cost entries for one operation (T32).

use super::entry::{LatencyRule, OpEntry, Terms, Unit, Work};
use super::kind::OpKind;
use super::native::{Counted, hold, native_clocks};
use super::op::{Access, CostError, MmaOp, Op, OpCost, Use, WIDEST};
use super::{Amount, Origin};
use crate::Target;
use crate::mma::{MmaInstruction, OperandPlace, wgmma};

/// Elements of the tile that "/E0" of T34 refers to.
const REFERENCE_ELEMENTS: u64 = 16_384;
const KIB: u64 = 1024;

impl Target {
    /// What `op` costs when `warps` warps issue it (T31, T32).
    ///
    /// Durations and latencies are for the whole tile: where several instructions compute it, their
    /// durations add. The latency is never less than the time any unit is held.
    ///
    /// # Errors
    /// [`CostError::NoEntry`] for what the chip cannot do, [`CostError::NoRate`] for an operand type its
    /// tensor cores do not take.
    ///
    /// ```
    /// use warploom_chips::{Target, cost::Op};
    /// let load = Op::TmaLoad { bytes: 128 * 64 * 2, inner_bytes: 128 };
    /// let cost = Target::named("sm_100a").unwrap().cost(&load, 4).unwrap();
    /// assert_eq!((cost.latency, cost.duration_on("TMA")), (556, 96));
    /// ```
    pub fn cost(&self, op: &Op, warps: u32) -> Result<OpCost, CostError> {
        if warps == 0 {
            return Err(CostError::NoWarps);
        }
        let kind = op.kind();
        let entry =
            self.op.get(&kind).ok_or_else(|| CostError::NoEntry { chip: self.chip.name.clone(), kind })?;
        let raw = self.evaluate(entry, op, warps)?;
        let longest = raw.uses.iter().map(|held| held.duration).max().unwrap_or(0);
        let origin = match op {
            Op::Unknown => Origin::Unverified,
            _ => entry.duration.origin.min(entry.latency.origin),
        };
        let issue = entry.issue.or(kind.usual_issue()).unwrap_or(longest);
        Ok(OpCost { latency: raw.latency.max(longest), uses: raw.uses, issue, origin })
    }

    /// Latency by its rule alone, and the longest duration, at full rate: what T39 compares.
    pub(super) fn raw_cost(&self, op: &Op) -> Option<(u64, u64)> {
        let raw = self.evaluate(self.op.get(&op.kind())?, op, u32::MAX).ok()?;
        Some((raw.latency, raw.uses.iter().map(|held| held.duration).max()?))
    }

    fn evaluate(&self, entry: &OpEntry, op: &Op, warps: u32) -> Result<Raw, CostError> {
        let size = Size::of(op);
        let mut uses = Vec::new();
        let mut at_full_rate = 0;
        for terms in entry.duration.terms() {
            let unit = self.unit.get(terms.unit).ok_or_else(|| CostError::Incomplete {
                chip: self.chip.name.clone(),
                key: format!("unit.{}", terms.unit),
            })?;
            let rate = self.rate(op, &terms, unit)?;
            at_full_rate = at_full_rate.max(duration(&terms, rate, &size, Share::FULL));
            let held = duration(&terms, rate, &size, Share::of(unit, warps));
            uses.push(Use { unit: terms.unit.to_owned(), duration: held, start: 0 });
        }
        for (unit, clocks) in native_clocks(self, &entry.duration, &size.counted()) {
            let share = self.unit.get(unit).map_or(Share::FULL, |unit| Share::of(unit, warps));
            at_full_rate = at_full_rate.max(clocks);
            hold(&mut uses, unit, share.stretch(clocks));
        }
        let longest = uses.iter().map(|held| held.duration).max().unwrap_or(0);
        // A unit that waits for its operands is held meanwhile (T36); registers are loaded before.
        let waits = entry.duration.native.is_empty() && op.kind() != OpKind::MmaSync;
        if let Some(first) = uses.first_mut().filter(|_| waits) {
            first.duration = longest;
        }
        let slowdown = longest.saturating_sub(at_full_rate);
        let latency = latency(&entry.latency, &size, at_full_rate).saturating_add(slowdown);
        Ok(Raw { latency, uses })
    }

    /// The rate that a term's work is divided by: its own, or the unit's; `None` if it counts no work. An instruction may
    /// multiply slower than its unit could, never faster.
    fn rate(&self, op: &Op, terms: &Terms<'_>, unit: &Unit) -> Result<Option<Amount>, CostError> {
        let Some(work) = terms.work.filter(|_| terms.table.is_empty()) else { return Ok(None) };
        let rate = match (work, op) {
            (Work::Bytes | Work::OperandBytes, _) => terms.rate.or(unit.bytes_per_clk),
            (Work::Elements, _) => terms.rate.or(unit.elements_per_clk),
            (Work::Macs, Op::Mma(mma)) => match (terms.rate, self.macs_per_clk(terms.unit, unit, mma)) {
                (None, full) => Some(full?),
                (Some(own), full) => Some(full.map_or(own, |full| own.min(full))),
            },
            (Work::Macs | Work::Instructions, _) => terms.rate,
        };
        rate.filter(|rate| !rate.is_zero()).map(Some).ok_or_else(|| CostError::Incomplete {
            chip: self.chip.name.clone(),
            key: format!("unit.{}: rate", terms.unit),
        })
    }

    fn macs_per_clk(&self, name: &str, unit: &Unit, mma: &MmaOp) -> Result<Amount, CostError> {
        unit.macs_per_clk.get(&mma.element).copied().ok_or_else(|| CostError::NoRate {
            chip: self.chip.name.clone(),
            unit: name.to_owned(),
            element: mma.element,
            known: unit.macs_per_clk.keys().map(|element| element.key()).collect::<Vec<_>>().join(", "),
        })
    }
}

/// Uses, and the latency that its rule alone gives.
struct Raw {
    latency: u64,
    uses: Vec<Use>,
}

/// The part `warps/full` of a unit's rate that an operation gets.
#[derive(Clone, Copy)]
struct Share {
    warps: u64,
    full: u64,
}

impl Share {
    const FULL: Share = Share { warps: 1, full: 1 };

    fn of(unit: &Unit, warps: u32) -> Share {
        let full = unit.full_rate_warps.unwrap_or(1).max(1);
        Share { warps: warps.min(full).into(), full: full.into() }
    }

    /// `clocks` at the full rate, drawn out to this share, rounded up.
    fn stretch(self, clocks: u64) -> u64 {
        let stretched = (u128::from(clocks) * u128::from(self.full)).div_ceil(u128::from(self.warps.max(1)));
        u64::try_from(stretched).unwrap_or(u64::MAX)
    }
}

/// The numbers that terms count.
#[derive(Default)]
struct Size {
    bytes: u64,
    inner_bytes: u64,
    elements: u64,
    macs: u64,
    operand_bytes: u64,
    instructions: u64,
    rows: u64,
    exchanges: u64,
    lanes: Access,
    k: u64,
}

impl Size {
    fn of(op: &Op) -> Size {
        let none = Size::default();
        match *op {
            Op::TmaLoad { bytes, inner_bytes } => Size { bytes, inner_bytes, ..none },
            Op::TmaStore { bytes }
            | Op::Shared { bytes }
            | Op::Layout { bytes }
            | Op::RegSmemReg { bytes } => Size { bytes, elements: bytes.div_ceil(WIDEST), ..none },
            Op::CpAsync { bytes, lanes }
            | Op::GlobalLoad { bytes, lanes }
            | Op::GlobalStore { bytes, lanes }
            | Op::GlobalAtomic { bytes, lanes } => Size { bytes, elements: lanes.moves, lanes, ..none },
            Op::TmemLoad { elements }
            | Op::TmemStore { elements }
            | Op::Mul { elements }
            | Op::Elementwise { elements }
            | Op::Logic { elements }
            | Op::Shift { elements }
            | Op::MinMax { elements }
            | Op::Exp2 { elements }
            | Op::Log2 { elements }
            | Op::Convert { elements }
            | Op::Narrow { elements }
            | Op::Widen { elements }
            | Op::WidenHalf { elements }
            | Op::Widen8 { elements }
            | Op::Narrow8 { elements } => Size { elements, ..none },
            Op::Reduce { elements, rows, sharing, .. } => {
                let exchanged = rows.saturating_mul(sharing).min(elements);
                let steps = u64::from(sharing.max(1).ilog2());
                Size { elements, rows, exchanges: exchanged.saturating_mul(steps), ..none }
            }
            Op::Trip { lanes }
            | Op::RingWait { lanes }
            | Op::RingArrive { lanes }
            | Op::RingAdvance { lanes }
            | Op::RingSync { lanes } => Size { elements: lanes, ..none },
            Op::Mma(mma) => Size::of_product(&mma),
            Op::Mbarrier
            | Op::NamedBarrier
            | Op::BarrierWait
            | Op::BarrierArrive
            | Op::Control
            | Op::Unknown => none,
        }
    }

    /// wgmma computes whole blocks of 64 rows and reads both operands again for each instruction; of mma.sync, each warp reads
    /// its rows of A and its columns of B.
    fn of_product(mma: &MmaOp) -> Size {
        let (m, n, k) = (u64::from(mma.m), u64::from(mma.n), u64::from(mma.k));
        let a_in_shared = u64::from(mma.a == OperandPlace::Shared);
        let (rows, operand_elements) = match mma.instruction {
            MmaInstruction::Wgmma => {
                let blocks = m.div_ceil(u64::from(wgmma::M));
                let rows = blocks.saturating_mul(wgmma::M.into());
                let pieces = n.div_ceil(u64::from(wgmma::N_MAX));
                let of_a = rows.saturating_mul(k).saturating_mul(pieces).saturating_mul(a_in_shared);
                (rows, of_a.saturating_add(n.saturating_mul(k).saturating_mul(blocks)))
            }
            MmaInstruction::MmaSync => {
                let [down, across] = mma.split.map(u64::from);
                let of_a = m.saturating_mul(k).saturating_mul(across).saturating_mul(a_in_shared);
                (m, of_a.saturating_add(n.saturating_mul(k).saturating_mul(down)))
            }
            MmaInstruction::Tcgen05 => (m, 0),
        };
        let instructions = instructions(mma, operand_elements);
        let operand_bits = operand_elements.saturating_mul(mma.element.bits().into());
        let macs = rows.saturating_mul(n).saturating_mul(k);
        Size { macs, operand_bytes: operand_bits.div_ceil(8), instructions, k, ..Size::default() }
    }

    /// What native instructions are counted of.
    fn counted(&self) -> Counted {
        let Access { addresses, masks, partial, .. } = self.lanes;
        Counted {
            elements: self.elements,
            rows: self.rows,
            exchanges: self.exchanges,
            addresses,
            masks,
            partial,
        }
    }

    fn count(&self, work: Work) -> u64 {
        match work {
            Work::Bytes => self.bytes,
            Work::Elements => self.elements,
            Work::Macs => self.macs,
            Work::OperandBytes => self.operand_bytes,
            Work::Instructions => self.instructions,
        }
    }
}

/// Instructions that warps issue: a warpgroup's four warps each issue its wgmma, one warp issues tcgen05; of mma.sync a warp
/// takes 16 rows and 8 columns, and loads four matrices of 8 rows of 16 bytes at a time.
fn instructions(mma: &MmaOp, operand_elements: u64) -> u64 {
    let bits = u64::from(mma.element.bits()).max(1);
    let (m, n) = (u64::from(mma.m), u64::from(mma.n));
    let steps = u64::from(mma.k).saturating_mul(bits).div_ceil(256);
    let products = match mma.instruction {
        MmaInstruction::Wgmma => {
            let blocks = m.div_ceil(wgmma::M.into()).saturating_mul(n.div_ceil(wgmma::N_MAX.into()));
            return blocks.saturating_mul(steps).saturating_mul(4);
        }
        MmaInstruction::Tcgen05 => {
            return m.div_ceil(128).saturating_mul(n.div_ceil(256)).saturating_mul(steps);
        }
        MmaInstruction::MmaSync => m.div_ceil(16).saturating_mul(n.div_ceil(8)).saturating_mul(steps),
    };
    products.saturating_add(operand_elements.saturating_mul(bits).div_ceil(4 * 8 * 16 * 8))
}

/// Clocks one unit is held.
fn duration(terms: &Terms<'_>, rate: Option<Amount>, size: &Size, share: Share) -> u64 {
    let work = terms.work.map_or(0, |work| size.count(work));
    let by_rate = rate.and_then(|rate| rate.clocks_for(work)).unwrap_or(0);
    let by_table = interpolate(terms.table, work);
    let by_kib = terms.clk_per_kib.map_or(0, |clk| clk.scaled(size.bytes / KIB, 1));
    let by_elements =
        terms.clk_per_16k_elements.map_or(0, |clk| clk.scaled(size.elements, REFERENCE_ELEMENTS));
    let sum = [by_rate, by_table, by_kib, by_elements].into_iter().fold(0, u64::saturating_add);
    let total = terms.fixed.saturating_add(share.stretch(sum)).max(terms.min);
    terms.max.map_or(total, |max| total.min(max))
}

/// Clocks from issue to visible result, before the lower bound by the durations.
fn latency(rule: &LatencyRule, size: &Size, duration: u64) -> u64 {
    let long = rule.long_k.is_some_and(|k| size.k >= k);
    let fixed = if long { rule.long_fixed.unwrap_or(rule.fixed) } else { rule.fixed };
    let by_kib = rule.clk_per_kib.map_or(0, |clk| match rule.partial_kib {
        true => clk.scaled(size.bytes, KIB),
        false => clk.scaled(size.bytes / KIB, 1),
    });
    let row = size.elements.checked_div(size.rows).unwrap_or(0);
    let by_row = rule.clk_per_row_element.map_or(0, |clk| clk.scaled(row, 1));
    let by_elements =
        rule.clk_per_16k_elements.map_or(0, |clk| clk.scaled(size.elements, REFERENCE_ELEMENTS));
    let copies = rule.box_bytes.map_or(1, |bytes| size.inner_bytes.div_ceil(bytes.max(1)).max(1));
    let further = (copies - 1).min(rule.box_max.unwrap_or(u64::MAX));
    let by_box = further.saturating_mul(rule.box_step.unwrap_or(0));
    let by_table = interpolate(&rule.table, rule.work.map_or(0, |work| size.count(work)));
    let held = if rule.plus_duration { duration } else { 0 };
    let terms = [fixed, by_kib, by_row, by_elements, by_box, by_table, held];
    terms.into_iter().fold(0, u64::saturating_add).max(rule.min)
}

/// The broken line through `points`, rounded up; level before the first, going on as the last piece does.
fn interpolate(points: &[(u64, u64)], at: u64) -> u64 {
    let Some(first) = points.first() else { return 0 };
    let Some(last) = points.windows(2).next_back() else { return first.1 };
    let piece = points.windows(2).find(|pair| pair.get(1).is_some_and(|end| at <= end.0)).unwrap_or(last);
    let &[(x0, y0), (x1, y1)] = piece else { return first.1 };
    if at <= x0 || x1 <= x0 {
        return y0;
    }
    let rise = u128::from(y1.saturating_sub(y0)) * u128::from(at - x0);
    let above = u64::try_from(rise.div_ceil(u128::from(x1 - x0))).unwrap_or(u64::MAX);
    y0.saturating_add(above)
}

#[cfg(test)]
mod tests {
    use super::interpolate;

    #[test]
    fn t40_tables_are_broken_lines() {
        let points = [(10, 5), (20, 7), (40, 27)];
        let got = [0, 10, 11, 20, 30, 40, 60].map(|at| interpolate(&points, at));
        assert_eq!(got, [5, 5, 6, 7, 17, 27, 47]);
        assert_eq!((interpolate(&[], 9), interpolate(&[(1, 3)], 9)), (0, 3));
    }
}
