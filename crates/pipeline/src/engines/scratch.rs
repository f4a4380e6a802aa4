//! Shared memory by which the lanes of a partition exchange what they hold (C65, G12).

use std::collections::BTreeSet;

use warploom_chips::{Feature, Target};
use warploom_ir::renamed::is_renamed;
use warploom_ir::vectors::{Along, Vectors};
use warploom_ir::{Attr, Category, Module, OpId, Opcode, Type, ValueId, walk};

use crate::engines::RegisterLayout;
use crate::engines::covered::is_free;
use crate::nest::repeats;
use crate::views::{look_through, non_unit};
use crate::walk::preorder;

/// A tile that is no larger goes through scratch memory wherever it comes from: a load may have been kept in registers.
const SMALL: u64 = 16 << 10;

/// Bytes that the warps of a partition need for whatever a function has them do together.
pub(crate) fn of_all(
    module: &Module,
    func: OpId,
    warps: u64,
    layout: RegisterLayout,
    target: &Target,
) -> u64 {
    let vectors = Vectors::new(module, func);
    let matrices = target.has(Feature::Stmatrix);
    let panels = |op| if matrices { panels(module, op, warps, layout) } else { 0 };
    let each = preorder(module, func).into_iter();
    each.map(|op| of(module, op, warps, layout, &vectors).max(panels(op))).max().unwrap_or(0)
}

/// Bytes that the warps of a partition need for an operation that they do together: for reductions, room for four rows
/// or columns at once, none where each lies in one warp; a place for what one lane found and all read; counters (C65).
/// Where elements go to other lanes, or the layout has no rows for a tile, whole tiles; so do vectors that are held along one
/// dimension and wanted along the other (G12).
fn of(module: &Module, op: OpId, warps: u64, layout: RegisterLayout, vectors: &Vectors) -> u64 {
    let data = &module.ops[op];
    let all = || together(module, &data.operands);
    let first = || together(module, data.operands.get(..1).unwrap_or_default());
    let bare = || data.operands.iter().any(|&v| !is_covered(module.ty(v), warps, layout));
    // A single row or column may lie in no rows at all.
    let thin = || data.operands.iter().any(|&v| is_thin(module.ty(v)));
    let rank = data.operands.first().map_or(0, |&v| module.ty(v).shape().len());
    let old = || result_words(module, op) * 128 * warps;
    let line = || words(module, op) * 128 * warps;
    let apart = || data.results.iter().any(|&v| !is_covered(module.ty(v), warps, layout));
    let runs_down = || data.operands.iter().any(|&v| vectors.of(v) == Some(Along::Rows));
    let strays = || data.results.iter().any(|&v| !is_along(module.ty(v), vectors.of(v), warps, layout));
    let turned = || if vectors.turns(op) { together(module, &data.results) } else { 0 };
    let comes = |n: usize| {
        // Places in memory are computed where they are wanted.
        let value =
            data.operands.get(n).copied().filter(|&v| !matches!(module.ty(v).elem(), Type::Ptr { .. }));
        value.is_some_and(|v| {
            let kept = together(module, &[v]) <= SMALL && is_kept(module, op);
            is_made(module, v, |load| kept || changes_between(module, load, op))
        })
    };
    // What a loop loads may be pipelined, and is in registers then.
    let late = || {
        let value =
            data.operands.first().copied().filter(|&v| !matches!(module.ty(v).elem(), Type::Ptr { .. }));
        value.is_some_and(|v| {
            let late = together(module, &[v]) <= SMALL && repeats(module, op);
            is_made(module, v, |_| late)
        })
    };
    match data.opcode {
        Opcode::Broadcast if apart() && late() => first(),
        Opcode::Reduce if bare() || thin() || rank > 2 => {
            reduced(module, op, warps, layout).max(all()).max(line())
        }
        Opcode::Reduce if rank == 1 && warps > 1 && runs_down() => {
            reduced(module, op, warps, layout).max(line())
        }
        Opcode::Reduce => reduced(module, op, warps, layout).max(turned()),
        Opcode::Scan if bare() || thin() || rank > 2 || shares_lines(module, op, warps, layout) => {
            all().max(line())
        }
        Opcode::AtomicRmw | Opcode::AtomicCas | Opcode::AtomicLoad | Opcode::AtomicPoll
            if bare() || thin() || strays() =>
        {
            together(module, &data.results).max(old())
        }
        Opcode::AtomicRmw | Opcode::AtomicCas | Opcode::TtgBarrier if warps > 1 => old(),
        Opcode::AtomicLoad | Opcode::AtomicStore | Opcode::AtomicPoll if warps > 1 => old(),
        Opcode::Reshape | Opcode::Trans | Opcode::Split if is_renamed(module, op, column_span(layout)) => 0,
        Opcode::Reshape if is_moved(module, op) && comes(0) => first(),
        Opcode::Trans if comes(0) && is_turned(module, op) => first(),
        Opcode::Gather | Opcode::Split if comes(0) => first(),
        Opcode::ExpandDims | Opcode::Broadcast | Opcode::Reshape if comes(0) && apart() => first(),
        Opcode::ExpandDims if comes(0) && vectors.turns(op) => first(),
        Opcode::Join if comes(0) || comes(1) => all(),
        Opcode::Cat => all(),
        Opcode::DotFma => together(module, data.operands.get(..2).unwrap_or_default()),
        Opcode::Dot | Opcode::DotBlockScaled => {
            let bases = data.operands.iter().take(2).map(|&v| look_through(module, v).base);
            // What comes by descriptor lies in a slot.
            let moved =
                |v| module.def_op(v).is_some_and(|op| module.ops[op].opcode == Opcode::DescriptorLoad);
            let brought =
                |v: &ValueId| !is_covered(module.ty(*v), warps, layout) && !is_free(module, *v) && !moved(*v);
            bases.filter(brought).map(|v| together(module, &[v])).max().unwrap_or(0)
        }
        Opcode::Histogram => {
            let counters = module.result(op).and_then(|v| module.ty(v).elements()).unwrap_or(1);
            counters.saturating_mul(4).next_multiple_of(128)
        }
        _ => 0,
    }
}

