//! Warps, registers and the layout of tiles of a kernel that one partition runs (C31, C61, C67).

use std::collections::BTreeMap;

use warploom_chips::Target;
use warploom_chips::mma::MmaInstruction;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, Module, OpId, Opcode, Type};

use crate::engines::asynchronous::Products;
use crate::engines::blocked;
use crate::engines::covered::is_free;
use crate::engines::pressure::live_words;
use crate::engines::scratch;
use crate::engines::warpgroups;
use crate::engines::{PartitionShape, RegisterLayout};
use crate::nest::innermost_for;
use crate::place::{refuse, remark};
use crate::transports::operands::{DotOperand, operands};
use crate::walk::preorder;

/// Registers of accumulators per thread that leave room for operands, addresses and masks.
const ACCUMULATORS: u64 = 128;

/// Elements of tiles of which two warps hold 16 a lane.
const SMALL: u64 = 1024;

/// Which operands of products lanes may make or hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// Those that the layout of the products covers.
    InLayout,
    /// And those that are made wherever they are stored.
    Anywhere,
    /// And those that lanes hold in turn, which bring them to where they are stored.
    InTurns,
}

/// Chooses the shape of a kernel.
///
/// # Errors
/// Operations and tiles that have no code on this chip.
pub(crate) fn choose(
    module: &Module,
    func: OpId,
    target: &Target,
    products: Products,
    operands: &[DotOperand],
) -> Result<PartitionShape, Vec<Diagnostic>> {
    let ops = preorder(module, func);
    let mut errors: Vec<Diagnostic> = ops.iter().filter_map(|&op| unsupported(module, op, target)).collect();
    let dots: Vec<OpId> = ops.iter().copied().filter(|&op| module.ops[op].opcode.is_product()).collect();
    let reductions = || ops.iter().filter(|&&op| module.ops[op].opcode == Opcode::Reduce);
    let reduces = reductions().next().is_some();
    let chosen = match (dots.as_slice(), products) {
        ([], Products::Synchronous) => Ok(blocked::choose(module, func, &ops)),
        ([], Products::Asynchronous { .. }) => {
            let error = refuse(module, func, Code::Op, "no product to issue asynchronously");
            Err(Box::new(error.rule("C45").note("instead", "lanes in rows")))
        }
        (_, Products::Synchronous) => mma_sync(module, func, &dots, reduces, operands),
        (_, Products::Asynchronous { .. }) => {
            warpgroups::warps(module, func, (&dots, operands), aligned(module, func), target)
        }
    };
    match chosen {
        Ok((warps, layout)) if errors.is_empty() => {
            let lanes = 32 * warps;
            let registers = (u64::from(target.registers.per_cta) / lanes / 8 * 8).min(256);
            let scratch = scratch::of_all(module, func, warps, layout, target);
            return Ok(PartitionShape { warps, registers, layout, scratch });
        }
        Ok(_) => {}
        Err(error) => errors.push(*error),
    }
    crate::place::file_order(&mut errors);
    Err(errors)
}

/// Warps along the rows and along the columns that share the products of a kernel by mma.sync; none where they fit no
/// split, or there are no products.
pub(crate) fn split(module: &Module, func: OpId) -> Option<[u32; 2]> {
    let ops = preorder(module, func);
    let dots: Vec<OpId> = ops.iter().copied().filter(|&op| module.ops[op].opcode.is_product()).collect();
    let reduces = ops.iter().any(|&op| module.ops[op].opcode == Opcode::Reduce);
    let operands = operands(module, func, &[], false);
    match mma_sync(module, func, &dots, reduces, &operands) {
        Ok((_, RegisterLayout::MmaSync { m, n })) if !dots.is_empty() => {
            Some([u32::try_from(m).ok()?, u32::try_from(n).ok()?])
        }
        _ => None,
    }
}

