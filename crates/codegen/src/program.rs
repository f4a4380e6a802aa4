//! The declarations of a program, read into plain values and checked: parameters, rings, barriers, agents
//! (C10, C15, C20..C22, C31, C32).

use hashbrown::HashMap;
use warploom_ir::diag::Code;
use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, Type, ValueId};
use warploom_target::Target;

use crate::descriptor::{descriptor, tile_layout};
use crate::error::{Result, locate, refuse};
use crate::layout::{Swizzle, TileLayout};
use crate::lower::family::Family;
use crate::lower::family::blocked::Blocked;
use crate::lower::family::mma_sync::MmaSync;
use crate::lower::family::rows::Rows;
use crate::lower::family::wgmma::Wgmma;
use crate::metadata::TensorDescriptor;
use crate::scratch::{self, Scratch};

/// One value of a slot: a tile that TMA or stores put there.
#[derive(Clone, Debug)]
pub(crate) struct Payload {
    /// Type of the tile.
    pub tile: Type,
    /// How its bytes lie.
    pub layout: TileLayout,
    /// Byte offset of slot 0 in shared memory.
    pub offset: u64,
    /// Bytes from one slot to the next.
    pub stride: u64,
    /// Where it lies in tensor memory, if it does; offset and stride mean nothing then.
    pub columns: Option<Columns>,
}

/// Rows of a tile that takes half of the lanes of tensor memory: 16 of each 32 (E44).
pub(crate) const HALF_ROWS: u64 = 64;

/// Columns of tensor memory (C66), 32 bits each: narrower elements lie packed. Rows 128 b .. 128 b + 127 of a tile
/// start b times its width further; one of [`HALF_ROWS`] rows has 16 of them in each quarter of the lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Columns {
    /// First column of slot 0, counted from the start of the allocation.
    pub first: u64,
    /// Columns from one slot to the next.
    pub stride: u64,
    /// Columns of 128 rows.
    pub width: u64,
}

/// Who hands slots to whom: a row of C24.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Handshake {
    /// One agent, ordered by named barriers.
    None,
    /// Copies to wgmma.
    TmaToWgmma,
    /// Copies to reads into registers.
    TmaToGeneric,
    /// Copies to tcgen05.mma.
    TmaToMma,
    /// tcgen05.mma to tcgen05.ld.
    MmaToGeneric,
    /// tcgen05.st to tcgen05.mma, which reads A from tensor memory.
    GenericToMma,
    /// `cp.async` within one agent.
    CpAsync,
}

impl Handshake {
    /// The row of this name.
    fn named(name: &str) -> Option<Handshake> {
        Some(match name {
            "none" => Handshake::None,
            "tma_to_wgmma" => Handshake::TmaToWgmma,
            "tma_to_generic" => Handshake::TmaToGeneric,
            "tma_to_mma" => Handshake::TmaToMma,
            "mma_to_generic" => Handshake::MmaToGeneric,
            "generic_to_mma" => Handshake::GenericToMma,
            "cp_async" => Handshake::CpAsync,
            _ => return None,
        })
    }

    /// Whether a warp that gives slots back meets first: its lanes read them one by one (C24).
    pub fn meets_before_release(self) -> bool {
        matches!(self, Handshake::TmaToGeneric | Handshake::MmaToGeneric)
    }

    /// Whether the waits order tcgen05 work of other threads (C25).
    pub fn orders_tensor_memory(self) -> bool {
        matches!(self, Handshake::MmaToGeneric | Handshake::GenericToMma)
    }

    /// Whether products read the slots, so that a commit gives them back (C24).
    pub fn feeds_products(self) -> bool {
        matches!(self, Handshake::TmaToMma | Handshake::GenericToMma)
    }
}

/// A ring of slots with its mbarriers (C22).
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    /// Number of slots.
    pub depth: u64,
    /// What a slot holds.
    pub payloads: Vec<Payload>,
    /// Byte offset of the first `full` barrier.
    pub full: Option<u64>,
    /// Byte offset of the first `empty` barrier.
    pub empty: Option<u64>,
    /// Arrivals of one phase of `full`.
    pub arrive_full: u64,
    /// Arrivals of one phase of `empty`.
    pub arrive_empty: u64,
    /// Who hands slots to whom.
    pub handshake: Handshake,
}

/// The allocation of tensor memory (C27).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tmem {
    /// Columns: a power of two.
    pub columns: u64,
    /// Byte offset in shared memory where its address is put.
    pub slot: u64,
}

