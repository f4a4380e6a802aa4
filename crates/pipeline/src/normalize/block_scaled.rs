//! `tt.dot_scaled` as a product that the tensor core itself scales: operands by bytes, scales in the tables that it reads
//! (C69).
//!
//! ```text
//! table    rows in parts of 128, blocks of K in fours: for each of both 512 bytes, 16 for rows 32 apart, four blocks each
//! padded   where elements of four bits meet elements of eight: 16 of them in the first half of 16 bytes
//! ```
//!
//! Both are reshapes, transposes and broadcasts of what the kernel has. Scales that a kernel brings as such a table, and
//! takes apart first, are read as they came.

use warploom_chips::{Feature, Target};
use warploom_ir::{Attr, BlockFormat, BlockId, FloatKind, Module, OpId, Opcode, Type, ValueId};

use crate::emit::{Emit, number};
use crate::views::look_through;
use crate::walk::preorder;

/// Rows of a part of a table, and blocks of K in it.
const PART: u64 = 128;
const FOUR: u64 = 4;

/// A scaled product that the tensor core takes.
struct Taken {
    formats: [BlockFormat; 2],
    scales: [Option<ValueId>; 2],
    /// Elements of K that share a scale.
    block: u64,
    /// Their type: 8 bits of an exponent, or e4m3.
    scale: Type,
    /// Rows of both operands, and elements of K.
    rows: [u64; 2],
    k: u64,
}

/// Rewrites those scaled products of a kernel that the chip's tensor core takes; whether there are any.
pub(crate) fn lower(module: &mut Module, func: OpId, target: &Target) -> bool {
    let scaled = |module: &Module, op: &OpId| module.ops[*op].opcode == Opcode::DotScaled;
    let all: Vec<OpId> = preorder(module, func).into_iter().filter(|op| scaled(module, op)).collect();
    let mut any = false;
    for op in all {
        let (Ok(taken), Some(block)) = (taken(module, op, target), module.ops[op].block) else { continue };
        let Some(at) = module.blocks[block].ops.iter().position(|&o| o == op) else { continue };
        let behind = module.blocks[block].ops.split_off(at);
        let new = product(module, block, op, &taken);
        any |= new.is_some();
        let rest = behind.into_iter().skip(usize::from(new.is_some()));
        module.blocks[block].ops.extend(rest);
        if let (Some(old), Some(new)) = (module.result(op), new) {
            module.ops[op].block = None;
            module.replace_all_uses(old, new);
        }
    }
    any
}

/// Why the chip's tensor core does not scale a product itself; nothing where it does.
pub(crate) fn refused(module: &Module, op: OpId, target: &Target) -> Option<String> {
    taken(module, op, target).err()
}

