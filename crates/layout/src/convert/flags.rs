//! What stands side by side in the scratch memory of an exchange, and which offsets share a bank.

use super::shuffle::outside;
use super::source::Pair;
use super::transfer::WIDEST;
use crate::access::{BANK, WAVEFRONT};
use crate::bits::{Echelon, meet};
use crate::dim::Dim;
use crate::layout::Layout;

/// Vectors of tile points for the lowest bits of offsets, in order.
pub(super) type Flag = Vec<u64>;

/// What can stand side by side: what both sides have in their registers; that and more of one side's, which makes its
/// pieces wider; rows of matrices of either side. Each at least a 32-bit word.
pub(super) fn flags(pair: Pair, element: u32) -> Vec<Flag> {
    let widest = (WIDEST - element) as usize;
    let in_word = BANK.saturating_sub(element) as usize;
    let (from, to) = (pair.from.images_of(Dim::Register), pair.to.images_of(Dim::Register));
    let common = meet(from, to);
    let mut found = vec![
        // Nothing, for where threads of one side and of the other together make up what both have in registers.
        Vec::new(),
        independent(common.iter(), widest),
        independent(common.iter().chain(from), widest),
        independent(common.iter().chain(to), widest),
    ];
    for (side, layout) in [(from, pair.from), (to, pair.to)] {
        let lanes = layout.images_of(Dim::Lane);
        if element > BANK || lanes.len() != 5 {
            continue;
        }
        // Elements of a word as registers have them, so that no byte moves; or as both sides can.
        for word in
            [independent(side.iter().take(in_word), in_word), independent(common.iter().chain(side), in_word)]
        {
            found.push(word.into_iter().chain(lanes[..2].iter().copied()).collect());
        }
        if element == 1 {
            found.push(lanes[2..].to_vec());
        }
    }
    let rows = |flag: &Flag| crate::bits::rank(flag.iter().copied()) as usize == flag.len();
    found.retain(rows);
    let all = from.iter().chain(to).chain(&pair.from.images).chain(&pair.to.images);
    for flag in &mut found {
        let least = flag.len().max(in_word);
        *flag = independent(flag.iter().chain(all.clone()), least);
    }
    found.dedup();
    found
}

/// The first vectors that do not depend on those before, at most so many.
fn independent<'v>(vectors: impl Iterator<Item = &'v u64>, most: usize) -> Flag {
    let mut span = Echelon::new();
    vectors.copied().filter(|&vector| span.insert(vector, 0).is_none()).take(most).collect()
}

/// The points that lanes of one phase reach at once, beside the flag: what must not share a bank with them.
pub(super) fn reached(layout: &Layout, flag: &[u64], element: u32) -> Echelon {
    let lanes = layout.images_of(Dim::Lane);
    let registers = layout.images_of(Dim::Register);
    let own = Echelon::of(registers);
    let wide = flag.iter().take_while(|&&vector| own.contains(vector)).count();
    let in_word = BANK.saturating_sub(element) as usize;
    let row = (WIDEST - element) as usize;
    let mut span = Echelon::new();
    let matrix = lanes.len() == 5 && element <= BANK && flag.len() == row && wide < row;
    if matrix && wide >= in_word && flag[in_word..] == lanes[..2] {
        insert_all(&mut span, flag.iter().chain(&lanes[2..]));
    } else if matrix && element == 1 && *flag == lanes[2..] {
        insert_all(&mut span, flag.iter().chain(&lanes[..2]).chain(registers.first()));
    } else {
        let together = WAVEFRONT.saturating_sub(wide as u32 + element) as usize;
        let words = wide.max(in_word).min(flag.len());
        insert_all(&mut span, flag[..words].iter().chain(&lanes[..together.min(lanes.len())]));
    }
    span
}

fn insert_all<'v>(span: &mut Echelon, vectors: impl Iterator<Item = &'v u64>) {
    for &vector in vectors {
        span.insert(vector, 0);
    }
}

/// The tile points of the bits of an offset: the flag, then what fills a row of all banks, then rows one behind the
/// other. Rows avoid what either side reaches at once, so that neither waits for a bank.
pub(super) fn order(pair: Pair, space: &[u64], flag: &[u64], element: u32) -> Vec<u64> {
    let whole = crate::bits::rank(space.iter().copied());
    let banks = whole.min(WAVEFRONT - element);
    let mut left = reached(pair.from, flag, element);
    let mut right = reached(pair.to, flag, element);
    let mut rows = Vec::new();
    while (rows.len() as u32) < whole - banks {
        let Some(next) = outside(space, &left, &right) else { break };
        left.insert(next, 0);
        right.insert(next, 0);
        rows.push(next);
    }
    let mut taken = Echelon::of(&rows);
    let mut order = independent(flag.iter(), flag.len());
    order.retain(|&vector| taken.insert(vector, 0).is_none());
    let wide = order.len();
    order.extend(space.iter().copied().filter(|&vector| taken.insert(vector, 0).is_none()));
    order.extend(rows);
    align(pair, &mut order, wide);
    order
}

/// Takes the flag out of what follows it, so that threads have nothing of it: their pieces then start at multiples of
/// its size. A row changes by what stands in its own row of banks, which changes no bank conflict of a side that has the
/// whole flag.
fn align(pair: Pair, order: &mut [u64], wide: usize) {
    let (flag, others) = order.split_at_mut(wide);
    let mut parts = Echelon::new();
    for &vector in flag.iter() {
        parts.insert(vector, vector);
    }
    for layout in [pair.from, pair.to] {
        let registers = layout.inputs.bits(Dim::Register) as usize;
        for &vector in &layout.images[registers..] {
            parts.insert(vector, 0);
        }
    }
    for vector in others {
        let (rest, part) = parts.reduce(*vector);
        *vector ^= part;
        parts.insert(rest, 0);
    }
}
