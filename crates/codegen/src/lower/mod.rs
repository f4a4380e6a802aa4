//! From a program to an LLVM module: the function, its agents, and the walk over their operations.

mod across;
mod address;
mod async_copy;
mod atomic;
mod axes;
mod bounded;
mod convert;
mod copy;
mod element;
mod entry;
pub(crate) mod family;
mod fetch;
mod foreign;
mod fp8;
mod fragment;
mod global;
mod handshake;
mod hazards;
mod histogram;
mod leading;
mod math;
mod mma;
mod mma_sync;
mod mma_wait;
mod moved;
mod neighbours;
mod order;
mod paired;
mod pointer;
mod reduce;
mod region;
mod runs;
mod scan;
mod store;
mod store_lanes;
mod store_rows;
mod store_tensor;
mod tcgen05;
mod tensor_memory;
mod tile;
mod trig;
mod value;
mod view;
mod walk;
mod while_loop;

use hashbrown::HashMap;
use inkwell::IntPredicate;
use inkwell::context::Context;
use inkwell::targets::TargetMachine;
use inkwell::types::BasicTypeEnum;
use inkwell::values::IntValue;
use warploom_ir::diag::Code;
use warploom_ir::{Module, OpId, Opcode, SecondaryMap, Type, ValueId};
use warploom_target::{PtxVersion, Target};

use crate::error::{Refusal, Result, internal, refuse};
use crate::llvm::{Ir, Val, as_int};
use crate::program::{Agent, Program};
use crate::scratch::Scratch;
use axes::Axes;
use entry::{declare, scalar_type};
use family::Family;
use family::wgmma::Wgmma;
use hazards::Hazards;
use order::positions;
use runs::Runs;
use value::{Bound, Coords, Key, Memory};

/// Deepest nesting of regions.
const MAX_NESTING: u32 = 64;

/// The agent whose region is being lowered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'c> {
    /// First warp of the agent.
    warp: u64,
    /// Its warps.
    warps: u64,
    /// How its tiles lie in registers.
    family: Family,
    /// Shared memory for exchanges between its warps.
    scratch: Option<Scratch>,
    /// Whether one lane alone runs the code.
    elected: bool,
    /// The innermost loop: induction variable, first value, step.
    trip: Option<(IntValue<'c>, IntValue<'c>, IntValue<'c>)>,
}

/// State of the walk over one program.
pub(crate) struct Lower<'c, 'a> {
    /// The program as data.
    module: &'a Module,
    /// Its declarations.
    program: &'a Program<'a>,
    /// The LLVM module being made.
    pub ir: Ir<'c, 'a>,
    /// What values are.
    bound: HashMap<ValueId, Bound<'c>>,
    /// Elements of tiles that were computed, valid in the scope they were computed in.
    memo: HashMap<Key, Val<'c>>,
    /// Keys of `memo` in the order they came, to forget them at the end of a scope.
    memo_log: Vec<Key>,
    /// Packed pairs of 16-bit elements that were read from shared memory, by their even column.
    pairs: HashMap<Key, Val<'c>>,
    /// Keys of `pairs` in order.
    pairs_log: Vec<Key>,
    /// Coordinates that code computes.
    places: Vec<IntValue<'c>>,
    /// Where elements stand in the tiles they are taken from, where that is computed.
    moved: HashMap<Key, Coords>,
    /// Keys of `moved` in order.
    moved_log: Vec<Key>,
    /// Tiles that read memory when evaluated, and have not been evaluated for good.
    open: Vec<(ValueId, Memory)>,
    /// What operations may change.
    hazards: Hazards,
    /// The dimension every vector runs along.
    axes: Axes,
    /// How far neighbouring elements go together.
    runs: Runs<'a>,
    /// Products issued so far, in the order of the text.
    products: u64,
    /// The value that was made last between products of this block, and how many were issued before it.
    latest: Option<(u64, Val<'c>)>,
    /// Position of every operation, in the order of the text.
    position: SecondaryMap<OpId, u32>,
    /// Position of the last user of every value.
    last_use: SecondaryMap<ValueId, u32>,
    /// Warp number, uniform.
    warp: IntValue<'c>,
    /// Thread number.
    thread: IntValue<'c>,
    /// Where the allocation of tensor memory starts: its address, once it is known.
    tensor: Option<IntValue<'c>>,
    /// Where the code runs.
    place: Place<'c>,
    /// What could not be lowered, in the order of the text.
    refusals: Vec<Refusal>,
}

/// What is to be lowered, and for what.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    /// The program as data.
    pub module: &'a Module,
    /// Its declarations.
    pub program: &'a Program<'a>,
    /// The chip.
    pub target: &'a Target,
    /// The version of PTX.
    pub ptx: PtxVersion,
    /// Whether multiplications and additions may be fused.
    pub fuse: bool,
}

