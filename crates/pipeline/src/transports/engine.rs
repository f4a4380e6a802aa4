//! Tiles that the copy engine moves for one partition: an elected lane issues, every warp waits and gives back
//! (C21-C26).
//!
//! ```text
//! prologue   copies of iterations 0 .. D-2, each on the barrier of its slot
//! loop       one lane: acquire the slot that the iteration before left, copy the iteration D-1 further on;
//!            all: wait for the slot of this iteration; compute; fence, give it back
//! ```
//!
//! A tile whose load is not pipelined has a slot of its own, which nobody gives back. A result is written to a staging
//! buffer, between two meetings of the warps, and one lane sends it off.

use warploom_chips::{Feature, Target};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, Type, ValueId};

use crate::descriptor_record::record;
use crate::emit::{Emit, number};
use crate::expand::rounds;
use crate::nest::{is_inside, repeats};
use crate::place::refuse;
use crate::tma::{TilePlan, tile_elem};
use crate::transports::find::Found;
use crate::transports::made;
use crate::transports::roots::Roots;
use crate::views::rows_of;
use crate::walk::preorder;

/// A tile that has a place of its own.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The load or store.
    pub op: OpId,
    pub plan: TilePlan,
    /// Type of its elements.
    pub elem: Type,
    /// Where it lies in shared memory.
    pub offset: u64,
    /// The barrier that says it has come.
    pub full: u64,
    /// Whether rings are in use while it is.
    pub amid: bool,
    /// Whether a loop repeats it.
    pub repeats: bool,
    /// For stores: whether what follows may load the tile again, or make the tensor map anew, so that the store is waited
    /// for to its end.
    pub finished: bool,
    /// For stores: whether all meet behind them. They lie where rings are at other times, and lanes that copy there do not
    /// wait for the one that stores.
    pub meets: bool,
}

/// What the copy engine does for a kernel beside the rings of its loops, and where.
#[derive(Clone, Debug, Default)]
pub(crate) struct Engine {
    /// Tiles whose loads are not pipelined.
    pub once: Vec<Place>,
    /// Staging buffers of results.
    pub stores: Vec<Place>,
    /// Records of the descriptor arguments (C12).
    pub records: Vec<Attr>,
    /// Where in shared memory the kernel makes tensor maps, if it does.
    pub maps: Option<u64>,
}

impl Engine {
    /// Lays results that are stored while no ring is in use over the rings, whose slots are between `from` and `to`, or
    /// behind everything, which ends at `used`; returns where shared memory ends then.
    pub fn lay_stores(&mut self, from: u64, to: u64, used: u64) -> u64 {
        let mut end = used;
        for store in self.stores.iter_mut().filter(|s| !s.amid) {
            store.offset = from.next_multiple_of(store.plan.align());
            if store.offset.saturating_add(store.plan.bytes) > to {
                store.offset = used.next_multiple_of(store.plan.align());
            }
            end = end.max(store.offset.saturating_add(store.plan.bytes));
        }
        end
    }
}

/// Whether a kernel has descriptors that can be tensor maps.
///
/// # Errors
/// Why those that it makes cannot be.
pub(crate) fn may_move(module: &Module, func: OpId, target: &Target) -> Result<bool, Box<Diagnostic>> {
    let args = module.entry(func, 0).map(|body| module.blocks[body].args.as_slice()).unwrap_or_default();
    let some = args.iter().any(|&arg| module.ty(arg).is_desc()) || !made::made(module, func).is_empty();
    if !target.has(Feature::TmaLoad) || !some {
        return Ok(false);
    }
    made::possible(module, func, target).map(|()| true)
}

