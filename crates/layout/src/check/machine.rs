//! Lanes with registers that hold names of elements.

use super::violation::{Place, Violation};
use crate::dim::Dim;
use crate::layout::Layout;

/// The most places that are looked at.
pub(super) const MOST_PLACES: u64 = 1 << 24;

/// The threads of two layouts.
#[derive(Clone, Copy)]
pub(super) struct Threads {
    pub lanes: u64,
    pub warps: u64,
    pub ctas: u64,
}

impl Threads {
    pub fn of(layout: &Layout, registers: u64) -> Result<Threads, Violation> {
        let [lanes, warps, ctas] = [Dim::Lane, Dim::Warp, Dim::Cta].map(|dim| layout.input_size(dim));
        let places = [lanes, warps, ctas, registers].into_iter().fold(1, u64::saturating_mul);
        if places > MOST_PLACES {
            return Err(Violation::TooLarge { places });
        }
        Ok(Threads { lanes, warps, ctas })
    }

    pub fn count(self) -> u64 {
        self.lanes * self.warps * self.ctas
    }

    /// Thread number `n`, with register 0.
    pub fn place(self, n: u64) -> Place {
        Place {
            register: 0,
            lane: n % self.lanes,
            warp: n / self.lanes % self.warps,
            cta: n / self.lanes / self.warps,
        }
    }

    pub fn number(self, at: Place) -> u64 {
        (at.cta * self.warps + at.warp) * self.lanes + at.lane
    }
}

/// A layout, to be evaluated: the images of each input's bits, the outputs side by side in one number.
pub(super) struct Map {
    images: Vec<(Dim, Vec<u64>)>,
    outputs: Vec<(Dim, u64)>,
}

impl Map {
    pub fn of(layout: &Layout) -> Map {
        let outputs = layout.outputs();
        let join = |input: Dim, bit: u32| {
            outputs.iter().rev().fold(0, |sum, &(dim, size)| sum * size + layout.image(input, bit, dim))
        };
        let images = layout.inputs().into_iter();
        let images = images.map(|(dim, size)| (dim, (0..size.ilog2()).map(|bit| join(dim, bit)).collect()));
        Map { images: images.collect(), outputs }
    }

    /// The image of a place.
    pub fn at(&self, at: Place) -> u64 {
        let mut sum = 0;
        for (dim, images) in &self.images {
            let mut number = match dim {
                Dim::Register => at.register,
                Dim::Lane => at.lane,
                Dim::Warp => at.warp,
                Dim::Cta => at.cta,
                _ => 0,
            };
            for image in images {
                if number % 2 == 1 {
                    sum ^= image;
                }
                number /= 2;
            }
        }
        sum
    }

    /// An image as coordinates.
    pub fn coordinates(&self, mut image: u64) -> Vec<(Dim, u64)> {
        let mut list = Vec::new();
        for &(dim, size) in &self.outputs {
            list.push((dim, image % size));
            image /= size;
        }
        list
    }
}

/// What every register of every thread holds.
pub(super) struct Registers {
    threads: Threads,
    each: u64,
    held: Vec<Option<u64>>,
}

impl Registers {
    pub fn empty(threads: Threads, each: u64) -> Registers {
        Registers { threads, each, held: vec![None; (threads.count() * each) as usize] }
    }

    /// Every place with the element that the layout says.
    pub fn filled(threads: Threads, layout: &Layout) -> Registers {
        let mut registers = Registers::empty(threads, layout.input_size(Dim::Register));
        let map = Map::of(layout);
        for thread in 0..threads.count() {
            for register in 0..registers.each {
                let at = Place { register, ..threads.place(thread) };
                registers.held[(thread * registers.each + register) as usize] = Some(map.at(at));
            }
        }
        registers
    }

    fn index(&self, at: Place) -> Result<usize, Violation> {
        if at.register >= self.each {
            return Err(Violation::Beyond { at, what: "register", number: at.register });
        }
        if at.lane >= self.threads.lanes {
            return Err(Violation::Beyond { at, what: "lane", number: at.lane });
        }
        Ok((self.threads.number(at) * self.each + at.register) as usize)
    }

    pub fn get(&self, at: Place) -> Result<Option<u64>, Violation> {
        Ok(self.held[self.index(at)?])
    }

    pub fn set(&mut self, at: Place, value: Option<u64>) -> Result<(), Violation> {
        let index = self.index(at)?;
        self.held[index] = value;
        Ok(())
    }
}

/// The sum of those masks whose bit of `number` is set.
pub(super) fn masked(masks: impl Iterator<Item = u64>, number: u64) -> u64 {
    let mut sum = 0;
    for (bit, mask) in masks.enumerate() {
        if bit < 64 && number >> bit & 1 == 1 {
            sum ^= mask;
        }
    }
    sum
}
