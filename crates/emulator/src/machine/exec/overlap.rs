//! Two lanes of one store that write different bytes to one place: which of them stay, nobody says (E100).

use super::touched::Touched;
use crate::isa::lanes::Lanes;
use crate::isa::types::low_mask;
use crate::machine::actor::Actor;
use crate::machine::core::{Core, Spot};
use crate::place::Extent;
use crate::report::Severity;

/// Reports lanes of one store of `bits` for each of `values` that write different values to the same address. Accesses
/// are aligned to their size, so they overlap only where they are the same.
pub(crate) fn check(
    core: &mut Core<'_>,
    touched: &Touched,
    values: &[Lanes],
    bits: u32,
    size: u64,
    a: &Actor,
) {
    if let Some((one, two, at)) = clash(&touched.global, values, bits) {
        let extent = core.holding(Spot::Global(at), size);
        report(core, "R02", (one, two), a, extent);
    }
    for (cta, list) in &touched.shared {
        if let Some((one, two, at)) = clash(list, values, bits) {
            let extent = core.holding(Spot::Shared(*cta, at), size);
            report(core, "R01", (one, two), a, extent);
        }
    }
}

fn report(core: &mut Core<'_>, code: &str, lanes: (u32, u32), a: &Actor, extent: Extent) {
    let actor = Actor { lanes: 1 << lanes.0 | 1 << lanes.1, ..a.clone() };
    let message = "race: two lanes of one store write different values to the same bytes";
    let remedy = "let one lane write, or give each lane its own bytes";
    core.report(code, Severity::Error, &actor, None, Some(extent), message, remedy);
}

/// Two lanes with the same address and different values, and the address.
fn clash(list: &[(u32, u64)], values: &[Lanes], bits: u32) -> Option<(u32, u32, u64)> {
    if list.windows(2).all(|w| w[0].1 < w[1].1) {
        return None;
    }
    let mut sorted: Vec<(u64, u32)> = list.iter().map(|(lane, at)| (*at, *lane)).collect();
    sorted.sort_unstable();
    let cut = |v: &Lanes, lane: u32| v.get(lane as usize).map(|x| x & low_mask(bits));
    let differ =
        |w: &&[(u64, u32)]| w[0].0 == w[1].0 && values.iter().any(|v| cut(v, w[0].1) != cut(v, w[1].1));
    sorted.windows(2).find(differ).map(|w| (w[0].1, w[1].1, w[0].0))
}
