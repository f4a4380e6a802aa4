//! How many warpgroups the asynchronous products of one partition have, and how its tiles lie (C31, C61, C66).

use std::collections::BTreeMap;

use warploom_chips::Target;
use warploom_chips::mma::MmaInstruction;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::vectors::{Along, Vectors};
use warploom_ir::{Module, OpId, Opcode, Type, ValueId};

use crate::engines::RegisterLayout;
use crate::engines::asynchronous::{is_not_read, product};
use crate::engines::covered::Held;
use crate::engines::pressure::{held_behind, live_words};
use crate::nest::{innermost_for, repeats};
use crate::place::refuse;
use crate::transports::operands::DotOperand;
use crate::walk::preorder;

/// Registers of a thread beside accumulators and operands: addresses, masks, the epilogue.
const OVERHEAD: u64 = 88;

/// The most of them where pointers of unknown alignment are copied through registers.
const COPYING: u64 = 72;

/// Registers of a thread for what lives at once in a loop where warpgroups side by side would exchange more than they save.
const CLOSE: u64 = 216;

/// Warpgroups that may stand side by side.
const SIDES: [u64; 2] = [2, 4];

/// The most registers of products where each lane has a row of 128 to itself; half of them for one that a loop repeats.
const ROWS: u64 = 128;

/// Warps for the products of a kernel, and how its tiles lie: one warpgroup where it has room for them, then two, then four.
/// A warpgroup has 128 rows of tensor memory to itself where its products leave room in registers, else it shares them
/// with another; one alone has 64 then. Where sums fit no number of warpgroups one below the other, warpgroups stand
/// side by side, and each has a part of the columns. Where no number of warpgroups has rows for all that lanes hold, those
/// for whom it has none hold the elements in turn (G2): the products alone say how lanes lie.
///
/// # Errors
/// Products that no such instruction covers, and accumulators that fit no number of warpgroups.
pub(crate) fn warps(
    module: &Module,
    func: OpId,
    (dots, operands): (&[OpId], &[DotOperand]),
    aligned: bool,
    target: &Target,
) -> Result<(u64, RegisterLayout), Box<Diagnostic>> {
    let of = |columns, wanted| warps_of(module, func, (dots, operands), (aligned, columns, wanted), target);
    let mut ways = [Kept::InRows, Kept::InTurns].into_iter().flat_map(|kept| {
        let [live, close, rest] = [Room::Live, Room::Close, Room::Products].map(|room| (kept, room));
        let sides = |wanted| SIDES.map(|columns| (columns, wanted));
        [(1, live), (1, close)].into_iter().chain(sides(live)).chain([(1, rest)]).chain(sides(rest))
    });
    if let Some(found) = ways.find_map(|(columns, wanted)| of(columns, wanted).ok()) {
        return Ok(found);
    }
    let last = (Kept::InTurns, Room::Products);
    of(1, last).map_err(|error| beside(error, of(SIDES[0], last).err()))
}

/// A refusal of warpgroups one below the other, with why they cannot stand side by side.
fn beside(error: Box<Diagnostic>, other: Option<Box<Diagnostic>>) -> Box<Diagnostic> {
    match other.filter(|other| error.code == Code::Registers && other.message != error.message) {
        Some(other) => {
            let message = format!("{}; side by side: {}", error.message, other.message);
            Box::new(Diagnostic { message, ..*error })
        }
        None => error,
    }
}

/// How lanes hold what they compute beside the products.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// In the rows of the layout.
    InRows,
    /// In turn, where the layout has no rows for it.
    InTurns,
}

/// What registers have room for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    /// All that lives at once.
    Live,
    /// All products of a loop and what lives behind it, with little more than what lives at once inside.
    Close,
    /// Those, whatever lives beside them or behind.
    Products,
}

