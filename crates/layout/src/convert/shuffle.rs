//! Conversions within a warp as rounds of shuffles.
//!
//! A round is a coset of a space W of target points (register, thread) in which every thread occurs once: that says
//! which register each lane fills. It can be one shuffle if no lane has to send two words: W must not contain two
//! points whose elements come from the same lane but are different. So W avoids two spaces, the registers of one lane
//! (they make the rounds), and the points whose elements come from one lane. Such a W exists where source and target
//! have equally many registers per lane, copies aside: no union of two proper subspaces is the whole space.

use smallvec::SmallVec;

use super::source::{Pair, THREAD, scatter};
use super::{Packed, Round, Shuffles};
use crate::bits::{Echelon, kernel};
use crate::dim::Dim;
use crate::layout::Layout;
use crate::space::Space;

/// The most rounds that a plan lists; beyond them a conversion through shared memory is cheaper anyhow.
const MOST_ROUND_BITS: usize = 10;

/// Target points with the source points that their elements come from.
struct Sources {
    /// The bits of the target's points that count: its registers without copies, and its threads.
    bits: Vec<u32>,
    /// Those of registers.
    registers: Vec<u64>,
    /// Target points whose elements the same lane has: a basis.
    home: Vec<u64>,
    /// The map, by target point; tags are points of the source.
    map: Echelon,
}

impl Sources {
    fn at(&self, point: u64) -> u64 {
        self.map.reduce(point).1
    }
}

/// The plan, for elements of `bits` bits; `None` where elements leave their warp, or where too many lanes have to send
/// two words.
pub(super) fn shuffles(pair: Pair, bits: u64) -> Option<Shuffles> {
    let sources = sources(pair)?;
    let lanes = from_lane(pair, &sources);
    let chosen = choose(pair, &sources, &lanes)?;

    // Register bits of the target whose elements come from one lane share a word.
    let most = if bits < 32 { (32 / bits).ilog2() as usize } else { 0 };
    let from_one: Vec<u64> =
        sources.registers.iter().map(|&r| sources.at(r) & pair.from.inputs.masks(&THREAD)).collect();
    let shared: Vec<u64> = kernel(&from_one)
        .into_iter()
        .take(most)
        .map(|sum| scatter(sum, &sources.bits[..sources.registers.len()]))
        .collect();
    let mut taken = Echelon::of(&shared);
    let rounds: Vec<u64> =
        sources.registers.iter().copied().filter(|&r| taken.insert(r, 0).is_none()).collect();
    if rounds.len() > MOST_ROUND_BITS {
        return None;
    }
    Some(plan(pair, &sources, &chosen, &shared, &rounds))
}

/// Where each target point's element comes from, in the same warp, at home wherever it can.
fn sources(pair: Pair) -> Option<Sources> {
    const KEPT: [Dim; 2] = [Dim::Warp, Dim::Cta];
    if !pair.stays(&KEPT) {
        return None;
    }
    let (to, from) = (pair.to, pair.from);
    let copies = to.copy_mask() & to.inputs.mask(Dim::Register);
    let bits: Vec<u32> = (0..to.inputs.total()).filter(|bit| copies >> bit & 1 == 0).collect();
    let register_bits = to.inputs.bits(Dim::Register);
    let registers = bits.iter().filter(|&&bit| bit < register_bits).map(|&bit| 1 << bit).collect();

    let mut map = Echelon::new();
    let mut lanes = Echelon::new();
    let thread = from.inputs.masks(&THREAD);
    let home = pair.at_home(&bits);
    let own = pair.span(&THREAD);
    for &point in &home {
        let source = own.solve(pair.wants_all(point, &THREAD))? | pair.threads(point);
        map.insert(point, source);
        lanes.insert(source & thread, 0);
    }
    // Copies of a lane's words let several lanes send: as many different ones as there are.
    let warp = pair.span(&KEPT);
    let keeps = from.inputs.masks(&KEPT);
    let within: Vec<u32> = (0..from.inputs.total()).filter(|bit| keeps >> bit & 1 == 0).collect();
    let images: Vec<u64> = within.iter().map(|&bit| from.images[bit as usize]).collect();
    let alike: Vec<u64> = kernel(&images).into_iter().map(|sum| scatter(sum, &within)).collect();
    for &bit in &bits {
        let point = 1u64 << bit;
        if map.contains(point) {
            continue;
        }
        let kept = to.inputs.carry(point & to.inputs.masks(&KEPT), &from.inputs);
        let source = warp.solve(pair.wants(bit, &KEPT))? | kept;
        let choices = std::iter::once(0).chain(alike.iter().copied()).map(|copy| source ^ copy);
        let best = choices.into_iter().find(|choice| !lanes.contains(choice & thread)).unwrap_or(source);
        lanes.insert(best & thread, 0);
        map.insert(point, best);
    }
    // Tags of an echelon are those of the vectors as they were put in, so that `map` is linear.
    Some(Sources { bits, registers, home, map })
}

/// A basis of the target points whose elements come from lane 0 of warp 0.
fn from_lane(pair: Pair, sources: &Sources) -> Vec<u64> {
    let thread = pair.from.inputs.masks(&THREAD);
    let images: Vec<u64> = sources.bits.iter().map(|&bit| sources.at(1 << bit) & thread).collect();
    kernel(&images).into_iter().map(|sum| scatter(sum, &sources.bits)).collect()
}

