//! Layouts of tiles that no family gives: what a reduction leaves, what other names for places make of a tile, and what
//! reductions want (G2, G5).

use std::rc::Rc;

use hashbrown::HashMap;
use smallvec::SmallVec;
use warploom_layout::{Dim, Layout};

use super::bits::sum;
use super::value::{Base, Coord, Coords, Form, Images};

/// Bits of the number of a lane.
const LANE: usize = 5;

/// A layout that a tile has in registers, none of which is a copy of another.
pub(crate) struct Distributed {
    /// (register, lane, warp) onto the place in the tile.
    pub map: Layout,
    /// Where each register stands.
    pub places: Vec<Coords>,
    /// Which register has these constants.
    registers: HashMap<SmallVec<[u32; 16]>, u64>,
}

impl Distributed {
    /// Of a tile of so many dimensions; `None` where a place is no sum of what the thread and what the register says.
    fn new(map: Layout, rank: usize) -> Option<Distributed> {
        let mut bases = Coords::new();
        let mut offsets = Vec::new();
        for axis in 0..rank {
            let axis = Dim::Axis(u8::try_from(axis).ok()?);
            let own = map.column(Dim::Register, axis);
            let mut threads = map.column(Dim::Lane, axis);
            threads.resize(LANE, 0);
            threads.extend(map.column(Dim::Warp, axis));
            let taken = threads.iter().fold(0, |all, image| all | image);
            if own.iter().any(|image| image & taken != 0) {
                return None;
            }
            let base = if taken == 0 { Base::Zero } else { Base::Images(Images::new(&threads)?) };
            bases.push(Coord { base, offset: 0 });
            offsets.push(own);
        }
        let (mut places, mut registers) = (Vec::new(), HashMap::new());
        for register in 0..map.input_size(Dim::Register) {
            let mut at = bases.clone();
            for (coord, own) in at.iter_mut().zip(&offsets) {
                coord.offset = u32::try_from(sum(own.iter().copied(), register)).ok()?;
            }
            registers.insert(constants(&at), register);
            places.push(at);
        }
        Some(Distributed { map, places, registers })
    }

    /// The register at a place, where coordinates that start alike are the same; `None` where that is another lane's.
    pub fn register(&self, at: &Coords, alike: impl Fn(Base, Base) -> bool) -> Option<u64> {
        let first = self.places.first()?;
        let same = first.len() == at.len() && first.iter().zip(at).all(|(a, b)| alike(a.base, b.base));
        self.registers.get(&constants(at)).copied().filter(|_| same)
    }

    /// Bits of the number of a thread in its partition that make copies alone.
    pub fn copies(&self) -> u64 {
        copies_of(&self.map)
    }
}

/// Bits of the number of a thread in its partition that make copies alone.
pub(super) fn copies_of(map: &Layout) -> u64 {
    map.copy_bits(Dim::Lane) | map.copy_bits(Dim::Warp) << LANE
}

/// The constant parts of a place.
fn constants(at: &Coords) -> SmallVec<[u32; 16]> {
    at.iter().map(|coord| coord.offset).collect()
}

/// All that are in use, by number.
#[derive(Default)]
pub(crate) struct Layouts {
    all: Vec<Rc<Distributed>>,
    known: HashMap<(Layout, usize), Option<u32>>,
}

impl Layouts {
    /// The form of a tile of so many dimensions whose registers lie so; [`unique_registers`] says which of them it has.
    pub fn form(&mut self, map: &Layout, rank: usize) -> Option<Form> {
        let key = (map.clone(), rank);
        if let Some(known) = self.known.get(&key) {
            return known.map(Form::Linear);
        }
        let unique = without_copies(map);
        let number = match self.all.iter().position(|one| one.map == unique && one.rank() == rank) {
            Some(number) => Some(number),
            None => Distributed::new(unique, rank).map(|new| {
                self.all.push(Rc::new(new));
                self.all.len() - 1
            }),
        };
        let number = number.and_then(|number| u32::try_from(number).ok());
        self.known.insert(key, number);
        number.map(Form::Linear)
    }

    /// The layout of this number.
    pub fn get(&self, number: u32) -> Option<&Rc<Distributed>> {
        self.all.get(number as usize)
    }
}

impl Distributed {
    fn rank(&self) -> usize {
        self.places.first().map_or(0, |place| place.len())
    }
}

/// The registers of a layout that are no copies, in order.
pub(super) fn unique_registers(map: &Layout) -> Vec<u64> {
    let copies = map.copy_bits(Dim::Register);
    (0..map.input_size(Dim::Register)).filter(|register| register & copies == 0).collect()
}

/// The same layout with these alone.
fn without_copies(map: &Layout) -> Layout {
    let copies = map.copy_bits(Dim::Register);
    let outputs = map.outputs();
    let images = |input: Dim| -> Vec<Vec<(Dim, u64)>> {
        let bits = map.input_size(input).trailing_zeros();
        let kept = (0..bits).filter(|bit| input != Dim::Register || copies >> bit & 1 == 0);
        let image = |bit| outputs.iter().map(|&(dim, _)| (dim, map.image(input, bit, dim))).collect();
        kept.map(image).collect()
    };
    let all = [Dim::Register, Dim::Lane, Dim::Warp].map(|input| (input, images(input)));
    type Places<'a> = (Dim, Vec<&'a [(Dim, u64)]>);
    let lists: Vec<Places<'_>> =
        all.iter().map(|(input, images)| (*input, images.iter().map(Vec::as_slice).collect())).collect();
    let inputs: Vec<_> = lists.iter().map(|(input, images)| (*input, images.as_slice())).collect();
    Layout::new(&inputs, &outputs).unwrap_or_else(|_| map.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str) -> Layout {
        text.parse().unwrap()
    }

    #[test]
    fn each_register_is_found_at_its_place() {
        let map = layout(
            "(register: 1@dim1, 2@dim0; lane: 2@dim1, 4@dim1, 1@dim0; warp: 4@dim0) -> (dim0: 8, dim1: 8)",
        );
        let one = Distributed::new(map, 2).unwrap();
        let alike = |a, b| a == b;
        for (register, place) in one.places.iter().enumerate() {
            assert_eq!(one.register(place, alike), Some(register as u64));
        }
        let [first, ..] = one.places.as_slice() else { panic!() };
        let elsewhere: Coords = first.iter().map(|coord| Coord { offset: 4, ..*coord }).collect();
        assert_eq!(one.register(&elsewhere, alike), None);
        let all: Coords = first.iter().map(|_| Coord::ZERO).collect();
        assert_eq!(one.register(&all, alike), None, "another lane's");
    }

    #[test]
    fn copies_are_held_once_and_lanes_that_hold_them_are_known() {
        let map = layout("(register: 0, 1@dim0; lane: 2@dim0, 0, 4@dim0; warp: 0) -> (dim0: 8)");
        assert_eq!(unique_registers(&map), [0, 2]);
        let mut layouts = Layouts::default();
        let Some(Form::Linear(number)) = layouts.form(&map, 1) else { panic!() };
        let one = layouts.get(number).unwrap();
        assert_eq!(one.places.len(), 2);
        assert_eq!(one.copies(), 0b10_0010);
        assert_eq!(layouts.form(&without_copies(&map), 1), Some(Form::Linear(number)));
    }

    #[test]
    fn a_place_that_is_no_sum_has_no_form() {
        let map = layout("(register: 1@dim0; lane: 1@dim0^2@dim0) -> (dim0: 4)");
        assert_eq!(Layouts::default().form(&map, 1), None);
    }
}