/// Bytes that the warps of a partition need for a store in a loop whose elements they exchange by matrices of `stmatrix`:
/// a panel of 16 rows each, of 128 bytes at most.
fn panels(module: &Module, op: OpId, warps: u64, layout: RegisterLayout) -> u64 {
    let data = &module.ops[op];
    let quads = match layout {
        RegisterLayout::MmaSync { n, .. } => n == 1,
        RegisterLayout::Wgmma { columns } | RegisterLayout::TensorHalves { columns } => columns == 1,
        RegisterLayout::TensorPairs => true,
        RegisterLayout::TensorRows | RegisterLayout::Blocked { .. } => false,
    };
    if data.opcode != Opcode::Store || !quads || !repeats(module, op) {
        return 0;
    }
    let Some(ty) = data.operands.get(1).map(|&v| module.ty(v)) else { return 0 };
    match (ty.elem_bits(), ty.shape()) {
        (Some(16), [.., _, cols]) if is_covered(ty, warps, layout) && cols.is_multiple_of(32) => {
            16 * 2 * if cols.is_multiple_of(64) { 64 } else { 32 } * warps
        }
        _ => 0,
    }
}

/// Words of 32 bits of an element of the result, one where there is none.
fn result_words(module: &Module, op: OpId) -> u64 {
    let bits = module.result(op).and_then(|v| module.ty(v).elem_bits());
    bits.map_or(1, |bits| u64::from(bits.div_ceil(32)))
}

/// Whether a tile of at least two dimensions is a single row or column.
fn is_thin(ty: &Type) -> bool {
    ty.shape().len() >= 2 && non_unit(ty.shape()).len() < 2
}

/// Bytes of tiles one behind the other.
fn together(module: &Module, values: &[ValueId]) -> u64 {
    let bytes = |value: &ValueId| {
        let ty = module.ty(*value);
        let each = match ty.elem() {
            Type::Ptr { .. } => 8,
            elem => u64::from(elem.elem_bits().unwrap_or(64).div_ceil(8)),
        };
        ty.elements().unwrap_or(1).saturating_mul(each).next_multiple_of(16)
    };
    values.iter().map(bytes).fold(0, u64::saturating_add)
}

