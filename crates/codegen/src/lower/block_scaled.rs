//! tcgen05.mma with scales of blocks: tables of scales go from shared to tensor memory, by the lane that issues the products
//! behind them, in the order of both (C69, E44, E52).

use inkwell::values::IntValue;
use warploom_chips::{Feature, PtxVersion};
use warploom_ir::diag::Code;
use warploom_ir::{Attr, BlockFormat, Module, OpId, Opcode, Type, ValueId};

use super::Lower;
use super::mma::Kind;
use super::value::View;
use crate::error::{Result, internal, refuse};
use crate::layout::{Engine, Operand, Swizzle};
use crate::llvm::Val;

/// The version of PTX that has blocks of 16; those of 32 are older.
const BLOCKS_OF_16: PtxVersion = PtxVersion { major: 8, minor: 7 };

/// The least version of PTX that has all products of a program.
pub(crate) fn least_version(module: &Module) -> PtxVersion {
    let sixteen = |data: &warploom_ir::Operation| {
        let block = data.props.get("block").and_then(Attr::as_i64);
        data.opcode == Opcode::MmaBlockScaled && block == Some(16)
    };
    match module.ops.iter().any(|(_, data)| sixteen(data)) {
        true => BLOCKS_OF_16,
        false => PtxVersion { major: 0, minor: 0 },
    }
}

/// Rows of one instruction, and most columns.
const ROWS: u64 = 128;
const COLUMNS: u64 = 256;
/// Bytes of K of one instruction.
const STEP: u64 = 32;
/// Bytes of a table for each 128 rows and four blocks of K, and the columns of tensor memory that they take.
const PART: u64 = 512;
const PART_COLUMNS: u64 = 4;
/// Scales in a column.
const FOUR: u64 = 4;
/// A matrix descriptor of 32 rows of 16 bytes, one behind the other, less its address: eight of them are 128 bytes.
const LINES: u64 = 1 << 46 | (128 >> 4) << 32;

/// What the instructions of a product are like.
struct Shape {
    /// `.kind` and what stands behind it.
    kind: &'static str,
    /// The instruction descriptor, without where scales are.
    form: u64,
    /// Scales of a row that one instruction takes.
    along: u64,
    /// Instructions along M, N and K.
    counts: [u64; 3],
    /// Columns of one instruction.
    n: u64,
    /// Columns of scales along K, and parts of 128 rows of both tables.
    words: u64,
    parts: [u64; 2],
}

