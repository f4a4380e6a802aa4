//! Elements on their way from one layout to another, by the plan of the algebra (G12): moves of registers, shuffles, or an
//! exchange through the scratch memory of the partition.

use hashbrown::HashMap;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{IntValue, PointerValue};
use warploom_ir::diag::Code;
use warploom_layout::{
    Dim, Exchange, Layout, LayoutError, Plan, Prices, Scope, Shuffles, Transfer, TransferKind, check, convert,
};

use super::Lower;
use super::bits::sum;
use super::cut::{Cut, Wanted};
use super::linear::of_thread;
use crate::error::{Result, internal, refuse};
use crate::llvm::{Val, as_int};

impl<'c> Lower<'c, '_> {
    /// What conversions cost and may use.
    pub(super) fn prices(&self) -> Prices {
        let scratch = self.place.scratch.map_or(0, |scratch| scratch.bytes);
        Prices::default().scratch(scratch).matrices(false)
    }

    /// Elements of `bits` bits that lanes hold as `from` says, as `to` wants them.
    pub(super) fn relayout(
        &mut self,
        elements: Vec<IntValue<'c>>,
        (from, to): (&Layout, &Layout),
        bits: u32,
    ) -> Result<Vec<IntValue<'c>>> {
        let conversion = match convert(from, to, u64::from(bits), &self.prices()) {
            Ok(conversion) => conversion,
            Err(LayoutError::Scratch { .. }) if let Some(cut) = Cut::of(from, to) => {
                return self.in_halves(elements, (from, to), &cut, bits);
            }
            Err(error) => {
                let text = format!("elements go from one layout to another: {error}");
                let error = refuse(Code::Layout, text).rule("G12");
                return Err(error.note("from", from.to_string()).note("to", to.to_string()).into());
            }
        };
        if let Err(wrong) = check::conversion(from, to, u64::from(bits), &conversion) {
            return Err(internal(format!("a conversion of {from} to {to}: {wrong}")));
        }
        let registers = 0..to.input_size(Dim::Register);
        match &conversion.plan {
            Plan::Nothing => picked(&elements, registers),
            Plan::Moves(moves) => {
                let own = self.turned(elements, &of_thread(&moves.source, Dim::Register))?;
                picked(&own, registers.map(|register| image_of(&moves.source, register, Dim::Register)))
            }
            Plan::Shuffles(plan) => self.shuffle(elements, plan, to, bits),
            Plan::Exchange(plan) => self.through_memory(&elements, plan, to, bits),
            plan => Err(internal(format!("a conversion by {}", plan.name()))),
        }
    }

    /// Half of the elements after the other, where scratch memory has no room for all.
    fn in_halves(
        &mut self,
        elements: Vec<IntValue<'c>>,
        (from, to): (&Layout, &Layout),
        cut: &Cut,
        bits: u32,
    ) -> Result<Vec<IntValue<'c>>> {
        let of_half = |half: u64, size: u64, bit: u32| (0..size).filter(move |n| n >> bit & 1 == half);
        let (given, wanted) = (from.input_size(Dim::Register), to.input_size(Dim::Register));
        let mut halves = Vec::new();
        for half in 0..2 {
            let part = picked(&elements, of_half(half, given, cut.given))?;
            halves.push(self.relayout(part, (&cut.from, &cut.to), bits)?);
        }
        let [low, high] = <[_; 2]>::try_from(halves).map_err(|_| internal("other than two halves"))?;
        match cut.wanted {
            Wanted::Register(bit) => {
                let mut found = vec![self.ir.int(bits).const_zero(); wanted as usize];
                for (half, part) in [low, high].into_iter().enumerate() {
                    for (register, element) in of_half(half as u64, wanted, bit).zip(part) {
                        found[register as usize] = element;
                    }
                }
                Ok(found)
            }
            Wanted::Thread(bit) => {
                let first = self.has_none(1 << bit)?;
                let both = low.into_iter().zip(high);
                both.map(|(low, high)| as_int(self.ir.select(first, low.into(), high.into())?)).collect()
            }
        }
    }

    /// Rounds of shuffles.
    fn shuffle(
        &mut self,
        elements: Vec<IntValue<'c>>,
        plan: &Shuffles,
        to: &Layout,
        bits: u32,
    ) -> Result<Vec<IntValue<'c>>> {
        let sent = self.turned(elements, &of_thread(&plan.send, Dim::Register))?;
        let giver = self.linear(&of_thread(&plan.from, Dim::Lane))?;
        let zero = self.ir.int(bits).const_zero();
        let mut filled = vec![zero; to.input_size(Dim::Register) as usize];
        let parts = 0..1u64 << plan.pack.len();
        for round in &plan.rounds {
            let masks = plan.pack.iter().map(|p| p.send);
            let mut word = picked(&sent, parts.clone().map(|part| round.send ^ sum(masks.clone(), part)))?;
            if !round.home {
                let lane = self.ir.xor(giver, self.ir.c32(round.from))?;
                let count = word.len();
                let whole = self.packed(&word, self.ir.int(bits * count as u32).into())?;
                let fetched = self.fetched(whole, lane)?;
                word = self.unpacked(fetched, count, bits)?;
            }
            for (part, element) in parts.clone().zip(word) {
                let register = round.into ^ sum(plan.pack.iter().map(|p| p.into), part);
                let place = filled.get_mut(register as usize);
                *place.ok_or_else(|| internal("a register beyond the tile's"))? = element;
            }
        }
        let filled = self.turned(filled, &of_thread(&plan.into, Dim::Register))?;
        copied(&filled, to, &plan.copies)
    }

    /// Stores and loads. All lanes have met before, and meet behind it: others may use the memory again.
    fn through_memory(
        &mut self,
        elements: &[IntValue<'c>],
        plan: &Exchange,
        to: &Layout,
        bits: u32,
    ) -> Result<Vec<IntValue<'c>>> {
        let mut starts = Starts::of(self, &plan.store, bits)?;
        let acts = match idle(&plan.store) {
            0 => None,
            idle => Some(self.has_none(idle)?.into()),
        };
        let done = self.only_where(acts)?;
        for piece in 0..plan.store.access.pieces() {
            let registers = piece_of(&plan.store, piece);
            let bytes = bits / 8 * registers.len() as u32;
            let words = self.packed(&picked(elements, registers.iter().copied())?, self.access(bytes))?;
            let address = starts.at(self, &registers)?;
            self.ir.store(words, address, bytes)?;
        }
        self.rejoin(done)?;
        match plan.scope {
            Scope::Warp => self.meet_warp()?,
            _ => self.meet_all()?,
        }
        let mut starts = Starts::of(self, &plan.load, bits)?;
        let mut found = vec![self.ir.int(bits).const_zero(); to.input_size(Dim::Register) as usize];
        for piece in 0..plan.load.access.pieces() {
            let registers = piece_of(&plan.load, piece);
            let bytes = bits / 8 * registers.len() as u32;
            let address = starts.at(self, &registers)?;
            let words = self.ir.load(self.access(bytes), address, bytes)?;
            let elements = self.unpacked(words, registers.len(), bits)?;
            for (register, element) in registers.into_iter().zip(elements) {
                let place = found.get_mut(register as usize);
                *place.ok_or_else(|| internal("a register beyond the tile's"))? = element;
            }
        }
        self.meet_all()?;
        copied(&found, to, &plan.copies)
    }

    /// Elements side by side, the first one lowest. Narrow ones come together in words of 32 bits first: for those LLVM
    /// has one instruction that picks bytes, where wider numbers are shifted and added up.
    pub(super) fn packed(&self, elements: &[IntValue<'c>], ty: BasicTypeEnum<'c>) -> Result<Val<'c>> {
        let bits = elements.first().map_or(32, |one| one.get_type().get_bit_width());
        let elements: Vec<Val<'c>> = elements.iter().map(|&element| element.into()).collect();
        let word = (32 / bits.max(1)).max(1) as usize;
        if elements.len() <= word || bits >= 32 {
            return self.ir.bits(self.ir.vector(&elements)?, ty);
        }
        let words =
            elements.chunks(word).map(|some| self.ir.bits(self.ir.vector(some)?, self.ir.i32().into()));
        self.ir.bits(self.ir.vector(&words.collect::<Result<Vec<_>>>()?)?, ty)
    }

    /// The elements of what [`Lower::packed`] made.
    fn unpacked(&self, whole: Val<'c>, count: usize, bits: u32) -> Result<Vec<IntValue<'c>>> {
        let element = self.ir.int(bits);
        if count == 1 {
            return Ok(vec![as_int(self.ir.bits(whole, element.into())?)?]);
        }
        let elements = self.ir.bits(whole, element.vec_type(count as u32).into())?;
        (0..count as u64).map(|n| as_int(self.ir.lane(elements, n)?)).collect()
    }

    /// The type of an access of so many bytes.
    pub(super) fn access(&self, bytes: u32) -> BasicTypeEnum<'c> {
        match bytes {
            8 | 16 => self.ir.i32().vec_type(bytes / 4).into(),
            _ => self.ir.int(8 * bytes).into(),
        }
    }
}

