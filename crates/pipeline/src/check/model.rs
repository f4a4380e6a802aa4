//! A program as the checker reads it.

use std::collections::BTreeMap;

use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, SecondaryMap, Type, ValueId};

use super::columns::columns;
use super::inert::active;
use super::report::{Report, Rule};
use super::rings::{Payload, Ring};
use super::turns::Turns;

/// What a program says of a tensor map that it makes (C16).
pub(super) const MAP: &str = "warploom.tensor_map";

/// Bytes of a tensor map, and what its address is a multiple of while it is made.
pub(super) const MAP_BYTES: u64 = 128;

/// A declared named barrier.
#[derive(Clone, Debug)]
pub(super) struct Barrier {
    pub name: String,
    pub id: u64,
    pub threads: u64,
}

/// A declared partition.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    pub name: String,
    pub warp: u64,
    pub warps: u64,
    pub registers: u64,
    /// The layout of its tiles.
    pub layout: String,
    /// Offset and bytes by which its warps exchange, and the barrier where they meet for it (C65).
    pub scratch: Option<(u64, u64)>,
    pub meets: Option<String>,
    pub body: BlockId,
    /// Its operations in order, nested ones too, with whether they stand in an elected region and in a loop.
    pub ops: Vec<Placed>,
}

/// An operation and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub op: OpId,
    pub elected: bool,
    pub looped: bool,
}

/// A program.
pub(super) struct Model<'m> {
    pub module: &'m Module,
    pub func: OpId,
    pub body: BlockId,
    pub warps: u64,
    pub max_registers: u64,
    pub shared: u64,
    /// Columns of tensor memory, and where their address is put.
    pub tmem: Option<(u64, u64)>,
    pub rings: Vec<Ring>,
    pub barriers: Vec<Barrier>,
    pub turns: Vec<Turns>,
    pub partitions: Vec<Partition>,
    ring_of: SecondaryMap<OpId, Option<usize>>,
    barrier_of: SecondaryMap<OpId, Option<usize>>,
    turns_at: SecondaryMap<OpId, Option<usize>>,
    /// What runs do in a block, in order.
    pub active: SecondaryMap<BlockId, Vec<OpId>>,
}

impl Model<'_> {
    /// The ring an operation names.
    pub fn ring(&self, op: OpId) -> Option<usize> {
        self.ring_of[op]
    }

    /// The named barrier an operation names.
    pub fn barrier(&self, op: OpId) -> Option<usize> {
        self.barrier_of[op]
    }

    /// Which of the declared turns an operation names.
    pub fn turns_at(&self, op: OpId) -> Option<usize> {
        self.turns_at[op]
    }

    /// A non-negative integer attribute of an operation.
    pub fn number(&self, op: OpId, name: &str) -> Option<u64> {
        number(self.module, op, name)
    }

    /// How an operation is named in reports.
    pub fn place(&self, partition: usize, op: OpId) -> String {
        let partition = self.partitions.get(partition).map_or("?", |a| a.name.as_str());
        let ring =
            self.ring(op).and_then(|r| self.rings.get(r)).map_or(String::new(), |r| format!(" @{}", r.name));
        format!("@{partition} {}{ring}", self.module.op_name(op))
    }

    /// The tensor maps that it makes: by which partition, none for all of them in front, and the operation.
    pub fn maps(&self) -> Vec<(Option<usize>, OpId)> {
        let makes = |op: OpId| self.module.ops[op].opcode == Opcode::MakeTensorDescriptor;
        let common = self.module.blocks[self.body].ops.iter().map(|&op| (None, op));
        let own = self.partitions.iter().enumerate();
        let own = own.flat_map(|(index, p)| p.ops.iter().map(move |placed| (Some(index), placed.op)));
        common.chain(own).filter(|&(_, op)| makes(op)).collect()
    }

    /// Where in shared memory a tensor map is made.
    pub fn staging(&self, op: OpId) -> Option<u64> {
        let Some(Attr::Dict(dict)) = self.module.attr(op, MAP) else { return None };
        dict.get("staging").and_then(Attr::as_i64).and_then(|at| u64::try_from(at).ok())
    }

    /// Operand number `index`.
    pub fn operand(&self, op: OpId, index: usize) -> Option<ValueId> {
        self.module.ops[op].operands.get(index).copied()
    }
}

