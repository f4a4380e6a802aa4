//! From a scheduled and assigned kernel to a program: agents, pipelines, handshakes (C20-C33, C35).

mod copy;
mod declare;
mod emit;
mod load;
mod math;

use std::collections::BTreeSet;

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, Type, ValueId};

use crate::classes::{Class, class, is_scalar};
use crate::layout::Layout;
use crate::select::Selection;
use crate::walk::slice;
use copy::{Copier, Scope};
use emit::Emit;

/// What a program is made from.
pub(crate) struct Source<'a> {
    /// The scheduled kernel.
    pub module: &'a Module,
    /// Its parts.
    pub selection: &'a Selection,
    /// The wait for products in the loop.
    pub wait: OpId,
    /// Products that may be unfinished behind it.
    pub pending: u64,
    /// Where everything lies, who takes part in which barrier, and the registers.
    pub layout: &'a Layout,
    /// Name of the chip.
    pub target: &'a str,
}

/// Builds the program form of a kernel.
///
/// # Errors
/// [`Code::Internal`] if the kernel is not what [`crate::select`] makes sure of.
pub(crate) fn build(source: &Source<'_>) -> Result<Module, Box<Diagnostic>> {
    let mut builder = Builder::new(source);
    builder.function().ok_or_else(|| {
        Box::new(
            Diagnostic::error(Code::Internal, "the kernel cannot be taken apart into agents").rule("C20"),
        )
    })
}

/// A program under construction.
struct Builder<'a> {
    source: &'a Source<'a>,
    out: Module,
    /// Values of the kernel that the program needs.
    needed: BTreeSet<ValueId>,
    /// Of those, what the loading agent needs.
    needed_to_load: BTreeSet<ValueId>,
    /// Operations that every agent may use, by their copies.
    shared: Scope,
    /// `arith.constant` 0 and 1.
    zero: Option<ValueId>,
    one: Option<ValueId>,
}

impl<'a> Builder<'a> {
    fn new(source: &'a Source<'a>) -> Builder<'a> {
        let (module, selection) = (source.module, source.selection);
        let bounds = module.ops[selection.scf_for].operands.iter().copied().take(3);
        let coordinates = |op: OpId, from: usize| module.ops[op].operands.iter().copied().skip(from);
        let loads = selection.loads.iter().chain(&selection.tiles).flat_map(|l| coordinates(l.op, 1));
        let to_load: Vec<ValueId> = bounds.chain(loads).collect();
        let stores = selection.stores.iter();
        let stored = stores.flat_map(|s| coordinates(s.op, 2).chain(std::iter::once(s.value)));
        let all: Vec<ValueId> = to_load.iter().copied().chain(stored).collect();
        let mut out = Module::new();
        out.locs = module.locs.clone();
        out.loc_aliases.clone_from(&module.loc_aliases);
        out.attr_aliases.clone_from(&module.attr_aliases);
        out.names = module.names.clone();
        Builder {
            source,
            out,
            needed: slice(module, &all),
            needed_to_load: slice(module, &to_load),
            shared: Scope::default(),
            zero: None,
            one: None,
        }
    }

    /// The function with its declarations and agents.
    fn function(&mut self) -> Option<Module> {
        let (module, selection) = (self.source.module, self.source.selection);
        let root = self.out.root;
        self.out.ops[root].attrs = module.ops[module.root].attrs.clone();
        self.out.ops[root].attrs.set("warploom.form", Attr::string("program"));
        self.out.ops[root].attrs.set("warploom.target", Attr::string(self.source.target));
        let old = &module.ops[selection.func];
        let func = self.out.create_op(Opcode::Func, &[], &[], old.loc);
        self.out.ops[func].props = old.props.clone();
        self.out.ops[func].attrs = old.attrs.clone();
        self.out.ops[func].span = old.span;
        let home = self.out.body();
        self.out.append(home, func);
        let region = self.out.add_region(func);
        let body = self.out.add_block(region);
        for &arg in &module.blocks[selection.body].args {
            let new = self.out.add_arg(body, module.ty(arg).clone(), module.values[arg].loc);
            self.out.values[new].name.clone_from(&module.values[arg].name);
            self.shared.bind(arg, new);
        }
        self.launch(func);
        self.shared_scalars(body);
        self.declarations(body);
        self.load_agent(body)?;
        self.math_agent(body)?;
        let done = self.out.create_op(Opcode::Return, &[], &[], old.loc);
        self.out.append(body, done);
        Some(std::mem::take(&mut self.out))
    }

    /// The scalars that do not depend on the loop, and the constants of the handshakes.
    fn shared_scalars(&mut self, body: BlockId) {
        let (module, selection) = (self.source.module, self.source.selection);
        for &op in &module.blocks[selection.body].ops {
            let wanted = module.ops[op].results.iter().any(|v| self.needed.contains(v));
            let ready = module.ops[op].operands.iter().all(|&v| self.shared.get(v).is_some());
            if wanted && ready && is_scalar(module, op) {
                Copier { from: module, to: &mut self.out }.op(op, body, &mut self.shared);
            }
        }
        let mut emit = Emit { out: &mut self.out, block: body, loc: module.ops[selection.func].loc };
        self.zero = Some(emit.constant(0));
        self.one = Some(emit.constant(1));
    }

    /// Copies the scalar operations of a block that `needed` wants and nobody made yet.
    fn scalars(&mut self, from: BlockId, to: BlockId, needed: &BTreeSet<ValueId>, scope: &mut Scope) {
        let module = self.source.module;
        for &op in &module.blocks[from].ops {
            let results = &module.ops[op].results;
            let wanted = results.iter().any(|v| needed.contains(v) && scope.get(*v).is_none());
            if wanted && class(module.ops[op].opcode) == Class::Pure && is_scalar(module, op) {
                Copier { from: module, to: &mut self.out }.op(op, to, scope);
            }
        }
    }

    /// Positions of the loop-carried scalars that `needed` wants.
    fn carried_scalars(&self, needed: &BTreeSet<ValueId>) -> Vec<usize> {
        let (module, selection) = (self.source.module, self.source.selection);
        let args = module.blocks[selection.loop_body].args.iter().skip(1).enumerate();
        let results = &module.ops[selection.scf_for].results;
        args.filter(|(at, arg)| {
            let wanted = needed.contains(arg) || results.get(*at).is_some_and(|r| needed.contains(r));
            *at != selection.dot.accumulator && wanted
        })
        .map(|(at, _)| at)
        .collect()
    }

    fn emit(&mut self, block: BlockId, at: OpId) -> Emit<'_> {
        let loc = self.source.module.ops[at].loc;
        Emit { out: &mut self.out, block, loc }
    }

    /// Type of the tile of a descriptor: its block without unit extents.
    fn tile_type(&self, descriptor: ValueId, tile: &[u64]) -> Type {
        Type::tensor(tile, self.source.module.ty(descriptor).elem().clone())
    }
}
