//! What the program of one partition declares: its rings and the barrier of its warps (C22, C24).

use warploom_ir::{Attr, BlockId, LocId, Module, Opcode, Type};

use crate::buffers::planned::Planned;
use crate::emit::{Emit, number};
use crate::engines::PartitionShape;
use crate::engines::tensor::TensorRing;
use crate::tma::TilePlan;
use crate::transports::find::CopiedTile;

/// Name of the barrier at which all warps of the partition meet.
pub(crate) const BARRIER: &str = "all";

/// What a ring's declaration says of a tile.
fn named(tile: &CopiedTile) -> (&str, &Type, u32) {
    (&tile.name, &tile.tile, tile.swizzle)
}

/// A ring that the partition fills itself, by `cp_async` or from its registers: depth, tiles, where each one's slots
/// lie and how far apart. Products give the slots back on the barriers from `empty` on.
fn declare_ring(
    emit: &mut Emit<'_>,
    name: &str,
    (depth, empty): (u64, Option<u64>),
    tiles: &[(&str, &Type, u32)],
    (offsets, strides): (Vec<u64>, Vec<u64>),
) {
    let wide = |values: Vec<u64>| Attr::DenseArray {
        elem: Type::I64,
        values: values.into_iter().map(|v| i64::try_from(v).unwrap_or(i64::MAX)).collect(),
    };
    let swizzle = tiles.iter().map(|t| i64::from(t.2)).collect();
    let props = [
        ("sym_name", Attr::string(name)),
        ("depth", number(depth)),
        ("handshake", Attr::string(if empty.is_some() { "cp_async_to_mma" } else { "cp_async" })),
        ("payload", Attr::Array(tiles.iter().map(|t| Attr::string(t.0)).collect())),
        ("tile", Attr::Array(tiles.iter().map(|t| Attr::Type(t.1.clone())).collect())),
        ("swizzle", Attr::DenseArray { elem: Type::I32, values: swizzle }),
        ("offset", wide(offsets)),
        ("stride", wide(strides)),
        ("bytes", number(0u64)),
        ("full", Attr::i32(-1)),
        ("empty", empty.map_or_else(|| Attr::i32(-1), number)),
        ("arrive_full", number(0u64)),
        ("arrive_empty", number(u64::from(empty.is_some()))),
    ];
    emit.op(Opcode::Pipeline, &[], &[], &props);
}

/// Columns of tensor memory for products that all lanes read.
fn declare_tensor_ring(emit: &mut Emit<'_>, ring: &TensorRing, rows: u64, warps: u64) {
    let wide = |value: u64| Attr::DenseArray {
        elem: Type::I64,
        values: vec![i64::try_from(value).unwrap_or(i64::MAX)],
    };
    let props = [
        ("sym_name", Attr::string(&ring.name)),
        ("depth", number(1u64)),
        ("handshake", Attr::string("mma_to_generic")),
        ("payload", Attr::Array(vec![Attr::string("d")])),
        ("tile", Attr::Array(vec![Attr::Type(ring.tile.clone())])),
        ("space", Attr::string("tmem")),
        ("rows", number(rows)),
        ("column", wide(ring.column)),
        ("columns", wide(ring.columns)),
        ("bytes", number(0u64)),
        ("full", number(ring.full)),
        ("empty", ring.empty.map_or_else(|| Attr::i32(-1), number)),
        ("arrive_full", number(1u64)),
        ("arrive_empty", number(if ring.empty.is_some() { warps } else { 0 })),
    ];
    emit.op(Opcode::Pipeline, &[], &[], &props);
}

/// Slots that the copy engine fills or empties.
struct EngineRing<'a> {
    handshake: &'static str,
    depth: u64,
    /// Each payload's boxes, element type, first slot and distance.
    slots: Vec<(&'a TilePlan, &'a Type, u64, u64)>,
    /// The first full barrier.
    full: Option<u64>,
    /// The first empty barrier, and who arrives there.
    empty: Option<(u64, u64)>,
}

/// The declaration of such a ring (C22, C24).
fn declare_engine_ring(emit: &mut Emit<'_>, name: &str, ring: &EngineRing<'_>) {
    let slots = &ring.slots;
    let wide = |values: Vec<u64>| Attr::DenseArray {
        elem: Type::I64,
        values: values.into_iter().map(|v| i64::try_from(v).unwrap_or(i64::MAX)).collect(),
    };
    let swizzle = slots.iter().map(|(plan, ..)| i64::from(plan.swizzle)).collect();
    let tile = |plan: &TilePlan, elem: &Type| Attr::Type(Type::tensor(&plan.tile(), elem.clone()));
    let bytes: u64 = slots.iter().map(|(plan, ..)| plan.bytes).sum();
    let at = |barrier: Option<u64>| barrier.map_or_else(|| Attr::i32(-1), number);
    let letters = (0u8..).map(|n| Attr::string(char::from(b'a' + n % 26).to_string()));
    let props = [
        ("sym_name", Attr::string(name)),
        ("depth", number(ring.depth)),
        ("handshake", Attr::string(ring.handshake)),
        ("payload", Attr::Array(letters.take(slots.len()).collect())),
        ("tile", Attr::Array(slots.iter().map(|(plan, elem, ..)| tile(plan, elem)).collect())),
        ("swizzle", Attr::DenseArray { elem: Type::I32, values: swizzle }),
        ("offset", wide(slots.iter().map(|s| s.2).collect())),
        ("stride", wide(slots.iter().map(|s| s.3).collect())),
        ("bytes", number(if ring.full.is_some() { bytes } else { 0 })),
        ("full", at(ring.full)),
        ("empty", at(ring.empty.map(|e| e.0))),
        ("arrive_full", number(u64::from(ring.full.is_some()))),
        ("arrive_empty", number(ring.empty.map_or(0, |e| e.1))),
    ];
    emit.op(Opcode::Pipeline, &[], &[], &props);
}

