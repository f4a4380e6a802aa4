//! Conversions through shared memory, without bank conflicts on either side wherever that can be.

use smallvec::SmallVec;

use super::flags::{flags, order};
use super::shuffle::register_copies;
use super::source::Pair;
use super::transfer::transfers;
use super::{Counts, Exchange, Prices, Scope, Transfer};
use crate::bits::{Echelon, apply};
use crate::dim::Dim;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::space::{MOST_BITS, Space};

/// The cheapest exchange, for elements of `2^element` bytes, and what it takes: of each warp alone where that can be and
/// its bytes are there.
pub(super) fn exchange(pair: Pair, element: u32, prices: &Prices) -> Result<Option<(Exchange, Counts)>> {
    const WITHIN: [Dim; 2] = [Dim::Warp, Dim::Cta];
    if pair.stays(&WITHIN) {
        let alone = within(pair, (Scope::Warp, &WITHIN), element, prices)?;
        if alone.is_some() {
            return Ok(alone);
        }
    }
    within(pair, (Scope::Warps, &WITHIN[1..]), element, prices)
}

/// The cheapest exchange among those who share the numbers of `kept`.
fn within(
    pair: Pair,
    (scope, kept): (Scope, &[Dim]),
    element: u32,
    prices: &Prices,
) -> Result<Option<(Exchange, Counts)>> {
    let keeps = pair.from.inputs.masks(kept);
    let space: Vec<u64> = pair
        .from
        .images
        .iter()
        .enumerate()
        .filter(|(bit, _)| keeps >> bit & 1 == 0)
        .map(|(_, &image)| image)
        .collect();
    let mut best: Option<(u64, Exchange, Counts)> = None;
    for flag in flags(pair, element) {
        let order = order(pair, &space, &flag, element);
        let Some((store, load)) = maps(pair, kept, &order, element)? else { continue };
        let (store, load) =
            (cheapest(&store, element, true, prices), cheapest(&load, element, false, prices));
        let (Some((store, stores)), Some((load, loads))) = (store, load) else { continue };
        let bytes = store.to.output_size(Dim::Offset) << element;
        if bytes > prices.scratch {
            continue;
        }
        let counts = Counts {
            stores: stores.0,
            store_wavefronts: stores.1,
            loads: loads.0,
            load_wavefronts: loads.1,
            permutes: store.permutes(element) + load.permutes(element),
            barriers: 2,
            bytes,
            ..Counts::default()
        };
        let cost = prices.cost(&counts, scope == Scope::Warps);
        if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
            best = Some((
                cost,
                Exchange { scope, bytes, store, load, copies: register_copies(pair.to) },
                counts,
            ));
        }
    }
    Ok(best.map(|(_, exchange, counts)| (exchange, counts)))
}

/// Both sides onto offsets; warps that keep to themselves have scratch memory of their own, one behind the other.
fn maps(pair: Pair, kept: &[Dim], order: &[u64], element: u32) -> Result<Option<(Layout, Layout)>> {
    let mut place = Echelon::new();
    for (bit, &vector) in order.iter().enumerate() {
        place.insert(vector, 1 << bit);
    }
    let own_warps = if kept.contains(&Dim::Warp) { pair.from.inputs.bits(Dim::Warp) } else { 0 };
    let local = order.len() as u32;
    let outputs = Space::default().widened(Dim::Offset, local + own_warps, "outputs")?;
    if outputs.total() + element > MOST_BITS {
        return Err(LayoutError::TooLarge { what: "scratch memory", bits: outputs.total() + element });
    }
    let map = |layout: &Layout, wants: &dyn Fn(u32, Dim, u32) -> u64| {
        let images = (0..layout.inputs.total()).map(|bit| {
            let (dim, number) = layout.inputs.bit(bit)?;
            let offset = place.solve(wants(bit, dim, number))?;
            let own = if dim == Dim::Warp && own_warps > 0 { 1 << (local + number) } else { 0 };
            Some(offset | own)
        });
        let images: Option<SmallVec<[u64; 16]>> = images.collect();
        images.map(|images| Layout { inputs: layout.inputs.clone(), outputs: outputs.clone(), images })
    };
    let store = map(pair.from, &|bit, dim, _| match kept.contains(&dim) {
        true => 0,
        false => apply(&pair.from.images, 1 << bit),
    });
    let load = map(pair.to, &|bit, _, _| pair.wants(bit, kept));
    Ok(store.zip(load))
}

/// The transfer of one side that costs least, with its instructions and wavefronts.
fn cheapest(to: &Layout, element: u32, stores: bool, prices: &Prices) -> Option<(Transfer, (u64, u64))> {
    let priced = transfers(to, element, (stores, prices.matrices)).into_iter().map(|transfer| {
        let (instructions, wavefronts) = transfer.instructions(element);
        let counts = Counts {
            stores: instructions,
            store_wavefronts: wavefronts,
            permutes: transfer.permutes(element),
            ..Counts::default()
        };
        (prices.cost(&counts, false), transfer, (instructions, wavefronts))
    });
    priced.min_by_key(|(cost, ..)| *cost).map(|(_, transfer, counts)| (transfer, counts))
}