/// Addresses of a transfer in scratch memory: what depends on the thread is computed once.
struct Starts<'c, 't> {
    to: &'t Layout,
    bytes: u64,
    offset: u64,
    own: IntValue<'c>,
    /// Bits of an offset that depend on the thread.
    mask: u64,
    /// By what is added (xor) to them.
    known: HashMap<u64, PointerValue<'c>>,
}

impl<'c, 't> Starts<'c, 't> {
    fn of(lower: &Lower<'c, '_>, transfer: &'t Transfer, bits: u32) -> Result<Starts<'c, 't>> {
        if transfer.kind != TransferKind::Pieces {
            return Err(internal("matrices on their way through scratch memory"));
        }
        let images = of_thread(&transfer.to, Dim::Offset);
        let own = lower.linear(&images)?;
        let mask = images.iter().fold(0, |mask, image| mask | image);
        let (to, bytes, offset) = (&transfer.to, u64::from(bits / 8), lower.scratch()?.offset);
        Ok(Starts { to, bytes, offset, own, mask, known: HashMap::new() })
    }

    /// Where a piece begins that these registers hold.
    fn at(&mut self, lower: &Lower<'c, '_>, registers: &[u64]) -> Result<PointerValue<'c>> {
        let first = registers.first().map_or(0, |&register| image_of(self.to, register, Dim::Offset));
        let (inside, outside) = (first & self.mask, first & !self.mask);
        let start = match self.known.get(&inside) {
            Some(&known) => known,
            None => {
                let own = lower.ir.xor(self.own, lower.ir.c32(inside))?;
                let start = lower.ir.shared_at(lower.ir.scale(own, self.bytes)?)?;
                self.known.insert(inside, start);
                start
            }
        };
        lower.ir.plus(start, self.offset + outside * self.bytes)
    }
}

