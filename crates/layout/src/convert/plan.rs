//! The choice among the ways of a conversion.

use super::exchange::exchange;
use super::shuffle::shuffles;
use super::source::{Pair, THREAD};
use super::{Conversion, Counts, Moves, Plan, Prices, Scope, Shuffles};
use crate::bits::{log2, rank};
use crate::dim::Dim;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::space::Space;

/// The cheapest way from one distributed layout of a tile to another, for elements that take `bits` bits of a register:
/// 8, 16, 32 or 64 (smaller types are held as 8).
///
/// Both layouts name the same tile and the same lanes, warps and CTAs. Refuses a source that lacks an element that the
/// target wants, and conversions that move elements from CTA to CTA.
///
/// ```
/// use warploom_layout::{Plan, Prices, blocked, convert, fragment::wgmma};
///
/// # fn main() -> Result<(), warploom_layout::LayoutError> {
/// // From the accumulators of wgmma, as 16 bits, to rows that a store takes 16 bytes of at once.
/// let from = wgmma::accumulator(128)?;
/// let to = blocked(&[64, 128], &[1, 0], 8, 4)?;
/// let conversion = convert(&from, &to, 16, &Prices::default())?;
/// assert_eq!(conversion.plan.name(), "exchange");
/// // Eight stmatrix.x4 and eight 16-byte loads for 4 KiB a warp, no transaction more than the bytes need.
/// assert_eq!((conversion.counts.stores, conversion.counts.store_wavefronts), (8, 32));
/// assert_eq!((conversion.counts.loads, conversion.counts.load_wavefronts), (8, 32));
/// # Ok(())
/// # }
/// ```
pub fn convert(from: &Layout, to: &Layout, bits: u64, prices: &Prices) -> Result<Conversion> {
    if !matches!(bits, 8 | 16 | 32 | 64) {
        return Err(LayoutError::Instruction {
            instruction: "a conversion",
            what: format!("elements of {bits} bits"),
        });
    }
    let pair = Pair::of(from, to)?;
    refuse_missing(pair)?;
    if nothing(pair) {
        return Ok(Conversion { plan: Plan::Nothing, counts: Counts::default() });
    }
    if let Some(source) = moves(pair) {
        let counts = moves_counts(&source, to, bits);
        return Ok(Conversion { plan: Plan::Moves(Moves { source }), counts });
    }
    let element = bits.trailing_zeros() - 3;
    let within = shuffles(pair, bits).map(|shuffles| {
        let counts = shuffle_counts(&shuffles, bits);
        (prices.cost(&counts, false), Conversion { plan: Plan::Shuffles(shuffles), counts })
    });
    let through = exchange(pair, element, prices)?.map(|(exchange, counts)| {
        let cost = prices.cost(&counts, exchange.scope == Scope::Warps);
        (cost, Conversion { plan: Plan::Exchange(exchange), counts })
    });
    let cheaper = [within, through].into_iter().flatten().min_by_key(|(cost, _)| *cost);
    cheaper.map(|(_, conversion)| conversion).ok_or(LayoutError::Scratch { bytes: prices.scratch })
}

fn refuse_missing(pair: Pair) -> Result<()> {
    let span = pair.span(&[]);
    let missing = pair.to.images.iter().position(|&image| !span.contains(image));
    if let Some((input, _)) = missing.and_then(|bit| pair.to.inputs.bit(bit as u32)) {
        return Err(LayoutError::NotHeld { input });
    }
    if pair.stays(&[Dim::Cta]) { Ok(()) } else { Err(LayoutError::AcrossCtas) }
}

/// Whether register `r` of every lane has what register `r` wants.
fn nothing(pair: Pair) -> bool {
    let registers = pair.from.inputs.bits(Dim::Register);
    pair.to.inputs.bits(Dim::Register) <= registers
        && (0..pair.to.inputs.total()).all(|bit| pair.wants(bit, &Dim::DISTRIBUTED) == 0)
}

/// The register that each has its element in, if every lane has all of its own.
fn moves(pair: Pair) -> Option<Layout> {
    let span = pair.span(&THREAD);
    let registers = pair.from.inputs.bits(Dim::Register);
    let outputs = Space::default().widened(Dim::Register, registers, "outputs").ok()?;
    let images = (0..pair.to.inputs.total()).map(|bit| {
        let wanted = pair.wants(bit, &THREAD);
        // The register itself where it is right, though another may have the same.
        if bit < registers.min(pair.to.inputs.bits(Dim::Register)) && pair.from.images[bit as usize] == wanted
        {
            return Some(1 << bit);
        }
        span.solve(wanted)
    });
    let images = images.collect::<Option<_>>()?;
    Some(Layout { inputs: pair.to.inputs.clone(), outputs, images })
}

/// `log2` of the elements in a 32-bit word.
fn in_word(bits: u64) -> u32 {
    (32 / bits).max(1).trailing_zeros()
}

fn moves_counts(source: &Layout, to: &Layout, bits: u64) -> Counts {
    let packed = in_word(bits).min(to.inputs.bits(Dim::Register));
    let halves = bits.div_ceil(32);
    // Copies are not made anew: a lowering names the same value twice.
    let own = to.inputs.bits(Dim::Register) - to.copy_bits(Dim::Register).count_ones();
    let words = (1u64 << own.saturating_sub(packed)).saturating_mul(halves);
    let registers = source.images_of(Dim::Register);
    let threads = rank(source.images.iter().skip(registers.len()).copied());
    let permutes = permutes(registers, packed, words);
    Counts { selects: words.saturating_mul(threads.into()), permutes, ..Counts::default() }
}

/// Byte permutes of register moves. Words are alike but for a constant, so that one decides for all, unless their
/// elements stay in order within a word and only some words have them turned.
fn permutes(registers: &[u64], packed: u32, words: u64) -> u64 {
    let inside = (1u64 << packed) - 1;
    let (low, high) = registers.split_at((packed as usize).min(registers.len()));
    let sources = rank(low.iter().map(|image| image & !inside));
    let in_place = low.iter().enumerate().all(|(bit, image)| image & inside == 1 << bit);
    if sources == 0 && in_place {
        let turned = rank(high.iter().map(|image| image & inside));
        return words - (words >> turned);
    }
    words.saturating_mul(((1u64 << sources) - 1).max(1))
}

fn shuffle_counts(shuffles: &Shuffles, bits: u64) -> Counts {
    let halves = bits.div_ceil(32);
    let moving = shuffles.rounds.iter().filter(|round| !round.home).count() as u64;
    let rounds = shuffles.rounds.len() as u64;
    let choices = u64::from(shuffles.send.rank() + shuffles.into.rank());
    let whole = in_word(bits) as usize;
    let native = |side: fn(&super::Packed) -> u64| {
        let masks = shuffles.pack.iter().map(side).enumerate();
        shuffles.pack.len() == whole && masks.into_iter().all(|(bit, mask)| log2(mask) == Some(bit as u32))
    };
    let sides = u64::from(!native(|p| p.send)) + u64::from(!native(|p| p.into));
    Counts {
        selects: choices * rounds * halves,
        permutes: sides * rounds,
        shuffles: moving * halves,
        ..Counts::default()
    }
}
