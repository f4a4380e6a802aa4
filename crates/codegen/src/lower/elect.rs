//! What one lane does for its partition (C21).
//!
//! A branch that one lane takes makes ptxas keep slots, phases and addresses of all that follows in vector registers, and move
//! them to uniform ones in front of each product: 156 instructions a trip of a grouped GEMM where predicates take 80. What is
//! short enough is done by the whole warp, with copies and arrivals under the predicate of the lane.

use inkwell::IntPredicate;
use inkwell::values::IntValue;
use warploom_ir::diag::Code;
use warploom_ir::{BlockId, Category, OpId, Opcode};

use super::{Lower, Place};
use crate::error::{Result, internal, refuse};
use crate::llvm::as_int;
use crate::program::Handshake;

/// What a warp that runs such a block together does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Together {
    /// It waits, each lane for itself.
    Waits,
    /// One lane copies, and announces what it copies.
    Predicated,
}

impl<'c> Lower<'c, '_> {
    /// `warploom.elect`: one lane of the partition's first warp.
    pub(super) fn elect(&mut self, op: OpId, depth: u32) -> Result<()> {
        if self.place.elected {
            return Err(refuse(Code::Verify, "warploom.elect inside warploom.elect").rule("C21").into());
        }
        let body = self.module.entry(op, 0).ok_or_else(|| internal("a region without a block"))?;
        let (first, done) = (self.ir.block(), self.ir.block());
        if self.place.warps == 1 {
            self.ir.br(first)?;
        } else {
            let warp = self.ir.c32(self.place.warp);
            let mine = self.ir.icmp(IntPredicate::EQ, self.warp, warp)?;
            self.ir.br_if(mine, first, done)?;
        }
        self.ir.seek(first);
        // A partition of one warp does nothing else.
        let together = if self.place.warps > 1 { self.whole_warp(body) } else { None };
        let predicate = match together {
            Some(Together::Waits) => None,
            Some(Together::Predicated) => Some(self.elected()?),
            None => {
                let (elected, chosen) = (self.elected()?, self.ir.block());
                self.ir.br_if(elected, chosen, done)?;
                self.ir.seek(chosen);
                None
            }
        };
        let place = self.place;
        self.place = Place { elected: true, predicate, ..place };
        let scope = self.enter();
        self.block(body, depth + 1)?;
        self.leave(scope);
        self.place = place;
        self.ir.br(done)?;
        self.ir.seek(done);
        Ok(())
    }

    /// Whether this lane is the one of its warp.
    pub(super) fn elected(&mut self) -> Result<IntValue<'c>> {
        let all = self.ir.c32(u64::from(u32::MAX)).into();
        let elected = self.ir.intrinsic("nvvm.elect.sync", &[all])?;
        as_int(self.ir.member(elected, 1)?)
    }

    /// How all lanes of a warp may run a block, if they may.
    fn whole_warp(&self, block: BlockId) -> Option<Together> {
        let mut found = Together::Waits;
        for &op in &self.module.blocks[block].ops {
            let data = &self.module.ops[op];
            let whole = match data.opcode {
                Opcode::ProducerAcquire | Opcode::Yield => Together::Waits,
                Opcode::TmaLoad => Together::Predicated,
                Opcode::ProducerCommit => {
                    let ring = self.program.ring(self.module, op).ok()?;
                    match self.program.rings[ring].handshake {
                        Handshake::MmaToGeneric | Handshake::GenericToMma => return None,
                        _ => Together::Predicated,
                    }
                }
                Opcode::If => {
                    let regions = data.regions.iter().flat_map(|&region| &self.module.regions[region].blocks);
                    let branches = regions.map(|&block| self.whole_warp(block));
                    branches.collect::<Option<Vec<_>>>()?.into_iter().max()?
                }
                opcode => {
                    let numbers = data.results.iter().all(|&v| !self.module.ty(v).is_tensor());
                    let plain = opcode == Opcode::Constant || opcode.facts().category == Category::Integers;
                    if !(numbers && plain && data.regions.is_empty()) {
                        return None;
                    }
                    Together::Waits
                }
            };
            found = found.max(whole);
        }
        Some(found)
    }
}
