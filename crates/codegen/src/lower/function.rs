//! The function of a program, its partitions and their order.

use hashbrown::HashMap;
use inkwell::IntPredicate;
use inkwell::context::Context;
use inkwell::targets::TargetMachine;
use warploom_ir::vectors::Vectors;
use warploom_ir::{Opcode, axis};

use super::context::{Job, Lower, Place};
use super::entry::declare;
use super::hazards::Hazards;
use super::order::positions;
use super::value::Bound;
use crate::error::{Refusal, Result, called_from, internal};
use crate::family::{Family, Wgmma};
use crate::llvm::Library;
use crate::llvm::{Ir, as_int};
use crate::program::Partition;

/// Lowers a program into a fresh LLVM module. Operations that cannot be lowered are added to `refusals`, in
/// the order of the text; the module is worth nothing then.
pub(crate) fn lower<'c, 'a>(
    ctx: &'c Context,
    machine: &TargetMachine,
    job: Job<'a>,
    refusals: &mut Vec<Refusal>,
) -> Result<Ir<'c, 'a>> {
    let Job { module, program, target, ptx, fuse, flush, lines, libdevice } = job;
    let out = ctx.create_module(program.name);
    out.set_triple(&machine.get_triple());
    out.set_data_layout(&machine.get_target_data().get_data_layout());
    let function = declare(ctx, &out, module, program)?;
    let mut ir = Ir::new(ctx, out, function, target, ptx, fuse);
    ir.flush = flush;
    ir.library = Library::of(libdevice);
    let first = module.blocks[program.body].ops.iter().find_map(|&op| called_from(module, op));
    if let Some(place) = first.filter(|_| lines) {
        ir.tell_lines(place);
        ir.come_from(Some(place));
    }
    ir.seek(ctx.append_basic_block(function, ""));
    let thread = as_int(ir.intrinsic("nvvm.read.ptx.sreg.tid.x", &[])?)?;
    let group = ir.shr(thread, 5)?;
    let uniform = [ir.c32(u64::from(u32::MAX)).into(), group.into(), ir.c32(0).into(), ir.c32(31).into()];
    let warp = as_int(ir.intrinsic("nvvm.shfl.sync.idx.i32", &uniform)?)?;
    let warps = program.warps as u16;
    let family = Family::Wgmma(Wgmma { warp: 0, warps, shared: false, columns: 1, part: 0 });
    let place = Place {
        warp: 0,
        warps: program.warps,
        family,
        scratch: None,
        elected: false,
        predicate: None,
        trip: None,
    };
    let (position, last_use) = positions(module, program.func);
    let mut lower = Lower {
        module,
        program,
        ir,
        bound: HashMap::new(),
        slots: HashMap::new(),
        memo: HashMap::new(),
        memo_log: Vec::new(),
        pairs: HashMap::new(),
        pairs_log: Vec::new(),
        places: Vec::new(),
        layouts: Default::default(),
        natural: HashMap::new(),
        moved: HashMap::new(),
        moved_log: Vec::new(),
        landed_log: Vec::new(),
        open: Vec::new(),
        hazards: Hazards::new(module, program)?,
        axes: Vectors::new(module, program.func),
        runs: axis::facts(module, program.func),
        products: 0,
        latest: None,
        deadline: None,
        position,
        last_use,
        warp,
        thread,
        tensor: None,
        place,
        front: None,
        refusals: Vec::new(),
    };
    lower.function()?;
    let place = |refusal: &Refusal| refusal.op.map(|op| lower.position[op]);
    lower.refusals.sort_by_key(place);
    refusals.append(&mut lower.refusals);
    lower.ir.finish()?;
    Ok(lower.ir)
}

impl<'c> Lower<'c, '_> {
    /// The whole function: set-up, common scalars, then one branch per partition (C21, C27).
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
        self.trap_on_flags()?;
        self.set_up()?;
        let ops = &self.module.blocks[self.program.body].ops;
        for &op in ops {
            match self.module.ops[op].opcode {
                Opcode::Pipeline
                | Opcode::NamedBarrier
                | Opcode::Turns
                | Opcode::Partition
                | Opcode::Return => {}
                _ => self.attempt(op, 0),
            }
        }
        let done = self.ir.block();
        for partition in &self.program.partitions {
            let (body, next) = (self.ir.block(), self.ir.block());
            let end = self.ir.c32(partition.warp + partition.warps);
            let below = self.ir.icmp(IntPredicate::ULT, self.warp, end)?;
            self.ir.br_if(below, body, next)?;
            self.ir.seek(body);
            if let Err(refusal) = self.partition(partition) {
                self.note(partition.op, refusal);
            }
            self.ir.br(done)?;
            self.ir.seek(next);
        }
        self.ir.br(done)?;
        self.ir.seek(done);
        self.free()?;
        self.ir.ret()
    }

    /// One partition's region. Warps between partitions run nothing.
    fn partition(&mut self, partition: &Partition) -> Result<()> {
        let skip = self.ir.block();
        if self.gap_before(partition) {
            let start = self.ir.c32(partition.warp);
            let mine = self.ir.icmp(IntPredicate::UGE, self.warp, start)?;
            let body = self.ir.block();
            self.ir.br_if(mine, body, skip)?;
            self.ir.seek(body);
        }
        let launched = self.program.max_registers / 8 * 8;
        let count = self.ir.c32(partition.registers).into();
        match partition.registers.cmp(&launched) {
            std::cmp::Ordering::Less => self.ir.effect("nvvm.setmaxnreg.dec.sync.aligned.u32", &[count])?,
            std::cmp::Ordering::Greater => {
                self.ir.effect("nvvm.setmaxnreg.inc.sync.aligned.u32", &[count])?;
            }
            std::cmp::Ordering::Equal => {}
        }
        let Partition { warp, warps, family, scratch, .. } = *partition;
        self.place = Place { warp, warps, family, scratch, elected: false, predicate: None, trip: None };
        let scope = self.enter();
        self.block(partition.body, 0)?;
        self.leave(scope);
        self.ir.br(skip)?;
        self.ir.seek(skip);
        Ok(())
    }

    /// Whether some warps below this partition belong to nobody.
    fn gap_before(&self, partition: &Partition) -> bool {
        let ends = self.program.partitions.iter().map(|a| a.warp + a.warps);
        partition.warp != 0 && !ends.into_iter().any(|end| end == partition.warp)
    }
}
