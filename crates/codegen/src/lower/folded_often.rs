//! The layout in which a tile is reduced that is reduced again and again, as sorts do: the dimensions that are folded most
//! often lie in the registers of a lane, the others across lanes and warps, where going there costs less than it saves (G10,
//! G15).

use warploom_ir::{OpId, Opcode, ValueId};
use warploom_layout::{Dim, Layout, Level, convert, reduction};

use super::Lower;
use super::distributed::unique_registers;
use super::parked::bytes_of;
use super::value::{Bound, Form};
use crate::error::Result;

/// Words of a tile in the registers of a lane, at most.
const WORDS: u64 = 64;
/// Instructions on each element between reductions.
const BETWEEN: u64 = 3;
/// Cycles until a shuffle has come.
const LATENCY: u64 = 20;

impl Lower<'_, '_> {
    /// The form in which an operand of `op` is folded: what it has, or a cheaper one, which it has from now on.
    pub(super) fn form_to_fold(&mut self, op: OpId, operand: ValueId, now: Form) -> Result<Form> {
        let family = self.family()?;
        let module = self.module;
        if !self.is_free(operand) || module.ops[op].operands.len() != 1 {
            return Ok(now);
        }
        let ty = module.ty(operand);
        let folds = self.folds(op, ty.shape());
        let (bits, words) = (8 * bytes_of(ty)?, bytes_of(ty)?.div_ceil(4));
        let prices = self.prices(bits as u32);
        let held = self.map_of(operand, family, now)?;
        let own = self.cost_to_fold(&held, &folds, words);
        let mut best: Option<(u64, Form)> = None;
        for wanted in self.candidates(ty.shape(), &folds, words) {
            let cost = self.cost_to_fold(&wanted, &folds, words);
            let least = best.map_or(own, |(least, _)| Some(least));
            let (Some(cost), Some(form)) = (cost, self.layouts.form(&wanted, ty.shape().len())) else {
                continue;
            };
            if least.is_some_and(|least| cost >= least) {
                continue;
            }
            let Ok(way) = convert(&held, &wanted, bits, &prices) else { continue };
            let cost = cost.saturating_add(prices.cost(&way.counts, self.place.warps > 1));
            if least.is_none_or(|least| cost < least) {
                best = Some((cost, form));
            }
        }
        match best {
            Some((_, form)) => Ok(if self.lay_out(op, operand, form)? { form } else { now }),
            None => Ok(now),
        }
    }

    /// How often each dimension of tiles of this shape is folded from here on.
    fn folds(&self, op: OpId, shape: &[u64]) -> Vec<u64> {
        let mut folds = vec![0; shape.len()];
        for (other, data) in self.module.ops.iter() {
            let alike = |v: &ValueId| self.module.ty(*v).shape() == shape;
            if data.opcode != Opcode::Reduce
                || self.position[other] < self.position[op]
                || !data.operands.first().is_some_and(alike)
            {
                continue;
            }
            if let Some(count) = self.axis(other, shape.len()).ok().and_then(|axis| folds.get_mut(axis)) {
                *count += 1;
            }
        }
        folds
    }

    /// Layouts with so many bits in registers, the dimensions that are folded most often first, the inner ones before the
    /// outer.
    fn candidates(&self, shape: &[u64], folds: &[u64], words: u64) -> Vec<Layout> {
        let mut order: Vec<usize> = (0..shape.len()).rev().collect();
        order.sort_by_key(|&axis| std::cmp::Reverse(folds[axis]));
        let bits: Vec<Dim> = order
            .into_iter()
            .flat_map(|axis| {
                std::iter::repeat_n(Dim::Axis(axis as u8), shape[axis].trailing_zeros() as usize)
            })
            .collect();
        let warps = self.place.warps.trailing_zeros() as usize;
        let needed = bits.len().saturating_sub(5 + warps);
        let most = needed.max((WORDS / words).max(1).ilog2() as usize).min(bits.len());
        (0..=most).filter_map(|first| with_registers(&bits, first, warps)).collect()
    }

    /// Cycles of all folds of a tile in this layout, and of what is computed between them; `None` where it cannot be folded.
    fn cost_to_fold(&self, map: &Layout, folds: &[u64], words: u64) -> Option<u64> {
        let prices = self.prices_of_words();
        let registers = unique_registers(map).len() as u64 * words;
        let mut cost = 0u64;
        for (axis, &count) in folds.iter().enumerate().filter(|(_, count)| **count > 0) {
            let (mut left, mut one) = (registers, registers * BETWEEN * prices.alu);
            for step in reduction(map, Dim::Axis(axis as u8)).ok()? {
                one += match step.level {
                    Level::Registers => {
                        left = left.div_ceil(2);
                        left * prices.alu
                    }
                    Level::Lanes => left * (prices.shuffle + prices.alu) + LATENCY,
                    _ => left * (2 * prices.access + 2 * prices.wavefront) + 2 * prices.barrier,
                };
            }
            cost = cost.saturating_add(one.saturating_mul(count));
        }
        Some(cost)
    }

    /// Brings a tile into a form for good, below what only reads its elements as another type; whether it could be.
    fn lay_out(&mut self, op: OpId, operand: ValueId, form: Form) -> Result<bool> {
        let module = self.module;
        let (mut root, mut above) = (operand, Vec::new());
        while let (Some(Bound::Lazy(_)), Some(cast)) = (self.bound.get(&root), module.def_op(root)) {
            match module.ops[cast].operands.as_slice() {
                &[source] if matches!(module.ops[cast].opcode, Opcode::ArithBitcast | Opcode::Bitcast) => {
                    above.push(root);
                    root = source;
                }
                _ => break,
            }
        }
        // What is bound in a branch or loop is not known behind it.
        let here = module.def_op(root).is_some_and(|made| module.ops[made].block == module.ops[op].block);
        if !here {
            return Ok(false);
        }
        let elements = self.held_elements(root, form)?;
        self.hold(root, form, elements)?;
        self.natural.extend(above.into_iter().map(|value| (value, form)));
        Ok(true)
    }
}

/// The first bits in registers, then lanes, then warps, and what is left in registers again.
fn with_registers(bits: &[Dim], first: usize, warps: usize) -> Option<Layout> {
    let mut used: Vec<(Dim, u64)> = Vec::new();
    let mut images: [Vec<Vec<(Dim, u64)>>; 3] = Default::default();
    for (at, &axis) in bits.iter().enumerate() {
        let place = match used.iter_mut().find(|(dim, _)| *dim == axis) {
            Some((_, next)) => {
                *next *= 2;
                *next / 2
            }
            None => {
                used.push((axis, 2));
                1
            }
        };
        let to = match at {
            _ if at < first => 0,
            _ if at < first + 5 => 1,
            _ if at < first + 5 + warps => 2,
            _ => 0,
        };
        images[to].push(vec![(axis, place)]);
    }
    images[1].resize(5, Vec::new());
    images[2].resize(warps, Vec::new());
    let lists = images.iter().map(|images| images.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let lists: Vec<Vec<&[(Dim, u64)]>> = lists.collect();
    let inputs: Vec<_> = [Dim::Register, Dim::Lane, Dim::Warp]
        .into_iter()
        .zip(&lists)
        .map(|(dim, images)| (dim, images.as_slice()))
        .collect();
    Layout::new(&inputs, &used).ok()
}