/// What the tensor core is given, or why it cannot be.
fn taken(module: &Module, op: OpId, target: &Target) -> Result<Taken, String> {
    if !target.has(Feature::Tcgen05) {
        return Err(format!("{} has no tcgen05.mma with scales of blocks", target.name()));
    }
    let operands = &module.ops[op].operands;
    let format = |name: &str| {
        let word = module.attr(op, name).and_then(Attr::as_str).unwrap_or("?");
        BlockFormat::named(word).ok_or_else(|| format!("no tcgen05.mma scales {word}"))
    };
    let formats = [format("a_elem_type")?, format("b_elem_type")?];
    let (&[a, b, ..], Some(result)) = (operands.as_slice(), module.result(op)) else {
        return Err("it lacks operands".to_owned());
    };
    for (name, format) in ["lhs_k_pack", "rhs_k_pack"].into_iter().zip(formats) {
        if format == BlockFormat::E2M1 && module.attr(op, name) == Some(&Attr::Bool(false)) {
            return Err(format!("{name} = false: tcgen05.mma reads four bits along K"));
        }
    }
    let given: Vec<bool> = match module.attr(op, "operandSegmentSizes") {
        Some(Attr::DenseArray { values, .. }) => values.iter().map(|&n| n == 1).collect(),
        _ => (0..5).map(|n| n < operands.len()).collect(),
    };
    let mut rest = operands.iter().skip(3).copied();
    let scales = [3, 4].map(|n| if given.get(n) == Some(&true) { rest.next() } else { None });
    let (&[m, stored], &[_, n], Type::Float(FloatKind::F32)) =
        (module.ty(a).shape(), module.ty(b).shape(), module.ty(result).elem())
    else {
        return Err("tcgen05.mma with scales adds up matrices of f32".to_owned());
    };
    let four = formats.map(|f| f == BlockFormat::E2M1);
    let k = if four[0] { stored.saturating_mul(2) } else { stored };
    let blocks = |scale: Option<ValueId>| scale.and_then(|s| module.ty(s).shape().get(1).copied());
    let own = scales.map(blocks);
    let many = own[0].or(own[1]).unwrap_or(k / 32);
    if own.into_iter().flatten().any(|other| other != many) || many == 0 || !k.is_multiple_of(many) {
        return Err("both operands must have as many scales along K".to_owned());
    }
    let block = k / many;
    let first = scales[0].or(scales[1]).map(|s| module.ty(s).elem().clone());
    let scale = first.unwrap_or_else(|| Type::int(8));
    let same = scales.iter().flatten().all(|&s| *module.ty(s).elem() == scale);
    let powers = matches!(scale, Type::Int(8, _));
    if !same || !(powers || scale == Type::Float(FloatKind::F8E4M3FN)) {
        return Err("scales must be all of 8 bits of exponent, or all of e4m3".to_owned());
    }
    let packed = four == [true; 2];
    if !matches!((block, packed, powers), (32, _, true) | (16, true, _)) {
        let what = if powers { "exponents" } else { "e4m3" };
        return Err(format!("no tcgen05.mma of these elements scales blocks of {block} by {what}"));
    }
    let columns = n.is_multiple_of(16) && (n <= 256 || n == 512);
    let powers_of_two = [m, n, k].iter().all(|n| n.is_power_of_two());
    let step = if packed { 64 } else { 32 };
    if !m.is_multiple_of(PART) || !columns || !powers_of_two || !k.is_multiple_of(step) {
        return Err(format!("no tcgen05.mma with scales covers {m}x{n}x{k}"));
    }
    Ok(Taken { formats, scales, block, scale, rows: [m, n], k })
}

/// The product, at the end of a block.
fn product(module: &mut Module, block: BlockId, op: OpId, taken: &Taken) -> Option<ValueId> {
    let &[a, b, sum, ..] = module.ops[op].operands.as_slice() else { return None };
    let (ty, loc, span) = (module.ty(module.result(op)?).clone(), module.ops[op].loc, module.ops[op].span);
    let mut emit = Emit { out: module, block, loc };
    let [four_a, four_b] = taken.formats.map(|f| f == BlockFormat::E2M1);
    let a = if four_a && !four_b { emit.padded(a)? } else { a };
    let b = match four_b && !four_a {
        true => {
            let stored = emit.stored(b)?;
            let padded = emit.padded(stored)?;
            emit.turned(padded)?
        }
        false => b,
    };
    let tables: Option<Vec<ValueId>> = taken
        .scales
        .into_iter()
        .zip(taken.rows)
        .map(|(scale, rows)| match scale {
            Some(scale) => emit.table(scale),
            None => Some(emit.ones(taken, rows)),
        })
        .collect();
    let &[table_a, table_b] = tables?.as_slice() else { return None };
    let props = [
        ("a_elem_type", Attr::string(taken.formats[0].name())),
        ("b_elem_type", Attr::string(taken.formats[1].name())),
        ("block", number(taken.block)),
    ];
    let operands = [a, b, sum, table_a, table_b];
    let dot = emit.op(Opcode::DotBlockScaled, &operands, &[ty], &props);
    emit.out.ops[dot].span = span;
    emit.out.result(dot)
}

