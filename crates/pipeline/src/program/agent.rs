//! One agent's walk through the kernel: values on demand, loops and branches with the iterators of rings threaded.

use std::collections::{BTreeMap, VecDeque};

use warploom_ir::{BlockId, Module, OpId, Opcode, ValueDef, ValueId};

use super::Builder;
use super::copy::{Copier, Scope};
use super::emit::Emit;
use super::needed::{Needed, operands};
use super::products::{Issued, Open};
use super::sums::Reading;
use crate::loops::{Role, is_inside};
use crate::views::look_through;
use crate::walk::preorder;

/// The (index, phase) of a ring (C23).
pub(super) type Iterator2 = [ValueId; 2];

/// An agent under construction. `scopes[0]` holds the iteration under way; a rotated loop has the next one beside it.
pub(super) struct Walker<'b, 'a> {
    pub b: &'b mut Builder<'a>,
    pub role: Role,
    pub needed: Needed,
    /// Where operations go.
    pub at: BlockId,
    pub scopes: Vec<Scope>,
    /// Iterators of the rings used so far; others are at their start.
    pub iterators: BTreeMap<usize, Iterator2>,
    /// Slots waited for and not yet given back.
    pub open: Vec<Open>,
    /// Sums in tensor memory waited for and not yet given back.
    pub reading: Vec<Reading>,
    /// Rings of the products in tensor memory that this trip has read and not yet given back.
    pub products: Vec<usize>,
    /// In the issuing agent, whether a trip is not the first of its loop.
    pub later: Option<ValueId>,
    /// Products that may be unfinished, oldest first.
    pub issued: VecDeque<Issued>,
    /// What values have become behind a wait.
    pub waited: BTreeMap<ValueId, ValueId>,
    /// Whether a store of the last turn of a loop may still read its staging.
    pub storing: bool,
    /// Copies have no names of their own: a rotated loop has several of each value, one inside the other.
    pub nameless: bool,
    /// For a rotated loop: what the arguments of the next iteration are in this one.
    pub next_of: BTreeMap<ValueId, ValueId>,
}

