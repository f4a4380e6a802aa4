//! Code for linear maps of the thread's number in its partition (G1).

use std::collections::BTreeMap;

use inkwell::IntPredicate;
use inkwell::values::IntValue;
use warploom_layout::{Dim, Layout};

use super::Lower;
use crate::error::Result;
use crate::llvm::as_int;

/// The images of the bits of the thread's number, lowest first.
pub(super) fn of_thread(layout: &Layout, output: Dim) -> Vec<u64> {
    let mut images = layout.column(Dim::Lane, output);
    images.resize(5, 0);
    images.extend(layout.column(Dim::Warp, output));
    images
}

impl<'c> Lower<'c, '_> {
    /// The thread's number in its partition.
    fn own_number(&self) -> Result<IntValue<'c>> {
        self.ir.sub(self.thread, self.ir.c32(32 * self.place.warp))
    }

    /// The image of the thread's number: bits that move alike are moved together.
    pub(super) fn linear(&self, images: &[u64]) -> Result<IntValue<'c>> {
        let own = self.own_number()?;
        let mut moved: BTreeMap<i32, u64> = BTreeMap::new();
        for (bit, &image) in images.iter().enumerate() {
            for to in (0..64).filter(|to| image >> to & 1 == 1) {
                *moved.entry(to - bit as i32).or_default() |= 1 << bit;
            }
        }
        let mut sum = self.ir.c32(0);
        for (by, bits) in moved {
            let part = self.ir.and(own, bits)?;
            let distance = u64::from(by.unsigned_abs());
            let part = if by < 0 { self.ir.shr(part, distance)? } else { self.ir.shl(part, distance)? };
            sum = self.ir.xor(sum, part)?;
        }
        Ok(sum)
    }

    /// Whether all of these bits of the thread's number are zero.
    pub(super) fn has_none(&self, bits: u64) -> Result<IntValue<'c>> {
        let own = self.ir.and(self.own_number()?, bits)?;
        self.ir.icmp(IntPredicate::EQ, own, self.ir.c32(0))
    }

    /// Registers by other numbers: register `i` is the one whose number is `i` plus (xor) the image of the thread's number.
    pub(super) fn turned(
        &self,
        mut registers: Vec<IntValue<'c>>,
        images: &[u64],
    ) -> Result<Vec<IntValue<'c>>> {
        for (bit, &image) in images.iter().enumerate().filter(|(_, image)| **image != 0) {
            let stays = self.has_none(1 << bit)?;
            let all = 0..registers.len();
            let other = |i: usize| registers.get(i ^ image as usize).or(registers.get(i)).copied();
            let turned = all.filter_map(|i| Some((registers[i], other(i)?)));
            registers = turned
                .map(|(own, other)| as_int(self.ir.select(stays, own.into(), other.into())?))
                .collect::<Result<_>>()?;
        }
        Ok(registers)
    }
}