impl Emit<'_> {
    /// A tile as its columns.
    pub(super) fn stored(&mut self, tile: ValueId) -> Option<ValueId> {
        match self.out.def_op(tile).filter(|_| look_through(self.out, tile).transposed()) {
            Some(trans) if self.out.ops[trans].opcode == Opcode::Trans => {
                self.out.ops[trans].operands.first().copied()
            }
            _ => self.turned(tile),
        }
    }

    /// A tile in another shape of as many elements.
    fn reshaped(&mut self, tile: ValueId, shape: &[u64]) -> ValueId {
        let ty = Type::tensor(shape, self.out.ty(tile).elem().clone());
        self.shaped(tile, &ty)
    }

    /// Bytes of two elements each, 8 of them in the first half of each 16.
    fn padded(&mut self, tile: ValueId) -> Option<ValueId> {
        let &[rows, bytes] = self.out.ty(tile).shape() else { return None };
        let parts = self.reshaped(tile, &[rows, bytes / 8, 1, 8]);
        let twice = self.broadcast(parts, &[rows, bytes / 8, 2, 8]);
        Some(self.reshaped(twice, &[rows, bytes.checked_mul(2)?]))
    }

    /// Scales of 1.
    fn ones(&mut self, taken: &Taken, rows: u64) -> ValueId {
        let lines = rows.div_ceil(PART) * (taken.k / taken.block).div_ceil(FOUR) * 32;
        let ty = Type::tensor(&[lines, 16], taken.scale.clone());
        let value = match &taken.scale {
            elem @ Type::Float(_) => Attr::Float { bits: 0x38, ty: elem.clone() },
            elem => Attr::Int { value: 127, ty: elem.clone() },
        };
        let splat = Attr::Splat { value: Box::new(value), ty: ty.clone() };
        let op = self.op(Opcode::Constant, &[], &[ty], &[("value", splat)]);
        self.out.ops[op].results[0]
    }

    /// The table of scales [rows, blocks]; fewer than 128 rows, and fewer than four blocks, are repeated.
    fn table(&mut self, scale: ValueId) -> Option<ValueId> {
        let &[rows, blocks] = self.out.ty(scale).shape() else { return None };
        let mut all = scale;
        if blocks < FOUR {
            let each = self.reshaped(all, &[rows, 1, blocks]);
            let repeated = self.broadcast(each, &[rows, FOUR / blocks, blocks]);
            all = self.reshaped(repeated, &[rows, FOUR]);
        }
        let blocks = blocks.max(FOUR);
        if rows < PART {
            let each = self.reshaped(all, &[1, rows, blocks]);
            let repeated = self.broadcast(each, &[PART / rows, rows, blocks]);
            all = self.reshaped(repeated, &[PART, blocks]);
        }
        let parts = rows.max(PART) / PART;
        let apart = self.reshaped(all, &[parts, 4, 32, blocks / FOUR, FOUR]);
        let order = Attr::DenseArray { elem: Type::I32, values: vec![0, 3, 2, 1, 4] };
        let turned = Type::tensor(&[parts, blocks / FOUR, 32, 4, FOUR], self.out.ty(apart).elem().clone());
        let trans = self.op(Opcode::Trans, &[apart], &[turned], &[("order", order)]);
        let turned = self.out.result(trans)?;
        let shape = [parts * (blocks / FOUR) * 32, 16];
        let as_it_came = in_order(self.out, turned).unwrap_or(turned);
        Some(self.reshaped(as_it_came, &shape))
    }
}

/// The earliest value whose elements, row by row, are those of a tile in their order: what reshapes and transposes did to
/// it is undone. None where nothing is.
fn in_order(module: &Module, tile: ValueId) -> Option<ValueId> {
    let bits = |extent: u64| extent.trailing_zeros() as usize;
    let count = |value: ValueId| module.ty(value).shape().iter().map(|&n| bits(n)).sum::<usize>();
    let (mut value, mut found) = (tile, None);
    // Which bit of the number of an element of `value` each bit of its number in the tile is.
    let mut of: Vec<usize> = (0..count(tile)).collect();
    loop {
        if value != tile && of.iter().enumerate().all(|(at, &bit)| at == bit) {
            found = Some(value);
        }
        let Some(op) = module.def_op(value) else { return found };
        let Some(&from) = module.ops[op].operands.first() else { return found };
        match module.ops[op].opcode {
            Opcode::Reshape if module.ty(from).shape().iter().all(|n| n.is_power_of_two()) => {}
            Opcode::Trans => {
                let Some(Attr::DenseArray { values: order, .. }) = module.attr(op, "order") else {
                    return found;
                };
                let shape = module.ty(from).shape();
                // First bit of each dimension of the operand.
                let first = |dim: usize| shape.iter().skip(dim + 1).map(|&n| bits(n)).sum::<usize>();
                let mut through = Vec::new();
                for &dim in order.iter().rev() {
                    let Ok(dim) = usize::try_from(dim) else { return found };
                    let extent = shape.get(dim).copied().unwrap_or(1);
                    through.extend((0..bits(extent)).map(|bit| first(dim) + bit));
                }
                for bit in &mut of {
                    let Some(&to) = through.get(*bit) else { return found };
                    *bit = to;
                }
            }
            _ => return found,
        }
        value = from;
    }
}
