//! tcgen05.mma: products that one lane issues, of tiles in shared memory (A also in tensor memory) into tensor
//! memory (C44, C62, C63, C66).

use inkwell::values::IntValue;
use warploom_chips::Feature;
use warploom_ir::diag::Code;
use warploom_ir::{FloatKind, OpId, Type, ValueId};

use super::Lower;
use super::mma::{Kind, kind};
use super::value::View;
use crate::error::{Refusal, Result, internal, refuse};
use crate::layout::{Engine, Operand};
use crate::llvm::Val;

/// Most columns of one instruction.
const COLUMNS: u64 = 256;
/// The type of sums in an instruction descriptor: f32, or i32.
const F32: u64 = 1 << 4;
const I32: u64 = 2 << 4;

/// What one instruction multiplies.
struct Shape {
    kind: Kind,
    /// Rows of one instruction: 128, or 64, which take 16 of each 32 lanes (E44).
    rows: u64,
    /// Columns of one instruction.
    n: u64,
    /// Instructions along M, N and K.
    counts: [u64; 3],
}

/// Columns of A in tensor memory that one instruction reads: 32 bytes of each row.
const STEP_COLUMNS: u64 = 8;

/// Where A is.
enum First<'c> {
    /// In shared memory: a matrix descriptor, and how to walk the tile.
    Shared(IntValue<'c>, Operand),
    /// In tensor memory: the address of its first column, and columns of each 128 rows.
    Tensor(IntValue<'c>, u64),
}

/// The number of an element type in an instruction descriptor, within its kind (C66).
fn type_code(ty: &Type) -> Option<u64> {
    Some(match ty.elem() {
        Type::Float(FloatKind::F16 | FloatKind::F8E4M3FN) => 0,
        Type::Float(FloatKind::BF16 | FloatKind::F8E5M2) => 1,
        Type::Float(FloatKind::F32) => 2,
        // Unsigned ones would be 0.
        Type::Int(8, _) => 1,
        _ => return None,
    })
}

/// The number of a kind in the intrinsic: f16, tf32, f8f6f4, i8.
fn kind_code(kind: Kind) -> u64 {
    match kind.bytes {
        _ if kind.whole => 3,
        2 => 0,
        4 => 1,
        _ => 2,
    }
}

impl<'c> Lower<'c, '_> {
    /// `warploom.mma`: every instruction of one product, in the order of K.
    pub(super) fn issue_mma(&mut self, op: OpId) -> Result<()> {
        if !self.place.elected {
            let text = "warploom.mma outside warploom.elect: every lane would issue it";
            return Err(refuse(Code::Op, text).rule("C21").into());
        }
        let (ring, payload) = self.payload_of(op)?;
        let slot = self.int(self.operand(op, 0)?)?;
        let (a, b) = (self.operand(op, 1)?, self.operand(op, 2)?);
        let keep: Val<'c> = self.int(self.operand(op, 3)?)?.into();
        let shape = self.mma_shape(op, a, b, ring, payload)?;
        let codes = type_code(self.module.ty(a)).zip(type_code(self.module.ty(b)));
        let (a_code, b_code) = codes.ok_or_else(|| internal("a product of other types"))?;
        let a = self.mma_first(a, &shape)?;
        let b = self.operand_view(b, (shape.kind, Engine::Tcgen05), true)?;
        let a_major = matches!(&a, First::Shared(_, operand) if operand.mn_major);
        let form = if shape.kind.whole { I32 } else { F32 }
            | a_code << 7
            | b_code << 10
            | u64::from(a_major) << 15
            | u64::from(b.1.mn_major) << 16
            | (shape.n / 8) << 17
            | (shape.rows / 16) << 24;
        let target = View { ring, payload, slot, transposed: false, written: None };
        let accumulator = self.tensor_slot(&target)?;
        let b_at = self.descriptor(&b, None, Engine::Tcgen05)?;
        let ([m, n, k], always) = (shape.counts, self.ir.int(1).const_all_ones().into());
        let [form, kind, group, collector] =
            [form, kind_code(shape.kind), 1, 0].map(|number| Val::from(self.ir.c32(number)));
        for step in 0..k {
            let keep = if step == 0 { keep } else { always };
            for (row, col) in (0..m).flat_map(|row| (0..n).map(move |col| (row, col))) {
                let bytes = |operand: &Operand, mn: u64| operand.along_k(step) + operand.along_mn(mn);
                let b_part = self.ir.c64(bytes(&b.1, col * COLUMNS / 64) >> 4);
                let column = self.ir.c32(row * n * shape.n + col * shape.n);
                let to = self.tensor_pointer(self.ir.add(accumulator, column)?)?;
                let b_part = self.ir.add(b_at, b_part)?.into();
                let (name, a_part) = match &a {
                    First::Shared(at, operand) => {
                        let part = self.ir.c64(bytes(operand, row * shape.rows / 64) >> 4);
                        ("nvvm.tcgen05.mma.shared", self.ir.add(*at, part)?.into())
                    }
                    First::Tensor(at, width) => {
                        let part = self.ir.c32(row * width + step * STEP_COLUMNS);
                        ("nvvm.tcgen05.mma.tensor", self.tensor_pointer(self.ir.add(*at, part)?)?)
                    }
                };
                let args = [to, a_part, b_part, form, keep, kind, group, collector];
                self.ir.effect(name, &args)?;
            }
        }
        Ok(())
    }

    /// A: a view of tensor memory as its lanes wrote it, in the lanes that the rows of the accumulator have (E44), or of shared
    /// memory.
    fn mma_first(&mut self, value: ValueId, shape: &Shape) -> Result<First<'c>> {
        if let Some(&view) = self.slots.get(&value) {
            let columns = self.program.rings[view.ring].payloads[view.payload].columns;
            if let Some(columns) = columns {
                if view.transposed || view.written.is_some() || columns.rows != shape.rows {
                    let text = "operand a of warploom.mma in tensor memory, transposed, perhaps not written, or in blocks of other rows than the product";
                    return Err(refuse(Code::Layout, text).rule("C66").into());
                }
                return Ok(First::Tensor(self.tensor_slot(&view)?, columns.width));
            }
        }
        let a = self.operand_view(value, (shape.kind, Engine::Tcgen05), false)?;
        Ok(First::Shared(self.descriptor(&a, None, Engine::Tcgen05)?, a.1))
    }

    /// Checks types, precision and shape (C7, C63, T12, T13).
    fn mma_shape(&self, op: OpId, a: ValueId, b: ValueId, ring: usize, payload: usize) -> Result<Shape> {
        let (ta, tb) = (self.module.ty(a), self.module.ty(b));
        let target = &self.program.rings[ring].payloads[payload];
        let tc = &target.tile;
        if !self.ir.target.has(Feature::Tcgen05) {
            let text = format!("{} has no tcgen05", self.ir.target.name());
            return Err(refuse(Code::Target, text).rule("T5").into());
        }
        if kind(ta).is_some_and(|kind| kind.whole) && !self.ir.target.has(Feature::Tcgen05I8) {
            let text = format!("{} has no tcgen05.mma of i8", self.ir.target.name());
            return Err(refuse(Code::Target, text).rule("T5").into());
        }
        let unsupported = || {
            let text = format!("warploom.mma of {ta} and {tb} into {tc}");
            let known = "bf16, f16, f8E4M3FN, f8E5M2 or f32 (tf32) operands into f32, i8 into i32";
            Refusal::from(refuse(Code::Type, text).rule("T12").note("instead", known))
        };
        let (ka, kb) = (kind(ta).ok_or_else(unsupported)?, kind(tb).ok_or_else(unsupported)?);
        if ka.bytes != kb.bytes || ka.whole != kb.whole || *tc.elem() != ka.sum() {
            return Err(unsupported());
        }
        self.check_precision(op, ka.bytes)?;
        let ([m, k], [k2, n], [m2, n2]) = (ta.shape(), tb.shape(), tc.shape()) else {
            return Err(refuse(Code::Shape, "a product of tiles that are not matrices").rule("C63").into());
        };
        if (m, k, n) != (m2, k2, n2) {
            let text = format!("warploom.mma of {ta} and {tb} into {tc}");
            return Err(refuse(Code::Verify, text).into());
        }
        let wide = if *n > COLUMNS { COLUMNS } else { *n };
        let rows = target.columns.map_or(128, |columns| columns.rows);
        let covers = m % rows == 0 && n % wide.max(1) == 0 && wide % 16 == 0 && k % ka.k() == 0;
        if !covers || [m, n, k].contains(&&0) {
            let text = format!("no tcgen05.mma covers {m}x{n}x{k}");
            let needs = format!("M in steps of 128 or 64, N in steps of 16, K in steps of {}", ka.k());
            return Err(refuse(Code::Shape, text).rule("C63").note("needs", needs).into());
        }
        Ok(Shape { kind: ka, rows, n: wide, counts: [m / rows, n / wide, k / ka.k()] })
    }
}
