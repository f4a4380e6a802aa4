//! Which loads of which loops can be pipelined: their pointers and masks must be computable for a later iteration (C8).

use std::cell::OnceCell;
use std::collections::BTreeSet;

use warploom_chips::Target;
use warploom_ir::axis::{AxisFacts, facts};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, Type, ValueId};

use crate::classes::constant;
use crate::loops::pipelined_loops;
use crate::orient::width;
use crate::place::remark;
use crate::sets::IdSet;
use crate::tma::TilePlan;
use crate::transports::roots::Roots;
use crate::transports::slice::{indices, late};
use crate::walk::{Users, preorder};

/// A tile that is brought to shared memory by a pipelined load.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CopiedTile {
    /// The `tt.load`.
    pub op: OpId,
    /// Its tile.
    pub tile: Type,
    /// Bytes of the swizzle of its slots; 0 for vectors.
    pub swizzle: u32,
    /// Name in reports.
    pub name: String,
    /// How the copy engine moves it, where that does.
    pub plan: Option<TilePlan>,
}

impl CopiedTile {
    /// Bytes of the tile.
    pub fn bytes(&self) -> u64 {
        self.tile.bytes().unwrap_or(0)
    }

    /// Alignment of its slots in bytes (C15).
    pub fn align(&self) -> u64 {
        if let Some(plan) = &self.plan {
            return plan.align();
        }
        match self.swizzle {
            0 => 128,
            swizzle => 8 * u64::from(swizzle),
        }
    }
}

/// A loop and its pipelined loads.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub scf_for: OpId,
    pub tiles: Vec<CopiedTile>,
    /// The author's cap on slots (C6).
    pub num_stages: Option<u64>,
}

impl Found {
    /// Whether the copy engine brings its tiles.
    pub(crate) fn engine(&self) -> bool {
        self.tiles.iter().any(|t| t.plan.is_some())
    }
}

/// The loops of a kernel with loads that can be pipelined, and why others cannot.
pub(crate) fn loops(module: &Module, func: OpId, target: &Target) -> (Vec<Found>, Vec<Diagnostic>) {
    let (mut found, mut remarks) = (Vec::new(), Vec::new());
    let (users, mut roots, axes) = (Users::new(module), Roots::new(module), OnceCell::new());
    for scf_for in pipelined_loops(module, func) {
        let Some(body) = module.entry(scf_for, 0) else { continue };
        let here = Loop::new(module, (&users, &mut roots), scf_for, body);
        let mut tiles = Vec::new();
        let engine = module.blocks[body].ops.iter().any(|&op| moves_by_descriptor(module, op));
        let indices = indices(module, &users, scf_for, body);
        let handed_on = |op| is_handed_on(module, &users, op, body);
        for &op in &module.blocks[body].ops {
            let found = match module.ops[op].opcode {
                Opcode::DescriptorLoad | Opcode::Load if handed_on(op) => Err("only the next trip reads it"),
                Opcode::DescriptorLoad => by_engine(module, &here, op, (tiles.len(), target), &mut roots),
                Opcode::Load if engine && !loads_tile(module, op) || indices.contains(&op) => Ok(None),
                Opcode::Load if engine => Err("the copy engine brings the other tiles of the loop"),
                Opcode::Load => copied(module, &here, op, tiles.len(), &mut roots),
                _ => continue,
            };
            let found = match found {
                Ok(Some(_)) if !engine && !is_multiplied(module, &users, op) => {
                    let known = axes.get_or_init(|| facts(module, func));
                    let why =
                        "copies of less than 4 B go through registers, and lanes read it where they compute";
                    if comes_in_words(module, known, op) { found } else { Err(why) }
                }
                found => found,
            };
            match found {
                Ok(Some(tile)) => tiles.push(tile),
                Ok(None) => {}
                Err(why) => {
                    let text = format!("this load is not pipelined: {why}");
                    remarks.push(remark(module, op, Code::Loop, text).rule("C9"));
                }
            }
        }
        let step = module.ops[scf_for].operands.get(2).and_then(|&v| constant(module, v));
        if !tiles.is_empty() && step.is_some_and(|step| step <= 0 || step > 1 << 20) {
            let text = "this loop is not pipelined: its step is not between 1 and 2^20";
            remarks.push(remark(module, scf_for, Code::Loop, text).rule("C9"));
            continue;
        }
        // A loop over rows with a program's stride runs a few times; other CTAs hide its loads, where registers let
        // them.
        if !tiles.is_empty() && !engine && step.is_none() && !multiplies(module, scf_for) {
            let text = "this loop is not pipelined: its step is no constant, and it multiplies nothing";
            remarks.push(remark(module, scf_for, Code::Loop, text).rule("C9"));
            continue;
        }
        if module.attr(scf_for, "tt.num_stages").and_then(Attr::as_i64) == Some(1) {
            let text = "this loop is not pipelined: tt.num_stages is 1";
            remarks.push(remark(module, scf_for, Code::Loop, text).rule("C6"));
            continue;
        }
        if !tiles.is_empty() {
            let num_stages = module.attr(scf_for, "tt.num_stages").and_then(Attr::as_i64);
            let num_stages = num_stages.and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0);
            found.push(Found { scf_for, tiles, num_stages });
        }
    }
    (found, remarks)
}

