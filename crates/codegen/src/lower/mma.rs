//! wgmma: a dot is one inline assembly that fences, multiplies and commits (C30, C45, C46, C62, C63).

mod kind;
mod text;

use std::rc::Rc;

use inkwell::types::BasicTypeEnum;
use inkwell::values::IntValue;
pub(super) use kind::{Kind, kind, unsupported};
use text::{First, Shape, wgmma_text};
use warploom_ir::diag::Code;
use warploom_ir::{Attr, FloatKind, OpId, Type, ValueId};

use super::Lower;
use super::value::{Bound, Flight, Form, Fragment, View};
use crate::error::{Result, internal, refuse};
use crate::family::Family;
use crate::layout::{Engine, Operand};
use crate::llvm::{Val, as_int};

impl<'c> Lower<'c, '_> {
    /// `tt.dot`: issues, and commits as one group. The result is in flight until `warploom.mma_wait`.
    pub(super) fn dot(&mut self, op: OpId) -> Result<()> {
        let (a, b, c) = (self.operand(op, 0)?, self.operand(op, 1)?, self.operand(op, 2)?);
        let result = self.only_result(op)?;
        let family = self.wgmma()?;
        let shape = self.dot_shape(op, a, b, result)?;
        let b = self.operand_view(b, (shape.b, Engine::Wgmma), true)?;
        let a = self.first_operand(a, &shape)?;
        let zero = self.module.is_zero(c);
        let from = match zero {
            true => Vec::new(),
            false => self.fragment(c)?.registers.to_vec(),
        };
        let text = wgmma_text(&shape, &a, &b.1, zero);
        let ties = from.len();
        let mut args: Vec<Val<'c>> = from;
        let classes = self.sources(&shape, &a, &b, &mut args)?;
        let count = (shape.blocks * shape.registers()) as usize;
        let (sum, class): (BasicTypeEnum, _) = match shape.a.whole || shape.half_sums {
            true => (self.ir.i32().into(), "=r"),
            false => (self.ir.f32().into(), "=f"),
        };
        let results: Vec<BasicTypeEnum> = vec![sum; count];
        let constraints = tied(&vec![class; count], ties, &classes);
        let value = self.ir.assembly(&text, &constraints, &results, &args, false)?;
        let registers = self.unpack(value, count)?;
        self.products += 1;
        let reads = match a {
            First::Shared(..) => [].into(),
            First::Registers(registers) => registers,
        };
        let flight = Some(Flight { number: self.products, reads });
        let cols = shape.n * u64::from(family.columns.max(1));
        let form = Form::Tile { cols, packed: shape.half_sums };
        let fragment = Fragment { family: Family::Wgmma(family), form, registers, flight };
        self.bound.insert(result, Bound::Fragment(fragment));
        Ok(())
    }

    /// A, from shared memory where it lies there, else from registers: accumulators of 16-bit elements,
    /// packed pairwise, are what wgmma takes (C61).
    fn first_operand(&mut self, value: ValueId, shape: &Shape) -> Result<First<'c>> {
        // Lanes that have taken elements out of a slot leave it as it was; wgmma takes narrower and wider ones only there.
        let taken = shape.a.bytes != 2 && self.slots.contains_key(&value);
        if taken || matches!(self.bound.get(&value), Some(Bound::View(_))) {
            let (view, operand) = self.operand_view(value, (shape.a, Engine::Wgmma), false)?;
            return Ok(First::Shared(view, operand));
        }
        if shape.a.bytes != 2 || self.wgmma()?.columns > 1 {
            let text = format!("operand a of tt.dot, {}, from registers", self.module.ty(value));
            let fix = "bf16 or f16 of lanes that have whole rows, or a tile in shared memory";
            return Err(refuse(Code::Layout, text).rule("C61").note("instead", fix).into());
        }
        let fragment = self.fragment(value)?;
        match fragment.form {
            Form::Tile { packed: true, .. } => Ok(First::Registers(fragment.registers)),
            _ => Err(refuse(Code::Layout, "operand a of tt.dot is no matrix").rule("C61").into()),
        }
    }

    /// Checks types, precision and shape (C7, C63, T12, T13).
    fn dot_shape(&self, op: OpId, a: ValueId, b: ValueId, result: ValueId) -> Result<Shape> {
        let (ta, tb, tc) = (self.module.ty(a), self.module.ty(b), self.module.ty(result));
        if !self.ir.target.has(warploom_chips::Feature::Wgmma) {
            let text = format!("{} has no wgmma", self.ir.target.name());
            return Err(refuse(Code::Target, text).rule("T5").into());
        }
        let unsupported = || unsupported(ta, tb, tc);
        let (ka, kb) = (kind(ta).ok_or_else(unsupported)?, kind(tb).ok_or_else(unsupported)?);
        let mixed = ka != kb && !(ka.bytes == 1 && kb.bytes == 1 && ka.whole == kb.whole);
        let half_sums = ka.name == "f16" && *tc.elem() == Type::Float(FloatKind::F16);
        if mixed || !(half_sums || *tc.elem() == ka.sum()) {
            return Err(unsupported());
        }
        self.check_precision(op, ka.bytes)?;
        let ([m, k], [k2, n], [m2, n2]) = (ta.shape(), tb.shape(), tc.shape()) else {
            return Err(refuse(Code::Shape, "tt.dot of tiles that are not matrices").rule("C63").into());
        };
        if (m, k, n) != (m2, k2, n2) {
            return Err(refuse(Code::Verify, format!("tt.dot of {ta} and {tb} into {tc}")).into());
        }
        let family = self.wgmma()?;
        let part = family.part_of(*n);
        let odd = ka.whole && part > 32 && part % 16 != 0 || part * u64::from(family.columns.max(1)) != *n;
        if k % ka.k() != 0 || part % 8 != 0 || part == 0 || part > 256 || odd {
            let text = format!("no wgmma covers {m}x{n}x{k}");
            let needs = format!("N 8..256 in steps of 8, K in steps of {}", ka.k());
            return Err(refuse(Code::Shape, text).rule("T12").note("needs", needs).into());
        }
        self.check_accumulation(op, ka.bytes, *k)?;
        let blocks = family.blocks(*m)?;
        Ok(Shape { a: ka, b: kb, n: part, half_sums, steps: k / ka.k(), blocks })
    }

    /// Accumulators that must be fresh every few elements of K are refused (C7).
    pub(super) fn check_accumulation(&self, op: OpId, bytes: u64, k: u64) -> Result<()> {
        let every = self.module.attr(op, "maxNumImpreciseAcc").and_then(Attr::as_i64);
        match every.and_then(|every| u64::try_from(every).ok()) {
            Some(every) if bytes == 1 && every > 0 && every < k => {
                let text = format!("a fresh accumulator every {every} of {k} elements of K");
                let fix = "max_num_imprecise_acc of at least the tile's K";
                Err(refuse(Code::Precision, text).rule("C7").note("instead", fix).into())
            }
            _ => Ok(()),
        }
    }

    /// f32 operands go through tf32 if that was asked for; other precisions are refused (C7).
    pub(super) fn check_precision(&self, op: OpId, bytes: u64) -> Result<()> {
        if bytes != 4 {
            return Ok(());
        }
        let tf32 = match self.module.attr(op, "inputPrecision") {
            Some(Attr::Int { value, .. }) => *value == 0,
            Some(other) => other.as_str() == Some("tf32"),
            None => false,
        };
        match tf32 {
            true => Ok(()),
            false => {
                let fix = "input_precision=\"tf32\"";
                let text = "tt.dot of f32 with full precision; tensor cores have tf32";
                Err(refuse(Code::Precision, text).rule("C7").note("instead", fix).into())
            }
        }
    }

    /// The operand as wgmma reads it. `second` is B, whose rows are K.
    pub(super) fn operand_view(
        &self,
        value: ValueId,
        (kind, engine): (Kind, Engine),
        second: bool,
    ) -> Result<(View<'c>, Operand)> {
        let Some(view) = self.slots.get(&value) else {
            let text =
                format!("operand {} of tt.dot is not in shared memory", if second { 'b' } else { 'a' });
            return Err(refuse(Code::Layout, text).rule("C45").into());
        };
        // A is K-major as it is; B, given as K x N, is K-major if it is a transposed N x K.
        let mn_major = view.transposed != second;
        let tile = self.program.rings[view.ring].payloads[view.payload].layout;
        if mn_major && !kind.transposes(engine) {
            let name = if second { 'b' } else { 'a' };
            let text = format!("{}-bit operand {name} of tt.dot must have K contiguous", 8 * kind.bytes);
            let found = format!("{}, {} contiguous", self.module.ty(value), if second { 'N' } else { 'M' });
            let fix = match second {
                true => "store B as [N, K] and transpose it, as in gemm_fp8",
                false => "store A as [M, K]",
            };
            return Err(refuse(Code::Layout, text)
                .rule("C62")
                .note("found", found)
                .note("instead", fix)
                .into());
        }
        if self.program.rings[view.ring].payloads[view.payload].columns.is_some() {
            let text = "an operand of a product in tensor memory";
            let fix = "operand a of warploom.mma alone may lie there";
            return Err(refuse(Code::Layout, text).rule("C45").note("instead", fix).into());
        }
        if tile.swizzle.bytes() == 0 {
            let text = "an operand of tt.dot in a slot without swizzle";
            let needs = "rows of at least 32 B and a swizzle of 32, 64 or 128 B";
            return Err(refuse(Code::Layout, text).rule("C62").note("needs", needs).into());
        }
        Ok((*view, Operand { tile, mn_major }))
    }

    /// Appends what the multiplications read, in the order [`wgmma_text`] names it: for each step along K, A
    /// of each block, then B. Returns the register classes.
    fn sources(
        &mut self,
        shape: &Shape,
        a: &First<'c>,
        b: &(View<'c>, Operand),
        args: &mut Vec<Val<'c>>,
    ) -> Result<Vec<&'static str>> {
        let family = self.wgmma()?;
        let groups = family.groups();
        let mut classes = Vec::new();
        let a_at = match a {
            First::Registers(_) => None,
            First::Shared(view, operand) => {
                let first = self.ir.c32(self.place.warp);
                let mut group = self.ir.shr(self.ir.sub(self.warp, first)?, 2)?;
                if family.columns > 1 {
                    group = self.ir.remainder(group, groups)?;
                }
                let own = self.ir.scale(group, operand.along_mn(1) >> 4)?;
                Some((self.descriptor(&(*view, *operand), Some(own), Engine::Wgmma)?, *operand))
            }
        };
        let own = match family.columns {
            0 | 1 => None,
            _ => {
                let step = b.1.part_step(shape.n).ok_or_else(|| {
                    let text = format!("{} columns of operand b of tt.dot for each warpgroup", shape.n);
                    let needs = "whole panels of an operand whose N is contiguous";
                    refuse(Code::Layout, text).rule("C62").note("needs", needs)
                })?;
                Some(self.ir.scale(family.column(self)?, step >> 4)?)
            }
        };
        let b_at = self.descriptor(b, own, Engine::Wgmma)?;
        for step in 0..shape.steps {
            for block in 0..shape.blocks {
                match (a, a_at) {
                    (First::Registers(registers), _) => {
                        let first = (block * shape.steps + step) as usize * 4;
                        let four = registers.get(first..first + 4);
                        args.extend(four.ok_or_else(|| internal("too few registers of A"))?);
                        classes.extend(["r"; 4]);
                    }
                    (_, Some((at, operand))) => {
                        let bytes = operand.along_k(step) + operand.along_mn(block * groups);
                        args.push(self.ir.add(at, self.ir.c64(bytes >> 4))?.into());
                        classes.push("l");
                    }
                    _ => return Err(internal("an operand from nowhere")),
                }
            }
            args.push(self.ir.add(b_at, self.ir.c64(b.1.along_k(step) >> 4))?.into());
            classes.push("l");
        }
        Ok(classes)
    }

    /// The matrix descriptor of the start of a slot, plus `own` units of 16 bytes (C62).
    pub(super) fn descriptor(
        &mut self,
        (view, operand): &(View<'c>, Operand),
        own: Option<IntValue<'c>>,
        engine: Engine,
    ) -> Result<IntValue<'c>> {
        let payload = &self.program.rings[view.ring].payloads[view.payload];
        // The window of shared memory starts below 256 KiB, and so does every address: 18 bits.
        let base = self.ir.address(self.ir.shared, 32)?;
        let mut units = self.ir.shr(base, 4)?;
        units = self.ir.add(units, self.ir.c32(payload.offset >> 4))?;
        if let Some(own) = own {
            units = self.ir.add(units, own)?;
        }
        let wide = self.ir.zext(units, self.ir.int(64))?;
        let fixed = self.ir.or(wide, self.ir.c64(operand.descriptor(engine)))?;
        // LLVM would turn `+ 2` into `| 2` where it knows the low bits; ptxas has a 64-bit add, but no such or.
        let hidden = self.ir.assembly("", "=l,0", &[self.ir.int(64).into()], &[fixed.into()], true)?;
        let fixed = as_int(hidden.ok_or_else(|| internal("an assembly without results"))?)?;
        let slot = self.ir.zext(self.ir.scale(view.slot, payload.stride >> 4)?, self.ir.int(64))?;
        self.ir.add(slot, fixed)
    }

    /// Splits the result of an assembly into its registers.
    pub(super) fn unpack(&self, value: Option<Val<'c>>, count: usize) -> Result<Rc<[Val<'c>]>> {
        let value = value.ok_or_else(|| internal("an assembly without results"))?;
        match count {
            1 => Ok([value].into()),
            _ => (0..count as u32).map(|i| self.ir.member(value, i)).collect(),
        }
    }
}

/// Constraints of an assembly: outputs, the first `ties` inputs tied to them, then others.
pub(super) fn tied(outputs: &[&str], ties: usize, others: &[&str]) -> String {
    let mut text = String::with_capacity(8 * outputs.len());
    let mut push = |part: &str| {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(part);
    };
    outputs.iter().for_each(|output| push(output));
    (0..ties).for_each(|i| push(&i.to_string()));
    others.iter().for_each(|part| push(part));
    text
}