/// Warps and how they share the products: the fewest, four at least, whose accumulators fit.
fn mma_sync(
    module: &Module,
    func: OpId,
    dots: &[OpId],
    reduces: bool,
    operands: &[DotOperand],
) -> Result<(u64, RegisterLayout), Box<Diagnostic>> {
    let extents = |dot: OpId| -> Option<(u64, u64)> {
        match module.ty(module.result(dot)?).shape() {
            &[m, n] => Some((m, n)),
            _ => None,
        }
    };
    // A that is computed stays in the registers of its rows where all warps stand along M, and rows are reduced there.
    let column = reduces || operands.iter().any(|f| f.index == 0 && f.slot.is_none() && !f.is_settled());
    // Products of one loop are alive together; a later loop goes on with what an earlier one made.
    let mut accumulators: BTreeMap<Option<OpId>, u64> = BTreeMap::new();
    for &dot in dots {
        let (m, n) = extents(dot).unwrap_or((u64::MAX, 1));
        let accumulator = accumulators.entry(innermost_for(module, dot)).or_default();
        *accumulator = accumulator.saturating_add(m.saturating_mul(n));
    }
    let all = accumulators.values().copied().max().unwrap_or(0);
    // Two tiles of 8 columns side by side come by one ldmatrix.
    let splits = |dot: OpId, m: u64, n: u64, cols_of_tile: u64| {
        whole_steps(module, dot)
            && extents(dot).is_some_and(|(rows, cols)| {
                rows.is_multiple_of(16 * m) && cols.is_multiple_of(cols_of_tile * n)
            })
    };
    // What lanes make anywhere is stored as its slot has it; those that hold what they make read less.
    let stored = |f: &DotOperand, kept: Kept| {
        let narrow = module.ty(f.seen.base).elem_bits() == Some(16);
        let registers = f.index == 0 && !f.is_settled() && narrow;
        !registers
            && match kept {
                Kept::InLayout => false,
                Kept::Anywhere => is_free(module, f.seen.base),
                Kept::InTurns => true,
            }
    };
    let held = |m: u64, n: u64, kept: Kept| {
        operands.iter().all(|f| f.slot.is_some() || f.is_covered(module, m, n) || stored(f, kept))
    };
    let fits = |all: u64, most: u64, warps: u64, (m, n): (u64, u64), (cols_of_tile, kept): (u64, Kept)| {
        all / (32 * warps) <= most
            && dots.iter().all(|&dot| splits(dot, m, n, cols_of_tile))
            && held(m, n, kept)
    };
    // Pointers of unknown alignment are copied through registers: fewer accumulators then, where there is a choice.
    let most = ACCUMULATORS + ACCUMULATORS / 8;
    let limits = if aligned(module, func) { [most, most] } else { [ACCUMULATORS / 2, most] };
    // Operands are read once per warp along the other dimension: the squarest split reads least.
    let (rows, cols) = dots.first().and_then(|&dot| extents(dot)).unwrap_or((1, 1));
    let squarest = |warps: u64| {
        let mut splits: Vec<(u64, u64)> =
            (0..5).map(|s| 1 << s).filter(|m| warps.is_multiple_of(*m)).map(|m| (m, warps / m)).collect();
        splits.sort_by_key(|&(m, n)| ((rows / m) + (cols / n), n));
        splits
    };
    // What is computed goes through shared memory where warps along M alone do not do.
    let ways = if column {
        vec![(true, 16), (false, 16), (true, 8), (false, 8)]
    } else {
        vec![(false, 16), (false, 8)]
    };
    // One warp alone hides nothing of what it waits for: all ways with several come first. Where every tile is small, more
    // than two would repeat what each must do anyhow: addresses, masks, phases.
    let small = largest(module, func) <= SMALL;
    let several = if small { [2, 4, 8, 16] } else { [4, 8, 16, 2] };
    let fitting = |all: u64, kept: Kept| {
        for counts in [&several[..], &[1]] {
            for &(column, tile) in &ways {
                for (most, &warps) in
                    limits.into_iter().flat_map(|most| counts.iter().map(move |w| (most, w)))
                {
                    let splits = if column { vec![(warps, 1)] } else { squarest(warps) };
                    if let Some(&(m, n)) =
                        splits.iter().find(|&&split| fits(all, most, warps, split, (tile, kept)))
                    {
                        return Some((warps, RegisterLayout::MmaSync { m, n }));
                    }
                }
            }
        }
        None
    };
    // Where all of them do not fit, those that live at once may.
    let live = || {
        let scopes = accumulators.keys().map(|scope| scope.unwrap_or(func));
        let live = scopes.map(|scope| live_words(module, scope, |_| false, &BTreeMap::new()));
        live.max().unwrap_or(0).min(all)
    };
    let found = [Kept::InLayout, Kept::Anywhere, Kept::InTurns]
        .into_iter()
        .find_map(|kept| fitting(all, kept).or_else(|| fitting(live(), kept)));
    if let Some(found) = found {
        return Ok(found);
    }
    let uneven = dots.iter().copied().find(|&dot| !splits(dot, 1, 1, 8));
    let bent = operands.iter().find(|f| f.slot.is_none() && !f.is_covered(module, 1, 1)).map(|f| f.dot);
    if let Some(dot) = uneven.or(bent).or(dots.first().copied().filter(|_| all / (32 * 16) <= most)) {
        let text = "the products of this kernel fit no split over 1 to 16 warps";
        let needs = "tiles of M in multiples of 16, of N in multiples of 8, of K in steps of 32 bytes; K in multiples of 16 where operands are computed";
        return Err(Box::new(refuse(module, dot, Code::Shape, text).rule("C67").note("needs", needs)));
    }
    let warps = [16, 8, 4, 2, 1]
        .into_iter()
        .find(|&w| squarest(w).iter().any(|&(m, n)| fits(all, u64::MAX, w, (m, n), (8, Kept::Anywhere))));
    let tiles: Vec<(OpId, u64, u64)> =
        dots.iter().filter_map(|&dot| extents(dot).map(|(m, n)| (dot, m, n))).collect();
    Err(too_many_registers(module, &tiles, live(), most, warps.unwrap_or(1)))
}

