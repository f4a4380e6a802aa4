//! Whether cost data holds together (T38, T39).

use super::entry::{DurationRule, LatencyRule, Terms, Unit, Work};
use super::{Access, Amount, Combine, MmaOp, Op, OpEntry, OpKind, Origin};
use crate::mma::{MmaInstruction, OperandPlace};
use crate::{Element, Target};

/// A key and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Dotted key in the file.
    pub key: String,
    /// What is wrong and what would be right.
    pub reason: String,
    /// The unit whose replacement may be to blame.
    pub unit: Option<String>,
}

/// All faults of a target's cost data, in the order of its keys. The entries that `own` picks are new: only
/// they must have latencies that cover their durations, for a changed unit may slow down all others, and
/// [`Target::cost`] raises their latencies with their durations.
pub(crate) fn validate(target: &Target, own: impl Fn(OpKind) -> bool) -> Vec<Fault> {
    let mut faults = Faults(Vec::new());
    for (name, unit) in &target.unit {
        check_unit(&mut faults, name, unit);
    }
    for (class, native) in &target.instruction {
        for (unit, &lanes) in &native.lanes_per_clk {
            let key = || format!("instruction.{class}.lanes_per_clk.{unit}");
            faults.refuse_zero(key, Some(lanes));
            faults.refuse_unknown(key(), target, unit);
        }
    }
    for (&kind, entry) in &target.op {
        let before = faults.0.len();
        check_entry(&mut faults, target, kind, entry);
        if own(kind) && faults.0.len() == before {
            check_order(&mut faults, target, kind);
        }
    }
    faults.0
}

struct Faults(Vec<Fault>);

impl Faults {
    fn add(&mut self, key: String, reason: impl Into<String>) {
        self.0.push(Fault { key, reason: reason.into(), unit: None });
    }

    fn refuse_unknown(&mut self, key: String, target: &Target, unit: &str) {
        if !target.unit.contains_key(unit) {
            let known: Vec<&str> = target.unit.keys().map(String::as_str).collect();
            self.add(key, format!("no unit is called `{unit}`; there are {}", known.join(", ")));
        }
    }

    fn refuse_zero(&mut self, key: impl FnOnce() -> String, amount: Option<Amount>) {
        if amount.is_some_and(Amount::is_zero) {
            self.add(key(), "a rate of 0 would take for ever; give a positive rate");
        }
    }
}

fn check_unit(faults: &mut Faults, name: &str, unit: &Unit) {
    let key = |field: &str| format!("unit.{name}.{field}");
    if unit.count == 0 {
        faults.add(key("count"), "a unit needs a count of at least 1");
    }
    if unit.full_rate_warps == Some(0) {
        faults.add(key("full_rate_warps"), "at least 1 warp is needed to reach the full rate");
    }
    faults.refuse_zero(|| key("bytes_per_clk"), unit.bytes_per_clk);
    faults.refuse_zero(|| key("chip_bytes_per_clk"), unit.chip_bytes_per_clk);
    faults.refuse_zero(|| key("elements_per_clk"), unit.elements_per_clk);
    for (element, &rate) in &unit.macs_per_clk {
        faults.refuse_zero(|| key(&format!("macs_per_clk.{element}")), Some(rate));
    }
}

fn check_entry(faults: &mut Faults, target: &Target, kind: OpKind, entry: &OpEntry) {
    for (index, terms) in entry.duration.terms().enumerate() {
        let key = if index == 0 { format!("op.{kind}.duration") } else { format!("op.{kind}.duration.also") };
        check_terms(faults, target, &key, &terms);
    }
    check_duration(faults, target, &format!("op.{kind}.duration"), &entry.duration);
    check_latency(faults, &format!("op.{kind}.latency"), &entry.latency);
}