/// What decides about the loads of a loop.
struct Loop {
    /// Values that cannot be computed for a later iteration.
    late: IdSet<ValueId>,
    /// Arguments through which the loop stores; `None` where that cannot be told.
    stored: BTreeSet<Option<ValueId>>,
}

impl Loop {
    fn new(module: &Module, known: (&Users, &mut Roots<'_>), scf_for: OpId, body: BlockId) -> Loop {
        let (users, roots) = known;
        let mut stored = BTreeSet::new();
        for op in preorder(module, scf_for) {
            let data = &module.ops[op];
            if data.opcode.facts().effect.writes() {
                stored.insert(roots.of(data.operands.first().copied()));
                // What others have stored is there behind it, and perhaps not before.
                stored.extend(acquires(module, users, op).then_some(None));
            }
        }
        Loop { late: late(module, users, scf_for, body), stored }
    }

    /// Whether it may store to what comes from an argument; `None` where that cannot be told.
    fn stores_to(&self, own: Option<ValueId>) -> bool {
        let same = self.stored.contains(&own) || self.stored.contains(&None);
        same || (own.is_none() && !self.stored.is_empty())
    }
}

/// A load as a pipelined one; `None` for loads that are no tiles, an error where it must stay where it is.
fn copied(
    module: &Module,
    here: &Loop,
    op: OpId,
    number: usize,
    roots: &mut Roots<'_>,
) -> Result<Option<CopiedTile>, &'static str> {
    let Some(tile) = module.result(op).map(|v| module.ty(v).clone()).filter(Type::is_tensor) else {
        return Ok(None);
    };
    let Some(bits) = tile.elem_bits().filter(|bits| matches!(bits, 8 | 16 | 32 | 64)) else {
        return Err("its elements are no numbers of 8 to 64 bits");
    };
    if matches!(tile.elem(), Type::Ptr { .. }) {
        return Err("it loads pointers");
    }
    let shape = tile.shape().to_vec();
    let row = shape.last().copied().unwrap_or(1).saturating_mul(u64::from(bits) / 8);
    if shape.len() > 2 || row < 16 {
        return Err("it is no matrix or vector with rows of at least 16 B");
    }
    if module.is_volatile(op) {
        return Err("it is volatile");
    }
    let operands = &module.ops[op].operands;
    if operands.iter().any(|&v| here.late.contains(v)) {
        return Err("its pointers or its mask depend on what the loop computes");
    }
    if here.stores_to(roots.of(operands.first().copied())) {
        return Err("the loop stores through the same pointer");
    }
    let swizzle = swizzle(&shape, row);
    Ok(Some(CopiedTile { op, tile, swizzle, name: letter(number), plan: None }))
}

/// Whether a product reads what an operation loads.
fn is_multiplied(module: &Module, users: &Users, load: OpId) -> bool {
    let readers = module.result(load).map(|value| users.through_views(module, value)).unwrap_or_default();
    readers.iter().any(|&(user, _)| module.ops[user].opcode.is_product())
}