/// A basis of W.
fn choose(pair: Pair, sources: &Sources, one_lane: &[u64]) -> Option<Vec<u64>> {
    let threads = pair.to.inputs.masks(&THREAD).count_ones() as usize;
    let elements: Vec<u64> = sources.bits.iter().map(|&bit| sources.at(1 << bit)).collect();
    // Copies of an element may be taken in one round by all who want it.
    let mut chosen: Vec<u64> = kernel(&elements).into_iter().map(|sum| scatter(sum, &sources.bits)).collect();
    let mut registers = Echelon::of(&sources.registers);
    let mut lane = Echelon::of(one_lane);
    for &point in &chosen {
        if registers.insert(point, 0).is_some() {
            return None;
        }
    }
    let units: Vec<u64> = sources.bits.iter().map(|&bit| 1 << bit).collect();
    // First from the points at home: if they suffice, a share of the rounds needs no shuffle.
    for pool in [&sources.home, &units] {
        while chosen.len() < threads {
            let Some(next) = outside(pool, &registers, &lane) else { break };
            registers.insert(next, 0);
            lane.insert(next, 0);
            chosen.push(next);
        }
    }
    (chosen.len() == threads).then_some(chosen)
}

/// A sum of vectors of the pool that lies in neither span.
pub(super) fn outside(pool: &[u64], left: &Echelon, right: &Echelon) -> Option<u64> {
    let both = pool.iter().copied().find(|&v| !left.contains(v) && !right.contains(v));
    both.or_else(|| {
        // One that is in `right` alone plus one that is in `left` alone lies in neither.
        let first = pool.iter().copied().find(|&v| !left.contains(v))?;
        let second = pool.iter().copied().find(|&v| !right.contains(v))?;
        Some(first ^ second)
    })
}

fn plan(pair: Pair, sources: &Sources, chosen: &[u64], shared: &[u64], rounds: &[u64]) -> Shuffles {
    let (to, from) = (&pair.to.inputs, &pair.from.inputs);
    let (thread_to, thread_from) = (to.masks(&THREAD), from.masks(&THREAD));
    // The point of W of each thread, and the register that each thread sends for W.
    let mut of_thread = Echelon::new();
    let mut sends = Echelon::new();
    for &point in chosen {
        of_thread.insert(point & thread_to, point);
        let source = sources.at(point);
        sends.insert(source & thread_from, from.part(source, Dim::Register));
    }
    for bit in (0..from.total()).filter(|bit| thread_from >> bit & 1 == 1) {
        sends.insert(1 << bit, 0);
    }
    let threads: Vec<u64> = (0..to.total()).map(|bit| 1 << bit).filter(|bit| bit & thread_to != 0).collect();
    let point = |thread: &u64| of_thread.reduce(*thread).1;
    let send_of = |thread: u64| sends.reduce(thread & thread_from).1;
    let inputs = thread_space(to);
    let layout = |output: Dim, bits: u32, images: Vec<u64>| {
        let outputs = Space::default().widened(output, bits, "outputs").unwrap_or_default();
        Layout { inputs: inputs.clone(), outputs, images: SmallVec::from_vec(images) }
    };
    let into = threads.iter().map(|thread| to.part(point(thread), Dim::Register)).collect();
    let lanes: Vec<u64> =
        threads.iter().map(|thread| from.part(sources.at(point(thread)), Dim::Lane)).collect();
    let send = threads.iter().map(|thread| send_of(pair.threads(*thread))).collect();
    let own = threads.iter().map(|&thread| to.part(thread, Dim::Lane));
    let home = own.eq(lanes.iter().copied());
    let constant = |number: u64| {
        let into = crate::bits::apply(rounds, number);
        let source = sources.at(into);
        let lane = from.part(source, Dim::Lane);
        let send = send_of(source) ^ from.part(source, Dim::Register);
        Round { send, from: lane, into, home: home && lane == 0 }
    };
    Shuffles {
        send: layout(Dim::Register, from.bits(Dim::Register), send),
        from: layout(Dim::Lane, from.bits(Dim::Lane), lanes),
        into: layout(Dim::Register, to.bits(Dim::Register), into),
        pack: shared
            .iter()
            .map(|&r| Packed { send: from.part(sources.at(r), Dim::Register), into: r })
            .collect(),
        rounds: (0..1 << rounds.len()).map(constant).collect(),
        copies: register_copies(pair.to),
    }
}

/// The threads alone, as inputs.
fn thread_space(inputs: &Space) -> Space {
    THREAD.iter().fold(Space::default(), |space, &dim| {
        space.widened(dim, inputs.bits(dim), "inputs").unwrap_or_default()
    })
}

/// Each register onto the register of the same lane that has its element and is no copy.
pub(super) fn register_copies(layout: &Layout) -> Layout {
    let space = Space::default().widened(Dim::Register, layout.inputs.bits(Dim::Register), "outputs");
    let space = space.unwrap_or_default();
    let mut echelon = Echelon::new();
    let owners = layout.images_of(Dim::Register).iter().enumerate().map(|(bit, &image)| {
        match echelon.insert(image, 1 << bit) {
            None => 1 << bit,
            Some(sum) => sum ^ 1 << bit,
        }
    });
    Layout { inputs: space.clone(), images: owners.collect(), outputs: space }
}
