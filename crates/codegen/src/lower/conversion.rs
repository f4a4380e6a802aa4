//! Elements on their way from one layout to another, by the plan of the algebra (G12): moves of registers, shuffles, or an
//! exchange through the scratch memory of the partition.

use inkwell::types::BasicTypeEnum;
use inkwell::values::IntValue;
use warploom_chips::Feature;
use warploom_ir::diag::Code;
use warploom_layout::{Dim, Exchange, Layout, LayoutError, Plan, Prices, Scope, Shuffles, check, convert};

use super::Lower;
use super::bits::sum;
use super::cut::{Cut, Wanted};
use super::linear::of_thread;
use crate::error::{Result, internal, refuse};
use crate::llvm::{Val, as_int};

impl<'c> Lower<'c, '_> {
    /// What conversions of elements of `bits` bits cost and may use. Matrices move words: lanes would put narrower elements
    /// together first, which costs more than the algebra knows where they come one by one.
    pub(super) fn prices(&self, bits: u32) -> Prices {
        let prices = self.prices_of_words();
        if bits == 32 { prices } else { prices.matrices(false) }
    }

    /// The same where elements come in words anyhow.
    pub(super) fn prices_of_words(&self) -> Prices {
        let scratch = self.place.scratch.map_or(0, |scratch| scratch.bytes);
        Prices::default().scratch(scratch).matrices(self.ir.target.has(Feature::Stmatrix))
    }

    /// Elements of `bits` bits that lanes hold as `from` says, as `to` wants them.
    pub(super) fn relayout(
        &mut self,
        elements: Vec<IntValue<'c>>,
        (from, to): (&Layout, &Layout),
        (bits, prices): (u32, &Prices),
    ) -> Result<Vec<IntValue<'c>>> {
        let conversion = match convert(from, to, u64::from(bits), prices) {
            Ok(conversion) => conversion,
            Err(LayoutError::Scratch { .. }) if let Some(cut) = Cut::of(from, to) => {
                return self.in_halves(elements, (from, to), &cut, (bits, prices));
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
        (bits, prices): (u32, &Prices),
    ) -> Result<Vec<IntValue<'c>>> {
        let of_half = |half: u64, size: u64, bit: u32| (0..size).filter(move |n| n >> bit & 1 == half);
        let (given, wanted) = (from.input_size(Dim::Register), to.input_size(Dim::Register));
        let mut halves = Vec::new();
        for half in 0..2 {
            let part = picked(&elements, of_half(half, given, cut.given))?;
            halves.push(self.relayout(part, (&cut.from, &cut.to), (bits, prices))?);
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
        self.send(elements, &plan.store, bits)?;
        match plan.scope {
            Scope::Warp => self.meet_warp()?,
            _ => self.meet_all()?,
        }
        let found = self.take(&plan.load, to.input_size(Dim::Register), bits)?;
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
    pub(super) fn unpacked(&self, whole: Val<'c>, count: usize, bits: u32) -> Result<Vec<IntValue<'c>>> {
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

/// The image of a register of the first thread.
pub(super) fn image_of(layout: &Layout, register: u64, output: Dim) -> u64 {
    sum(layout.column(Dim::Register, output), register)
}

/// Registers by their numbers.
pub(super) fn picked<'c>(
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