/// Whether neighbours in a row of what is loaded lie side by side in memory in words of at least 4 bytes, which `cp.async`
/// brings.
fn comes_in_words(module: &Module, known: &AxisFacts, load: OpId) -> bool {
    let rank = module.result(load).map_or(0, |v| module.ty(v).shape().len());
    rank > 0 && width(module, known, load, rank - 1).0 >= 4
}

/// Whether what follows an operation relies on what other programs or grids did before: it acquires, and somebody asks
/// what it found.
fn acquires(module: &Module, users: &Users, op: OpId) -> bool {
    let data = &module.ops[op];
    match data.opcode {
        Opcode::GridWait | Opcode::AtomicPoll => true,
        Opcode::AtomicRmw | Opcode::AtomicCas | Opcode::AtomicLoad => {
            let order = module.attr(op, "sem").and_then(Attr::as_str);
            order != Some("relaxed")
                && order != Some("release")
                && data.results.iter().any(|&v| !users.of(v).is_empty())
        }
        _ => false,
    }
}

/// Whether a loop carries what it loads to the next trip, and nobody reads it in this one.
fn is_handed_on(module: &Module, users: &Users, load: OpId, body: BlockId) -> bool {
    let readers = module.result(load).map(|value| users.through_views(module, value)).unwrap_or_default();
    !readers.is_empty() && readers.iter().all(|&(user, _)| Some(user) == module.terminator(body))
}

/// Whether a loop has a matrix product.
fn multiplies(module: &Module, scf_for: OpId) -> bool {
    preorder(module, scf_for).into_iter().any(|op| module.ops[op].opcode.is_product())
}

/// Whether an operation loads more than a scalar.
fn loads_tile(module: &Module, op: OpId) -> bool {
    module.result(op).is_some_and(|v| module.ty(v).is_tensor())
}

/// Whether the copy engine loads a tile.
fn moves_by_descriptor(module: &Module, op: OpId) -> bool {
    module.ops[op].opcode == Opcode::DescriptorLoad
}

/// a, b, c .. for the tiles of a loop.
fn letter(number: usize) -> String {
    match u8::try_from(number).ok().filter(|&n| n < 26) {
        Some(n) => char::from(b'a' + n).to_string(),
        None => format!("t{number}"),
    }
}

/// A tile that the copy engine can bring by a pipelined load: its coordinates can be computed. What stands around its
/// loop carries how often its slots were filled.
fn by_engine(
    module: &Module,
    here: &Loop,
    op: OpId,
    (number, target): (usize, &Target),
    roots: &mut Roots<'_>,
) -> Result<Option<CopiedTile>, &'static str> {
    let operands = &module.ops[op].operands;
    let (Some(&descriptor), Some(result)) = (operands.first(), module.result(op)) else { return Ok(None) };
    let plan = TilePlan::new(module.ty(descriptor), target).map_err(|_| "the copy engine cannot move it")?;
    if operands.iter().any(|&v| here.late.contains(v)) {
        return Err("its coordinates depend on what the loop computes");
    }
    if here.stores_to(roots.of(Some(descriptor))) {
        return Err("the loop stores through the same descriptor");
    }
    let (tile, swizzle) = (module.ty(result).clone(), plan.swizzle);
    Ok(Some(CopiedTile { op, tile, swizzle, name: letter(number), plan: Some(plan) }))
}

/// The swizzle of the slots of a matrix with rows of so many bytes; vectors have none.
pub(crate) fn swizzle(shape: &[u64], row: u64) -> u32 {
    match shape.len() {
        1 => 0,
        _ => [128, 64, 32].into_iter().find(|s| row.is_multiple_of(u64::from(*s))).unwrap_or(0),
    }
}

/// A load of a matrix that can be copied to shared memory where it stands.
pub(crate) fn copied_tile(module: &Module, op: OpId) -> Option<CopiedTile> {
    let tile = module.ty(module.result(op)?).clone();
    let bits = tile.elem_bits().filter(|bits| matches!(bits, 8 | 16 | 32 | 64))?;
    let &[_, cols] = tile.shape() else { return None };
    let row = cols.saturating_mul(u64::from(bits) / 8);
    let swizzle = swizzle(tile.shape(), row);
    (row >= 16).then(|| CopiedTile { op, tile, swizzle, name: String::new(), plan: None })
}
