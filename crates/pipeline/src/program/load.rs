//! The loading agent: one elected lane copies tiles into the rings (C21-C24).

use warploom_ir::{BlockId, Opcode, Type, ValueId};

use super::Builder;
use super::copy::Scope;
use super::emit::number;
use crate::layout::RingUse;

impl Builder<'_> {
    /// The agent's region: the loop of copies, then the tiles of the epilogue.
    pub(super) fn load_agent(&mut self, body: BlockId) -> Option<()> {
        let (selection, layout) = (self.source.selection, self.source.layout);
        let agent = layout.agents.first()?;
        let region = self.emit(body, selection.func).region(Opcode::Agent, &agent.attributes());
        let elected = self.emit(region, selection.func).region(Opcode::Elect, &[]);
        let mut scope = self.shared.clone();
        self.load_loop(elected, &mut scope)?;
        self.load_tiles(elected, &mut scope)
    }

    fn load_loop(&mut self, block: BlockId, scope: &mut Scope) -> Option<()> {
        let (module, selection, layout) = (self.source.module, self.source.selection, self.source.layout);
        let ring = layout.ring(RingUse::Operands)?;
        let scf_for = selection.scf_for;
        let needed = self.needed_to_load.clone();
        let carried = self.carried_scalars(&needed);
        let old = &module.ops[scf_for];
        // The producer starts one phase ahead: its first acquires find every slot empty (C23).
        let mut operands = scope.all(old.operands.get(..3)?)?;
        for &at in &carried {
            operands.push(scope.get(*old.operands.get(3 + at)?)?);
        }
        operands.extend([self.zero?, self.one?]);
        let mut types: Vec<Type> = Vec::new();
        for &at in &carried {
            types.push(module.ty(*old.results.get(at)?).clone());
        }
        types.extend([Type::I32, Type::I32]);
        let (new, inner, iterator) = self.open_loop(block, &operands, &types, &carried, scope)?;

        let mut inside = scope.clone();
        self.scalars(selection.loop_body, inner, &needed, &mut inside);
        let mut emit = self.emit(inner, scf_for);
        emit.ring(Opcode::ProducerAcquire, &ring.name, &iterator, &[]);
        emit.ring(Opcode::ProducerCommit, &ring.name, &iterator, &[("bytes", number(ring.bytes))]);
        for (payload, load) in selection.loads.iter().enumerate() {
            let mut operands = vec![iterator[0]];
            operands.extend(inside.all(&module.ops[load.op].operands)?);
            let at = self.source.module.ops[load.op].span;
            let mut emit = self.emit(inner, load.op);
            let copy = emit.ring(Opcode::TmaLoad, &ring.name, &operands, &[("payload", number(payload))]);
            self.out.ops[copy].span = at;
        }
        let next = self.emit(inner, scf_for).advance(&ring.name, iterator);
        self.close_loop(inner, &carried, &inside, &next)?;
        for (&at, &value) in carried.iter().zip(&self.out.ops[new].results) {
            scope.bind(*old.results.get(at)?, value);
        }
        Some(())
    }

    /// A tile of the epilogue is copied behind the loop's copies: it does not delay the first products, and
    /// has the last iterations to arrive in. Its slot is written once, so that nobody has to free it.
    fn load_tiles(&mut self, block: BlockId, scope: &mut Scope) -> Option<()> {
        let (module, selection, layout) = (self.source.module, self.source.selection, self.source.layout);
        let needed = self.needed_to_load.clone();
        self.scalars(selection.body, block, &needed, scope);
        for (index, tile) in selection.tiles.iter().enumerate() {
            let ring = layout.ring(RingUse::Tile(index))?;
            let zero = self.zero?;
            let mut operands = vec![zero];
            operands.extend(scope.all(&module.ops[tile.op].operands)?);
            let mut emit = self.emit(block, tile.op);
            emit.ring(Opcode::ProducerCommit, &ring.name, &[zero, zero], &[("bytes", number(ring.bytes))]);
            emit.ring(Opcode::TmaLoad, &ring.name, &operands, &[("payload", number(0))]);
        }
        Some(())
    }

    /// An `scf.for` with the induction variable, the carried scalars of the kernel and an iterator; returns the
    /// operation, its block and the iterator's arguments.
    pub(super) fn open_loop(
        &mut self,
        block: BlockId,
        operands: &[ValueId],
        types: &[Type],
        carried: &[usize],
        scope: &mut Scope,
    ) -> Option<(warploom_ir::OpId, BlockId, [ValueId; 2])> {
        let (module, selection) = (self.source.module, self.source.selection);
        let old = &module.ops[selection.scf_for];
        let op = self.emit(block, selection.scf_for).op(Opcode::For, operands, types, &[]);
        self.out.ops[op].span = old.span;
        let region = self.out.add_region(op);
        let inner = self.out.add_block(region);
        let args = &module.blocks[selection.loop_body].args;
        let induction = *args.first()?;
        let loc = module.values[induction].loc;
        let counter = self.out.add_arg(inner, module.ty(induction).clone(), loc);
        self.out.values[counter].name.clone_from(&module.values[induction].name);
        scope.bind(induction, counter);
        let mut new_args = Vec::new();
        for ty in types {
            new_args.push(self.out.add_arg(inner, ty.clone(), loc));
        }
        for (&at, &arg) in carried.iter().zip(&new_args) {
            let old = *args.get(at + 1)?;
            self.out.values[arg].name.clone_from(&module.values[old].name);
            scope.bind(old, arg);
        }
        let [.., index, phase] = new_args.as_slice() else { return None };
        let ring = self.source.layout.ring(RingUse::Operands)?;
        for (value, what) in [(*index, "slot"), (*phase, "phase")] {
            self.out.values[value].name = Some(format!("{}.{what}", ring.name));
        }
        Some((op, inner, [*index, *phase]))
    }

    /// The yield of a loop: carried scalars, then `last`.
    pub(super) fn close_loop(
        &mut self,
        inner: BlockId,
        carried: &[usize],
        scope: &Scope,
        last: &[ValueId],
    ) -> Option<()> {
        let (module, selection) = (self.source.module, self.source.selection);
        let yielded = module.terminator(selection.loop_body)?;
        let mut values = Vec::new();
        for &at in carried {
            values.push(scope.get(*module.ops[yielded].operands.get(at)?)?);
        }
        values.extend_from_slice(last);
        self.emit(inner, yielded).op(Opcode::Yield, &values, &[], &[]);
        Some(())
    }
}
