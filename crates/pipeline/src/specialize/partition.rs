//! One partition's walk through the kernel: values on demand, loops and branches with the iterators of rings threaded.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use warploom_ir::{BlockId, Module, OpId, Opcode, ValueDef, ValueId};

use crate::emit::Emit;
use crate::loops::PartitionRole;
use crate::nest::is_inside;
use crate::specialize::builder::Builder;
use crate::specialize::copy::{Copier, Scope};
use crate::specialize::needed::{Needed, operands};
use crate::specialize::walker::Walker;
use crate::views::look_through;
use crate::walk::preorder;

/// An operation to be copied, and what it reads so far.
struct PendingCopy {
    op: OpId,
    /// It shows its operand as it is.
    view: bool,
    operands: Vec<ValueId>,
    /// What the first operands are to it.
    read: Vec<(ValueId, ValueId)>,
}

impl<'b, 'a> Walker<'b, 'a> {
    pub fn new(
        b: &'b mut Builder<'a>,
        (role, replica): (PartitionRole, usize),
        needed: Needed,
        scope: Scope,
        at: BlockId,
    ) -> Option<Walker<'b, 'a>> {
        Some(Walker {
            b,
            role,
            replica,
            tile_turn: false,
            needed,
            at,
            scopes: vec![scope],
            iterators: BTreeMap::new(),
            open: Vec::new(),
            reading: Vec::new(),
            products: Vec::new(),
            later: None,
            issued: VecDeque::new(),
            lagging: BTreeSet::new(),
            waited: BTreeMap::new(),
            turns: None,
            storing: false,
            passed: Vec::new(),
            nameless: false,
            next_of: BTreeMap::new(),
        })
    }

