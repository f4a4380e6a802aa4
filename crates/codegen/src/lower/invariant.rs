//! Which tiles a loop would compute again in every trip, though they stay what they are, and which of them are worth
//! registers in front of it (C8): what is loaded from global memory, with what is made of it alone. What is made of numbers
//! alone LLVM takes out of loops itself.

use hashbrown::{HashMap, HashSet};
use warploom_ir::{CostClass, OpId, Opcode, Type, ValueId};

use super::Lower;
use super::context::Unchanging;
use super::value::{Bound, Memory};

/// The most registers of a lane that a loop is given for them.
const MOST: u64 = 64;

/// Registers of a lane beside tiles: addresses, masks, what is loaded for the next trips.
const OVERHEAD: u64 = 72;

/// A tile that may be kept.
struct Candidate {
    value: ValueId,
    tile: Unchanging,
    /// Registers that all of its elements take.
    words: u64,
    /// What a trip is spared for each of them, in instructions.
    spared: u64,
}

impl Lower<'_, '_> {
    /// Tiles that are computed in front of a loop, and how many registers they may take: those which spare a trip most for
    /// each register first.
    pub(super) fn unchanging(&self, op: OpId) -> (HashMap<ValueId, Unchanging>, u64) {
        let room = self.room(op);
        let mut all = self.worth_keeping(op, room);
        all.sort_by_key(|candidate| std::cmp::Reverse(candidate.spared));
        let (mut tiles, mut left) = (HashMap::new(), room);
        for Candidate { value, tile, words, .. } in all {
            if words <= left {
                left -= words;
                tiles.insert(value, tile);
            }
        }
        (tiles, room)
    }

    /// The tiles from outside that a loop uses and that are loaded: as they are used if there are registers for that,
    /// else what they are made of.
    fn worth_keeping(&self, op: OpId, room: u64) -> Vec<Candidate> {
        let mut found = Vec::new();
        let inner = warploom_ir::walk::ops(self.module, op);
        let changes = self.hazards.of(self.module, self.program, op, self.place.warp);
        if room == 0 || self.place.elected || changes.meets(Memory::GLOBAL) {
            return found;
        }
        let (mut stack, mut seen) = (Vec::new(), HashSet::new());
        for inner in inner.filter(|&inner| inner != op) {
            if matches!(self.module.ops[inner].opcode, Opcode::For | Opcode::While) {
                return Vec::new();
            }
            stack.extend(self.module.ops[inner].operands.iter().map(|&value| (value, false)));
            while let Some((value, stays)) = stack.pop() {
                let lazy = matches!(self.bound.get(&value), Some(Bound::Lazy(_)));
                if !lazy || !seen.insert((value, stays)) || !self.is_loaded(value) {
                    continue;
                }
                let words = self.words_of_element(value);
                let all =
                    words.zip(self.elements_of_lane(value)).map(|(words, count)| (words, words * count));
                match all.filter(|&(_, all)| all <= room) {
                    Some((words, all)) => {
                        let spared = self.spared(value) / words;
                        let tile = Unchanging { words, stays };
                        match found.iter_mut().find(|known: &&mut Candidate| known.value == value) {
                            Some(known) => known.tile.stays |= stays,
                            None => found.push(Candidate { value, tile, words: all, spared }),
                        }
                    }
                    None => {
                        let made =
                            self.module.def_op(value).map(|op| self.module.ops[op].operands.as_slice());
                        stack.extend(made.unwrap_or_default().iter().map(|&operand| (operand, true)));
                    }
                }
            }
        }
        found
    }

    /// Whether a tile is not evaluated yet and made of what is loaded from global memory, and of nothing that lanes or slots
    /// hold: that may lie elsewhere.
    fn is_loaded(&self, value: ValueId) -> bool {
        let (mut stack, mut seen, mut loads) = (vec![value], HashSet::new(), false);
        while let Some(value) = stack.pop() {
            match self.bound.get(&value) {
                Some(Bound::Lazy(_)) if seen.insert(value) => {
                    let Some(op) = self.module.def_op(value) else { return false };
                    loads |= self.module.ops[op].opcode == Opcode::Load;
                    stack.extend(&self.module.ops[op].operands);
                }
                Some(Bound::Lazy(_) | Bound::Scalar(_)) => {}
                _ => return false,
            }
        }
        loads
    }