/// A named barrier (C32).
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedBarrier {
    /// Hardware number, 1..15.
    pub id: u64,
    /// Participating threads.
    pub threads: u64,
}

/// Warps that run one region (C21).
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    /// The operation.
    pub op: OpId,
    /// First warp.
    pub warp: u64,
    /// Number of warps.
    pub warps: u64,
    /// Registers per thread, for `setmaxnreg`.
    pub registers: u64,
    /// How its tiles lie in registers.
    pub family: Family,
    /// Shared memory for exchanges between its warps.
    pub scratch: Option<Scratch>,
    /// The region.
    pub body: BlockId,
}

/// A function in program form.
#[derive(Debug)]
pub(crate) struct Program<'m> {
    /// The function.
    pub func: OpId,
    /// Its name, which is the entry's.
    pub name: &'m str,
    /// Its body.
    pub body: BlockId,
    /// Its parameters.
    pub params: Vec<ValueId>,
    /// Warps of the CTA.
    pub warps: u64,
    /// Registers per thread at launch.
    pub max_registers: u64,
    /// Bytes of shared memory.
    pub shared: u64,
    /// Tensor memory, where the program uses any.
    pub tmem: Option<Tmem>,
    /// One record per descriptor parameter, in order (C12).
    pub descriptors: Vec<TensorDescriptor>,
    /// Rings by order of declaration.
    pub rings: Vec<Ring>,
    /// Named barriers by order of declaration.
    pub barriers: Vec<NamedBarrier>,
    /// Agents by first warp.
    pub agents: Vec<Agent>,
    ring_of: HashMap<&'m str, usize>,
    barrier_of: HashMap<&'m str, usize>,
}

/// The `i32` or `i64` attribute of this name as a count.
fn count(module: &Module, op: OpId, name: &str) -> Result<u64> {
    let value = module.attr(op, name).and_then(Attr::as_i64).and_then(|v| u64::try_from(v).ok());
    value.ok_or_else(|| missing(module, op, name, "a non-negative integer"))
}

fn missing(module: &Module, op: OpId, name: &str, what: &str) -> crate::error::Refusal {
    let text = format!("{} needs attribute {name}, {what}", module.op_name(op));
    locate(module, op, refuse(Code::Verify, text).rule("C35").into())
}

/// The integers of `array<..>` or `[..]`.
fn integers(module: &Module, op: OpId, name: &str) -> Result<Vec<i64>> {
    let list = match module.attr(op, name) {
        Some(Attr::DenseArray { values, .. }) => Some(values.clone()),
        Some(Attr::Array(items)) => items.iter().map(Attr::as_i64).collect(),
        _ => None,
    };
    list.ok_or_else(|| missing(module, op, name, "an array of integers"))
}

/// Byte offset of a group of `depth` barriers; -1 says there are none.
fn barriers_at(module: &Module, op: OpId, name: &str, depth: u64, shared: u64) -> Result<Option<u64>> {
    let offset = match module.attr(op, name).and_then(Attr::as_i64) {
        None | Some(-1) => return Ok(None),
        Some(offset) => u64::try_from(offset).ok(),
    };
    match offset {
        Some(at) if at % 8 == 0 && at.checked_add(8 * depth).is_some_and(|end| end <= shared) => Ok(Some(at)),
        _ => {
            let text =
                format!("{name} barriers must be 8-byte aligned and inside the {shared} B of shared memory");
            Err(locate(module, op, refuse(Code::Verify, text).rule("C20").into()))
        }
    }
}

