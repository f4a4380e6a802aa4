//! A conversion carried out: afterwards every place of the target has the element that it should.

use super::machine::{Map, Registers, Threads, masked};
use super::memory::{Memory, Traffic};
use super::violation::{Place, Violation};
use crate::convert::{Conversion, Exchange, Plan, Scope, Shuffles};
use crate::dim::Dim;
use crate::layout::Layout;

/// Carries out a conversion of elements of `bits` bits and compares every place, and what was counted (G12).
///
/// ```
/// use warploom_layout::{Prices, blocked, check, convert};
/// let (rows, columns) = (blocked(&[64, 64], &[1, 0], 4, 4)?, blocked(&[64, 64], &[0, 1], 4, 4)?);
/// let conversion = convert(&rows, &columns, 32, &Prices::default())?;
/// check::conversion(&rows, &columns, 32, &conversion)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn conversion(from: &Layout, to: &Layout, bits: u64, conversion: &Conversion) -> Result<(), Violation> {
    let most = from.input_size(Dim::Register).max(to.input_size(Dim::Register));
    let threads = Threads::of(to, most)?;
    let source = Registers::filled(threads, from);
    let mut result = Registers::empty(threads, to.input_size(Dim::Register));
    let mut shuffles = 0;
    let mut traffic = [Traffic::default(); 2];
    match &conversion.plan {
        Plan::Nothing => each_place(threads, to, |at| result.set(at, source.get(at)?))?,
        Plan::Moves(moves) => {
            let map = Map::of(&moves.source);
            each_place(threads, to, |at| {
                let value = source.get(Place { register: map.at(at), ..at })?;
                result.set(at, value)
            })?;
        }
        Plan::Shuffles(plan) => shuffles = shuffled(threads, to, bits, plan, &source, &mut result)?,
        Plan::Exchange(plan) => traffic = exchanged(threads, to, bits, plan, &source, &mut result)?,
    }
    let wanted = Map::of(to);
    each_place(threads, to, |at| {
        let (found, wanted_here) = (result.get(at)?, wanted.at(at));
        if found == Some(wanted_here) {
            return Ok(());
        }
        let found = found.map(|image| wanted.coordinates(image));
        Err(Violation::Wrong { at, found, wanted: wanted.coordinates(wanted_here) })
    })?;
    let (said, [store, load]) = (&conversion.counts, traffic);
    let (bytes, barriers) = match &conversion.plan {
        Plan::Exchange(plan) => (plan.bytes, 2),
        _ => (0, 0),
    };
    for (what, said, found) in [
        ("shuffles", said.shuffles, shuffles),
        ("stores", said.stores, store.instructions),
        ("wavefronts of stores", said.store_wavefronts, store.wavefronts),
        ("loads", said.loads, load.instructions),
        ("wavefronts of loads", said.load_wavefronts, load.wavefronts),
        ("bytes of scratch memory", said.bytes, bytes),
        ("barriers", said.barriers, barriers),
    ] {
        if said != found {
            return Err(Violation::Count { what, said, found });
        }
    }
    Ok(())
}

fn each_place(
    threads: Threads,
    layout: &Layout,
    mut act: impl FnMut(Place) -> Result<(), Violation>,
) -> Result<(), Violation> {
    for thread in 0..threads.count() {
        for register in 0..layout.input_size(Dim::Register) {
            act(Place { register, ..threads.place(thread) })?;
        }
    }
    Ok(())
}

/// The rounds, and how many shuffles of 32 bits they are.
fn shuffled(
    threads: Threads,
    to: &Layout,
    bits: u64,
    plan: &Shuffles,
    source: &Registers,
    result: &mut Registers,
) -> Result<u64, Violation> {
    let (send, from, into) = (Map::of(&plan.send), Map::of(&plan.from), Map::of(&plan.into));
    if plan.pack.len() > 5 || bits << plan.pack.len() > 32.max(bits) {
        return Err(Violation::Round { what: "a word of more than 32 bits" });
    }
    let (mut moving, mut first) = (0, Registers::empty(threads, to.input_size(Dim::Register)));
    for round in &plan.rounds {
        moving += u64::from(!round.home);
        for thread in 0..threads.count() {
            let at = threads.place(thread);
            let giver = Place { lane: from.at(at) ^ round.from, ..at };
            if giver.lane >= threads.lanes {
                return Err(Violation::Beyond { at, what: "lane", number: giver.lane });
            }
            if round.home && giver.lane != at.lane {
                return Err(Violation::Round { what: "another lane's word without a shuffle" });
            }
            for element in 0..1u64 << plan.pack.len() {
                // What a giver sends depends on the giver alone.
                let sent = send.at(giver) ^ round.send ^ masked(plan.pack.iter().map(|p| p.send), element);
                let filled = into.at(at) ^ round.into ^ masked(plan.pack.iter().map(|p| p.into), element);
                let value = source.get(Place { register: sent, ..giver })?;
                let place = Place { register: filled, ..at };
                if first.get(place)?.is_some() {
                    return Err(Violation::Round { what: "a register that is filled twice" });
                }
                first.set(place, value)?;
            }
        }
    }
    copied(threads, to, &plan.copies, &first, result)?;
    Ok(moving * bits.div_ceil(32))
}

/// Registers that have the value of another.
fn copied(
    threads: Threads,
    to: &Layout,
    copies: &Layout,
    first: &Registers,
    result: &mut Registers,
) -> Result<(), Violation> {
    let copies = Map::of(copies);
    each_place(threads, to, |at| {
        let register = copies.at(Place { lane: 0, warp: 0, cta: 0, ..at });
        result.set(at, first.get(Place { register, ..at })?)
    })
}

/// Stores and loads.
fn exchanged(
    threads: Threads,
    to: &Layout,
    bits: u64,
    plan: &Exchange,
    source: &Registers,
    result: &mut Registers,
) -> Result<[Traffic; 2], Violation> {
    let mut memory = Memory::empty(threads, plan.bytes, bits / 8, plan.scope == Scope::Warp)?;
    let store = memory.transfer(&plan.store, &mut |memory, at, offset| {
        let value = source.get(at)?;
        memory.write(at, offset, value)
    })?;
    // Those who do not store have what another stored in their place.
    let map = Map::of(&plan.store.to);
    each_place(threads, &plan.store.to, |at| match memory.read(at, map.at(at))? {
        found if found == source.get(at)? => Ok(()),
        _ => Err(Violation::Access { at, what: "another element than a copy of it", offset: map.at(at) }),
    })?;
    let mut first = Registers::empty(threads, to.input_size(Dim::Register));
    let load = memory.transfer(&plan.load, &mut |memory, at, offset| {
        let value = memory.read(at, offset)?;
        first.set(at, value)
    })?;
    copied(threads, to, &plan.copies, &first, result)?;
    Ok([store, load])
}