/// Whether memory may change before an operation: what was loaded is then kept in registers.
fn is_kept(module: &Module, op: OpId) -> bool {
    let mut around = Some(op);
    while let Some(op) = around {
        let ops = module.ops[op].block.map_or(&[][..], |block| module.blocks[block].ops.as_slice());
        let before = ops.iter().copied().take_while(|o| *o != op || repeats(module, op));
        let writes = |o: OpId| module.ops[o].opcode.facts().effect.writes();
        if before.flat_map(|o| walk::ops(module, o)).any(writes) {
            return true;
        }
        around = module.parent(op);
    }
    false
}

/// Whether memory changes between a load and an operation in its block.
fn changes_between(module: &Module, load: OpId, op: OpId) -> bool {
    let ops = module.ops[op].block.map_or(&[][..], |block| module.blocks[block].ops.as_slice());
    let writes = |o: OpId| module.ops[o].opcode.facts().effect.writes();
    let between = ops.iter().copied().take_while(|&o| o != op).skip_while(|&o| o != load);
    between.flat_map(|o| walk::ops(module, o)).any(writes)
}

/// Whether a value comes from something that leaves it in registers; `stays` says which loads do.
fn is_made(module: &Module, value: ValueId, stays: impl Fn(OpId) -> bool) -> bool {
    let (mut stack, mut seen) = (vec![value], BTreeSet::new());
    while let Some(value) = stack.pop() {
        if !seen.insert(value) || !module.ty(value).is_tensor() {
            continue;
        }
        let Some(op) = module.def_op(value) else { return true };
        let data = &module.ops[op];
        match data.opcode.facts().category {
            // What inline assembly computes is there at once.
            _ if data.opcode == Opcode::ElementwiseInlineAsm => return true,
            Category::Source => {}
            Category::View => stack.extend(&data.operands),
            category if category.is_elementwise() => stack.extend(&data.operands),
            _ if matches!(data.opcode, Opcode::Join | Opcode::Split) => stack.extend(&data.operands),
            _ if data.opcode == Opcode::Load && !stays(op) => {}
            _ => return true,
        }
    }
    false
}

/// Whether a reshape changes more than extents of 1.
fn is_moved(module: &Module, op: OpId) -> bool {
    let shape = |v: Option<&ValueId>| v.map(|&v| non_unit(module.ty(v).shape()));
    shape(module.ops[op].operands.first()) != shape(module.ops[op].results.first())
}

/// More columns than any tile has.
const WIDEST: u64 = 1 << 20;

/// Columns below which the first column of every lane lies.
fn column_span(layout: RegisterLayout) -> u64 {
    match layout {
        RegisterLayout::MmaSync { n, .. } => 8 * n,
        RegisterLayout::Wgmma { columns: 1 }
        | RegisterLayout::TensorHalves { columns: 1 }
        | RegisterLayout::TensorPairs => 8,
        // Parts of a tile begin where its width says.
        RegisterLayout::Wgmma { .. } | RegisterLayout::TensorHalves { .. } => WIDEST,
        RegisterLayout::TensorRows => 16,
        RegisterLayout::Blocked { vector, across } => vector * across,
    }
}

/// Whether somebody but products reads a transposed tile.
fn is_turned(module: &Module, op: OpId) -> bool {
    let moves = module.ops[op].operands.first().is_some_and(|&v| non_unit(module.ty(v).shape()).len() > 1);
    let product = |&(user, index): &(OpId, usize)| module.ops[user].opcode.is_product() && index < 2;
    moves && module.result(op).is_some_and(|v| !walk::uses(module, v).all(|user| product(&user)))
}