/// Finds what the copy engine has to do beside its loops, and places from an offset on; and where what follows may
/// begin.
///
/// # Errors
/// Tiles that it cannot move, and kernels without a pipelined load (C15, C23).
pub(crate) fn find(
    module: &Module,
    func: OpId,
    found: &[Found],
    target: &Target,
    start: u64,
) -> Result<(Engine, u64), Vec<Diagnostic>> {
    let (mut engine, mut errors, mut end) = (Engine::default(), Vec::new(), start.next_multiple_of(8));
    if !found.iter().any(Found::engine) {
        let error = refuse(module, func, Code::Loop, "no loop has pipelined loads by descriptor");
        return Err(vec![error.rule("C9").note("instead", "pointers")]);
    }
    if let Some(body) = module.entry(func, 0) {
        for &arg in module.blocks[body].args.iter().filter(|&&arg| module.ty(arg).is_desc()) {
            match TilePlan::new(module.ty(arg), target) {
                Ok(plan) => engine.records.push(record(&plan)),
                Err(error) => errors.push(
                    refuse(module, func, Code::Desc, error.message)
                        .rule(error.rule)
                        .note("needs", error.needs),
                ),
            }
        }
    }
    let pipelined = |op: OpId| found.iter().flat_map(|f| &f.tiles).any(|t| t.op == op);
    let moves = |opcode| matches!(opcode, Opcode::DescriptorLoad | Opcode::DescriptorStore);
    let all: Vec<OpId> =
        preorder(module, func).into_iter().filter(|&op| moves(module.ops[op].opcode)).collect();
    let descriptor = |op: OpId| module.ops[op].operands.first().copied();
    let mut roots = Roots::new(module);
    let is_load = |op: &&OpId| module.ops[**op].opcode == Opcode::DescriptorLoad;
    let loads: Vec<Option<ValueId>> =
        all.iter().filter(is_load).map(|&op| roots.of(descriptor(op))).collect();
    let stores = || all.iter().filter(|&&op| module.ops[op].opcode == Opcode::DescriptorStore);
    for &op in all.iter().filter(is_load) {
        if stores().any(|&store| descriptor(store) == descriptor(op)) {
            let wrong = "this tile is loaded through a descriptor that the kernel also stores through";
            let error = refuse(module, op, Code::Loop, wrong).rule("C9");
            errors.push(error.note("instead", "pointers"));
        }
    }
    for &op in all.iter().filter(|&&op| !pipelined(op)) {
        let Some(ty) = descriptor(op).map(|d| module.ty(d)) else { continue };
        let Ok(plan) = TilePlan::new(ty, target) else { continue };
        let elem = tile_elem(ty);
        let amid = found.iter().any(|f| is_inside(module, op, f.scf_for));
        let finished = module.ops[op].opcode == Opcode::DescriptorStore && {
            let remade =
                descriptor(op).and_then(|d| module.def_op(d)).is_some_and(|make| repeats(module, make));
            remade || loads.iter().any(|&from| made::may_meet(from, roots.of(descriptor(op))))
        };
        let repeats = repeats(module, op);
        let meets = !amid && found.iter().any(|f| !f.engine());
        let place = Place { op, plan, elem, offset: 0, full: 0, amid, repeats, finished, meets };
        match module.ops[op].opcode {
            Opcode::DescriptorLoad => engine.once.push(place),
            _ => engine.stores.push(place),
        }
    }
    if !made::made(module, func).is_empty() {
        let at = end.next_multiple_of(made::MAP_BYTES);
        engine.maps = Some(at);
        end = at + made::MAP_BYTES;
    }
    for tile in &mut engine.once {
        tile.full = end;
        end += 8;
    }
    for place in engine.once.iter_mut().chain(engine.stores.iter_mut().filter(|s| s.amid)) {
        place.offset = end.next_multiple_of(place.plan.align());
        end = place.offset.saturating_add(place.plan.bytes);
    }
    if errors.is_empty() { Ok((engine, end)) } else { Err(errors) }
}

/// A branch that one lane takes; the block of its body, which ends with a yield of nothing.
fn guarded(emit: &mut Emit<'_>, guard: ValueId) -> BlockId {
    let op = emit.op(Opcode::If, &[guard], &[], &[]);
    let region = emit.out.add_region(op);
    let block = emit.out.add_block(region);
    emit.out.add_region(op);
    block
}

/// The copies of one slot, where `guard` holds: one lane acquires, announces the bytes, copies.
pub(crate) fn fill(
    out: &mut Module,
    block: BlockId,
    ring: &str,
    iterator: [ValueId; 2],
    guard: ValueId,
    tiles: &[(OpId, Vec<ValueId>, u64)],
) {
    let Some(&(first, ..)) = tiles.first() else { return };
    let loc = out.ops[first].loc;
    let elected = Emit { out, block, loc }.region(Opcode::Elect, &[]);
    let inside = guarded(&mut Emit { out, block: elected, loc }, guard);
    let mut emit = Emit { out, block: inside, loc };
    emit.ring(Opcode::ProducerAcquire, ring, &iterator, &[]);
    load(&mut emit, ring, iterator, tiles);
    emit.op(Opcode::Yield, &[], &[], &[]);
}

/// Announces the bytes of tiles and copies them.
fn load(emit: &mut Emit<'_>, ring: &str, iterator: [ValueId; 2], tiles: &[(OpId, Vec<ValueId>, u64)]) {
    let bytes: u64 = tiles.iter().map(|t| t.2).sum();
    emit.ring(Opcode::ProducerCommit, ring, &iterator, &[("bytes", number(bytes))]);
    for (payload, (op, operands, _)) in tiles.iter().enumerate() {
        let mut all = vec![iterator[0]];
        all.extend(operands);
        let copy = emit.ring(Opcode::TmaLoad, ring, &all, &[("payload", number(payload))]);
        emit.out.ops[copy].span = emit.out.ops[*op].span;
    }
}

/// A view of a slot in the type that the kernel gives the tile.
pub(crate) fn view(
    emit: &mut Emit<'_>,
    ring: &str,
    slot: ValueId,
    payload: usize,
    plan: &TilePlan,
    wanted: &Type,
) -> ValueId {
    let ty = Type::tensor(&plan.tile(), wanted.elem().clone());
    let seen = emit.slot(ring, slot, payload, ty);
    emit.shaped(seen, wanted)
}

