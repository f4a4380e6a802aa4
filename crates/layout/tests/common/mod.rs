//! Random shapes and layouts.
#![allow(dead_code, reason = "each test takes what it needs")]

use proptest::prelude::*;
use warploom_layout::{Dim, Layout, LayoutError};

/// A shape of rank 1 to 6 with extents of 1 to 64, of at most `2^most` elements.
pub fn shape(most: u32) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(0u32..=6, 1..=6).prop_map(move |bits| {
        let mut left = most;
        let mut take = |wanted: u32| {
            let bits = wanted.min(left);
            left -= bits;
            1 << bits
        };
        bits.into_iter().map(&mut take).collect()
    })
}

/// How the bits of a tile go to a distributed layout: which input each bit goes to, in which order, how many copies.
#[derive(Clone, Debug)]
pub struct Recipe {
    order: Vec<u32>,
    copies: Vec<(usize, bool)>,
    mixes: Vec<(u32, u32)>,
}

pub fn recipe() -> impl Strategy<Value = Recipe> {
    let mixes =
        prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec((any::<u32>(), any::<u32>()), 0..6)];
    let copies = prop_oneof![
        2 => Just(Vec::new()),
        1 => prop::collection::vec((0usize..64, any::<bool>()), 0..4)
    ];
    (prop::collection::vec(any::<u32>(), 24), copies, mixes).prop_map(|(order, copies, mixes)| Recipe {
        order,
        copies,
        mixes,
    })
}

impl Recipe {
    /// Whether every bit of the layout is one bit of one coordinate, or a copy.
    pub fn is_plain(&self) -> bool {
        self.mixes.is_empty()
    }

    /// A layout onto all of the shape, with `lanes` and `warps` bits of lanes and warps.
    pub fn layout(&self, shape: &[u64], lanes: usize, warps: usize) -> Layout {
        self.build(shape, lanes, warps).unwrap_or_default()
    }

    fn build(&self, shape: &[u64], lanes: usize, warps: usize) -> Result<Layout, LayoutError> {
        let dims: Vec<(Dim, u64)> = shape.iter().enumerate().map(|(i, &n)| (Dim::Axis(i as u8), n)).collect();
        let mut units: Vec<Vec<(Dim, u64)>> = Vec::new();
        for &(dim, size) in &dims {
            units.extend((0..size.ilog2()).map(|bit| vec![(dim, 1 << bit)]));
        }
        // A shuffled basis.
        for (at, &pick) in self.order.iter().enumerate().take(units.len()) {
            let other = at + pick as usize % (units.len() - at);
            units.swap(at, other);
        }
        for &(a, b) in &self.mixes {
            if units.len() > 1 {
                let (a, b) = (a as usize % units.len(), b as usize % units.len());
                if a != b {
                    let extra = units[b].clone();
                    units[a].extend(extra);
                }
            }
        }
        for &(at, zero) in &self.copies {
            let at = at % (units.len() + 1);
            let copy = if zero || units.is_empty() { Vec::new() } else { units[at % units.len()].clone() };
            units.insert(at, copy);
        }
        while units.len() < lanes + warps {
            units.push(Vec::new());
        }
        let registers = units.len() - lanes - warps;
        let slices: Vec<&[(Dim, u64)]> = units.iter().map(Vec::as_slice).collect();
        let (register, threads) = slices.split_at(registers);
        let (lane, warp) = threads.split_at(lanes);
        Layout::new(&[(Dim::Register, register), (Dim::Lane, lane), (Dim::Warp, warp)], &dims)
    }
}

/// Every point of some inputs or outputs.
pub fn points(sizes: &[(Dim, u64)]) -> Vec<Vec<(Dim, u64)>> {
    let mut all = vec![Vec::new()];
    for &(dim, size) in sizes {
        all = all
            .into_iter()
            .flat_map(|point| {
                (0..size).map(move |value| {
                    let mut longer = point.clone();
                    longer.push((dim, value));
                    longer
                })
            })
            .collect();
    }
    all
}
