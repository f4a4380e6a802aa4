//! Cost rules as formulas.

use crate::Target;
use crate::cost::{DurationRule, LatencyRule, Origin, Terms, Work};

pub(super) fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Unverified => "unverified",
        Origin::Derived => "derived",
        Origin::Published => "published",
        Origin::Measured => "measured",
    }
}

pub(super) fn duration(target: &Target, rule: &DurationRule) -> String {
    let moves_bytes = rule.work == Some(Work::Bytes);
    let native = [("element", &rule.native), ("row", &rule.native_per_row)];
    let counts = native.into_iter().filter(|(_, classes)| !classes.is_empty()).map(|(of, classes)| {
        let counts: Vec<String> = classes.iter().map(|(class, count)| format!("{count} {class}")).collect();
        let of = if of == "element" && moves_bytes { "16 bytes" } else { of };
        format!("{} for each {of}", counts.join(" + "))
    });
    // What native instructions hold stands with their classes; the unit that takes most of it is named.
    let (first, own) = (rule.unit.as_str(), rule.native.is_empty() || rule.work.is_some());
    let held = rule.terms().skip(usize::from(!own));
    let units = held.map(|terms| format!("{} {}", terms.unit, of_unit(target, &terms)));
    let all = counts.chain(units).collect::<Vec<_>>().join("; ");
    if own { all } else { format!("{first}: {all}") }
}

fn of_unit(target: &Target, terms: &Terms<'_>) -> String {
    let unit = target.unit.get(terms.unit);
    let mut sum = Vec::new();
    if let Some(work) = terms.work.filter(|_| terms.table.is_empty()) {
        let own = unit.and_then(|unit| match work {
            Work::Bytes | Work::OperandBytes => unit.bytes_per_clk,
            Work::Elements => unit.elements_per_clk,
            Work::Macs | Work::Instructions => None,
        });
        let rate = terms.rate.or(own).map_or("rate".to_owned(), |rate| rate.to_string());
        sum.push(format!("{}/{rate}", name(work)));
    }
    sum.extend(terms.clk_per_kib.map(|clocks| format!("{clocks} KiB")));
    sum.extend(terms.clk_per_16k_elements.map(|clocks| format!("{clocks}/E0")));
    sum.extend(points(terms.work, terms.table));
    let total = bounded(with_fixed(terms.fixed, sum), terms.min);
    terms.max.map_or(total.clone(), |max| format!("min({max}, {total})"))
}

pub(super) fn latency(rule: &LatencyRule) -> String {
    let mut sum = Vec::new();
    if rule.plus_duration {
        sum.push("duration".to_owned());
    }
    sum.extend(rule.clk_per_kib.map(|clocks| {
        if rule.partial_kib { format!("{clocks} bytes/1024") } else { format!("{clocks} KiB") }
    }));
    sum.extend(rule.clk_per_row_element.map(|clocks| format!("{clocks} elements of a row")));
    sum.extend(rule.clk_per_16k_elements.map(|clocks| format!("{clocks}/E0")));
    if let (Some(step), Some(bytes)) = (rule.box_step, rule.box_bytes) {
        let further = format!("ceil(inner/{bytes})-1");
        sum.push(match rule.box_max {
            Some(max) => format!("{step} min({further}, {max})"),
            None => format!("{step} ({further})"),
        });
    }
    sum.extend(points(rule.work, &rule.table));
    let total = bounded(with_fixed(rule.fixed, sum), rule.min);
    match (rule.long_k, rule.long_fixed) {
        (Some(k), Some(fixed)) => format!("{total}, {fixed} from K = {k}"),
        _ => total,
    }
}

fn name(work: Work) -> &'static str {
    match work {
        Work::Bytes => "bytes",
        Work::Elements => "elements",
        Work::Macs => "MACs",
        Work::OperandBytes => "operand bytes",
        Work::Instructions => "instructions",
    }
}

fn points(work: Option<Work>, table: &[(u64, u64)]) -> Option<String> {
    let (first, last) = (table.first()?, table.last()?);
    let work = work.map_or("size", name);
    Some(format!("table {work} {}..{} -> {}..{}", first.0, last.0, first.1, last.1))
}

fn with_fixed(fixed: u64, mut terms: Vec<String>) -> String {
    if fixed > 0 || terms.is_empty() {
        terms.insert(0, fixed.to_string());
    }
    terms.join(" + ")
}

fn bounded(sum: String, min: u64) -> String {
    if min > 0 { format!("max({min}, {sum})") } else { sum }
}
