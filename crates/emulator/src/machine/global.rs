//! Global memory as one cluster sees it: the state before the launch, under its own writes (E5, E20).

use crate::code::TEXTURE_BASE;
use crate::texture::Texture;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of an overlay page.
const PAGE: usize = 4096;

/// A buffer of the device.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    pub base: u64,
    pub name: String,
    /// Copied when it is first written while somebody else still holds it.
    pub data: Arc<Vec<u8>>,
}

impl Buffer {
    /// One past its last address.
    pub(crate) fn end(&self) -> u64 {
        self.base.saturating_add(self.data.len() as u64)
    }
}

/// Why a global access failed (A01).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No buffer there.
    Unmapped,
    /// It begins in a buffer and ends behind it.
    PastEnd,
}

/// All buffers, sorted by base; the last may be the module's variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    pub buffers: Vec<Buffer>,
    /// Texture objects, by number.
    pub textures: Vec<Texture>,
}

impl Store {
    /// The texture object of a handle.
    pub(crate) fn texture(&self, handle: u64) -> Option<&Texture> {
        let behind = handle.checked_sub(TEXTURE_BASE).filter(|b| b.is_multiple_of(16))?;
        self.textures.get(usize::try_from(behind / 16).ok()?.checked_sub(1)?)
    }

    /// The buffer that an address lies in.
    pub(crate) fn find(&self, addr: u64) -> Option<usize> {
        let i = self.buffers.partition_point(|b| b.base <= addr).checked_sub(1)?;
        let b = self.buffers.get(i)?;
        (addr - b.base < b.data.len() as u64).then_some(i)
    }

    /// Name and offset of an address, for reports.
    pub(crate) fn describe(&self, addr: u64) -> Option<(String, u64)> {
        let b = self.buffers.get(self.find(addr)?)?;
        Some((b.name.clone(), addr - b.base))
    }

    /// Puts a buffer in its place.
    pub(crate) fn insert(&mut self, buffer: Buffer) {
        let at = self.buffers.partition_point(|b| b.base < buffer.base);
        self.buffers.insert(at, buffer);
    }

    /// The first buffer that has an address between these two.
    pub(crate) fn between(&self, start: u64, end: u64) -> Option<&Buffer> {
        let at = self.buffers.partition_point(|b| b.end() <= start);
        self.buffers.get(at).filter(|b| b.base < end)
    }

    /// The byte at an address.
    fn byte(&self, addr: u64) -> Option<u8> {
        let b = self.buffers.get(self.find(addr)?)?;
        b.data.get((addr - b.base) as usize).copied()
    }

    /// Writes the bytes of an overlay back.
    pub(crate) fn merge(&mut self, overlay: &Overlay) {
        for (number, page) in &overlay.pages {
            let base = number * PAGE as u64;
            let end = base + PAGE as u64;
            let first = self.buffers.partition_point(|b| b.end() <= base);
            for buffer in self.buffers.iter_mut().skip(first).take_while(|b| b.base < end) {
                let (from, to) = (base.max(buffer.base), end.min(buffer.end()));
                let data = Arc::make_mut(&mut buffer.data);
                let mut addr = from;
                while addr < to {
                    let n = page.run((addr - base) as usize, (to - base) as usize) as u64;
                    let (there, here) = ((addr - buffer.base) as usize, (addr - base) as usize);
                    let slots = data.get_mut(there..there + n as usize);
                    if let (Some(slots), Some(bytes)) = (slots, page.data.get(here..here + n as usize)) {
                        slots.copy_from_slice(bytes);
                    }
                    addr += n;
                    addr += page.clean((addr - base) as usize, (to - base) as usize) as u64;
                }
            }
        }
    }
}

/// Pages a cluster has written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overlay {
    pages: BTreeMap<u64, Page>,
}

impl Overlay {
    /// Which of the 32 bytes from `addr`, a multiple of 32, were overwritten with what the store holds already.
    pub(crate) fn equal(&self, store: &Store, addr: u64) -> u32 {
        let Some(page) = self.pages.get(&(addr / PAGE as u64)) else { return 0 };
        let first = (addr % PAGE as u64) as usize;
        let equal = |i: usize| {
            let byte = store.byte(addr + i as u64);
            page.is_dirty(first + i) && byte.is_some() && page.data.get(first + i).copied() == byte
        };
        (0..32).filter(|i| equal(*i)).fold(0, |mask, i| mask | 1 << i)
    }
}

#[derive(Clone, Debug)]
struct Page {
    data: Box<[u8; PAGE]>,
    dirty: [u64; PAGE / 64],
}

impl Page {
    /// How many bytes from `start` on, up to `end`, were written.
    fn run(&self, start: usize, end: usize) -> usize {
        let mut at = start;
        while at < end {
            let word = self.dirty.get(at / 64).copied().unwrap_or(0) >> (at % 64);
            let more = word.trailing_ones() as usize;
            at += more;
            if more == 0 || !at.is_multiple_of(64) {
                break;
            }
        }
        at.min(end) - start
    }