fn check_terms(faults: &mut Faults, target: &Target, key: &str, terms: &Terms<'_>) {
    faults.refuse_zero(|| format!("{key}.rate"), terms.rate);
    let Some(unit) = target.unit.get(terms.unit) else {
        return faults.refuse_unknown(format!("{key}.unit"), target, terms.unit);
    };
    let has_rate = match terms.work {
        None => terms.rate.is_none() && terms.table.is_empty(),
        Some(_) if terms.rate.is_some() || !terms.table.is_empty() => true,
        Some(Work::Bytes | Work::OperandBytes) => unit.bytes_per_clk.is_some(),
        Some(Work::Elements) => unit.elements_per_clk.is_some(),
        Some(Work::Macs) => !unit.macs_per_clk.is_empty(),
        // A unit's own rates count no instructions.
        Some(Work::Instructions) => false,
    };
    if !has_rate {
        let reason = match terms.work {
            None => "`rate` and `table` need `work`, which says what they count".to_owned(),
            Some(_) => format!("unit {} has no rate for this work; add `rate` here or there", terms.unit),
        };
        let unit = Some(terms.unit.to_owned());
        faults.0.push(Fault { key: format!("{key}.work"), reason, unit });
    }
    if terms.rate.is_some() && !terms.table.is_empty() {
        faults.add(format!("{key}.table"), "`table` stands in the place of `rate`; give one of them");
    }
    if terms.max.is_some_and(|max| max < terms.min) {
        faults
            .add(format!("{key}.max"), format!("the greatest result is less than the least, {}", terms.min));
    }
}

fn check_duration(faults: &mut Faults, target: &Target, key: &str, rule: &DurationRule) {
    let counted = [
        ("native", &rule.native),
        ("native_per_row", &rule.native_per_row),
        ("native_per_exchange", &rule.native_per_exchange),
        ("native_per_address", &rule.native_per_address),
        ("native_per_mask", &rule.native_per_mask),
        ("native_per_partial_mask", &rule.native_per_partial_mask),
    ];
    for (field, counts) in counted {
        for class in counts.keys().filter(|&class| !target.instruction.contains_key(class)) {
            let known: Vec<&str> = target.instruction.keys().map(String::as_str).collect();
            let reason =
                format!("no class of [instruction] is called `{class}`; there are {}", known.join(", "));
            faults.add(format!("{key}.{field}.{class}"), reason);
        }
    }
    check_table(faults, key, &rule.table);
    check_measured(faults, key, rule.origin, rule.measured.is_some());
}

fn check_latency(faults: &mut Faults, key: &str, rule: &LatencyRule) {
    check_table(faults, key, &rule.table);
    check_measured(faults, key, rule.origin, rule.measured.is_some());
    if rule.work.is_none() != rule.table.is_empty() {
        faults.add(format!("{key}.table"), "`table` and `work`, which says what it counts, go together");
    }
    if rule.box_bytes == Some(0) {
        faults.add(format!("{key}.box_bytes"), "one copy takes at least 1 byte");
    }
    if rule.box_step.is_some() != rule.box_bytes.is_some() {
        faults.add(format!("{key}.box_step"), "`box_step` and `box_bytes` go together");
    }
    if rule.long_k.is_some() != rule.long_fixed.is_some() {
        faults.add(format!("{key}.long_k"), "`long_k` and `long_fixed` go together");
    }
}

fn check_table(faults: &mut Faults, key: &str, table: &[(u64, u64)]) {
    let rising = table.windows(2).all(|pair| matches!(pair, [a, b] if a.0 < b.0 && a.1 <= b.1));
    if !rising {
        faults.add(format!("{key}.table"), "points must ascend in work and must not descend in clocks");
    }
}

fn check_measured(faults: &mut Faults, key: &str, origin: Origin, has_details: bool) {
    if (origin == Origin::Measured) != has_details {
        let reason =
            "`origin = \"measured\"` and `measured = { device, clock_mhz, date, spread }` go together";
        faults.add(format!("{key}.origin"), reason);
    }
}

/// Latency must cover duration, at the sizes below.
fn check_order(faults: &mut Faults, target: &Target, kind: OpKind) {
    for op in probes(target, kind) {
        let Some((latency, duration)) = target.raw_cost(&op) else { continue };
        if latency < duration {
            let reason = format!("latency {latency} is less than duration {duration} for {op:?}");
            return faults.add(format!("op.{kind}.latency"), reason);
        }
    }
}

