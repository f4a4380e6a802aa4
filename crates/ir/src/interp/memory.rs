//! Global memory: buffers at addresses far apart.

use super::data::pattern;
use super::error::Fault;
use super::tensor::Tensor;

/// Distance of two buffers in address space: 1 TiB, so that no index arithmetic slips from one into another.
const GAP: u64 = 1 << 40;

/// A buffer of a [`Memory`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BufferId(usize);

impl BufferId {
    /// Number of the buffer, from 0 in order of allocation.
    pub fn index(self) -> usize {
        self.0
    }
}

/// Global memory of a device: byte buffers. Buffer `i` starts at address `(i + 1) << 40`; everything between
/// is unmapped, and touching it is a [`Fault::OutOfBounds`].
#[derive(Clone, Debug, Default)]
pub struct Memory {
    buffers: Vec<Vec<u8>>,
}

impl Memory {
    /// Empty memory.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// A new buffer with these bytes.
    pub fn alloc(&mut self, bytes: Vec<u8>) -> BufferId {
        self.buffers.push(bytes);
        BufferId(self.buffers.len() - 1)
    }

    /// A new buffer with the bytes of a tensor.
    pub fn upload(&mut self, tensor: &Tensor) -> BufferId {
        self.alloc(tensor.bytes().to_vec())
    }

    /// A tensor shaped like `like` with the bytes of a buffer; `None` if their sizes differ.
    pub fn download(&self, buffer: BufferId, like: &Tensor) -> Option<Tensor> {
        like.with_bytes(self.bytes(buffer)?.to_vec())
    }

    /// The bytes of a buffer; `None` if it is of another memory.
    pub fn bytes(&self, buffer: BufferId) -> Option<&[u8]> {
        self.buffers.get(buffer.0).map(Vec::as_slice)
    }

    /// The bytes of a buffer, to change.
    pub fn bytes_mut(&mut self, buffer: BufferId) -> Option<&mut [u8]> {
        self.buffers.get_mut(buffer.0).map(Vec::as_mut_slice)
    }

    /// The address of the first byte of a buffer.
    pub fn address(buffer: BufferId) -> u64 {
        (buffer.0 as u64).wrapping_add(1).wrapping_mul(GAP)
    }

    /// Buffer and byte range behind an address.
    fn locate(&self, address: u64, bytes: usize) -> Result<(usize, std::ops::Range<usize>), Fault> {
        // The upper half of a gap belongs to the next buffer: there an address lies just below its start.
        let owner = |address: u64| {
            let index = usize::try_from((address / GAP).checked_sub(1)?).ok()?;
            self.buffers.get(index).map(|b| (index, b))
        };
        let fault = || {
            let nearest = owner(address.wrapping_add(GAP / 2) / GAP * GAP).map(|(i, b)| (i, b.len() as u64));
            Fault::OutOfBounds { address, bytes: bytes as u64, nearest }
        };
        let (index, buffer) = owner(address).ok_or_else(fault)?;
        let start = usize::try_from(address % GAP).map_err(|_| fault())?;
        match start.checked_add(bytes) {
            Some(end) if end <= buffer.len() => Ok((index, start..end)),
            _ => Err(fault()),
        }
    }

    /// The bytes at an address.
    ///
    /// # Errors
    /// [`Fault::OutOfBounds`] unless all of them are in one buffer.
    pub fn read(&self, address: u64, bytes: usize) -> Result<&[u8], Fault> {
        let (index, range) = self.locate(address, bytes)?;
        self.buffers.get(index).and_then(|b| b.get(range)).ok_or(Fault::OutOfBounds {
            address,
            bytes: bytes as u64,
            nearest: None,
        })
    }

    /// Writes bytes at an address.
    ///
    /// # Errors
    /// [`Fault::OutOfBounds`] unless all of them are in one buffer; then nothing is written.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        let (index, range) = self.locate(address, bytes.len())?;
        if let Some(target) = self.buffers.get_mut(index).and_then(|b| b.get_mut(range)) {
            target.copy_from_slice(bytes);
        }
        Ok(())
    }

    /// The bit pattern of one element of `size` bytes (1, 2, 4 or 8), little endian.
    pub(super) fn read_bits(&self, address: u64, size: usize) -> Result<u64, Fault> {
        Ok(pattern(self.read(address, size)?))
    }

    /// Writes one element of `size` bytes.
    pub(super) fn write_bits(&mut self, address: u64, size: usize, bits: u64) -> Result<(), Fault> {
        let bytes = bits.to_le_bytes();
        self.write(address, bytes.get(..size).unwrap_or(&bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_far_apart_and_bounded() {
        let mut memory = Memory::new();
        let a = memory.alloc(vec![0; 16]);
        let b = memory.alloc(vec![7; 4]);
        let (at, other) = (Memory::address(a), Memory::address(b));
        memory.write(at + 12, &[1, 2, 3, 4]).unwrap();
        assert_eq!(memory.read_bits(at + 12, 4).unwrap(), 0x0403_0201);
        assert_eq!(memory.read(other, 4).unwrap(), [7; 4]);
        for (address, bytes, nearest) in [
            (at + 13, 4, Some((0, 16))),
            (at - 1, 1, Some((0, 16))),
            (other - 8, 8, Some((1, 4))),
            (0, 1, None),
        ] {
            assert_eq!(
                memory.read(address, bytes),
                Err(Fault::OutOfBounds { address, bytes: bytes as u64, nearest })
            );
            assert!(memory.write(address, &vec![0; bytes]).is_err());
        }
        assert!(memory.read(u64::MAX, 8).is_err());
        assert!(memory.read(at, usize::MAX).is_err());
    }
}