    pub fn module(&self) -> &'a Module {
        self.b.source.module
    }

    pub fn emit(&mut self, at: OpId) -> Emit<'_> {
        let block = self.at;
        self.b.emit(block, at)
    }

    /// The whole partition.
    pub fn run(&mut self, body: BlockId, func: OpId) -> Option<()> {
        self.first_turn(func);
        self.block(body)?;
        self.last_turn(func);
        if self.storing {
            self.wait_for_stores(func);
        }
        Some(())
    }

    /// What the partition does in a block, in the order of the text.
    pub fn block(&mut self, from: BlockId) -> Option<()> {
        let around = std::mem::take(&mut self.passed);
        for op in self.module().blocks[from].ops.clone() {
            self.visit(op)?;
        }
        self.passed = around;
        self.close_accumulators(from)
    }

    /// What an operation is about to write has been read by what stands in front of it.
    fn read_before(&mut self, op: OpId) -> Option<()> {
        let writes = |o: OpId| self.module().ops[o].opcode.facts().effect.writes();
        if !self.passed.is_empty() && preorder(self.module(), op).into_iter().any(writes) {
            for read in std::mem::take(&mut self.passed) {
                self.step(read, 0)?;
            }
        }
        Some(())
    }

    /// One operation of straight-line code: nothing, unless it acts; values are made when they are asked for.
    fn visit(&mut self, op: OpId) -> Option<()> {
        let opcode = self.module().ops[op].opcode;
        self.read_before(op)?;
        match (opcode, self.role) {
            (Opcode::Load, PartitionRole::Math) => {
                self.passed.push(op);
                Some(())
            }
            (Opcode::DescriptorLoad, PartitionRole::Load) => self.fill(op),
            (Opcode::DescriptorStore, PartitionRole::Math) => self.store(op),
            (Opcode::Store | Opcode::AtomicRmw, PartitionRole::Math) => self.step(op, 0),
            (Opcode::For, _) if self.acts_in(op) => self.loop_op(op),
            (Opcode::If, _) if self.acts_in(op) => self.branch(op),
            _ => Some(()),
        }
    }

    /// Whether the partition must go through a loop or branch: it acts inside, or needs what was computed with its
    /// tiles.
    fn acts_in(&self, op: OpId) -> bool {
        let module = self.module();
        if self.needed.control.contains(&op) {
            return true;
        }
        // What only accumulators are wanted of, tensor memory has.
        let accumulator = |at: usize| self.accumulator_of(op, at).is_some();
        let mut results = module.ops[op].results.iter().enumerate();
        let wanted = results.any(|(at, v)| self.needed.values.contains(*v) && !accumulator(at));
        let copies = || preorder(module, op).iter().any(|&o| module.ops[o].opcode == Opcode::DescriptorLoad);
        self.role == PartitionRole::Math && wanted && copies()
    }

    // ---- values ----

    /// What a value of the kernel has become in an iteration; made now if it was not yet.
    pub fn value(&mut self, value: ValueId, tag: usize) -> Option<ValueId> {
        if let Some(known) = self.scopes.get(tag)?.get(value) {
            return Some(known);
        }
        if let Some(copy) = self.make(value, tag)? {
            self.copy_all(copy, tag)?;
        }
        self.scopes.get(tag)?.get(value)
    }

    /// Makes a value that has a place of its own; any other one is the result of the copy that is given back.
    fn make(&mut self, value: ValueId, tag: usize) -> Option<Option<PendingCopy>> {
        let module = self.module();
        if let Some(operand) = self.operand_of(value).filter(|_| self.role == PartitionRole::Mma) {
            self.open_operand(operand, tag)?;
        } else if let Some(accumulator) = self.scaled_as(value).filter(|_| self.role == PartitionRole::Math) {
            let scf_for = self.b.source.selection.accumulators.get(accumulator)?.scf_for;
            self.view_accumulator(accumulator, value, tag, scf_for)?;
        } else if let Some(op) = module.def_op(value) {
            match module.ops[op].opcode {
                Opcode::Dot | Opcode::DotBlockScaled if !self.b.source.selection.accumulators.is_empty() => {
                    self.open_product(op, tag)?
                }
                Opcode::DescriptorLoad => self.open_slot(op, tag)?,
                // A result of something the partition goes through must be there already.
                Opcode::Dot | Opcode::DotBlockScaled | Opcode::MmaWait => return None,
                Opcode::For => {
                    let at = module.ops[op].results.iter().position(|&v| v == value)?;
                    self.open_accumulator(op, at, tag)?;
                }
                _ => return Some(Some(self.copy_of(op))),
            }
        } else if tag > 0 {
            let before = *self.next_of.get(&value)?;
            let made = self.value(before, tag - 1)?;
            self.scopes.get_mut(tag)?.bind(value, made);
        }
        Some(None)
    }

    /// The value as a reader may use it: behind the wait for the product that makes it.
    pub fn read(&mut self, value: ValueId, tag: usize, at: OpId) -> Option<ValueId> {
        let made = self.value(value, tag)?;
        Some(self.behind_its_wait(made, at))
    }

    fn behind_its_wait(&mut self, made: ValueId, at: OpId) -> ValueId {
        self.finish(made, at);
        self.waited.get(&made).copied().unwrap_or(made)
    }

    /// Copies an operation with everything it reads.
    fn copy(&mut self, op: OpId, tag: usize) -> Option<()> {
        let copy = self.copy_of(op);
        self.copy_all(copy, tag)
    }

    /// A copy yet to be made. A tile in a slot is seen without its unit extents anyway.
    fn copy_of(&self, op: OpId) -> PendingCopy {
        let module = self.module();
        let view = module.ops[op].opcode == Opcode::Reshape && self.is_view_of_tile(op);
        let operands = match view {
            true => module.ops[op].operands.iter().take(1).copied().collect(),
            false => operands(module, op),
        };
        PendingCopy { op, view, operands, read: Vec::new() }
    }

    /// Makes a copy behind all that it reads, each operand with what that reads in turn. No recursion: a kernel may be
    /// one chain of any length.
    fn copy_all(&mut self, copy: PendingCopy, tag: usize) -> Option<()> {
        let mut open = vec![copy];
        while let Some(mut copy) = open.pop() {
            let Some(&operand) = copy.operands.get(copy.read.len()) else {
                self.copied(copy, tag)?;
                continue;
            };
            let mut below = None;
            if self.scopes.get(tag)?.get(operand).is_none() {
                below = self.make(operand, tag)?;
            }
            if below.is_none() {
                let made = self.scopes.get(tag)?.get(operand)?;
                let seen = if copy.view { made } else { self.behind_its_wait(made, copy.op) };
                copy.read.push((operand, seen));
            }
            open.push(copy);
            open.extend(below);
        }
        Some(())
    }

    /// The copy itself, when all that it reads is there.
    fn copied(&mut self, copy: PendingCopy, tag: usize) -> Option<()> {
        let (module, block) = (self.module(), self.at);
        let scope = self.scopes.get_mut(tag)?;
        if copy.view {
            let &(_, same) = copy.read.first()?;
            scope.bind(module.result(copy.op)?, same);
            return Some(());
        }
        let before = scope.rebind(copy.read);
        let made = Copier { from: module, to: &mut self.b.out }.op(copy.op, block, scope)?;
        scope.restore(before);
        if self.nameless {
            for result in self.b.out.ops[made].results.clone() {
                self.b.out.values[result].name = None;
            }
        }
        Some(())
    }

    fn is_view_of_tile(&self, op: OpId) -> bool {
        let module = self.module();
        let Some(result) = module.result(op) else { return false };
        let base = look_through(module, result).base;
        self.b.source.selection.loads.iter().any(|l| l.value == base)
    }

    /// One operation that acts or takes time, in one iteration.
    pub fn step(&mut self, op: OpId, tag: usize) -> Option<()> {
        let module = self.module();
        let opcode = module.ops[op].opcode;
        if self.role == PartitionRole::Mma {
            return self.issue_step(op, tag);
        }
        let results = &module.ops[op].results;
        let scope = self.scopes.get(tag)?;
        let unwanted = !results.is_empty() && !results.iter().any(|v| self.needed.values.contains(*v));
        // Somebody asked for it before its turn, or nobody ever does.
        if unwanted || (!results.is_empty() && results.iter().all(|&v| scope.get(v).is_some())) {
            return Some(());
        }
        self.before_overwrite(op);
        match opcode {
            Opcode::Dot | Opcode::DotBlockScaled => self.product(op, tag),
            Opcode::MmaWait => self.lagging_wait(op, tag),
            _ => self.copy(op, tag),
        }
    }

    /// Values from outside that something inside reads, made before it is entered.
    pub(super) fn prepare(&mut self, op: OpId) -> Option<()> {
        let module = self.module();
        for inside in preorder(module, op) {
            for value in module.ops[inside].operands.clone() {
                let outside = match module.values[value].def {
                    ValueDef::Result { op: maker, .. } => !is_inside(module, maker, op) && maker != op,
                    ValueDef::Argument { block, .. } => {
                        let owner = module.blocks[block].region.and_then(|r| module.regions[r].parent);
                        owner.is_some_and(|o| o != op && !is_inside(module, o, op))
                    }
                };
                if outside && self.needed.values.contains(value) {
                    self.value(value, 0)?;
                }
            }
        }
        Some(())
    }
}