/// Whether the layout has rows and columns for a tile, or a vector along either.
fn is_covered(ty: &Type, warps: u64, layout: RegisterLayout) -> bool {
    let (down, along) = steps(warps, layout);
    match ty.shape() {
        [] => true,
        // Where lanes stand in one row, vectors run along it.
        &[n] => n.is_multiple_of(along) || (down > 1 && n.is_multiple_of(down)),
        [outer @ .., rows, cols] => {
            outer.iter().all(|&n| n == 1)
                && (*rows == 1 || rows.is_multiple_of(down))
                && (*cols == 1 || cols.is_multiple_of(along))
        }
    }
}

/// Whether the layout has lanes for a vector along the dimension that it lies along; any tile of more dimensions.
fn is_along(ty: &Type, along: Option<Along>, warps: u64, layout: RegisterLayout) -> bool {
    let (down, across) = steps(warps, layout);
    match (ty.shape(), along, layout) {
        (&[n], Some(Along::Columns), _) | (&[n], None, RegisterLayout::Blocked { .. }) => {
            n.is_multiple_of(across)
        }
        (&[n], ..) => n.is_multiple_of(down),
        _ => true,
    }
}

/// Rows and columns behind which the layout begins anew.
fn steps(warps: u64, layout: RegisterLayout) -> (u64, u64) {
    match layout {
        RegisterLayout::MmaSync { m, n } => (16 * m, 8 * n),
        RegisterLayout::Wgmma { columns } | RegisterLayout::TensorHalves { columns } => {
            (16 * warps / columns, 8 * columns)
        }
        RegisterLayout::TensorPairs => (16 * warps, 8),
        RegisterLayout::TensorRows => (32 * warps, 16),
        RegisterLayout::Blocked { vector, across } => ((32 * warps / across).max(1), vector * across),
    }
}

/// Whether several warps share what a scan goes along, or the layout has no order of lanes along it.
fn shares_lines(module: &Module, scan: OpId, warps: u64, layout: RegisterLayout) -> bool {
    let RegisterLayout::Blocked { across, .. } = layout else { return true };
    let rank = module.ops[scan].operands.first().map_or(1, |&v| module.ty(v).shape().len());
    let axis = module.attr(scan, "axis").and_then(Attr::as_i64).unwrap_or(0);
    match usize::try_from(axis).is_ok_and(|axis| axis + 1 == rank) && rank > 1 {
        true => across > 32,
        false => warps > 1,
    }
}

/// The same for a reduction.
fn reduced(module: &Module, reduce: OpId, warps: u64, layout: RegisterLayout) -> u64 {
    let operands = &module.ops[reduce].operands;
    let rank = operands.first().map_or(1, |&v| module.ty(v).shape().len());
    let axis = module.attr(reduce, "axis").and_then(Attr::as_i64).unwrap_or(0);
    let along_row = usize::try_from(axis).is_ok_and(|axis| axis + 1 == rank);
    let apart = match layout {
        RegisterLayout::MmaSync { m, n } => {
            if along_row && rank > 1 {
                n > 1
            } else {
                m > 1
            }
        }
        RegisterLayout::Wgmma { columns } | RegisterLayout::TensorHalves { columns } => {
            columns > 1 || !along_row || rank == 1
        }
        RegisterLayout::TensorPairs | RegisterLayout::TensorRows => !along_row || rank == 1,
        RegisterLayout::Blocked { across, .. } => match along_row {
            true => across > 32,
            false => warps > 1,
        },
    };
    // Rows that lanes exchange at once: no more than they hold.
    let at_once = match (layout, operands.first().map(|&v| module.ty(v).shape())) {
        (RegisterLayout::Wgmma { .. } | RegisterLayout::TensorHalves { .. }, Some(&[rows, _]))
            if along_row =>
        {
            (2 * rows / steps(warps, layout).0.max(1)).clamp(1, 4)
        }
        _ => 4,
    };
    if apart { at_once * 128 * warps * words(module, reduce) } else { 0 }
}

/// Words of an element of every operand.
fn words(module: &Module, op: OpId) -> u64 {
    let bits = module.ops[op].operands.iter().filter_map(|&v| module.ty(v).elem_bits());
    bits.map(|bits| u64::from(bits).div_ceil(32)).sum()
}