/// Reads a module in program form.
pub(super) fn read<'m>(module: &'m Module, report: &mut Report) -> Option<Model<'m>> {
    let functions: Vec<OpId> = module.functions().collect();
    let &[func] = functions.as_slice() else {
        report.add(Rule::Form, "module", format!("{} functions; a program is one", functions.len()));
        return None;
    };
    let body = module.entry(func, 0)?;
    let mut reader = Reader { module, report };
    let launch = ["warploom.warps", "warploom.max_registers", "warploom.shared"];
    let [warps, max_registers, shared] = launch.map(|name| reader.need(func, name));
    let mut model = Model {
        module,
        func,
        body,
        warps: warps?,
        max_registers: max_registers?,
        shared: shared?,
        tmem: None,
        rings: Vec::new(),
        barriers: Vec::new(),
        turns: Vec::new(),
        partitions: Vec::new(),
        ring_of: SecondaryMap::new(),
        barrier_of: SecondaryMap::new(),
        turns_at: SecondaryMap::new(),
        active: SecondaryMap::new(),
    };
    if module.attr(func, "warploom.tmem").is_some() {
        model.tmem = Some((reader.need(func, "warploom.tmem")?, reader.need(func, "warploom.tmem_slot")?));
    }
    for &op in &module.blocks[body].ops {
        match module.ops[op].opcode {
            Opcode::Pipeline => model.rings.push(reader.ring(op)?),
            Opcode::NamedBarrier => model.barriers.push(reader.barrier(op)?),
            Opcode::Turns => model.turns.push(Turns::read(module, op, reader.report)?),
            Opcode::Partition => model.partitions.push(reader.partition(op)?),
            _ => {}
        }
    }
    resolve(&mut model, reader.report)?;
    let ops = model.partitions.iter().flat_map(|p| &p.ops).map(|placed| placed.op);
    model.active = active(module, ops);
    Some(model)
}

/// Ties operations to the pipelines and barriers they name.
fn resolve(model: &mut Model<'_>, report: &mut Report) -> Option<()> {
    for (index, partition) in model.partitions.iter().enumerate() {
        for placed in &partition.ops {
            let op = placed.op;
            let opcode = model.module.ops[op].opcode;
            let symbol = |name: &str| model.module.attr(op, name).and_then(Attr::as_symbol);
            if uses_ring(opcode) {
                let found = symbol("pipeline").and_then(|s| model.rings.iter().position(|r| r.name == s));
                let Some((at, ring)) = found.and_then(|at| Some((at, model.rings.get_mut(at)?))) else {
                    let text = "an operation names no pipeline";
                    report.add(Rule::Form, format!("@{}", partition.name), text);
                    return None;
                };
                model.ring_of[op] = Some(at);
                ring.in_turns |= opcode == Opcode::Advance && model.module.ops[op].operands.len() > 2;
                if opcode == Opcode::TileStore && ring.writers.last() != Some(&index) {
                    ring.writers.push(index);
                }
                let payload = number(model.module, op, "payload").and_then(|n| usize::try_from(n).ok());
                if let Some(payload) = payload.filter(|_| opcode == Opcode::AsyncCopy) {
                    *ring.copied.entry((index, payload)).or_default() += if placed.looped { 2 } else { 1 };
                }
            }
            let named = symbol("turns").and_then(|s| model.turns.iter().position(|t| t.name == s));
            model.turns_at[op] = named;
            let turns = named.and_then(|at| model.turns.get_mut(at));
            if let Some(turns) = turns.filter(|turns| !turns.takers.contains(&index)) {
                turns.takers.push(index);
            }
            if opcode == Opcode::BarrierSync {
                let found = symbol("barrier").and_then(|s| model.barriers.iter().position(|b| b.name == s));
                match found {
                    Some(barrier) => model.barrier_of[op] = Some(barrier),
                    None => {
                        report.add(
                            Rule::Form,
                            format!("@{}", partition.name),
                            "barrier_sync names no barrier",
                        );
                        return None;
                    }
                };
            }
        }
    }
    let first = |&index: &usize| model.partitions.get(index).map(|p| p.warp);
    model.turns.iter_mut().for_each(|turns| turns.takers.sort_by_key(first));
    Some(())
}

fn uses_ring(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        ProducerAcquire
            | ProducerCommit
            | ConsumerWait
            | ConsumerRelease
            | Advance
            | TmaLoad
            | TmaStore
            | Slot
            | Mma
            | MmaBlockScaled
            | TileStore
            | AsyncCopy
    )
}

fn number(module: &Module, op: OpId, name: &str) -> Option<u64> {
    module.attr(op, name).and_then(Attr::as_i64).and_then(|v| u64::try_from(v).ok())
}

struct Reader<'m, 'r> {
    module: &'m Module,
    report: &'r mut Report,
}

impl Reader<'_, '_> {
    fn name(&self, op: OpId) -> String {
        self.module.symbol_name(op).map_or_else(|| self.module.op_name(op).to_owned(), str::to_owned)
    }

    fn need(&mut self, op: OpId, name: &str) -> Option<u64> {
        let found = number(self.module, op, name);
        if found.is_none() {
            self.report.add(Rule::Form, format!("@{}", self.name(op)), format!("needs a number `{name}`"));
        }
        found
    }

    fn list(&mut self, op: OpId, name: &str, length: usize) -> Option<Vec<u64>> {
        let found = match self.module.attr(op, name) {
            Some(Attr::DenseArray { values, .. }) if values.len() == length => {
                values.iter().map(|&v| u64::try_from(v).ok()).collect()
            }
            _ => None,
        };
        if found.is_none() {
            self.report.add(
                Rule::Form,
                format!("@{}", self.name(op)),
                format!("needs {length} numbers `{name}`"),
            );
        }
        found
    }

