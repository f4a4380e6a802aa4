//! The device: a chip and its global memory (E20).

use super::core::SHARED_WINDOW;
use super::global::{Buffer, Store};
use crate::code::{FUNCTION_BASE, TEXTURE_BASE};
use crate::error::EmulatorRefusal;
use crate::texture::Texture;
use std::sync::Arc;
use warploom_chips::Target;

/// First address of the first buffer, above 2^32 (E20); the machine's own memory lies below.
const FIRST: u64 = 0x0100_0000_0000;
/// Unmapped bytes behind each buffer.
const GAP: u64 = 1 << 20;
/// All buffers together.
const LIMIT: u64 = 16 << 30;

/// A chip with global memory.
#[derive(Clone, Debug)]
pub struct Device {
    pub(crate) target: Target,
    pub(crate) store: Store,
    next: u64,
    /// Bytes of the heap that are taken, while a launch runs.
    pub(super) heap: u64,
}

impl Device {
    /// A device without buffers.
    pub fn new(target: &Target) -> Device {
        Device { target: target.clone(), store: Store::default(), next: FIRST, heap: 0 }
    }

    /// The chip.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Makes a buffer of `bytes` zeros and returns its address. The name stands in reports.
    ///
    /// # Errors
    /// `L01` when all buffers together would exceed 16 GiB.
    pub fn alloc(&mut self, bytes: u64, name: &str) -> Result<u64, EmulatorRefusal> {
        self.fits(bytes, name)?;
        self.alloc_vec(vec![0; bytes as usize], name)
    }

    /// Makes a buffer with this content and returns its address.
    ///
    /// # Errors
    /// `L01` as [`Device::alloc`].
    pub fn alloc_from(&mut self, data: &[u8], name: &str) -> Result<u64, EmulatorRefusal> {
        self.fits(data.len() as u64, name)?;
        self.alloc_vec(data.to_vec(), name)
    }

    /// Makes a buffer with this content at an address of the caller's choice, such as the one it has in the host's
    /// memory, so that addresses that lie in buffers mean on the device what they mean there.
    ///
    /// # Errors
    /// `L01` as [`Device::alloc`], and where the range holds address 0, another buffer or the machine's own memory.
    pub fn place(&mut self, addr: u64, data: &[u8], name: &str) -> Result<(), EmulatorRefusal> {
        let bytes = data.len() as u64;
        self.fits(bytes, name)?;
        let end = addr.checked_add(bytes).filter(|end| *end < SHARED_WINDOW);
        let own = |end: u64| addr < FIRST && end > FUNCTION_BASE || addr == 0;
        let taken = |end: u64| self.store.between(addr, end).map(|b| format!("'{}'", b.name));
        let reason = match end {
            None => Some("the end of the address space".to_owned()),
            Some(end) if own(end) => Some("the machine's own memory".to_owned()),
            Some(end) => taken(end),
        };
        if let Some(other) = reason {
            let message = format!("{bytes} bytes for '{name}' at {addr:#x} meet {other}");
            return Err(EmulatorRefusal::one("L01", 0, message, "place buffers where nothing else is"));
        }
        self.store.insert(Buffer { base: addr, name: name.to_string(), data: Arc::new(data.to_vec()) });
        Ok(())
    }

    fn fits(&self, bytes: u64, name: &str) -> Result<(), EmulatorRefusal> {
        let used: u64 = self.store.buffers.iter().map(|b| b.data.len() as u64).sum();
        if bytes <= LIMIT && used + bytes <= LIMIT {
            return Ok(());
        }
        let message = format!("{bytes} bytes for '{name}'");
        Err(EmulatorRefusal::one("L01", 0, message, "at most 16 GiB in all"))
    }

    fn alloc_vec(&mut self, data: Vec<u8>, name: &str) -> Result<u64, EmulatorRefusal> {
        let (mut base, bytes) = (self.next, data.len() as u64);
        while let Some(other) = self.store.between(base, base + bytes + GAP) {
            base = (other.end() + GAP).next_multiple_of(GAP);
        }
        self.next = (base + bytes + GAP).next_multiple_of(GAP);
        self.store.insert(Buffer { base, name: name.to_string(), data: Arc::new(data) });
        Ok(base)
    }

    /// Makes a texture or surface object of texels that lie in a buffer and returns its handle, which kernels take as a
    /// parameter of 64 bits ([`crate::Arg::U64`]).
    ///
    /// # Errors
    /// `L01` where CUDA has no such texture, `A01` where its texels are not all in one buffer.
    pub fn texture(&mut self, texture: &Texture) -> Result<u64, EmulatorRefusal> {
        texture.check()?;
        let buffer = self.store.find(texture.addr).and_then(|i| self.store.buffers.get(i));
        if buffer.is_none_or(|b| b.end() - texture.addr < texture.bytes()) {
            let message = format!("no buffer has {} bytes at {:#x}", texture.bytes(), texture.addr);
            return Err(EmulatorRefusal::one("A01", 0, message, "allocate all layers and levels together"));
        }
        self.store.textures.push(texture.clone());
        Ok(TEXTURE_BASE + 16 * self.store.textures.len() as u64)
    }

    /// The whole content of the buffer that begins at `addr`.
    ///
    /// # Errors
    /// `A01` when no buffer begins there.
    pub fn read(&self, addr: u64) -> Result<&[u8], EmulatorRefusal> {
        self.store
            .buffers
            .iter()
            .find(|b| b.base == addr)
            .map(|b| b.data.as_slice())
            .ok_or_else(|| no_buffer(addr))
    }

    /// Overwrites the first bytes of the buffer that begins at `addr`.
    ///
    /// # Errors
    /// `A01` when no buffer begins there or it is shorter than `bytes`.
    pub fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), EmulatorRefusal> {
        self.store
            .buffers
            .iter_mut()
            .find(|b| b.base == addr)
            .and_then(|b| Arc::make_mut(&mut b.data).get_mut(..bytes.len()))
            .map(|d| d.copy_from_slice(bytes))
            .ok_or_else(|| no_buffer(addr))
    }
}

fn no_buffer(addr: u64) -> EmulatorRefusal {
    EmulatorRefusal::one(
        "A01",
        0,
        format!("no buffer of that size begins at {addr:#x}"),
        "pass what alloc returned",
    )
}
