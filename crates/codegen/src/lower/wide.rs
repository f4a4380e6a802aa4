//! Stores of tiles whose neighbours in memory stand in several lanes of a warp: the lanes exchange elements first, so that
//! each stores up to 16 bytes at once (G12, G21).

use warploom_ir::{Opcode, Type};
use warploom_layout::{Dim, Layout, Prices, blocked, convert};

use super::Lower;
use super::bits::sum;
use super::distributed::copies_of;
use super::linear::of_thread;
use super::map::unknown;
use super::update::Stored;
use super::value::{Coord, Coords, Form};
use crate::error::Result;
use crate::family::Family;
use crate::llvm::{Val, as_int};

/// What a store costs beside what it stores: its address, its mask, its issue, as conversions are priced.
const STORE: u64 = 12;

/// Bytes of memory that a store moves at once.
const LINE: u64 = 128;

/// What a bit of a register's or a lane's number adds to the place of an element.
type Image = Vec<(Dim, u64)>;

impl<'c> Lower<'c, '_> {
    /// Stores a matrix by wider accesses than `now` elements of a row, where exchanges within a warp allow it; whether they
    /// do.
    pub(super) fn put_wide(&mut self, stored: &Stored, family: Family, form: Form, now: u64) -> Result<bool> {
        if !self.goes_anywhere(stored) {
            return Ok(false);
        }
        let rank = self.module.ty(stored.pointer).shape().len();
        let bytes = u64::from(stored.bits / 8);
        let widths = (0..rank).map(|dim| (self.adjoining(stored.pointer, stored.mask, (dim, bytes)), dim));
        let Some((width, dim)) = widths.max() else { return Ok(false) };
        if width <= now {
            return Ok(false);
        }
        let held = self.map_of(stored.value, family, form)?;
        let widths =
            std::iter::successors(Some(width), |width| Some(width / 2)).take_while(|&width| width > now);
        let all = |width| Some((gathered(&held, Dim::Axis(dim as u8), width)?, width));
        let Some((wanted, width)) = widths.into_iter().find_map(all) else { return Ok(false) };
        let wanted = layout_of(self.module.ty(stored.value), &wanted)?;
        self.put_as(stored, (&held, form), (&wanted, width)).map(|()| true)
    }

    /// Deals the elements of a vector out to all lanes, of which few hold many, where that costs less than what each of those
    /// does with its own one after the other.
    pub(super) fn put_dealt(&mut self, stored: &Stored, family: Family, form: Form) -> Result<bool> {
        if !self.known_anywhere(stored) {
            return Ok(false);
        }
        let shape = self.module.ty(stored.value).shape();
        let held = self.map_of(stored.value, family, form)?;
        let (Ok(wanted), bytes) = (blocked(shape, &[0], 1, self.place.warps), u64::from(stored.bits / 8))
        else {
            return Ok(false);
        };
        let prices = self.prices_to_store(stored);
        let Ok(way) = convert(&held, &wanted, u64::from(stored.bits), &prices) else { return Ok(false) };
        let brought = prices.cost(&way.counts, self.place.warps > 1);
        if brought + stores(&wanted, (0, bytes), 1, &prices) >= stores(&held, (0, bytes), 1, &prices) {
            return Ok(false);
        }
        self.put_as(stored, (&held, form), (&wanted, 1)).map(|()| true)
    }

    /// Whether a store could be any lane's: each knows where every element goes.
    fn goes_anywhere(&self, stored: &Stored) -> bool {
        stored.atomic.is_none() && self.known_anywhere(stored)
    }

    fn known_anywhere(&self, stored: &Stored) -> bool {
        let places = [Some(stored.pointer), stored.mask];
        places.into_iter().flatten().all(|value| self.is_made_anywhere(value))
    }

    /// Stores a tile that lanes hold and no family lays out, `width` neighbours at once, by the way to bring them together that costs least;
    /// whether that is less than to store each by itself.
    pub(super) fn put_together(&mut self, stored: &Stored, family: Family) -> Result<bool> {
        let form = self.form_now(stored.value, family)?;
        if !matches!(form, Form::Linear(_)) || !self.goes_anywhere(stored) {
            return Ok(false);
        }
        let ty = self.module.ty(stored.value);
        let bytes = u64::from(stored.bits / 8);
        let widths = ty.shape().iter().enumerate().map(|(dim, &extent)| {
            (self.adjoining(stored.pointer, stored.mask, (dim, bytes)).min(extent), dim)
        });
        let Some((width, dim)) = widths.max().filter(|&(width, _)| width > 1) else { return Ok(false) };
        let held = self.map_of(stored.value, family, form)?;
        let mut order: Vec<usize> = (0..ty.shape().len()).rev().filter(|&other| other != dim).collect();
        order.insert(0, dim);
        let near =
            gathered(&held, Dim::Axis(dim as u8), width).map(|wanted| layout_of(ty, &wanted)).transpose()?;
        let spread = blocked(ty.shape(), &order, width, self.place.warps).ok();
        let prices = self.prices_to_store(stored);
        let cost = |wanted: Layout| {
            let way = convert(&held, &wanted, u64::from(stored.bits), &prices).ok()?;
            let brought = prices.cost(&way.counts, self.place.warps > 1);
            Some((brought + stores(&wanted, (dim, bytes), width, &prices), wanted))
        };
        let ways = [near, spread].into_iter().flatten().filter_map(cost);
        match ways.min_by_key(|&(cost, _)| cost) {
            Some((cost, wanted)) if cost < stores(&held, (dim, bytes), 1, &prices) => {
                self.put_as(stored, (&held, form), (&wanted, width)).map(|()| true)
            }
            _ => Ok(false),
        }
    }

    /// Stores a tile as another layout has it, in which the lowest registers are `width` neighbours in memory.
    fn put_as(
        &mut self,
        stored: &Stored,
        (held, form): (&Layout, Form),
        (wanted, width): (&Layout, u64),
    ) -> Result<()> {
        let ty = self.module.ty(stored.value);
        let elements = self.held_elements(stored.value, form)?;
        let elements = self.brought_bits(elements, (held, wanted), stored)?;
        let mine = match copies_of(wanted) {
            0 => None,
            copies => Some(self.has_none(copies)?.into()),
        };
        // What the number of the thread adds to each coordinate.
        let mut own = Coords::new();
        for n in 0..ty.shape().len() {
            let place = self.linear(&of_thread(wanted, Dim::Axis(n as u8)))?;
            own.push(self.computed(place));
        }
        for (group, elements) in elements.chunks(width as usize).enumerate() {
            let register = group as u64 * width;
            let offset = |n: usize| sum(wanted.column(Dim::Register, Dim::Axis(n as u8)), register) as u32;
            let at = own.iter().enumerate().map(|(n, coord)| Coord { offset: offset(n), ..*coord });
            let at: Coords = at.collect();
            let to = self.at(stored.pointer, at.clone())?;
            let mask = stored.mask.map(|mask| self.at(mask, at)).transpose()?;
            let mask = self.both(mask, mine)?;
            let words = self.words_of_bits(elements, stored.bits)?;
            self.put_words(stored, to, &words, mask)?;
        }
        Ok(())
    }

    /// Elements as integers where another layout wants them.
    fn brought_bits(
        &mut self,
        elements: Vec<Val<'c>>,
        ways: (&Layout, &Layout),
        stored: &Stored,
    ) -> Result<Vec<Val<'c>>> {
        let elements = elements.into_iter().map(|element| as_int(self.stored_bits(element)?));
        let elements = elements.collect::<Result<Vec<_>>>()?;
        let (bits, prices) = (stored.bits, self.prices_to_store(stored));
        Ok(self.relayout(elements, ways, (bits, &prices))?.into_iter().map(Val::from).collect())
    }

    /// What it costs to bring together what is stored: elements that are rounded come in words.
    fn prices_to_store(&self, stored: &Stored) -> Prices {
        let mut at = stored.value;
        while let Some(op) = self.module.def_op(at)
            && let (Opcode::Trans, Some(&seen)) =
                (self.module.ops[op].opcode, self.module.ops[op].operands.first())
        {
            at = seen;
        }
        let rounded = self.module.def_op(at).is_some_and(|op| self.module.ops[op].opcode == Opcode::TruncF);
        if rounded { self.prices_of_words() } else { self.prices(stored.bits) }
    }

    /// Elements of up to 32 bits side by side in words of 32 bits, or of 16 where there are no more; others as they are.
    fn words_of_bits(&self, elements: &[Val<'c>], bits: u32) -> Result<Vec<Val<'c>>> {
        let per_word = (32 / bits).max(1).min(elements.len() as u32);
        let word = self.ir.int(bits * per_word);
        let whole = elements.chunks(per_word as usize);
        whole.map(|part| self.ir.bits(self.ir.vector(part)?, word.into())).collect()
    }
}

/// Cost of the stores of a tile in a layout, `width` neighbours along `dim` at once.
fn stores(layout: &Layout, (dim, bytes): (usize, u64), width: u64, prices: &Prices) -> u64 {
    let along = Dim::Axis(dim as u8);
    let others = layout.outputs().into_iter().filter(|&(output, _)| output != along);
    let others: Vec<Vec<u64>> = others.map(|(output, _)| layout.column(Dim::Lane, output)).collect();
    let own = layout.column(Dim::Lane, along);
    // Lanes elsewhere than in a line of memory, by the bits of their number.
    let apart = |&bit: &usize| {
        let moves = |column: &Vec<u64>| column.get(bit).is_some_and(|&image| image != 0);
        others.iter().any(moves) || own.get(bit).is_some_and(|&image| image * bytes >= LINE)
    };
    let lines = 1u64 << (0..layout.input_size(Dim::Lane).ilog2() as usize).filter(apart).count();
    (STORE + prices.wavefront * lines) * layout.input_size(Dim::Register) / width
}

/// The layout that bits of registers, lanes and warps make.
fn layout_of(ty: &Type, [registers, lanes, warps]: &[Vec<Image>; 3]) -> Result<Layout> {
    let extents = ty.shape().iter().enumerate();
    let extents: Vec<(Dim, u64)> = extents.map(|(n, &extent)| (Dim::Axis(n as u8), extent)).collect();
    let inputs = [(Dim::Register, registers), (Dim::Lane, lanes), (Dim::Warp, warps)];
    let images = inputs.map(|(dim, images)| (dim, images.iter().map(Vec::as_slice).collect::<Vec<_>>()));
    let inputs = [0, 1, 2].map(|n| (images[n].0, images[n].1.as_slice()));
    Layout::new(&inputs, &extents).map_err(|error| unknown(ty, &error))
}

/// The same elements of each warp, the lowest registers being `width` neighbours along a dimension: by exchanges of one bit
/// of a lane's number with one of a register's. `None` where other warps hold some, or a bit moves along several dimensions.
fn gathered(held: &Layout, dim: Dim, width: u64) -> Option<[Vec<Image>; 3]> {
    let image = |input: Dim, bit: u32| -> Image {
        let outputs = held.outputs().into_iter();
        outputs
            .map(|(output, _)| (output, held.image(input, bit, output)))
            .filter(|&(_, by)| by != 0)
            .collect()
    };
    let all = |input: Dim| -> Vec<Image> {
        (0..held.input_size(input).trailing_zeros()).map(|bit| image(input, bit)).collect()
    };
    let (mut registers, mut lanes, warps) = (all(Dim::Register), all(Dim::Lane), all(Dim::Warp));
    let plain = |image: &Image| matches!(image.as_slice(), [(_, by)] if by.is_power_of_two());
    if !registers.iter().chain(&lanes).chain(&warps).all(plain) {
        return None;
    }
    let mut found = Vec::new();
    for bit in 0..width.trailing_zeros() {
        let wanted: Image = vec![(dim, 1 << bit)];
        if let Some(at) = registers.iter().position(|image| *image == wanted) {
            registers.remove(at);
        } else {
            let lane = lanes.iter().position(|image| *image == wanted)?;
            // The lane gets the lowest bit of the registers that is not wanted itself.
            let other = |image: &Image| !matches!(image.as_slice(), [(d, by)] if *d == dim && *by < width);
            let at = registers.iter().position(other)?;
            lanes[lane] = registers.remove(at);
        }
        found.push(wanted);
    }
    found.extend(registers);
    Some([found, lanes, warps])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_give_neighbours_to_registers_within_a_warp() {
        // Accumulators of 16 rows and 16 columns: pairs of columns, quads along them, eight rows.
        let (row, col) = (Dim::Axis(0), Dim::Axis(1));
        let one = |dim: Dim, by: u64| [(dim, by)];
        let registers = [one(col, 1), one(row, 8), one(col, 8)];
        let lanes = [one(col, 2), one(col, 4), one(row, 1), one(row, 2), one(row, 4)];
        let images = |all: &'static [[(Dim, u64); 1]]| all.iter().map(|one| &one[..]).collect::<Vec<_>>();
        let (registers, lanes) = (images(registers.to_vec().leak()), images(lanes.to_vec().leak()));
        let inputs = [(Dim::Register, registers.as_slice()), (Dim::Lane, lanes.as_slice())];
        let held = Layout::new(&inputs, &[(row, 16), (col, 16)]).unwrap();
        assert_eq!(gathered(&held, row, 16), None, "three registers hold eight neighbours at most");
        for (dim, width) in [(col, 4), (col, 8), (row, 4), (row, 8)] {
            let [registers, lanes, warps] = gathered(&held, dim, width).unwrap();
            assert_eq!((registers.len(), lanes.len(), warps.len()), (3, 5, 0));
            for bit in 0..width.trailing_zeros() {
                assert_eq!(registers[bit as usize], [(dim, 1 << bit)]);
            }
            let mut all: Vec<&Image> = registers.iter().chain(&lanes).collect();
            all.sort();
            all.dedup();
            assert_eq!(all.len(), 8, "no bit is lost");
        }
    }
}