    /// How many bytes from `start` on, up to `end`, were not written.
    fn clean(&self, start: usize, end: usize) -> usize {
        let mut at = start;
        while at < end {
            let word = self.dirty.get(at / 64).copied().unwrap_or(0) >> (at % 64);
            if word != 0 {
                at += word.trailing_zeros() as usize;
                break;
            }
            at = (at / 64 + 1) * 64;
        }
        at.min(end) - start
    }

    /// Marks bytes as written.
    fn soil(&mut self, start: usize, end: usize) {
        let mut at = start;
        while at < end {
            let (from, to) = (at % 64, (end - at / 64 * 64).min(64));
            if let Some(d) = self.dirty.get_mut(at / 64) {
                *d |= u64::MAX << from & u64::MAX >> (64 - to);
            }
            at = (at / 64 + 1) * 64;
        }
    }

    fn is_dirty(&self, i: usize) -> bool {
        self.dirty.get(i / 64).is_some_and(|d| d >> (i % 64) & 1 == 1)
    }
}

/// A cluster's view.
pub(crate) struct View<'a> {
    pub store: &'a Store,
    pub overlay: Overlay,
    last: usize,
}

impl<'a> View<'a> {
    /// The memory under a view, unchanged.
    pub(crate) fn new(store: &'a Store) -> Self {
        View { store, overlay: Overlay::default(), last: 0 }
    }

    /// The buffer and offset of a whole range.
    fn locate(&mut self, addr: u64, len: u64) -> Result<(usize, usize), Fault> {
        let near = self.store.buffers.get(self.last);
        let hit = near.is_some_and(|b| addr >= b.base && addr - b.base < b.data.len() as u64);
        if !hit {
            self.last = self.store.find(addr).ok_or(Fault::Unmapped)?;
        }
        let b = self.store.buffers.get(self.last).ok_or(Fault::Unmapped)?;
        let offset = addr - b.base;
        if len > b.data.len() as u64 - offset {
            return Err(Fault::PastEnd);
        }
        Ok((self.last, offset as usize))
    }

    /// Checks a range without touching it.
    pub(crate) fn check(&mut self, addr: u64, len: u64) -> Result<(), Fault> {
        self.locate(addr, len).map(|_| ())
    }

    /// Reads a range.
    pub(crate) fn read(&mut self, addr: u64, out: &mut [u8]) -> Result<(), Fault> {
        let (b, offset) = self.locate(addr, out.len() as u64)?;
        if let Some(from) = self.store.buffers.get(b).and_then(|b| b.data.get(offset..offset + out.len())) {
            out.copy_from_slice(from);
        }
        if self.overlay.pages.is_empty() {
            return Ok(());
        }
        let first = addr / PAGE as u64;
        let last = (addr + out.len() as u64).div_ceil(PAGE as u64);
        for (number, page) in self.overlay.pages.range(first..last.max(first)) {
            let base = number * PAGE as u64;
            let from = addr.max(base);
            let to = (addr + out.len() as u64).min(base + PAGE as u64);
            let (mut at, end) = ((from - base) as usize, (to - base) as usize);
            while at < end {
                at += page.clean(at, end);
                let n = page.run(at, end);
                let there = (at as u64 + base - addr) as usize;
                if let (Some(d), Some(s)) = (out.get_mut(there..there + n), page.data.get(at..at + n)) {
                    d.copy_from_slice(s);
                }
                at += n;
            }
        }
        Ok(())
    }

    /// Writes a range.
    pub(crate) fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.locate(addr, bytes.len() as u64)?;
        let mut at = addr;
        let mut rest = bytes;
        while !rest.is_empty() {
            let offset = (at % PAGE as u64) as usize;
            let n = rest.len().min(PAGE - offset);
            let (now, later) = rest.split_at(n);
            let page = self
                .overlay
                .pages
                .entry(at / PAGE as u64)
                .or_insert_with(|| Page { data: Box::new([0; PAGE]), dirty: [0; PAGE / 64] });
            if let Some(d) = page.data.get_mut(offset..offset + n) {
                d.copy_from_slice(now);
            }
            page.soil(offset, offset + n);
            at += n as u64;
            rest = later;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{PAGE, Page};

    /// Runs of written and of other bytes follow each other through a page, at every place in its words.
    #[test]
    fn runs_of_a_page() {
        for (start, end) in [(0, 1), (3, 64), (60, 70), (64, 128), (1, 200), (127, 129), (PAGE - 65, PAGE)] {
            let mut page = Page { data: Box::new([0; PAGE]), dirty: [0; PAGE / 64] };
            page.soil(start, end);
            assert!((0..PAGE).all(|i| page.is_dirty(i) == (start..end).contains(&i)), "{start}..{end}");
            assert_eq!((page.clean(0, PAGE), page.run(0, PAGE)), (start, if start == 0 { end } else { 0 }));
            assert_eq!((page.run(start, PAGE), page.clean(end, PAGE)), (end - start, PAGE - end));
        }
    }
}