impl<'b, 'a> Walker<'b, 'a> {
    pub fn new(
        b: &'b mut Builder<'a>,
        role: Role,
        needed: Needed,
        scope: Scope,
        at: BlockId,
    ) -> Option<Walker<'b, 'a>> {
        Some(Walker {
            b,
            role,
            needed,
            at,
            scopes: vec![scope],
            iterators: BTreeMap::new(),
            open: Vec::new(),
            reading: Vec::new(),
            products: Vec::new(),
            later: None,
            issued: VecDeque::new(),
            waited: BTreeMap::new(),
            storing: false,
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

    /// The whole agent.
    pub fn run(&mut self, body: BlockId, func: OpId) -> Option<()> {
        self.block(body)?;
        if self.storing {
            self.wait_for_stores(func);
        }
        Some(())
    }

    /// What the agent does in a block, in the order of the text.
    pub fn block(&mut self, from: BlockId) -> Option<()> {
        for op in self.module().blocks[from].ops.clone() {
            self.visit(op)?;
        }
        self.close_sums(from)
    }

    /// One operation of straight-line code: nothing, unless it acts; values are made when they are asked for.
    fn visit(&mut self, op: OpId) -> Option<()> {
        let opcode = self.module().ops[op].opcode;
        match (opcode, self.role) {
            (Opcode::DescriptorLoad, Role::Load) => self.fill(op),
            (Opcode::DescriptorStore, Role::Math) => self.store(op),
            (Opcode::Store | Opcode::AtomicRmw, Role::Math) => self.step(op, 0),
            (Opcode::For, _) if self.acts_in(op) => self.loop_op(op),
            (Opcode::If, _) if self.acts_in(op) => self.branch(op),
            _ => Some(()),
        }
    }

    /// Whether the agent must go through a loop or branch: it acts inside, or needs what was computed with its tiles.
    fn acts_in(&self, op: OpId) -> bool {
        let module = self.module();
        if self.needed.control.contains(&op) {
            return true;
        }
        // What only sums are wanted of, tensor memory has.
        let sum = |at: usize| self.sum_of(op, at).is_some();
        let mut results = module.ops[op].results.iter().enumerate();
        let wanted = results.any(|(at, v)| self.needed.values.contains(v) && !sum(at));
        let copies = || preorder(module, op).iter().any(|&o| module.ops[o].opcode == Opcode::DescriptorLoad);
        self.role == Role::Math && wanted && copies()
    }

    // ---- values ----

    /// What a value of the kernel has become in an iteration; made now if it was not yet.
    pub fn value(&mut self, value: ValueId, tag: usize) -> Option<ValueId> {
        if let Some(known) = self.scopes.get(tag)?.get(value) {
            return Some(known);
        }
        let module = self.module();
        if let Some(factor) = self.factor_of(value).filter(|_| self.role == Role::Mma) {
            self.open_factor(factor, tag)?;
        } else if let Some(sum) = self.scaled_as(value).filter(|_| self.role == Role::Math) {
            let scf_for = self.b.source.selection.sums.get(sum)?.scf_for;
            self.view_sum(sum, value, tag, scf_for)?;
        } else if let Some(op) = module.def_op(value) {
            match module.ops[op].opcode {
                Opcode::Dot if !self.b.source.selection.sums.is_empty() => self.open_product(op, tag)?,
                Opcode::DescriptorLoad => self.open_slot(op, tag)?,
                // A result of something the agent goes through must be there already.
                Opcode::Dot | Opcode::MmaWait => return None,
                Opcode::For => {
                    let at = module.ops[op].results.iter().position(|&v| v == value)?;
                    self.open_sum(op, at, tag)?;
                }
                _ => self.copy(op, tag)?,
            }
        } else if tag > 0 {
            let before = *self.next_of.get(&value)?;
            let made = self.value(before, tag - 1)?;
            self.scopes.get_mut(tag)?.bind(value, made);
        }
        self.scopes.get(tag)?.get(value)
    }

    /// The value as a reader may use it: behind the wait for the product that makes it.
    pub fn read(&mut self, value: ValueId, tag: usize, at: OpId) -> Option<ValueId> {
        let made = self.value(value, tag)?;
        self.finish(made, at);
        Some(self.waited.get(&made).copied().unwrap_or(made))
    }

    /// Copies an operation with everything it reads.
    fn copy(&mut self, op: OpId, tag: usize) -> Option<()> {
        let module = self.module();
        // A tile in a slot is seen without its unit extents anyway.
        if module.ops[op].opcode == Opcode::Reshape && self.is_view_of_tile(op) {
            let (&from, to) = (module.ops[op].operands.first()?, module.result(op)?);
            let same = self.value(from, tag)?;
            self.scopes.get_mut(tag)?.bind(to, same);
            return Some(());
        }
        let mut inner = self.scopes.get(tag)?.clone();
        for operand in operands(module, op) {
            let new = self.read(operand, tag, op)?;
            inner.bind(operand, new);
        }
        let block = self.at;
        let made = Copier { from: module, to: &mut self.b.out }.op(op, block, &mut inner)?;
        let results = self.b.out.ops[made].results.clone();
        if self.nameless {
            for &result in &results {
                self.b.out.values[result].name = None;
            }
        }
        let scope = self.scopes.get_mut(tag)?;
        for (&old, new) in module.ops[op].results.iter().zip(results) {
            scope.bind(old, new);
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
        if self.role == Role::Mma {
            return self.issue_step(op, tag);
        }
        let results = &module.ops[op].results;
        let scope = self.scopes.get(tag)?;
        let unwanted = !results.is_empty() && !results.iter().any(|v| self.needed.values.contains(v));
        // Somebody asked for it before its turn, or nobody ever does.
        if unwanted || (!results.is_empty() && results.iter().all(|&v| scope.get(v).is_some())) {
            return Some(());
        }
        self.before_overwrite(op);
        match opcode {
            Opcode::Dot => self.product(op, tag),
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
                if outside && self.needed.values.contains(&value) {
                    self.value(value, 0)?;
                }
            }
        }
        Some(())
    }
}
