//! Tensor descriptors: blocks of a tensor in global memory.

use super::data::{Data, bits_of, elem_bytes, from_bits, pattern};
use super::error::Fault;
use super::memory::Memory;
use crate::types::Type;

/// What a descriptor load finds outside its tensor (C7).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Padding {
    /// Zero.
    #[default]
    Zero,
    /// NaN.
    Nan,
}

/// A tensor in global memory, and how much of it one access covers.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Descriptor {
    /// Address of element (0, 0, ..).
    pub base: u64,
    /// Extents of the tensor in elements, outermost first.
    pub shape: Vec<i64>,
    /// Distances of neighbours in elements, outermost first.
    pub strides: Vec<i64>,
    /// Element type.
    pub elem: Type,
    /// What lies outside.
    pub padding: Padding,
}

impl Descriptor {
    /// Address of an element, `None` if it lies outside the tensor.
    pub(super) fn address(&self, at: &[i64]) -> Result<Option<u64>, Fault> {
        let size = elem_bytes(&self.elem)? as u64;
        let mut offset = 0i64;
        for ((&i, &extent), &stride) in at.iter().zip(&self.shape).zip(&self.strides) {
            if i < 0 || i >= extent {
                return Ok(None);
            }
            offset = offset.wrapping_add(i.wrapping_mul(stride));
        }
        Ok(Some(self.base.wrapping_add((offset as u64).wrapping_mul(size))))
    }

    /// The bit pattern of what lies outside.
    pub(super) fn padding_bits(&self) -> u64 {
        match (self.padding, &self.elem) {
            (Padding::Nan, Type::Float(kind)) => bits_of(*kind, f64::NAN),
            _ => 0,
        }
    }

    /// Calls `visit(position, address, run)` for each longest run of `run` elements of the block that are
    /// inside the tensor and contiguous in memory; `position` counts the block's elements row-major.
    pub(super) fn runs(
        &self,
        start: &[i64],
        block: &[u64],
        mut visit: impl FnMut(usize, u64, usize) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let rank = self.shape.len();
        if start.len() != rank || block.len() != rank || self.strides.len() != rank || rank == 0 {
            return Err(Fault::Malformed("a descriptor access of the wrong rank".into()));
        }
        let inner = block[rank - 1] as usize;
        if block.contains(&0) {
            return Ok(());
        }
        let mut at = start.to_vec();
        let mut position = 0usize;
        let first = start[rank - 1];
        let end = self.shape[rank - 1];
        let skipped = usize::try_from((-i128::from(first)).max(0)).unwrap_or(usize::MAX).min(inner);
        let inside = (i128::from(end) - i128::from(first)).clamp(0, inner as i128) as usize;
        loop {
            at[rank - 1] = first.wrapping_add(skipped as i64);
            if skipped < inside {
                if self.strides[rank - 1] == 1 {
                    if let Some(address) = self.address(&at)? {
                        visit(position + skipped, address, inside - skipped)?;
                    }
                } else {
                    for j in skipped..inside {
                        at[rank - 1] = first.wrapping_add(j as i64);
                        if let Some(address) = self.address(&at)? {
                            visit(position + j, address, 1)?;
                        }
                    }
                }
            }
            position += inner;
            // The next row: count up the outer indices, innermost fastest.
            let mut d = rank - 1;
            loop {
                if d == 0 {
                    return Ok(());
                }
                d -= 1;
                at[d] = at[d].wrapping_add(1);
                if at[d].wrapping_sub(start[d]) < block[d] as i64 {
                    break;
                }
                at[d] = start[d];
            }
        }
    }

    /// The block whose first element is `start`.
    pub(super) fn load(
        &self,
        memory: &Memory,
        start: &[i64],
        block: &[u64],
        count: usize,
    ) -> Result<Data, Fault> {
        let size = elem_bytes(&self.elem)?;
        let mut patterns = vec![self.padding_bits(); count];
        self.runs(start, block, |position, address, run| {
            let bytes = memory.read(address, run * size)?;
            let slots = patterns.iter_mut().skip(position);
            slots.zip(bytes.chunks_exact(size)).for_each(|(slot, chunk)| *slot = pattern(chunk));
            Ok(())
        })?;
        from_bits(&self.elem, patterns)
    }

    /// Writes a block of bit patterns; what lies outside is dropped.
    pub(super) fn store(
        &self,
        memory: &mut Memory,
        start: &[i64],
        block: &[u64],
        patterns: &[u64],
    ) -> Result<(), Fault> {
        let size = elem_bytes(&self.elem)?;
        let mut bytes = Vec::new();
        self.runs(start, block, |position, address, run| {
            bytes.clear();
            for pattern in patterns.iter().skip(position).take(run) {
                bytes.extend_from_slice(&pattern.to_le_bytes()[..size]);
            }
            memory.write(address, &bytes)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads a block by asking for each element alone.
    fn one_by_one(d: &Descriptor, memory: &Memory, start: &[i64], block: &[u64]) -> Vec<u64> {
        let mut out = Vec::new();
        for i in 0..block[0] as i64 {
            for j in 0..block[1] as i64 {
                let address = d.address(&[start[0] + i, start[1] + j]).unwrap();
                out.push(address.map_or(d.padding_bits(), |a| memory.read_bits(a, 1).unwrap()));
            }
        }
        out
    }

    #[test]
    fn blocks_over_every_edge_and_with_any_stride() {
        let mut memory = Memory::new();
        let base = Memory::address(memory.alloc((0..64).collect()));
        let elem = Type::int(8);
        for (shape, strides) in
            [(vec![5, 7], vec![8, 1]), (vec![7, 5], vec![1, 8]), (vec![4, 4], vec![16, 2])]
        {
            let d = Descriptor { base, shape, strides, elem: elem.clone(), padding: Padding::Zero };
            for i in -5..9 {
                for j in -5..9 {
                    let block = [4, 4];
                    let data = d.load(&memory, &[i, j], &block, 16).unwrap();
                    assert_eq!(
                        data.ints().unwrap(),
                        one_by_one(&d, &memory, &[i, j], &block),
                        "{d:?} {i} {j}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_store_outside_is_dropped() {
        let mut memory = Memory::new();
        let buffer = memory.alloc(vec![0; 6]);
        let base = Memory::address(buffer);
        let d = Descriptor {
            base,
            shape: vec![2, 3],
            strides: vec![3, 1],
            elem: Type::int(8),
            padding: Padding::Zero,
        };
        d.store(&mut memory, &[1, 1], &[2, 4], &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        assert_eq!(memory.bytes(buffer).unwrap(), [0, 0, 0, 0, 1, 2]);
    }

    #[test]
    fn a_descriptor_larger_than_its_buffer_is_out_of_bounds() {
        let mut memory = Memory::new();
        let base = Memory::address(memory.alloc(vec![0; 6]));
        let d = Descriptor {
            base,
            shape: vec![3, 3],
            strides: vec![3, 1],
            elem: Type::int(8),
            padding: Padding::Zero,
        };
        assert!(matches!(d.load(&memory, &[0, 0], &[4, 4], 16), Err(Fault::OutOfBounds { .. })));
    }
}