    fn ring(&mut self, op: OpId) -> Option<Ring> {
        let tiles: Vec<Type> = match self.module.attr(op, "tile") {
            Some(Attr::Array(items)) => items
                .iter()
                .filter_map(|item| match item {
                    Attr::Type(ty) => Some(ty.clone()),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        let name = self.name(op);
        let depth = self.need(op, "depth")?;
        if tiles.is_empty() || depth == 0 || depth > 4096 {
            self.report.add(Rule::Form, format!("@{name}"), "needs tiles and 1 to 4096 slots");
            return None;
        }
        let tensor = self.module.attr(op, "space").and_then(Attr::as_str) == Some("tmem");
        let rows = number(self.module, op, "rows");
        let all = tiles.iter().all(|tile| matches!(tile.shape(), &[64, _]));
        let rows = rows.unwrap_or(if all { 64 } else { 128 });
        let [first, step] = if tensor { ["column", "columns"] } else { ["offset", "stride"] };
        let swizzle = match tensor {
            true => vec![0; tiles.len()],
            false => self.list(op, "swizzle", tiles.len())?,
        };
        let (offset, stride) = (self.list(op, first, tiles.len())?, self.list(op, step, tiles.len())?);
        let mut payloads = Vec::new();
        for (index, tile) in tiles.into_iter().enumerate() {
            let size = if tensor { columns(&tile, rows) } else { tile.bytes() };
            let Some(bytes) = size else {
                self.report.add(Rule::Form, format!("@{name}"), format!("{tile} has no size"));
                return None;
            };
            payloads.push(Payload {
                tile,
                bytes,
                swizzle: *swizzle.get(index)?,
                offset: *offset.get(index)?,
                stride: *stride.get(index)?,
            });
        }
        let barrier = |attr: &str| number(self.module, op, attr);
        let (full, empty) = (barrier("full"), barrier("empty"));
        let handshake = self.module.attr(op, "handshake").and_then(Attr::as_str).unwrap_or("").to_owned();
        Some(Ring {
            handshake,
            depth,
            payloads,
            bytes: self.need(op, "bytes")?,
            full,
            empty,
            arrive_full: self.need(op, "arrive_full")?,
            arrive_empty: self.need(op, "arrive_empty")?,
            tensor,
            rows,
            in_turns: false,
            writers: Vec::new(),
            copied: BTreeMap::new(),
            name,
        })
    }

    fn barrier(&mut self, op: OpId) -> Option<Barrier> {
        Some(Barrier { name: self.name(op), id: self.need(op, "id")?, threads: self.need(op, "threads")? })
    }

    fn partition(&mut self, op: OpId) -> Option<Partition> {
        let body = self.module.entry(op, 0)?;
        Some(Partition {
            name: self.name(op),
            warp: self.need(op, "warp")?,
            warps: self.need(op, "warps")?,
            registers: self.need(op, "registers")?,
            layout: self.module.attr(op, "layout").and_then(Attr::as_str).unwrap_or("wgmma").to_owned(),
            scratch: scratch(self.module, op),
            meets: self.module.attr(op, "barrier").and_then(Attr::as_symbol).map(str::to_owned),
            body,
            ops: placed(self.module, body),
        })
    }
}

/// The bytes by which the warps of a partition exchange.
fn scratch(module: &Module, partition: OpId) -> Option<(u64, u64)> {
    let Some(Attr::DenseArray { values, .. }) = module.attr(partition, "scratch") else { return None };
    let place: Vec<u64> = values.iter().filter_map(|&v| u64::try_from(v).ok()).collect();
    match place.as_slice() {
        &[offset, bytes] => Some((offset, bytes)),
        // No such place: it ends nowhere.
        _ => Some((u64::MAX, u64::MAX)),
    }
}

/// The operations of a block and of those nested in it, in order.
fn placed(module: &Module, body: BlockId) -> Vec<Placed> {
    let mut found = Vec::new();
    let mut stack: Vec<Placed> = module.blocks[body]
        .ops
        .iter()
        .rev()
        .map(|&op| Placed { op, elected: false, looped: false })
        .collect();
    while let Some(at) = stack.pop() {
        found.push(at);
        let opcode = module.ops[at.op].opcode;
        let elected = at.elected || opcode == Opcode::Elect;
        let looped = at.looped || matches!(opcode, Opcode::For | Opcode::While);
        let blocks = module.ops[at.op].regions.iter().flat_map(|&r| &module.regions[r].blocks);
        let inner: Vec<OpId> = blocks.flat_map(|&b| module.blocks[b].ops.iter().copied()).collect();
        stack.extend(inner.into_iter().rev().map(|op| Placed { op, elected, looped }));
    }
    found
}