/// The registers of a piece.
fn piece_of(transfer: &Transfer, piece: u64) -> Vec<u64> {
    let first = transfer.access.first(piece);
    (0..transfer.access.width()).map(|n| transfer.access.element(first, n)).collect()
}

/// Bits of the number of a thread that must be zero for it to act.
fn idle(transfer: &Transfer) -> u64 {
    let bits = |&(dim, mask): &(Dim, u64)| if dim == Dim::Warp { mask << 5 } else { mask };
    transfer.idle.iter().map(bits).fold(0, |all, bits| all | bits)
}

/// The image of a register of the first thread.
fn image_of(layout: &Layout, register: u64, output: Dim) -> u64 {
    sum(layout.column(Dim::Register, output), register)
}

/// Registers by their numbers.
fn picked<'c>(
    registers: &[IntValue<'c>],
    numbers: impl IntoIterator<Item = u64>,
) -> Result<Vec<IntValue<'c>>> {
    let one = |number: u64| registers.get(number as usize).copied();
    let all: Option<_> = numbers.into_iter().map(one).collect();
    all.ok_or_else(|| internal("a register that nobody holds"))
}

/// Registers that have the value of another.
fn copied<'c>(registers: &[IntValue<'c>], to: &Layout, copies: &Layout) -> Result<Vec<IntValue<'c>>> {
    let all = 0..to.input_size(Dim::Register);
    picked(registers, all.map(|register| image_of(copies, register, Dim::Register)))
}
