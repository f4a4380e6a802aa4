//! Which tiles a loop would compute again in every trip, though they stay what they are, and which of them are worth
//! registers in front of it (C8): what is loaded from global memory, with what is made of it alone, and what is divided by a
//! number that no constant is, which LLVM leaves where it may not be reached. What else is made of numbers alone LLVM takes out
//! of loops itself.

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
    /// Tiles that are computed in front of a loop, and how many registers those may take for which none are set aside: those
    /// which spare a trip most for each register first.
    pub(super) fn unchanging(&self, op: OpId) -> (HashMap<ValueId, Unchanging>, u64) {
        let room = self.room(op);
        let mut all = self.worth_keeping(op, room);
        all.sort_by_key(|candidate| std::cmp::Reverse(candidate.spared));
        let (mut tiles, mut left, mut set_aside) = (HashMap::new(), room, 0);
        for Candidate { value, tile, words, .. } in all {
            if words <= left {
                left -= words;
                set_aside += if tile.set_aside { words } else { 0 };
                tiles.insert(value, tile);
            }
        }
        (tiles, room - set_aside)
    }

    /// The tiles from outside that a loop uses and that are loaded or divided: as they are used if there are registers for
    /// that, else what they are made of.
    fn worth_keeping(&self, op: OpId, room: u64) -> Vec<Candidate> {
        let mut found = Vec::new();
        let inner = warploom_ir::walk::ops(self.module, op);
        let changes = self.hazards.of(self.module, self.program, op, self.place.warp);
        if room == 0 || self.place.elected || changes.meets(Memory::GLOBAL) {
            return found;
        }
        let (mut stack, mut seen, copied) = (Vec::new(), HashSet::new(), self.copied(op));
        for inner in inner.filter(|&inner| inner != op) {
            if matches!(self.module.ops[inner].opcode, Opcode::For | Opcode::While) {
                return Vec::new();
            }
            stack.extend(self.module.ops[inner].operands.iter().map(|&value| (value, false)));
            while let Some((value, stays)) = stack.pop() {
                let lazy = matches!(self.bound.get(&value), Some(Bound::Lazy(_)));
                if !lazy
                    || !seen.insert((value, stays))
                    || !self.is_made_of(value, |op| self.loads(op) || self.divides(op))
                {
                    continue;
                }
                let words = self.words_of_element(value);
                let copy = copied.get(&inner).filter(|_| !self.is_made_of(value, |op| self.loads(op)));
                let count = match copy {
                    Some(&copy) => self.elements_of_chunks(copy, value),
                    None => self.elements_of_lane(value),
                };
                let all = words.zip(count).map(|(words, count)| (words, words * count));
                match all.filter(|&(_, all)| all <= room) {
                    Some((words, all)) => {
                        let spared = self.spared(value) / words;
                        let tile = Unchanging { words, stays, set_aside: copy.is_some() };
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

    /// Whether a tile is not evaluated yet, made by such an operation among others, and of nothing that lanes or slots hold:
    /// that may lie elsewhere.
    fn is_made_of(&self, value: ValueId, such: impl Fn(OpId) -> bool) -> bool {
        let (mut stack, mut seen, mut found) = (vec![value], HashSet::new(), false);
        while let Some(value) = stack.pop() {
            match self.bound.get(&value) {
                Some(Bound::Lazy(_)) if seen.insert(value) => {
                    let Some(op) = self.module.def_op(value) else { return false };
                    found |= such(op);
                    stack.extend(&self.module.ops[op].operands);
                }
                Some(Bound::Lazy(_) | Bound::Scalar(_)) => {}
                _ => return false,
            }
        }
        found
    }

    /// Whether an operation loads from global memory.
    fn loads(&self, op: OpId) -> bool {
        self.module.ops[op].opcode == Opcode::Load
    }

    /// Whether an operation divides whole numbers by what is no constant.
    fn divides(&self, op: OpId) -> bool {
        use Opcode::{DivSI, DivUI, RemSI, RemUI};
        let data = &self.module.ops[op];
        let by = data.operands.get(1).and_then(|&by| self.module.def_op(by));
        let constant = by.is_some_and(|by| self.module.ops[by].opcode == Opcode::Constant);
        matches!(data.opcode, DivSI | DivUI | RemSI | RemUI) && !constant
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

    /// Copies by lanes in a loop, and what is computed there for one of them alone.
    fn copied(&self, op: OpId) -> HashMap<OpId, OpId> {
        let (mut copied, inner) = (HashMap::new(), warploom_ir::walk::ops(self.module, op));
        for inner in inner.collect::<Vec<_>>().into_iter().rev() {
            let data = &self.module.ops[inner];
            if data.opcode == Opcode::AsyncCopy {
                copied.insert(inner, inner);
                continue;
            }
            let mut users = data.results.iter().flat_map(|&result| self.users_of(result));
            let copy = users.next().and_then(|user| copied.get(&user).copied());
            if let Some(copy) = copy
                && users.all(|user| copied.get(&user) == Some(&copy))
            {
                copied.insert(inner, copy);
            }
        }
        copied
    }

    /// The same where lanes have chunks of what is copied.
    fn elements_of_chunks(&self, copy: OpId, value: ValueId) -> Option<u64> {
        let (ring, payload) = self.payload_of(copy).ok()?;
        let layout = self.program.rings[ring].payloads[payload].layout;
        let blocked = self.chunks(layout, 1);
        let rows = layout.rows.div_ceil(blocked.row_step().max(1));
        let cols = layout.cols / blocked.col_step().max(1) * u64::from(blocked.vector);
        let (shape, varies) = (self.module.ty(value).shape(), self.lazy_of(value).varies);
        let along = |back: usize| shape.len().checked_sub(back).is_some_and(|dim| varies >> dim & 1 == 1);
        Some(match shape.len() {
            1 => rows.max(cols),
            _ => (if along(2) { rows } else { 1 }) * (if along(1) { cols } else { 1 }),
        })
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
                _ if self.divides(op) => 16,
                CostClass::Free => 0,
                CostClass::PointerLoad => 16,
                CostClass::Special | CostClass::Logarithm => 8,
                _ => 1,
            };
            stack.extend(&self.module.ops[op].operands);
        }
        sum
    }

    /// Registers of a lane that a loop leaves: what it carries, what its products make, and what it uses that lanes hold
    /// are in the way.
    fn room(&self, op: OpId) -> u64 {
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
        let own = self.program.partitions.iter().find(|partition| partition.warp == self.place.warp);
        let most = own.map_or(self.program.max_registers, |partition| partition.registers).min(255);
        most.saturating_sub(OVERHEAD + carried + held + widest + widest / 2).min(MOST)
    }

    /// Whether a slot is one of tensor memory.
    fn is_in_tensor_memory(&self, slot: OpId) -> bool {
        let payload = self.payload_of(slot);
        payload.is_ok_and(|(ring, payload)| self.program.rings[ring].payloads[payload].columns.is_some())
    }
}