impl<'m> Program<'m> {
    /// Reads the declarations of the module's only function.
    pub fn read(module: &'m Module, target: &Target) -> Result<Program<'m>> {
        let functions: Vec<OpId> = module.functions().collect();
        let [func] = functions.as_slice() else {
            let text = format!("a program is one function, not {}", functions.len());
            return Err(refuse(Code::Verify, text).rule("C20").into());
        };
        let func = *func;
        let at = |refusal| locate(module, func, refusal);
        let name = module.symbol_name(func).unwrap_or("");
        if !is_identifier(name) {
            let text = format!("`{name}` cannot name a PTX entry");
            return Err(at(refuse(Code::Verify, text).rule("C10").into()));
        }
        let body =
            module.entry(func, 0).ok_or_else(|| at(refuse(Code::Verify, "a program needs a body").into()))?;
        let mut program = Program {
            func,
            name,
            body,
            params: module.blocks[body].args.to_vec(),
            warps: count(module, func, "warploom.warps")?,
            max_registers: count(module, func, "warploom.max_registers")?,
            shared: count(module, func, "warploom.shared")?,
            tmem: None,
            descriptors: Vec::new(),
            rings: Vec::new(),
            barriers: Vec::new(),
            agents: Vec::new(),
            ring_of: HashMap::new(),
            barrier_of: HashMap::new(),
        };
        program.check_launch(target).map_err(at)?;
        program.tmem = program.read_tmem(module, target).map_err(at)?;
        program.descriptors = program.read_descriptors(module).map_err(at)?;
        for &op in &module.blocks[body].ops {
            let name = module.symbol_name(op).unwrap_or("");
            match module.ops[op].opcode {
                Opcode::Pipeline => {
                    let ring = program.read_ring(module, op).map_err(|r| locate(module, op, r))?;
                    program.ring_of.insert(name, program.rings.len());
                    program.rings.push(ring);
                }
                Opcode::NamedBarrier => {
                    let barrier = program.read_barrier(module, op).map_err(|r| locate(module, op, r))?;
                    program.barrier_of.insert(name, program.barriers.len());
                    program.barriers.push(barrier);
                }
                Opcode::Agent => {
                    let agent = program.read_agent(module, op).map_err(|r| locate(module, op, r))?;
                    program.agents.push(agent);
                }
                _ => {}
            }
        }
        program.agents.sort_by_key(|agent| agent.warp);
        program.check_agents(module)?;
        Ok(program)
    }

    fn check_launch(&self, target: &Target) -> Result<()> {
        let most = u64::from(target.threads.warps_per_cta());
        if self.warps == 0 || self.warps > most {
            let text = format!("{} warps; a CTA has 1 to {most}", self.warps);
            return Err(refuse(Code::Target, text).rule("T3").into());
        }
        if self.shared > target.smem.per_cta {
            let text = format!("shared memory {} B of {} B", self.shared, target.smem.per_cta);
            return Err(refuse(Code::Capacity, text).rule("T2").into());
        }
        let registers = self.max_registers * 32 * self.warps;
        if !(24..=256).contains(&self.max_registers) || registers > u64::from(target.registers.per_cta) {
            let text = format!("{} registers for each of {} warps", self.max_registers, self.warps);
            let most = format!("24 to 256, and {} for the CTA", target.registers.per_cta);
            return Err(refuse(Code::Registers, text).rule("C31").note("needs", most).into());
        }
        Ok(())
    }

    /// What is allocated of tensor memory (C20, C27, T14).
    fn read_tmem(&self, module: &Module, target: &Target) -> Result<Option<Tmem>> {
        let columns = match module.attr(self.func, "warploom.tmem") {
            None => return Ok(None),
            Some(_) => count(module, self.func, "warploom.tmem")?,
        };
        let slot = count(module, self.func, "warploom.tmem_slot")?;
        let Some(limits) = &target.tmem else {
            let text = format!("{} has no tensor memory", target.name());
            return Err(refuse(Code::Target, text).rule("T5").into());
        };
        let (least, most) = (u64::from(limits.min_alloc), u64::from(limits.columns));
        if !columns.is_power_of_two() || !(least..=most).contains(&columns) {
            let text = format!("an allocation of {columns} columns of tensor memory");
            let needs = format!("a power of two from {least} to {most}");
            return Err(refuse(Code::Capacity, text).rule("T14").note("needs", needs).into());
        }
        if slot % 4 != 0 || slot.checked_add(4).is_none_or(|end| end > self.shared) {
            let text = format!("the address of tensor memory at byte {slot} of {}", self.shared);
            return Err(refuse(Code::Verify, text).rule("C20").into());
        }
        Ok(Some(Tmem { columns, slot }))
    }

    /// The records of C12, each matching its parameter.
    fn read_descriptors(&self, module: &Module) -> Result<Vec<TensorDescriptor>> {
        let records = match module.attr(self.func, "warploom.descriptors") {
            Some(Attr::Array(items)) => items.as_slice(),
            None => &[],
            Some(_) => {
                return Err(refuse(Code::Verify, "warploom.descriptors is an array").rule("C12").into());
            }
        };
        let params: Vec<&Type> = self.params.iter().map(|&p| module.ty(p)).filter(|t| t.is_desc()).collect();
        if params.len() != records.len() {
            let text = format!("{} descriptor parameters, {} records of them", params.len(), records.len());
            return Err(refuse(Code::Verify, text).rule("C12").into());
        }
        let read = |(attr, ty): (&Attr, &&Type)| match attr {
            Attr::Dict(dict) => descriptor(dict, ty),
            _ => Err(refuse(Code::Verify, "a descriptor record is a dictionary").rule("C12").into()),
        };
        records.iter().zip(&params).map(read).collect()
    }

    fn read_ring(&self, module: &Module, op: OpId) -> Result<Ring> {
        let depth = count(module, op, "depth")?;
        if depth == 0 || depth > 1 << 16 {
            return Err(refuse(Code::Verify, format!("a ring of {depth} slots")).rule("C22").into());
        }
        let payloads = self.read_payloads(module, op, depth)?;
        let full = barriers_at(module, op, "full", depth, self.shared)?;
        let empty = barriers_at(module, op, "empty", depth, self.shared)?;
        let arrivals = |barrier: Option<u64>, name| -> Result<u64> {
            match barrier {
                None => Ok(0),
                Some(_) => match count(module, op, name)? {
                    n @ 1..=0xf_ffff => Ok(n),
                    n => Err(refuse(Code::Verify, format!("{name} = {n} arrivals")).rule("T8").into()),
                },
            }
        };
        let (arrive_full, arrive_empty) = (arrivals(full, "arrive_full")?, arrivals(empty, "arrive_empty")?);
        let name = module.attr(op, "handshake").and_then(Attr::as_str);
        let Some(handshake) = name.and_then(Handshake::named) else {
            let text = format!("handshake {} is not supported", name.unwrap_or("(missing)"));
            let known =
                "tma_to_wgmma, tma_to_generic, tma_to_mma, mma_to_generic, generic_to_mma, cp_async, none";
            return Err(refuse(Code::Op, text).rule("C24").note("instead", known).into());
        };
        let tensor = payloads.iter().any(|p| p.columns.is_some());
        if tensor != handshake.orders_tensor_memory() {
            let text = format!("handshake {} for this space", name.unwrap_or(""));
            return Err(refuse(Code::Verify, text).rule("C24").into());
        }
        Ok(Ring { depth, payloads, full, empty, arrive_full, arrive_empty, handshake })
    }

    /// What a slot holds, in shared or in tensor memory.
    fn read_payloads(&self, module: &Module, op: OpId, depth: u64) -> Result<Vec<Payload>> {
        let tiles = module.attr(op, "tile").and_then(Attr::as_array).unwrap_or(&[]);
        let tensor = match module.attr(op, "space").map(Attr::as_str) {
            None => false,
            Some(Some("tmem")) => true,
            Some(_) => return Err(refuse(Code::Verify, "space is \"tmem\" or absent").rule("C35").into()),
        };
        let fields: &[&str] = if tensor { &["column", "columns"] } else { &["swizzle", "offset", "stride"] };
        let lists = fields.iter().map(|name| integers(module, op, name)).collect::<Result<Vec<_>>>()?;
        if lists.iter().any(|list| list.len() != tiles.len()) {
            let text = format!("tile, {} have one entry per payload", fields.join(", "));
            return Err(refuse(Code::Verify, text).rule("C35").into());
        }
        let mut payloads = Vec::new();
        for (i, tile) in tiles.iter().enumerate() {
            let Attr::Type(tile) = tile else {
                return Err(refuse(Code::Verify, "tile is an array of types").rule("C35").into());
            };
            payloads.push(match lists.as_slice() {
                [first, stride] => self.tensor_payload(tile, first[i], stride[i], depth)?,
                [swizzle, offset, stride] => self.payload(tile, swizzle[i], offset[i], stride[i], depth)?,
                _ => return Err(refuse(Code::Verify, "a payload needs a place").rule("C35").into()),
            });
        }
        Ok(payloads)
    }

    /// A tile in tensor memory: 32 bits of each row in a column, blocks of 128 rows side by side, or 64 rows.
    fn tensor_payload(&self, tile: &Type, first: i64, stride: i64, depth: u64) -> Result<Payload> {
        let [rows, cols] = tile.shape() else {
            return Err(refuse(Code::Shape, format!("{tile} in tensor memory")).rule("C66").into());
        };
        let elem = match tile.elem_bits() {
            Some(bits @ (8 | 16 | 32)) => u64::from(bits / 8),
            _ => 0,
        };
        let width = cols * elem / 4;
        // What products read comes 8 columns at a time; sums have N in steps of 16.
        let step = if elem == 4 { 16 } else { 8 };
        // 64 rows take half of the lanes, and are for sums alone.
        let legal = rows % 128 == 0 || (*rows == HALF_ROWS && elem == 4);
        if !legal || *rows == 0 || width == 0 || width % step != 0 || cols * elem % 4 != 0 {
            let text = format!("{tile} in tensor memory");
            let needs = "elements of 8, 16 or 32 bits, rows in steps of 128 and of 32 B (32-bit elements: 64 B, or 64 rows)";
            return Err(refuse(Code::Shape, text).rule("C63").note("needs", needs).into());
        }
        let whole = rows.div_ceil(128) * width;
        let columns = match (u64::try_from(first), u64::try_from(stride)) {
            (Ok(first), Ok(stride)) => Columns { first, stride, width },
            _ => {
                return Err(refuse(Code::Verify, format!("column {first}, {stride} a slot"))
                    .rule("C35")
                    .into());
            }
        };
        let have = self.tmem.map_or(0, |tmem| tmem.columns);
        let end =
            columns.stride.checked_mul(depth - 1).and_then(|last| last.checked_add(columns.first + whole));
        if (depth > 1 && columns.stride < whole) || end.is_none_or(|end| end > have) {
            let text = format!("{depth} slots of {whole} columns at {first} + {stride} k do not fit");
            let found = format!("{have} columns of tensor memory");
            return Err(refuse(Code::Capacity, text).rule("T14").note("found", found).into());
        }
        let (rows, cols, panel) = (*rows, *cols, cols * elem);
        let layout = TileLayout { rows, cols, elem, swizzle: Swizzle::None, panel };
        Ok(Payload { tile: tile.clone(), layout, offset: 0, stride: 0, columns: Some(columns) })
    }

    fn payload(&self, tile: &Type, swizzle: i64, offset: i64, stride: i64, depth: u64) -> Result<Payload> {
        let bad = |text: String| refuse(Code::Verify, text).rule("C15");
        let swizzle = Swizzle::from_bytes(swizzle).ok_or_else(|| bad(format!("swizzle {swizzle}")))?;
        let layout = tile_layout(tile, swizzle)?;
        let (offset, stride) = match (u64::try_from(offset), u64::try_from(stride)) {
            (Ok(offset), Ok(stride)) => (offset, stride),
            _ => return Err(bad(format!("offset {offset}, stride {stride}")).into()),
        };
        let align = swizzle.align();
        if offset % align != 0 || (depth > 1 && stride % align != 0) {
            let text = format!(
                "slots at {offset} + {stride} k; under this swizzle they must be {align}-byte aligned"
            );
            return Err(bad(text).into());
        }
        let end = stride
            .checked_mul(depth - 1)
            .and_then(|last| last.checked_add(offset)?.checked_add(layout.bytes()));
        if (depth > 1 && stride < layout.bytes()) || end.is_none_or(|end| end > self.shared) {
            let text = format!("{depth} slots of {} B at {offset} + {stride} k do not fit", layout.bytes());
            return Err(bad(text).note("found", format!("{} B of shared memory", self.shared)).into());
        }
        Ok(Payload { tile: tile.clone(), layout, offset, stride, columns: None })
    }

    fn read_barrier(&self, module: &Module, op: OpId) -> Result<NamedBarrier> {
        let (id, threads) = (count(module, op, "id")?, count(module, op, "threads")?);
        if !(1..=15).contains(&id) || threads == 0 || threads % 32 != 0 || threads > 32 * self.warps {
            let text = format!("named barrier {id} for {threads} threads");
            let needs = "id 1..15, whole warps of the CTA";
            return Err(refuse(Code::Verify, text).rule("C32").note("needs", needs).into());
        }
        Ok(NamedBarrier { id, threads })
    }

    fn read_agent(&self, module: &Module, op: OpId) -> Result<Agent> {
        let (warp, warps) = (count(module, op, "warp")?, count(module, op, "warps")?);
        let registers = count(module, op, "registers")?;
        let body =
            module.entry(op, 0).ok_or_else(|| refuse(Code::Verify, "an agent needs a region").rule("C35"))?;
        if warps == 0 || warp.checked_add(warps).is_none_or(|end| end > self.warps) {
            let text = format!("warps {warp} and {warps} more of {}", self.warps);
            return Err(refuse(Code::Verify, text).rule("C21").into());
        }
        let moves = registers != self.max_registers / 8 * 8;
        if moves
            && (!(24..=256).contains(&registers) || registers % 8 != 0 || warp % 4 != 0 || warps % 4 != 0)
        {
            let text = format!("{registers} registers for warps {warp} and {warps} more");
            let needs = "a multiple of 8 in 24..256, and whole warpgroups";
            return Err(refuse(Code::Registers, text).rule("C31").note("needs", needs).into());
        }
        let family = read_family(module, op, warp, warps)?;
        let barrier = |name: &str| self.barrier_of.get(name).map(|&at| self.barriers[at]);
        let scratch = scratch::read(module, op, warps, self.shared, barrier)?;
        Ok(Agent { op, warp, warps, registers, family, scratch, body })
    }

    fn check_agents(&self, module: &Module) -> Result<()> {
        let mut next = 0;
        for agent in &self.agents {
            if agent.warp < next {
                let text = format!("warp {} belongs to two agents", agent.warp);
                return Err(locate(module, agent.op, refuse(Code::Verify, text).rule("C21").into()));
            }
            next = agent.warp + agent.warps;
        }
        let total: u64 = self.agents.iter().map(|a| 32 * a.warps * a.registers).sum();
        let pool = (32 * self.warps * (self.max_registers / 8 * 8)).min(65536);
        if total > pool {
            let text = format!("the agents ask for {total} registers of {pool}");
            return Err(locate(module, self.func, refuse(Code::Registers, text).rule("C31").into()));
        }
        Ok(())
    }

    /// The ring an operation names.
    pub fn ring(&self, module: &Module, op: OpId) -> Result<usize> {
        symbol(module, op, &self.ring_of, "warploom.pipeline")
    }

    /// The named barrier an operation names.
    pub fn barrier(&self, module: &Module, op: OpId) -> Result<NamedBarrier> {
        symbol(module, op, &self.barrier_of, "warploom.named_barrier").map(|at| self.barriers[at])
    }
}

/// The layout of an agent's tiles, by its attribute `layout`; accumulators of wgmma where it has none.
fn read_family(module: &Module, op: OpId, warp: u64, warps: u64) -> Result<Family> {
    let (warp, warps) = (warp as u16, warps as u16);
    match module.attr(op, "layout").map(|name| name.as_str().unwrap_or("?")) {
        None | Some("wgmma") => Ok(Family::Wgmma(Wgmma { warp, warps })),
        Some("rows") => Ok(Family::Rows(Rows { warp, warps })),
        Some("mma_sync") => {
            let [m, n] = tiling(module, op)?;
            if u64::from(m) * u64::from(n) != u64::from(warps) {
                let text = format!("{m} x {n} warps in an agent of {warps}");
                return Err(refuse(Code::Verify, text).rule("C67").into());
            }
            Ok(Family::MmaSync(MmaSync { warp, m, n }))
        }
        Some("blocked") => {
            let [vector, across] = tiling(module, op)?;
            let lanes = 32 * warps;
            if across > lanes || !lanes.is_power_of_two() {
                let text = format!("{across} of {lanes} lanes along the columns");
                return Err(refuse(Code::Verify, text).rule("C48").into());
            }
            Ok(Family::Blocked(Blocked { warp, lanes, vector, across }))
        }
        Some(other) => {
            let text = format!("layout {other} of an agent's tiles is not supported");
            Err(refuse(Code::Layout, text)
                .rule("C61")
                .note("instead", "wgmma, rows, mma_sync, blocked")
                .into())
        }
    }
}

/// The two numbers of an agent's attribute `tiling`, powers of two.
fn tiling(module: &Module, op: OpId) -> Result<[u16; 2]> {
    let list = integers(module, op, "tiling")?;
    let power = |&n: &i64| u16::try_from(n).ok().filter(|n| n.is_power_of_two() && *n <= 1024);
    match list.iter().map(power).collect::<Option<Vec<u16>>>().as_deref() {
        Some(&[a, b]) => Ok([a, b]),
        _ => Err(missing(module, op, "tiling", "two powers of two")),
    }
}

/// The declaration that the operation's symbol attribute names.
fn symbol(module: &Module, op: OpId, table: &HashMap<&str, usize>, kind: &str) -> Result<usize> {
    let operation = &module.ops[op];
    let name = operation.props.iter().chain(operation.attrs.iter()).find_map(|(_, attr)| attr.as_symbol());
    let name = name.ok_or_else(|| refuse(Code::Verify, format!("no {kind} named")).rule("C35"))?;
    table
        .get(name)
        .copied()
        .ok_or_else(|| refuse(Code::Verify, format!("no {kind} @{name}")).rule("C35").into())
}

/// Whether PTX takes this as a name: letters, digits, `_` and `$`, not starting with a digit.
fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
}