/// One ring for each loop, or two where tiles take turns, one for each group of blocking tiles, and the barrier of all
/// warps.
pub(crate) fn declare(
    out: &mut Module,
    body: BlockId,
    planned: &Planned,
    (shape, meets): (&PartitionShape, bool),
    loc: LocId,
) -> Option<()> {
    let beside = &planned.beside;
    let engine = &beside.engine;
    let meets = meets
        || planned.loops.iter().any(|l| !l.by_engine())
        || !beside.blocking.is_empty()
        || !beside.stored.is_empty()
        || !engine.stores.is_empty()
        || shape.scratch > 0;
    if !meets && planned.loops.is_empty() && engine.once.is_empty() {
        return Some(());
    }
    let mut emit = Emit { out, block: body, loc };
    let mut id = None;
    for (index, loads) in planned.loops.iter().enumerate() {
        let (_, assignment) = planned.buffers.as_ref()?;
        let first = planned.first_value(index);
        let (mut early, mut late) = (Vec::new(), Vec::new());
        for (value, tile) in (first..).zip(&loads.tiles) {
            let record = assignment.record(value)?;
            id = id.or(record.barrier.as_ref().and_then(|b| b.id));
            let is_late = loads.late.as_ref().is_some_and(|late| late.contains(&tile.op));
            let list = if is_late { &mut late } else { &mut early };
            list.push((tile, record));
        }
        for (name, list) in [(format!("p{index}"), early), (format!("p{index}_late"), late)] {
            if list.is_empty() {
                continue;
            }
            let tiles: Vec<_> = list.iter().map(|(tile, _)| named(tile)).collect();
            if loads.by_engine() {
                let (_, record) = list.first()?;
                let slots = list.iter().map(|(tile, record)| {
                    Some((tile.plan.as_ref()?, tile.tile.elem(), record.offset?, record.stride?))
                });
                let ring = EngineRing {
                    handshake: "tma_to_generic",
                    depth: loads.depth,
                    slots: slots.collect::<Option<_>>()?,
                    full: Some(record.full?),
                    empty: Some((record.empty?, shape.warps)),
                };
                declare_engine_ring(&mut emit, &name, &ring);
                continue;
            }
            let places = list.iter().map(|(_, record)| Some((record.offset?, record.stride?)));
            let places: Vec<(u64, u64)> = places.collect::<Option<_>>()?;
            let empty = beside.tensor.given_back.get(&loads.scf_for).copied();
            declare_ring(&mut emit, &name, (loads.depth, empty), &tiles, places.into_iter().unzip());
        }
    }
    for (index, group) in beside.blocking.iter().enumerate() {
        let tiles: Vec<_> = group.tiles.iter().map(named).collect();
        let strides = group.tiles.iter().map(CopiedTile::bytes).collect();
        declare_ring(&mut emit, &format!("s{index}"), (1, None), &tiles, (group.offsets.clone(), strides));
    }
    for (index, group) in beside.stored.iter().enumerate() {
        let tiles: Vec<_> = group.tiles.iter().map(|t| (t.name.as_str(), &t.tile, t.swizzle)).collect();
        let places = group.tiles.iter().map(|t| (t.offset, t.tile.bytes().unwrap_or(0))).unzip();
        declare_ring(&mut emit, &format!("f{index}"), (1, None), &tiles, places);
    }
    for ring in &beside.tensor.rings {
        declare_tensor_ring(&mut emit, ring, beside.tensor.rows, shape.warps);
    }
    for (number, tile) in engine.once.iter().enumerate() {
        let slots = vec![(&tile.plan, &tile.elem, tile.offset, tile.plan.bytes)];
        let ring =
            EngineRing { handshake: "tma_to_generic", depth: 1, slots, full: Some(tile.full), empty: None };
        declare_engine_ring(&mut emit, &format!("once{number}"), &ring);
    }
    for (number, store) in engine.stores.iter().enumerate() {
        let slots = vec![(&store.plan, &store.elem, store.offset, store.plan.bytes)];
        let ring = EngineRing { handshake: "none", depth: 1, slots, full: None, empty: None };
        declare_engine_ring(&mut emit, &format!("out{number}"), &ring);
    }
    if !meets {
        return Some(());
    }
    let props = [
        ("sym_name", Attr::string(BARRIER)),
        ("id", number(id.unwrap_or(1))),
        ("threads", number(32 * shape.warps)),
    ];
    emit.op(Opcode::NamedBarrier, &[], &[], &props);
    Some(())
}