/// The same with so many warpgroups side by side.
fn warps_of(
    module: &Module,
    func: OpId,
    (dots, operands): (&[OpId], &[DotOperand]),
    (aligned, columns, (kept, room)): (bool, u64, (Kept, Room)),
    target: &Target,
) -> Result<(u64, RegisterLayout), Box<Diagnostic>> {
    let mut accumulators: BTreeMap<Option<OpId>, u64> = BTreeMap::new();
    let (mut held, mut widest) = match kept {
        Kept::InRows => (Held::of(module, func), 0),
        Kept::InTurns => (Held::default(), 0),
    };
    let beside = along_columns(module, func);
    let mut held_for: BTreeMap<OpId, u64> = BTreeMap::new();
    for &dot in dots {
        let product = product(module, dot, operands, (columns, target))?;
        *accumulators.entry(innermost_for(module, dot)).or_default() += product.words + product.operand;
        held_for.insert(dot, product.operand);
        if repeats(module, dot) {
            widest = widest.max(product.words);
        }
        held.extend([product.rows]);
        if kept == Kept::InRows {
            held.extend(product.operands);
        }
    }
    let tensor = target.mma_instruction() == MmaInstruction::Tcgen05;
    let stays = |dot: OpId| tensor && is_not_read(module, dot);
    let all = accumulators.values().copied().max().unwrap_or(0);
    // Sums of products that go round a loop beside them are in registers too. Where all of them do not fit, those that
    // live at once may.
    let scopes = accumulators.keys().map(|scope| scope.unwrap_or(func));
    let inside = scopes.map(|scope| live_words(module, scope, stays, &held_for)).max().unwrap_or(0);
    let behind = held_behind(module, func, dots, stays);
    let live = inside.max(behind);
    // Products that the tensor core scales have 128 rows.
    let scaled = dots.iter().any(|&dot| module.ops[dot].opcode == Opcode::DotBlockScaled);
    let whole = |&(_, layout): &(u64, RegisterLayout)| {
        !scaled || !matches!(layout, RegisterLayout::TensorHalves { .. })
    };
    let fitting =
        |words: u64| fitting((words, widest, beside), &held, (aligned, columns), target).filter(whole);
    let chosen = match room {
        Room::Live => fitting(all.max(live)).or_else(|| fitting(live)),
        Room::Close => fitting(all.max(behind)).filter(|&(warps, _)| inside / (32 * warps) <= CLOSE),
        Room::Products => fitting(all),
    };
    chosen.ok_or_else(|| {
        let text = format!("products of {} words and their tiles fit no 1, 2 or 4 warpgroups", live.min(all));
        let at = dots.first().copied().unwrap_or(module.root);
        Box::new(refuse(module, at, Code::Registers, text).rule("C31").note("instead", "mma.sync"))
    })
}

/// Elements of the vectors along the columns that a loop carries: who has a row to itself has all of them.
fn along_columns(module: &Module, func: OpId) -> u64 {
    let vectors = Vectors::new(module, func);
    let extent = |&value: &ValueId| match module.ty(value).shape() {
        &[extent] if vectors.of(value) == Some(Along::Columns) => {
            if matches!(module.ty(value).elem(), Type::Ptr { .. }) { 0 } else { extent }
        }
        _ => 0,
    };
    let loops = preorder(module, func).into_iter().filter(|&op| module.ops[op].opcode == Opcode::For);
    loops.map(|op| module.ops[op].results.iter().map(extent).sum()).max().unwrap_or(0)
}

/// The number of warps that so many words of products fit, and how tiles lie; the widest product that a loop repeats has
/// `widest` of them, and vectors `beside` them so many elements.
fn fitting(
    (words, widest, beside): (u64, u64, u64),
    held: &Held,
    (aligned, columns): (bool, u64),
    target: &Target,
) -> Option<(u64, RegisterLayout)> {
    let file = u64::from(target.registers.per_cta);
    let room = |groups: u64| (file / (128 * groups)).min(256).saturating_sub(OVERHEAD);
    let fits = |most: Option<u64>, groups: u64| {
        let room = room(groups);
        let covered = groups.is_multiple_of(columns) && held.by(64 * groups / columns);
        words / (128 * groups) <= most.unwrap_or(room).min(room) && covered
    };
    let limits = if aligned { [None, None] } else { [Some(COPYING), None] };
    let mut choices = limits.into_iter().flat_map(|most| [1, 2, 4].map(|groups| (most, groups)));
    match target.mma_instruction() {
        MmaInstruction::Tcgen05 if columns > 1 => {
            // Of 64 rows of tensor memory: the warpgroups all reach them.
            let fitting = choices.find(|&(most, groups)| groups == columns && fits(most, groups))?;
            Some((4 * fitting.1, RegisterLayout::TensorHalves { columns }))
        }
        MmaInstruction::Tcgen05 => {
            let rows = || {
                let groups =
                    [1, 2, 4].into_iter().find(|&g| words / (128 * g) <= ROWS && held.by(128 * g))?;
                Some((4 * groups, RegisterLayout::TensorRows))
            };
            // What is copied through registers, and what a loop adds up there, is shared by more lanes where there is a choice.
            let few = rows().filter(|&(warps, _)| aligned && beside.max(widest / (32 * warps)) <= ROWS / 2);
            let pairs = || {
                let groups = [2, 4].into_iter().find(|&groups| fits(Some(COPYING), groups))?;
                Some((4 * groups, RegisterLayout::TensorPairs))
            };
            few.or_else(pairs).or_else(rows).or_else(|| {
                let (_, groups) = choices.find(|&(most, groups)| fits(most, groups))?;
                let layout = match groups {
                    1 => RegisterLayout::TensorHalves { columns },
                    _ => RegisterLayout::TensorPairs,
                };
                Some((4 * groups, layout))
            })
        }
        _ => {
            let (_, groups) = choices.find(|&(most, groups)| fits(most, groups))?;
            Some((4 * groups, RegisterLayout::Wgmma { columns }))
        }
    }
}