    /// Registers that an element takes; none where that is a predicate.
    fn words_of_element(&self, value: ValueId) -> Option<u64> {
        match self.module.ty(value).elem() {
            Type::Ptr { .. } => Some(2),
            elem => elem.elem_bits().filter(|&bits| bits > 1).map(|bits| u64::from(bits.div_ceil(32))),
        }
    }

    /// How many different elements a lane has of a tile.
    fn elements_of_lane(&self, value: ValueId) -> Option<u64> {
        let family = self.family().ok()?;
        let places = self.places(value, family, self.form(value, family).ok()?).ok()?;
        let different: HashSet<_> = places.into_iter().map(|place| self.key(value, place)).collect();
        Some(different.len() as u64)
    }

    /// Instructions that make one element of a tile: what is loaded takes several for its address, and waits.
    fn spared(&self, value: ValueId) -> u64 {
        let (mut stack, mut seen, mut sum) = (vec![value], HashSet::new(), 0);
        while let Some(value) = stack.pop() {
            if !matches!(self.bound.get(&value), Some(Bound::Lazy(_))) || !seen.insert(value) {
                continue;
            }
            let Some(op) = self.module.def_op(value) else { continue };
            sum += match self.module.ops[op].opcode.facts().cost {
                CostClass::Free => 0,
                CostClass::PointerLoad => 16,
                CostClass::Special | CostClass::Logarithm => 8,
                _ => 1,
            };
            stack.extend(&self.module.ops[op].operands);
        }
        sum
    }

    /// Whether a loop of tiles leaves fewer registers than tiles in front of it are given.
    pub(super) fn is_crowded(&self, op: OpId) -> bool {
        self.taken(op) > 0 && self.room(op) < MOST
    }

    /// Registers of a lane that a loop leaves.
    fn room(&self, op: OpId) -> u64 {
        let own = self.program.partitions.iter().find(|partition| partition.warp == self.place.warp);
        let most = own.map_or(self.program.max_registers, |partition| partition.registers).min(255);
        most.saturating_sub(OVERHEAD + self.taken(op)).min(MOST)
    }

    /// Registers of a lane that tiles take in a loop: what it carries, what its products make, and what it uses that lanes
    /// hold.
    fn taken(&self, op: OpId) -> u64 {
        let lanes = 32 * self.place.warps;
        let words = |value: ValueId| {
            let ty = self.module.ty(value);
            let bits = ty.elem_bits().unwrap_or(64) * u32::from(ty.is_tensor());
            (ty.elements().unwrap_or(0) * u64::from(bits)).div_ceil(32 * lanes)
        };
        let module = self.module;
        let carried: u64 = module.ops[op].results.iter().map(|&value| words(value)).sum();
        let (mut held, mut widest, mut seen) = (0, 0, HashSet::new());
        for inner in warploom_ir::walk::ops(module, op) {
            let made = match module.ops[inner].opcode {
                Opcode::Dot | Opcode::DotFma => module.result(inner).map_or(0, words),
                Opcode::Slot if self.is_in_tensor_memory(inner) => module.result(inner).map_or(0, words),
                _ => 0,
            };
            widest = widest.max(made);
            for &value in module.ops[inner].operands.iter().filter(|&&value| seen.insert(value)) {
                if let Some(Bound::Fragment(fragment)) = self.bound.get(&value) {
                    held += fragment.registers.len() as u64;
                }
            }
        }
        carried + held + widest + widest / 2
    }

    /// Whether a slot is one of tensor memory.
    fn is_in_tensor_memory(&self, slot: OpId) -> bool {
        let payload = self.payload_of(slot);
        payload.is_ok_and(|(ring, payload)| self.program.rings[ring].payloads[payload].columns.is_some())
    }
}