/// Lowers a program into a fresh LLVM module. Operations that cannot be lowered are added to `refusals`, in
/// the order of the text; the module is worth nothing then.
pub(crate) fn lower<'c, 'a>(
    ctx: &'c Context,
    machine: &TargetMachine,
    job: Job<'a>,
    refusals: &mut Vec<Refusal>,
) -> Result<Ir<'c, 'a>> {
    let Job { module, program, target, ptx, fuse } = job;
    let out = ctx.create_module(program.name);
    out.set_triple(&machine.get_triple());
    out.set_data_layout(&machine.get_target_data().get_data_layout());
    let function = declare(ctx, &out, module, program)?;
    let mut ir = Ir::new(ctx, out, function, target, ptx, fuse);
    ir.seek(ctx.append_basic_block(function, ""));
    let thread = as_int(ir.intrinsic("nvvm.read.ptx.sreg.tid.x", &[])?)?;
    let group = ir.shr(thread, 5)?;
    let uniform = [ir.c32(u64::from(u32::MAX)).into(), group.into(), ir.c32(0).into(), ir.c32(31).into()];
    let warp = as_int(ir.intrinsic("nvvm.shfl.sync.idx.i32", &uniform)?)?;
    let family = Family::Wgmma(Wgmma { warp: 0, warps: program.warps as u16 });
    let place = Place { warp: 0, warps: program.warps, family, scratch: None, elected: false, trip: None };
    let (position, last_use) = positions(module, program.func);
    let mut lower = Lower {
        module,
        program,
        ir,
        bound: HashMap::new(),
        memo: HashMap::new(),
        memo_log: Vec::new(),
        pairs: HashMap::new(),
        pairs_log: Vec::new(),
        places: Vec::new(),
        moved: HashMap::new(),
        moved_log: Vec::new(),
        open: Vec::new(),
        hazards: Hazards::new(module, program)?,
        axes: Axes::new(module, program.func),
        runs: Runs::new(module),
        products: 0,
        latest: None,
        position,
        last_use,
        warp,
        thread,
        tensor: None,
        place,
        refusals: Vec::new(),
    };
    lower.function()?;
    let place = |refusal: &Refusal| refusal.op.map(|op| lower.position[op]);
    lower.refusals.sort_by_key(place);
    refusals.append(&mut lower.refusals);
    Ok(lower.ir)
}

