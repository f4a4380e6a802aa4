//! Work that every trip of a loop would do again alike, done once in front of it (C8). What is worth it, [`Lower::unchanging`]
//! says; it is computed in front of the loop when the first trip asks for it, and only if the loop runs at all.

use hashbrown::HashMap;
use inkwell::basic_block::BasicBlock;
use warploom_ir::{OpId, ValueId};

use super::Lower;
use super::context::Front;
use super::value::{Base, Key};
use crate::error::{Result, internal};
use crate::llvm::{Val, as_int};

impl<'c> Lower<'c, '_> {
    /// Opens the place in front of a loop, where that has anything to do. The loop is entered from there then.
    pub(super) fn open_front(&mut self, op: OpId) {
        let (tiles, left) = self.unchanging(op);
        self.front = match tiles.is_empty() {
            true => None,
            false => Some(Box::new(Front {
                end: self.ir.block(),
                tiles,
                left,
                given: HashMap::new(),
                memo: self.memo.clone(),
                pairs: self.pairs.clone(),
                moved: self.moved.clone(),
                thread: self.thread,
                place: self.place,
            })),
        };
    }

    /// The block by which a loop is entered: that of the front, or its own first one.
    pub(super) fn entry_of_loop(&self, head: BasicBlock<'c>) -> BasicBlock<'c> {
        self.front.as_ref().map_or(head, |front| front.end)
    }

    /// Closes the front of a loop which starts with `head`; the block that `head` is entered from, `from` where there is no
    /// front.
    pub(super) fn close_front(
        &mut self,
        from: BasicBlock<'c>,
        head: BasicBlock<'c>,
    ) -> Result<BasicBlock<'c>> {
        let Some(front) = self.front.take() else { return Ok(from) };
        let here = self.ir.here()?;
        self.ir.seek(front.end);
        self.ir.br(head)?;
        self.ir.seek(here);
        Ok(front.end)
    }

    /// The element of a tile that is computed in front of the loop; `None` where it is not.
    pub(super) fn made_in_front(&mut self, key: &Key) -> Result<Option<Val<'c>>> {
        let Some(mut front) = self.front.take_if(|front| front.tiles.contains_key(&key.0)) else {
            return Ok(None);
        };
        let found = self.ask(&mut front, key);
        let stays = front.tiles.get(&key.0).is_some_and(|tile| tile.stays);
        self.front = Some(front);
        match found? {
            Some(value) if stays => self.hidden(key.0, value).map(Some),
            found => Ok(found),
        }
    }

    fn ask(&mut self, front: &mut Front<'c>, key: &Key) -> Result<Option<Val<'c>>> {
        if let Some(&known) = front.given.get(key) {
            return Ok(Some(known));
        }
        let words = front.tiles.get(&key.0).map_or(0, |tile| tile.words);
        // Places that the loop computes are not known in front of it.
        let fixed = key.1.iter().all(|coord| !matches!(coord.base, Base::Computed(_)));
        if !fixed || words > front.left {
            return Ok(None);
        }
        let here = self.ir.here()?;
        self.ir.seek(front.end);
        let logs = [&mut self.memo_log, &mut self.pairs_log, &mut self.moved_log].map(std::mem::take);
        self.exchange_known(front);
        let value = self.at(key.0, key.1.clone());
        self.exchange_known(front);
        [self.memo_log, self.pairs_log, self.moved_log] = logs;
        front.end = self.ir.here()?;
        self.ir.seek(here);
        let value = value?;
        front.left -= words;
        front.given.insert(key.clone(), value);
        Ok(Some(value))
    }

    /// Goes from what is known in the loop to what is known in front of it, or back.
    fn exchange_known(&mut self, front: &mut Front<'c>) {
        std::mem::swap(&mut self.memo, &mut front.memo);
        std::mem::swap(&mut self.pairs, &mut front.pairs);
        std::mem::swap(&mut self.moved, &mut front.moved);
        std::mem::swap(&mut self.thread, &mut front.thread);
        std::mem::swap(&mut self.place, &mut front.place);
    }

    /// The same element of a tile, of which LLVM does not know that it stays what it is.
    fn hidden(&mut self, tile: ValueId, element: Val<'c>) -> Result<Val<'c>> {
        let bits = as_int(self.stored_bits(element)?)?;
        let bits =
            if bits.get_type().get_bit_width() == 8 { self.ir.zext(bits, self.ir.int(16))? } else { bits };
        let (class, width) = match bits.get_type().get_bit_width() {
            16 => ("h", 16),
            64 => ("l", 64),
            _ => ("r", 32),
        };
        let (text, constraints) = (format!("mov.b{width} $0, $1;"), format!("={class},{class}"));
        let same = self.ir.assembly(&text, &constraints, &[bits.get_type().into()], &[bits.into()], false)?;
        let same = same.ok_or_else(|| internal("a move without a result"))?;
        let module = self.module;
        self.unstored(same, module.ty(tile).elem())
    }
}