/// Elements of the largest tile of a function.
fn largest(module: &Module, func: OpId) -> u64 {
    let results = preorder(module, func).into_iter().flat_map(|op| module.ops[op].results.iter());
    let elements = results.filter_map(|&v| module.ty(v).elements().filter(|_| module.ty(v).is_tensor()));
    elements.max().unwrap_or(0)
}

/// Whether K comes in the steps of mma.sync: 32 bytes each.
fn whole_steps(module: &Module, dot: OpId) -> bool {
    let a = module.ops[dot].operands.first().map(|&a| module.ty(a));
    a.is_some_and(|a| match (a.shape().last(), a.elem_bits()) {
        (Some(k), Some(bits)) => k.saturating_mul(u64::from(bits)).is_multiple_of(256),
        _ => false,
    })
}

/// A remark where accumulators leave few registers for anything else: some of them will be spilled.
pub(crate) fn crowded(module: &Module, func: OpId, shape: &PartitionShape) -> Option<Diagnostic> {
    let tensor = shape.instruction() == MmaInstruction::Tcgen05;
    let dots = preorder(module, func).into_iter().filter(|&op| module.ops[op].opcode.is_product() && !tensor);
    let tiles = dots.filter_map(|dot| match module.ty(module.result(dot)?).shape() {
        &[m, n] => Some((dot, m, n)),
        _ => None,
    });
    let (dot, m, n) = tiles.max_by_key(|&(_, m, n)| m.saturating_mul(n))?;
    let each = m.saturating_mul(n) / (32 * shape.warps);
    (each > shape.registers * 3 / 4).then(|| {
        let text =
            format!("accumulators take {each} of {} registers per thread: some will spill", shape.registers);
        let error = remark(module, dot, Code::Registers, text).rule("C31");
        error.note("fits", format!("a tile of {m}x{}", n / 2))
    })
}

/// The refusal of C31: who has how much, and what would fit.
fn too_many_registers(
    module: &Module,
    tiles: &[(OpId, u64, u64)],
    all: u64,
    most: u64,
    warps: u64,
) -> Box<Diagnostic> {
    let widest = tiles.iter().copied().max_by_key(|&(_, m, n)| m.saturating_mul(n));
    let (dot, m, n) = widest.unwrap_or((module.root, 1, 1));
    let lanes = 32 * warps;
    let text = format!("accumulators take {} registers per thread of {most}", all.div_ceil(lanes));
    let live = format!("partition @main, {} B in {warps} warps", all.saturating_mul(4));
    let error = refuse(module, dot, Code::Registers, text).rule("C31").note("live", live);
    // With half the columns of the widest product, or a quarter.
    let rest = all.saturating_sub(m.saturating_mul(n));
    let fits = [n / 2, n / 4, n / 8].into_iter().find(|&n| n >= 16 && (rest + m * n) / lanes <= most);
    Box::new(match fits {
        Some(n) => error.note("fits", format!("a tile of {m}x{n}")),
        None => error.note("instead", "smaller tiles"),
    })
}

/// Whether every pointer argument says what divides it.
fn aligned(module: &Module, func: OpId) -> bool {
    let args = module.entry(func, 0).map(|body| module.blocks[body].args.as_slice()).unwrap_or_default();
    let attrs = module.attr(func, "arg_attrs").and_then(Attr::as_array).unwrap_or_default();
    args.iter().enumerate().all(|(n, &arg)| {
        let stated = match attrs.get(n) {
            Some(Attr::Dict(dict)) => dict.get("tt.divisibility").is_some(),
            _ => false,
        };
        stated || !matches!(module.ty(arg), Type::Ptr { .. })
    })
}

/// What no partition of this kind has code for.
fn unsupported(module: &Module, op: OpId, target: &Target) -> Option<Diagnostic> {
    let name = module.op_name(op);
    let chip = target.name();
    let (what, instead) = match module.ops[op].opcode {
        Opcode::DescriptorGather | Opcode::DescriptorScatter | Opcode::DescriptorReduce => {
            (format!("{name} is not supported for {chip}"), "pointers")
        }
        opcode if !opcode.facts().lowered => {
            (format!("{name} is not supported for {chip}"), "the operations of C2, C68")
        }
        _ => return None,
    };
    Some(refuse(module, op, Code::Op, what).rule("C3").note("instead", instead))
}