/// Puts the copies of single tiles, and the stores, where the kernel has them.
pub(crate) fn place(
    out: &mut Module,
    func: OpId,
    engine: &Engine,
    barrier: &str,
    target: &Target,
) -> Option<()> {
    if let Some(staging) = engine.maps {
        for op in made::made(out, func) {
            let plan = TilePlan::new(out.ty(out.result(op)?), target).ok()?;
            made::mark(out, op, &plan, staging);
        }
    }
    for (number, tile) in engine.once.iter().enumerate() {
        bring(out, tile, &format!("once{number}"), barrier)?;
    }
    for (index, store) in engine.stores.iter().enumerate() {
        send(out, store, &format!("out{index}"), barrier)?;
    }
    Some(())
}

/// Takes an operation out of its block, which ends where it stood; returns what followed, to be put back behind what comes
/// in its place.
fn cut(out: &mut Module, op: OpId) -> Option<(BlockId, Vec<OpId>)> {
    let block = out.ops[op].block.take()?;
    let at = out.blocks[block].ops.iter().position(|&o| o == op)?;
    let behind = out.blocks[block].ops.split_off(at);
    Some((block, behind.into_iter().skip(1).collect()))
}

/// A tile with a slot of its own: one lane copies, all wait. Where it is copied again and again, all have read what was
/// there before they meet, and what stands around the load carries how often its slot was filled.
fn bring(out: &mut Module, tile: &Place, ring: &str, barrier: &str) -> Option<()> {
    let (result, loc) = (out.result(tile.op)?, out.ops[tile.op].loc);
    let rounds = match tile.repeats {
        true => Some(rounds::enter(out, tile.op)?),
        false => None,
    };
    let (block, behind) = cut(out, tile.op)?;
    let mut emit = Emit { out, block, loc };
    let iterator = match &rounds {
        Some((_, iterator)) => {
            emit.op(Opcode::ProxyFence, &[], &[], &[]);
            emit.op(Opcode::BarrierSync, &[], &[], &[("barrier", Attr::symbol(barrier))]);
            *iterator
        }
        None => [emit.constant(0); 2],
    };
    let operands = emit.out.ops[tile.op].operands.to_vec();
    let elected = emit.region(Opcode::Elect, &[]);
    load(&mut Emit { out, block: elected, loc }, ring, iterator, &[(tile.op, operands, tile.plan.bytes)]);
    let mut emit = Emit { out, block, loc };
    emit.ring(Opcode::ConsumerWait, ring, &iterator, &[]);
    let wanted = emit.out.ty(result).clone();
    let shown = view(&mut emit, ring, iterator[0], 0, &tile.plan, &wanted);
    let next = rounds.is_some().then(|| emit.advance(ring, iterator));
    out.blocks[block].ops.extend(behind);
    if let (Some((rounds, _)), Some(next)) = (rounds, next) {
        rounds::leave(out, rounds, [*next.first()?, *next.get(1)?])?;
    }
    out.replace_all_uses(result, shown);
    Some(())
}

/// A store: all write their parts, make them visible to the copy engine and meet; one lane sends the tile and waits
/// until it has been read, or is there.
fn send(out: &mut Module, store: &Place, ring: &str, barrier: &str) -> Option<()> {
    let Place { op, plan, finished, meets, .. } = store;
    let (block, behind) = cut(out, *op)?;
    let (operands, loc) = (out.ops[*op].operands.to_vec(), out.ops[*op].loc);
    let &[descriptor, value, ref coordinates @ ..] = operands.as_slice() else { return None };
    let value = rows_of(out, value);
    let mut emit = Emit { out, block, loc };
    let ty = Type::tensor(&plan.matrix(), emit.out.ty(value).elem().clone());
    let value = emit.shaped(value, &ty);
    let zero = emit.constant(0);
    let meet = [("barrier", Attr::symbol(barrier))];
    let payload = [("payload", number(0u64))];
    // What others still read where this is written has been read behind this.
    emit.op(Opcode::ProxyFence, &[], &[], &[]);
    emit.op(Opcode::BarrierSync, &[], &[], &meet);
    emit.ring(Opcode::TileStore, ring, &[value, zero], &payload);
    emit.op(Opcode::ProxyFence, &[], &[], &[]);
    emit.op(Opcode::BarrierSync, &[], &[], &meet);
    let elected = emit.region(Opcode::Elect, &[]);
    let mut emit = Emit { out, block: elected, loc };
    let mut all = vec![zero, descriptor];
    all.extend(coordinates);
    emit.ring(Opcode::TmaStore, ring, &all, &payload);
    emit.op(Opcode::StoreCommit, &[], &[], &[]);
    emit.op(Opcode::StoreWait, &[], &[], &[("pending", number(0u64)), ("read", Attr::Bool(!finished))]);
    if *meets {
        Emit { out, block, loc }.op(Opcode::BarrierSync, &[], &[], &meet);
    }
    out.blocks[block].ops.extend(behind);
    Some(())
}