impl<'c> Lower<'c, '_> {
    /// LLVM type of a scalar or of the elements of a tile.
    fn element_type(&self, ty: &Type) -> Result<BasicTypeEnum<'c>> {
        scalar_type(self.ir.ctx, ty.elem())
    }

    /// The whole function: set-up, common scalars, then one branch per agent (C21, C27).
    fn function(&mut self) -> Result<()> {
        for (i, &param) in (0u32..).zip(&self.program.params) {
            let value =
                self.ir.function.get_nth_param(i).ok_or_else(|| internal("a parameter is missing"))?;
            let bound = match self.module.ty(param).is_desc() {
                true => Bound::Descriptor(value),
                false => Bound::Scalar(value),
            };
            self.bound.insert(param, bound);
        }
        self.set_up()?;
        let ops = &self.module.blocks[self.program.body].ops;
        for &op in ops {
            match self.module.ops[op].opcode {
                Opcode::Pipeline | Opcode::NamedBarrier | Opcode::Agent | Opcode::Return => {}
                _ => self.attempt(op, 0),
            }
        }
        let done = self.ir.block();
        for agent in &self.program.agents {
            let (body, next) = (self.ir.block(), self.ir.block());
            let end = self.ir.c32(agent.warp + agent.warps);
            let below = self.ir.icmp(IntPredicate::ULT, self.warp, end)?;
            self.ir.br_if(below, body, next)?;
            self.ir.seek(body);
            if let Err(refusal) = self.agent(agent) {
                self.note(agent.op, refusal);
            }
            self.ir.br(done)?;
            self.ir.seek(next);
        }
        self.ir.br(done)?;
        self.ir.seek(done);
        self.free()?;
        self.ir.ret()
    }

    /// One agent's region. Warps between agents run nothing.
    fn agent(&mut self, agent: &Agent) -> Result<()> {
        let skip = self.ir.block();
        if self.gap_before(agent) {
            let start = self.ir.c32(agent.warp);
            let mine = self.ir.icmp(IntPredicate::UGE, self.warp, start)?;
            let body = self.ir.block();
            self.ir.br_if(mine, body, skip)?;
            self.ir.seek(body);
        }
        let launched = self.program.max_registers / 8 * 8;
        let count = self.ir.c32(agent.registers).into();
        match agent.registers.cmp(&launched) {
            std::cmp::Ordering::Less => self.ir.effect("nvvm.setmaxnreg.dec.sync.aligned.u32", &[count])?,
            std::cmp::Ordering::Greater => {
                self.ir.effect("nvvm.setmaxnreg.inc.sync.aligned.u32", &[count])?;
            }
            std::cmp::Ordering::Equal => {}
        }
        let Agent { warp, warps, family, scratch, .. } = *agent;
        self.place = Place { warp, warps, family, scratch, elected: false, trip: None };
        let scope = self.enter();
        self.block(agent.body, 0)?;
        self.leave(scope);
        self.ir.br(skip)?;
        self.ir.seek(skip);
        Ok(())
    }

    /// Whether some warps below this agent belong to nobody.
    fn gap_before(&self, agent: &Agent) -> bool {
        let ends = self.program.agents.iter().map(|a| a.warp + a.warps);
        agent.warp != 0 && !ends.into_iter().any(|end| end == agent.warp)
    }

    /// A scalar that was computed.
    fn scalar(&self, value: ValueId) -> Result<Val<'c>> {
        match self.bound.get(&value) {
            Some(Bound::Scalar(value)) => Ok(*value),
            Some(_) => Err(internal(format!("{} where a scalar is needed", self.module.ty(value)))),
            None => Err(internal("a value is used before it is computed")),
        }
    }

    /// An integer scalar that was computed.
    fn int(&self, value: ValueId) -> Result<IntValue<'c>> {
        as_int(self.scalar(value)?)
    }

    /// Operand number `index`.
    fn operand(&self, op: OpId, index: usize) -> Result<ValueId> {
        let operand = self.module.ops[op].operands.get(index).copied();
        operand.ok_or_else(|| {
            refuse(Code::Verify, format!("{} lacks an operand", self.module.op_name(op))).into()
        })
    }

    /// The only result.
    fn only_result(&self, op: OpId) -> Result<ValueId> {
        self.module
            .result(op)
            .ok_or_else(|| refuse(Code::Verify, format!("{} has one result", self.module.op_name(op))).into())
    }

    /// A non-negative integer attribute.
    fn count(&self, op: OpId, name: &str) -> Result<u64> {
        let value = self.module.attr(op, name).and_then(warploom_ir::Attr::as_i64);
        value.and_then(|v| u64::try_from(v).ok()).ok_or_else(|| {
            let text = format!("{} needs attribute {name}", self.module.op_name(op));
            refuse(Code::Verify, text).rule("C35").into()
        })
    }

    /// Opens a scope: what is computed in it is forgotten when it closes.
    fn enter(&self) -> [usize; 4] {
        [self.memo_log.len(), self.pairs_log.len(), self.moved_log.len(), self.open.len()]
    }

    /// Closes a scope.
    fn leave(&mut self, [memo, pairs, moved, open]: [usize; 4]) {
        for key in self.memo_log.drain(memo..) {
            self.memo.remove(&key);
        }
        for key in self.pairs_log.drain(pairs..) {
            self.pairs.remove(&key);
        }
        for key in self.moved_log.drain(moved..) {
            self.moved.remove(&key);
        }
        self.open.truncate(open);
    }
}