impl<'c> Lower<'c, '_> {
    /// `warploom.mma_block_scaled`: the copies of scales, then every instruction of one product, in the order of K.
    pub(super) fn issue_block_scaled(&mut self, op: OpId) -> Result<()> {
        if !self.place.elected {
            let text = "warploom.mma_block_scaled outside warploom.elect: every lane would issue it";
            return Err(refuse(Code::Op, text).rule("C21").into());
        }
        let (ring, payload) = self.payload_of(op)?;
        let slot = self.int(self.operand(op, 0)?)?;
        let (a, b) = (self.operand(op, 1)?, self.operand(op, 2)?);
        let keep = self.ir.zext(self.int(self.operand(op, 3)?)?, self.ir.i32())?;
        let bytes = Kind { name: "b8", bytes: 1, whole: false };
        let a = self.operand_view(a, (bytes, Engine::Tcgen05), false)?;
        let b = self.operand_view(b, (bytes, Engine::Tcgen05), true)?;
        let shape = self.block_scaled_shape(op, ring, [a.1.mn_major, b.1.mn_major])?;
        let mut tables = Vec::new();
        for (index, rows) in (0..2).zip(shape.parts) {
            let view = View { ring, payload: payload + 1 + index, slot, transposed: false, written: None };
            let to = self.tensor_slot(&view)?;
            self.copy_scales(self.operand(op, 4 + index)?, to, shape.words, rows)?;
            tables.push(to);
        }
        let &[table_a, table_b] = tables.as_slice() else { return Err(internal("two tables of scales")) };
        let target = View { ring, payload, slot, transposed: false, written: None };
        let accumulator = self.tensor_slot(&target)?;
        let a_at = self.descriptor(&a, None, Engine::Tcgen05)?;
        let b_at = self.descriptor(&b, None, Engine::Tcgen05)?;
        let ([m, n, k], always) = (shape.counts, self.ir.c32(1));
        let text = format!(
            "{{\n\t.reg .pred p;\n\tsetp.ne.b32 p, $6, 0;\n\ttcgen05.mma.cta_group::1.{} [$0], $1, $2, $3, [$4], [$5], p;\n\t}}",
            shape.kind
        );
        for step in 0..k {
            let keep = if step == 0 { keep } else { always };
            let (word, byte) = (step * shape.along / FOUR, step * shape.along % FOUR);
            let form = self.ir.c32(shape.form | byte << 4 | byte << 29);
            for (row, col) in (0..m).flat_map(|row| (0..n).map(move |col| (row, col))) {
                let part = |at: IntValue<'c>, operand: &Operand, blocks: u64| {
                    let bytes = operand.along_k(step) + operand.along_mn(blocks);
                    self.ir.add(at, self.ir.c64(bytes >> 4))
                };
                let scales = |table: IntValue<'c>, rows: u64, part: u64| {
                    self.ir.add(table, self.ir.c32((word * rows + part) * PART_COLUMNS))
                };
                let to = self.ir.add(accumulator, self.ir.c32(row * n * shape.n + col * shape.n))?;
                let args: [Val<'c>; 7] = [
                    to.into(),
                    part(a_at, &a.1, row * ROWS / 64)?.into(),
                    part(b_at, &b.1, col * COLUMNS / 64)?.into(),
                    form.into(),
                    scales(table_a, shape.parts[0], row)?.into(),
                    scales(table_b, shape.parts[1], col * COLUMNS / ROWS)?.into(),
                    keep.into(),
                ];
                self.ir.assembly(&text, "r,l,l,r,r,r,r,~{memory}", &[], &args, false)?;
            }
        }
        Ok(())
    }

    /// Copies a table, part by part, to the columns from `to` on: all rows of four blocks of K beside each other.
    fn copy_scales(&mut self, table: ValueId, to: IntValue<'c>, words: u64, parts: u64) -> Result<()> {
        let view = self.table_view(table, words * parts * PART)?;
        let payload = &self.program.rings[view.ring].payloads[view.payload];
        let (offset, stride) = (payload.offset, payload.stride);
        let base = self.ir.shr(self.ir.address(self.ir.shared, 32)?, 4)?;
        let slot = self.ir.scale(view.slot, stride >> 4)?;
        let first = self.ir.add(self.ir.add(base, self.ir.c32(offset >> 4))?, slot)?;
        let first = self.ir.add(self.ir.zext(first, self.ir.int(64))?, self.ir.c64(LINES))?;
        for part in 0..parts {
            for word in 0..words {
                let from = self.ir.add(first, self.ir.c64(((part * words + word) * PART) >> 4))?;
                let column = self.ir.add(to, self.ir.c32((word * parts + part) * PART_COLUMNS))?;
                let column = self.tensor_pointer(column)?;
                self.ir.effect("nvvm.tcgen05.cp.32x128b_warpx4.cg1", &[column, from.into()])?;
            }
        }
        Ok(())
    }

    /// The slot where a table lies as it is, seen through reshapes.
    fn table_view(&self, table: ValueId, bytes: u64) -> Result<View<'c>> {
        let mut value = table;
        while !self.slots.contains_key(&value) {
            let reshape =
                self.module.def_op(value).filter(|&op| self.module.ops[op].opcode == Opcode::Reshape);
            match reshape.and_then(|op| self.module.ops[op].operands.first().copied()) {
                Some(from) => value = from,
                None => break,
            }
        }
        let view = self.slots.get(&value).copied().filter(|view| {
            let payload = &self.program.rings[view.ring].payloads[view.payload];
            let layout = payload.layout;
            let in_order = layout.swizzle == Swizzle::None && layout.panel == layout.cols * layout.elem;
            payload.columns.is_none() && !view.transposed && in_order && layout.bytes() == bytes
        });
        view.ok_or_else(|| {
            let text = "scales of warploom.mma_block_scaled that are not in shared memory, in their order";
            refuse(Code::Layout, text).rule("C69").into()
        })
    }

    /// Checks types and shape (C69, T12).
    fn block_scaled_shape(&self, op: OpId, ring: usize, mn_major: [bool; 2]) -> Result<Shape> {
        if !self.ir.target.has(Feature::Tcgen05) {
            let text = format!("{} has no tcgen05", self.ir.target.name());
            return Err(refuse(Code::Target, text).rule("T5").into());
        }
        let ty = |index: usize| Ok::<&Type, crate::error::Refusal>(self.module.ty(self.operand(op, index)?));
        let (ta, tb, scale) = (ty(1)?, ty(2)?, ty(4)?.elem());
        let payloads = &self.program.rings[ring].payloads;
        let wrong = |text: String| Err(refuse(Code::Shape, text).rule("C69").into());
        let (Some(sum), Some(table_a), Some(table_b)) = (payloads.first(), payloads.get(1), payloads.get(2))
        else {
            return wrong("a product with scales into a slot without room for them".to_owned());
        };
        let format =
            |name: &str| self.module.attr(op, name).and_then(Attr::as_str).and_then(BlockFormat::named);
        let block = self.module.attr(op, "block").and_then(Attr::as_i64);
        let (Some(fa), Some(fb), Some(block)) = (format("a_elem_type"), format("b_elem_type"), block) else {
            return wrong("a product with scales of no formats, or of no blocks".to_owned());
        };
        if block == 16 && self.ir.ptx < BLOCKS_OF_16 {
            let text = format!("tcgen05.mma of blocks of 16 in PTX {}", self.ir.ptx);
            return Err(refuse(Code::Target, text)
                .rule("C43")
                .note("needs", BLOCKS_OF_16.to_string())
                .into());
        }
        let packed = [fa, fb] == [BlockFormat::E2M1; 2];
        let powers = matches!(scale, Type::Int(8, _));
        let four = [fa, fb].map(|f| f == BlockFormat::E2M1);
        if four.into_iter().zip(mn_major).any(|(four, across)| four && across) {
            return wrong("operands of four bits with another dimension than K inside".to_owned());
        }
        let kinds = match (packed, block, powers) {
            (false, 32, true) => ("kind::mxf8f6f4.block_scale.scale_vec::1X", 1),
            (true, 32, true) => ("kind::mxf4.block_scale.scale_vec::2X", 2),
            (true, 16, _) => ("kind::mxf4nvf4.block_scale.scale_vec::4X", 4),
            _ => {
                return wrong(format!("no tcgen05.mma of these formats scales blocks of {block} by {scale}"));
            }
        };
        let (&[m, bytes], &[bytes_b, n], &[m2, n2]) = (ta.shape(), tb.shape(), sum.tile.shape()) else {
            return wrong("a product with scales of tiles that are not matrices".to_owned());
        };
        let wide = n.min(COLUMNS);
        let rows = sum.columns.map_or(0, |columns| columns.rows);
        let covers =
            rows == ROWS && m % ROWS == 0 && n % wide.max(1) == 0 && wide % 16 == 0 && bytes % STEP == 0;
        let fits = (m, n, bytes) == (m2, n2, bytes_b) && sum.tile.elem() == &Type::F32;
        if !covers || !fits || [m, n, bytes].contains(&0) {
            return wrong(format!("no tcgen05.mma with scales covers {ta} * {tb} into {}", sum.tile));
        }
        let steps = bytes / STEP;
        let words = (steps * kinds.1).div_ceil(FOUR);
        let parts = [m, n].map(|rows| rows.div_ceil(ROWS));
        for (part, table) in parts.into_iter().zip([table_a, table_b]) {
            let have = table.columns.map_or(0, |columns| columns.width);
            if have != part * words * PART_COLUMNS {
                return wrong(format!("scales of {part} times 128 rows and {words} words in {have} columns"));
            }
        }
        let code = |format: BlockFormat| match format {
            _ if packed => 1,
            BlockFormat::E4M3 => 0,
            BlockFormat::E5M2 => 1,
            BlockFormat::E2M1 => 5,
        };
        let form = code(fa) << 7
            | code(fb) << 10
            | u64::from(mn_major[0]) << 15
            | u64::from(mn_major[1]) << 16
            | (wide / 8) << 17
            | u64::from(powers) << 23
            | 1 << 27;
        let counts = [m / ROWS, n / wide, steps];
        Ok(Shape { kind: kinds.0, form, along: kinds.1, counts, n: wide, words, parts })
    }
}
