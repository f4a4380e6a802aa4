//! Whether computing partitions can take the trips of a loop over tiles in turn (Q50): each has whole tiles in the registers
//! of one warpgroup, so that one multiplies while the other stores what it has.

use warploom_chips::Target;
use warploom_chips::mma::MmaInstruction;
use warploom_ir::{BlockId, Module, OpId, Opcode, Type, ValueDef, ValueId};

use super::Selection;
use crate::classes::{Class, class, is_scalar};
use crate::nest::is_inside;
use crate::registers;
use crate::transports::made::may_meet;
use crate::transports::roots::Roots;
use crate::walk::preorder;

/// Rows of the warpgroups of both partitions, as far as registers are concerned.
const ROWS: u64 = 128;

/// The loop over tiles around all products of a kernel; none where there is no such loop to speak of.
pub(crate) fn over_tiles(module: &Module, selection: &Selection) -> Option<OpId> {
    let outer = module.parent(*selection.loops.first()?)?;
    (module.ops[outer].opcode == Opcode::For && !selection.dots.is_empty()).then_some(outer)
}

/// The selection of a kernel whose computing partitions take turns by tiles.
///
/// # Errors
/// Why they cannot, in words.
pub(crate) fn in_turns(
    module: &Module,
    selection: &Selection,
    target: &Target,
) -> Result<Selection, &'static str> {
    let Some(outer) = over_tiles(module, selection) else {
        return Err("no loop over tiles stands right around the loop that multiplies");
    };
    let turned = Selection { turns: Some(outer), ..selection.clone() };
    let tiles = Tiles { module, selection: &turned, outer, body: module.entry(outer, 0) };
    match tiles.refused(target) {
        Some(why) => Err(why),
        None => Ok(turned),
    }
}

/// A loop over tiles that is asked about.
struct Tiles<'a> {
    module: &'a Module,
    selection: &'a Selection,
    outer: OpId,
    body: Option<BlockId>,
}

impl Tiles<'_> {
    /// Why partitions cannot take its trips in turn; none if they can.
    fn refused(&self, target: &Target) -> Option<&'static str> {
        let (module, selection) = (self.module, self.selection);
        let ops = preorder(module, selection.func);
        let acts = |op: OpId| match module.ops[op].opcode {
            Opcode::Store | Opcode::AtomicRmw | Opcode::AtomicCas => Some(true),
            Opcode::DescriptorStore | Opcode::DescriptorLoad => Some(false),
            _ => None,
        };
        let is_here = |op: OpId| module.ops[op].block == self.body;
        let loaded_there = |load: OpId| {
            let parent = module.parent(load);
            selection.loops.iter().any(|&l| parent == Some(l))
        };
        let mut stores = selection.stores.iter();
        let inside = |op: OpId| is_inside(module, op, self.outer);
        let makes = |op: &OpId| module.ops[*op].opcode == Opcode::MakeTensorDescriptor && inside(*op);
        if target.mma_instruction() != MmaInstruction::Wgmma {
            Some("accumulators in tensor memory have a ring of their own")
        } else if module.ops[self.outer].block != Some(selection.body) {
            Some("the loop over tiles stands in another loop or branch")
        } else if !selection.loops.iter().all(|&l| is_here(l)) {
            Some("a loop that loads tiles does not stand right in the loop over tiles")
        } else if !selection.loads.iter().all(|l| loaded_there(l.op)) {
            Some("a tile is loaded outside of the loops that multiply")
        } else if ops.iter().any(|&op| acts(op) == Some(true)) {
            Some("one partition keeps stores through pointers in order")
        } else if self.reads_results() {
            Some("a tile may read what another one stores")
        } else if selection.scratch > 0 {
            Some("the warps exchange what they store through memory that one partition has")
        } else if !stores.all(|s| inside(s.op)) {
            Some("a tile is stored outside of the loop over tiles")
        } else if ops.iter().any(makes) {
            Some("a descriptor is made in the loop over tiles")
        } else if !self.counted() {
            Some("how far a loop goes is no number of 32 bits made from the tile's alone")
        } else if !self.carries_scalars() {
            Some("the loop over tiles carries more than numbers that every partition can compute")
        } else if !registers::fits(ROWS, selection.tile_registers(module), target) {
            Some("one warpgroup has too few registers for a whole tile")
        } else {
            None
        }
    }

    /// Whether pointers may read what is stored in another trip: partitions do not wait for each other's stores.
    fn reads_results(&self) -> bool {
        let module = self.module;
        let mut roots = Roots::new(module);
        let mut root = |op: OpId| roots.of(module.ops[op].operands.first().copied());
        let stored: Vec<Option<ValueId>> = self.selection.stores.iter().map(|s| root(s.op)).collect();
        let ops = preorder(module, self.outer);
        let mut loads = ops.into_iter().filter(|&op| class(module.ops[op].opcode) == Class::PointerLoad);
        loads.any(|op| {
            let from = root(op);
            stored.iter().any(|&to| may_meet(from, to))
        })
    }

    /// Whether the trips of the loops inside can be counted by who does not run them.
    fn counted(&self) -> bool {
        let bounds = |l: &OpId| self.module.ops[*l].operands.iter().take(3).copied().collect::<Vec<_>>();
        let known = |v: ValueId| *self.module.ty(v) == Type::I32 && self.is_computed(v);
        self.selection.loops.iter().flat_map(bounds).all(known)
    }

    /// Whether the loop carries nothing but scalars that its partitions can compute each for itself.
    fn carries_scalars(&self) -> bool {
        let module = self.module;
        let yielded = self.body.and_then(|b| module.terminator(b));
        let next = yielded.map(|y| module.ops[y].operands.to_vec()).unwrap_or_default();
        next.into_iter().all(|v| !module.ty(v).is_tensor() && self.is_computed(v))
    }

    /// Whether a value is made by scalar arithmetic in a trip, from the tile's number, what the loop carries, and what is
    /// known outside.
    fn is_computed(&self, value: ValueId) -> bool {
        let (mut stack, mut seen) = (vec![value], std::collections::BTreeSet::new());
        while let Some(value) = stack.pop() {
            let ValueDef::Result { op, .. } = self.module.values[value].def else { continue };
            if !is_inside(self.module, op, self.outer) || !seen.insert(value) {
                continue;
            }
            if !is_scalar(self.module, op) {
                return false;
            }
            stack.extend(self.module.ops[op].operands.iter().copied());
        }
        true
    }
}