/// A small and a usual tile for each kind.
fn probes(target: &Target, kind: OpKind) -> Vec<Op> {
    let tiles = [(1024, 512, (64, 64, 32)), (16_384, 16_384, (128, 128, 64))];
    let element = |target: &Target| {
        let rated = target.unit.values().flat_map(|unit| unit.macs_per_clk.keys());
        rated.copied().find(|element| *element == Element::F16).unwrap_or(Element::Bf16)
    };
    let product = |instruction, (m, n, k)| {
        Op::Mma(MmaOp {
            instruction,
            m,
            n,
            k,
            element: element(target),
            a: OperandPlace::Shared,
            split: [1, 1],
        })
    };
    let reduce = |combine, last_axis, elements: u64| Op::Reduce {
        elements,
        rows: elements / 128,
        sharing: 4,
        combine,
        last_axis,
    };
    let probe = |(bytes, elements, mnk): (u64, u64, (u32, u32, u32))| match kind {
        OpKind::TmaLoad => Op::TmaLoad { bytes, inner_bytes: 128 },
        OpKind::TmaStore => Op::TmaStore { bytes },
        OpKind::CpAsync => Op::CpAsync { bytes, lanes: Access::widest(bytes) },
        OpKind::GlobalLoad => Op::GlobalLoad { bytes, lanes: Access::widest(bytes) },
        OpKind::GlobalStore => Op::GlobalStore { bytes, lanes: Access::widest(bytes) },
        OpKind::GlobalAtomic => Op::GlobalAtomic { bytes, lanes: Access::widest(bytes) },
        OpKind::Shared => Op::Shared { bytes },
        OpKind::MmaSync => product(MmaInstruction::MmaSync, mnk),
        OpKind::Wgmma => product(MmaInstruction::Wgmma, mnk),
        OpKind::Tcgen05 => product(MmaInstruction::Tcgen05, mnk),
        OpKind::TmemLd => Op::TmemLoad { elements },
        OpKind::TmemSt => Op::TmemStore { elements },
        OpKind::Mul => Op::Mul { elements },
        OpKind::Elementwise => Op::Elementwise { elements },
        OpKind::Logic => Op::Logic { elements },
        OpKind::Shift => Op::Shift { elements },
        OpKind::MinMax => Op::MinMax { elements },
        OpKind::Exp2 => Op::Exp2 { elements },
        OpKind::Log2 => Op::Log2 { elements },
        OpKind::Convert => Op::Convert { elements },
        OpKind::Narrow => Op::Narrow { elements },
        OpKind::Widen => Op::Widen { elements },
        OpKind::WidenHalf => Op::WidenHalf { elements },
        OpKind::Widen8 => Op::Widen8 { elements },
        OpKind::Narrow8 => Op::Narrow8 { elements },
        OpKind::Trip => Op::Trip { lanes: 128 },
        OpKind::RingWait => Op::RingWait { lanes: 128 },
        OpKind::RingArrive => Op::RingArrive { lanes: 128 },
        OpKind::RingAdvance => Op::RingAdvance { lanes: 128 },
        OpKind::RingSync => Op::RingSync { lanes: 128 },
        OpKind::ReduceSumLast => reduce(Combine::Sum, true, elements),
        OpKind::ReduceSumOuter => reduce(Combine::Sum, false, elements),
        OpKind::ReduceMaxLast => reduce(Combine::Max, true, elements),
        OpKind::ReduceMaxOuter => reduce(Combine::Max, false, elements),
        OpKind::Layout => Op::Layout { bytes },
        OpKind::Mbarrier => Op::Mbarrier,
        OpKind::NamedBarrier => Op::NamedBarrier,
        OpKind::RegSmemReg => Op::RegSmemReg { bytes },
        OpKind::BarrierWait => Op::BarrierWait,
        OpKind::BarrierArrive => Op::BarrierArrive,
        OpKind::Control => Op::Control,
    };
    tiles.into_iter().map(probe).collect()
}
