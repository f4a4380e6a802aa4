//! Puts a program together: its function, what all partitions share, a region for each.

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, ValueId};

use crate::classes::is_scalar;
use crate::emit::Emit;
use crate::layout::Partition;
use crate::loops::PartitionRole;
use crate::specialize::builder::Builder;
use crate::specialize::builder::Source;
use crate::specialize::copy::{Copier, Scope};
use crate::specialize::needed::Needed;
use crate::specialize::walker::Walker;
use crate::transports::made;

/// Builds the program form of a kernel.
///
/// # Errors
/// [`Code::Internal`] if the kernel is not what [`crate::select`] makes sure of.
pub(crate) fn build(source: &Source<'_>) -> Result<Module, Box<Diagnostic>> {
    let mut builder = Builder::new(source);
    builder.function().ok_or_else(|| {
        Box::new(
            Diagnostic::error(Code::Internal, "the kernel cannot be taken apart into partitions").rule("C20"),
        )
    })
}

impl<'a> Builder<'a> {
    fn new(source: &'a Source<'a>) -> Builder<'a> {
        let module = source.module;
        let mut out = Module::new();
        out.locs = module.locs.clone();
        out.loc_aliases.clone_from(&module.loc_aliases);
        out.attr_aliases.clone_from(&module.attr_aliases);
        out.names = module.names.clone();
        Builder { source, out, shared: Scope::default(), zero: None, one: None }
    }

    /// The function with its declarations and partitions.
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
        self.source.layout.launch(&mut self.out, func);
        let roles = self.source.layout.partitions.iter().map(|a| a.role);
        let needs: Vec<(PartitionRole, Needed)> =
            roles.map(|role| (role, Needed::of(module, selection, role))).collect();
        self.shared_scalars(body, &needs);
        self.source.layout.declare(&mut self.out, body, old.loc);
        for (partition, (role, needed)) in self.source.layout.partitions.iter().zip(needs) {
            let alike = self.source.layout.partitions.iter().filter(|a| a.role == role);
            let replica = alike.take_while(|a| a.warp < partition.warp).count();
            self.partition(body, partition, (role, replica), needed)?;
        }
        let done = self.out.create_op(Opcode::Return, &[], &[], old.loc);
        self.out.append(body, done);
        Some(std::mem::take(&mut self.out))
    }

    /// The scalars that do not depend on a loop, tensor maps made from such, and the constants of the handshakes.
    fn shared_scalars(&mut self, body: BlockId, needs: &[(PartitionRole, Needed)]) {
        let (module, selection) = (self.source.module, self.source.selection);
        for &op in &module.blocks[selection.body].ops {
            let needed = |v: &ValueId| needs.iter().any(|(_, n)| n.values.contains(*v));
            let wanted = module.ops[op].results.iter().any(needed);
            let ready = module.ops[op].operands.iter().all(|&v| self.shared.get(v).is_some());
            let map = module.ops[op].opcode == Opcode::MakeTensorDescriptor;
            if !(wanted && ready && (is_scalar(module, op) || map)) {
                continue;
            }
            let copy = Copier { from: module, to: &mut self.out }.op(op, body, &mut self.shared);
            let plan = selection.descriptors.iter().find(|(v, _)| module.result(op) == Some(*v));
            if let (Some(copy), Some((_, plan)), Some(staging)) = (copy, plan, self.source.layout.maps) {
                made::mark(&mut self.out, copy, plan, staging);
            }
        }
        let mut emit = Emit { out: &mut self.out, block: body, loc: module.ops[selection.func].loc };
        self.zero = Some(emit.constant(0));
        self.one = Some(emit.constant(1));
    }

    /// The region of a partition.
    fn partition(
        &mut self,
        body: BlockId,
        partition: &Partition,
        (role, replica): (PartitionRole, usize),
        needed: Needed,
    ) -> Option<()> {
        let selection = self.source.selection;
        let mut block = self.emit(body, selection.func).region(Opcode::Partition, &partition.attributes());
        if role != PartitionRole::Math {
            block = self.emit(block, selection.func).region(Opcode::Elect, &[]);
        }
        let scope = self.shared.clone();
        let mut walker = Walker::new(self, (role, replica), needed, scope, block)?;
        walker.run(selection.body, selection.func)
    }

    pub(super) fn emit(&mut self, block: BlockId, at: OpId) -> Emit<'_> {
        let loc = self.source.module.ops[at].loc;
        Emit { out: &mut self.out, block, loc }
    }
}
