//! Order through memory: what strong reads learn, and what strong writes publish (E61, E99).

use super::touched::Touched;
use crate::isa::op::Order;
use crate::machine::core::Core;
use crate::machine::warp::Warp;
use crate::race::clock::Clock;
use crate::race::clock::{ByScope, join_scopes};
use crate::race::scope::Scope;

/// Where an access went: 0 for global memory, the rank of its CTA plus one for shared memory; and the address.
fn keys(touched: &Touched) -> Vec<(u32, u64)> {
    let global = touched.global.iter().map(|(_, at)| (0, *at));
    let shared = touched.shared.iter().flat_map(|(c, l)| l.iter().map(move |(_, at)| (c + 1, *at)));
    let mut keys: Vec<(u32, u64)> = global.chain(shared).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// What some lanes learn by a strong load, or by an atomic that `takes` the value it replaces, from the places they read.
///
/// A relaxed load learns nothing before a fence. An atomic that takes a ticket is followed by none in the example of
/// the CUDA guide (its last block sums up behind a barrier alone), so it learns at once, unless `strict`.
pub(crate) fn acquire(
    core: &mut Core<'_>,
    w: &mut Warp,
    touched: &Touched,
    order: Order,
    scope: Scope,
    (takes, mask): (bool, u32),
) {
    let mut found = ByScope::default();
    for key in keys(touched) {
        let released = if key.0 == 0 { &core.world.released } else { &core.released };
        released.find(key, (core.home, w.cta), scope, &mut found);
    }
    if order.acquires() || takes && !core.opts.strict {
        found.iter().flatten().for_each(|c| w.learn(mask, c));
    }
    join_scopes(&mut w.read_clock, &found);
}

/// What a strong store or atomic publishes at the places it writes: all that these lanes know if it releases, else
/// what their last fence saw.
pub(crate) fn release(
    core: &mut Core<'_>,
    w: &mut Warp,
    touched: &Touched,
    order: Order,
    scope: Scope,
    mask: u32,
) {
    let clocks = if order.releases() {
        let clock = w.release(mask);
        [Some(clock.clone()), Some(clock.clone()), Some(clock)]
    } else if fenced(w) {
        let mut clocks = w.fence_clock.clone();
        if let Some(others) = &w.clock.sequential {
            join_scopes(&mut clocks, others);
        }
        clocks
    } else {
        return;
    };
    let cta = (core.home, w.cta);
    for key in keys(touched) {
        let released = if key.0 == 0 { &mut core.world.released } else { &mut core.released };
        released.publish(key, cta, scope, &clocks);
    }
}

/// What a relaxed arrival of a scope publishes: what fences before it saw.
pub(crate) fn fenced_for(core: &Core<'_>, w: &Warp, scope: Scope) -> Clock {
    let sequential = w.clock.sequential.as_ref().and_then(|s| s.get(scope as usize));
    let mut clock = core.empty_clock();
    for saw in w.fence_clock.get(scope as usize).into_iter().chain(sequential).flatten() {
        clock.join(saw);
    }
    clock
}

/// Whether a strong write publishes what a fence before it saw.
pub(crate) fn fenced(w: &Warp) -> bool {
    w.clock.sequential.is_some() || w.fence_clock.iter().any(Option::is_some)
}

/// A store that is no atomic ends what releases left where it writes.
pub(crate) fn overwrite(core: &mut Core<'_>, touched: &Touched) {
    for (_, at) in &touched.global {
        core.world.released.overwrite((0, *at));
    }
    for (cta, list) in &touched.shared {
        list.iter().for_each(|(_, at)| core.released.overwrite((cta + 1, *at)));
    }
}
