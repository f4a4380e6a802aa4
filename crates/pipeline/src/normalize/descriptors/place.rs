//! Where the elements of a block are: pointers and masks.

use warploom_ir::{Opcode, Type, ValueId};

use crate::emit::Emit;
use crate::normalize::descriptors::tensor::Tensor;

/// Where the elements of a block are, and which of them exist.
pub(crate) struct Block {
    pub pointers: ValueId,
    pub mask: ValueId,
    pub shape: Vec<u64>,
}

/// Where a block starts: a scalar pointer, the starts as `i64`, and whether those of extent 1 lie inside.
struct Start {
    base: ValueId,
    at: Vec<ValueId>,
    inside: Option<ValueId>,
}

/// `base + sum of starts times strides`, the starts of all dimensions but `skipped`.
fn start(emit: &mut Emit<'_>, tensor: &Tensor, starts: &[ValueId], tiled: &[usize]) -> Option<Start> {
    let rank = tensor.shape.len();
    let (mut offset, mut inside, mut at) = (None, None, Vec::new());
    for (d, &first) in starts.iter().enumerate() {
        let first = emit.wide(first);
        at.push(first);
        let term = match d + 1 == rank {
            true => first,
            false => emit.same(Opcode::MulI, first, *tensor.strides.get(d)?),
        };
        offset = Some(match offset {
            Some(sum) => emit.same(Opcode::AddI, sum, term),
            None => term,
        });
        if tiled.contains(&d) {
            continue;
        }
        let zero = emit.scalar(0, &Type::I64);
        let (low, high) =
            (emit.compare("sge", first, zero), emit.compare("slt", first, *tensor.shape.get(d)?));
        let both = emit.same(Opcode::AndI, low, high);
        inside = Some(match inside {
            Some(all) => emit.same(Opcode::AndI, all, both),
            None => both,
        });
    }
    let base = match offset {
        Some(offset) => emit.same(Opcode::AddPtr, tensor.base, offset),
        None => tensor.base,
    };
    Some(Start { base, at, inside })
}

/// Pointers and mask of a block that starts at these coordinates; extents of 1 take no dimension of the tile.
pub(crate) fn place(
    emit: &mut Emit<'_>,
    tensor: &Tensor,
    block: &[u64],
    starts: &[ValueId],
) -> Option<Block> {
    let rank = block.len();
    let mut dims: Vec<usize> = (0..rank).filter(|&d| block.get(d) != Some(&1)).collect();
    if dims.is_empty() {
        dims.extend(rank.checked_sub(1));
    }
    let shape: Vec<u64> = dims.iter().filter_map(|&d| block.get(d).copied()).collect();
    let from = start(emit, tensor, starts, &dims)?;
    let (mut offsets, mut mask) = (None, None);
    for (k, &d) in dims.iter().enumerate() {
        let range = emit.range(*block.get(d)?);
        let numbers = emit.wide(range);
        let mut along = numbers;
        if d + 1 != rank {
            let stride = emit.splat(*tensor.strides.get(d)?, &[*block.get(d)?]);
            along = emit.same(Opcode::MulI, along, stride);
        }
        let first = emit.splat(*from.at.get(d)?, &[*block.get(d)?]);
        let numbers = emit.same(Opcode::AddI, first, numbers);
        add(emit, &mut offsets, Opcode::AddI, along, k, &shape);
        let inside = within(emit, numbers, *tensor.shape.get(d)?);
        add(emit, &mut mask, Opcode::AndI, inside, k, &shape);
    }
    let (offsets, mut mask) = (offsets?, mask?);
    if let Some(inside) = from.inside {
        let all = emit.splat(inside, &shape);
        mask = emit.same(Opcode::AndI, mask, all);
    }
    let pointers = emit.splat(from.base, &shape);
    let pointers = emit.same(Opcode::AddPtr, pointers, offsets);
    Some(Block { pointers, mask, shape })
}

/// Pointers and mask of the rows with these numbers, from one column on.
pub(crate) fn place_rows(
    emit: &mut Emit<'_>,
    tensor: &Tensor,
    block: &[u64],
    rows: ValueId,
    column: Option<ValueId>,
) -> Option<Block> {
    let [1, width] = *block else { return None };
    let count = *emit.out.ty(rows).shape().first()?;
    let (shape, column) = ([count, width], emit.wide(column?));
    let base = emit.same(Opcode::AddPtr, tensor.base, column);
    let rows = emit.wide(rows);
    let stride = emit.splat(*tensor.strides.first()?, &[count]);
    let along = emit.same(Opcode::MulI, rows, stride);
    let range = emit.range(width);
    let numbers = emit.wide(range);
    let (mut offsets, mut mask) = (None, None);
    add(emit, &mut offsets, Opcode::AddI, along, 0, &shape);
    add(emit, &mut offsets, Opcode::AddI, numbers, 1, &shape);
    let first = emit.splat(column, &[width]);
    let columns = emit.same(Opcode::AddI, first, numbers);
    for (k, numbers) in [rows, columns].into_iter().enumerate() {
        let inside = within(emit, numbers, *tensor.shape.get(k)?);
        add(emit, &mut mask, Opcode::AndI, inside, k, &shape);
    }
    let pointers = emit.splat(base, &shape);
    let pointers = emit.same(Opcode::AddPtr, pointers, offsets?);
    Some(Block { pointers, mask: mask?, shape: shape.to_vec() })
}

/// Which of these numbers are coordinates of a dimension.
fn within(emit: &mut Emit<'_>, numbers: ValueId, extent: ValueId) -> ValueId {
    let shape = emit.out.ty(numbers).shape().to_vec();
    let zero = emit.scalar(0, &Type::I64);
    let (zero, extent) = (emit.splat(zero, &shape), emit.splat(extent, &shape));
    let (low, high) = (emit.compare("sge", numbers, zero), emit.compare("slt", numbers, extent));
    emit.same(Opcode::AndI, low, high)
}

/// Combines a tile with a vector along one of its dimensions.
fn add(
    emit: &mut Emit<'_>,
    sum: &mut Option<ValueId>,
    opcode: Opcode,
    vector: ValueId,
    axis: usize,
    shape: &[u64],
) {
    let standing = emit.stand(vector, axis, shape.len());
    let whole = emit.broadcast(standing, shape);
    *sum = Some(match *sum {
        Some(sum) => emit.same(opcode, sum, whole),
        None => whole,
    });
}
