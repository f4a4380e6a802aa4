//! The computing agent: products over the ring, then the epilogue (C24, C26, C30, C33).

use std::collections::BTreeSet;

use warploom_ir::{Attr, BlockId, OpId, Opcode, Type, ValueId};

use super::Builder;
use super::copy::{Copier, Scope};
use super::emit::number;
use crate::classes::is_scalar;
use crate::layout::RingUse;
use crate::select::Operand;
use crate::views::look_through;
use crate::walk::slice;

impl Builder<'_> {
    /// The agent's region: the loop of products, the epilogue, the stores.
    pub(super) fn math_agent(&mut self, body: BlockId) -> Option<()> {
        let (selection, layout) = (self.source.selection, self.source.layout);
        let agent = layout.agents.get(1)?;
        let region = self.emit(body, selection.func).region(Opcode::Agent, &agent.attributes());
        let mut scope = self.shared.clone();
        self.math_loop(region, &mut scope)?;
        self.read_tiles(region, &mut scope)?;
        self.epilogue(region, &mut scope)?;
        for index in 0..selection.stores.len() {
            self.store(region, index, &scope)?;
        }
        Some(())
    }

    /// What the computing agent's scalars are needed for.
    fn needed_to_compute(&self) -> BTreeSet<ValueId> {
        let (module, selection) = (self.source.module, self.source.selection);
        let stores = selection.stores.iter();
        let roots = stores
            .flat_map(|s| module.ops[s.op].operands.iter().copied().skip(2).chain(std::iter::once(s.value)));
        let mut needed: BTreeSet<ValueId> = BTreeSet::new();
        // The copies' coordinates belong to the loading agent: the slice stops at the product.
        let mut stack: Vec<ValueId> = roots.collect();
        while let Some(value) = stack.pop() {
            if !needed.insert(value) {
                continue;
            }
            let Some(op) = module.def_op(value) else { continue };
            let results = &module.ops[selection.scf_for].results;
            if op == selection.scf_for && results.get(selection.dot.accumulator) != Some(&value) {
                needed.extend(slice(module, &[value]));
            } else if op != selection.scf_for && module.ops[op].opcode != Opcode::DescriptorLoad {
                stack.extend(module.ops[op].operands.iter().copied());
            }
        }
        needed
    }

    fn math_loop(&mut self, block: BlockId, scope: &mut Scope) -> Option<()> {
        let (module, selection, layout) = (self.source.module, self.source.selection, self.source.layout);
        let (scf_for, dot) = (selection.scf_for, &selection.dot);
        let ring = layout.ring(RingUse::Operands)?;
        let needed = self.needed_to_compute();
        let carried = self.carried_scalars(&needed);
        let old = &module.ops[scf_for];

        let initial = *old.operands.get(3 + dot.accumulator)?;
        if scope.get(initial).is_none() {
            Copier { from: module, to: &mut self.out }.op(module.def_op(initial)?, block, scope)?;
        }
        let mut operands = scope.all(old.operands.get(..3)?)?;
        let mut types: Vec<Type> = Vec::new();
        for &at in carried.iter().chain([&dot.accumulator]) {
            operands.push(scope.get(*old.operands.get(3 + at)?)?);
            types.push(module.ty(*old.results.get(at)?).clone());
        }
        operands.extend([self.zero?, self.zero?]);
        types.extend([Type::I32, Type::I32]);
        let mut slots = carried.clone();
        slots.push(dot.accumulator);
        let (new, inner, iterator) = self.open_loop(block, &operands, &types, &slots, scope)?;

        let mut inside = scope.clone();
        self.scalars(selection.loop_body, inner, &needed, &mut inside);
        self.emit(inner, scf_for).ring(Opcode::ConsumerWait, &ring.name, &iterator, &[]);
        let a = self.operand(inner, &dot.a, iterator[0])?;
        let b = self.operand(inner, &dot.b, iterator[0])?;
        let accumulator = *module.blocks[selection.loop_body].args.get(dot.accumulator + 1)?;
        let into = inside.get(accumulator)?;
        let product = self.product(inner, [a, b, into])?;
        let (wait, pending) = (self.source.wait, self.source.pending);
        let mut emit = self.emit(inner, wait);
        let waited = emit.mma_wait(product, pending);
        let lag = [("lag", number(pending))];
        emit.ring(Opcode::ConsumerRelease, &ring.name, &iterator, &lag);
        let next = emit.advance(&ring.name, iterator);
        let mut last = vec![waited];
        last.extend(next);
        self.close_loop(inner, &carried, &inside, &last)?;

        let results = self.out.ops[new].results.clone();
        for (&at, &value) in carried.iter().zip(&results) {
            scope.bind(*old.results.get(at)?, value);
        }
        // Nothing may be in flight when the accumulator is read and the ring becomes staging (C30, C33).
        let accumulated = *results.get(carried.len())?;
        let finished = self.emit(block, scf_for).mma_wait(accumulated, 0);
        scope.bind(*old.results.get(dot.accumulator)?, finished);
        Some(())
    }

    /// An operand: a view of its slot, transposed if the kernel sees it so.
    fn operand(&mut self, block: BlockId, operand: &Operand, index: ValueId) -> Option<ValueId> {
        let selection = self.source.selection;
        let load = selection.loads.get(operand.load)?;
        let tile = load.plan.tile();
        let (ty, elem) =
            (self.tile_type(load.descriptor, &tile), self.source.module.ty(load.value).elem().clone());
        let name = &self.source.layout.ring(RingUse::Operands)?.name;
        let mut emit = self.emit(block, load.op);
        let slot = emit.slot(name, index, operand.load, ty);
        if !operand.transposed {
            return Some(slot);
        }
        let swapped: Vec<u64> = tile.iter().rev().copied().collect();
        let order = Attr::DenseArray { elem: Type::I32, values: vec![1, 0] };
        let op = emit.op(Opcode::Trans, &[slot], &[Type::tensor(&swapped, elem)], &[("order", order)]);
        self.out.result(op)
    }

    /// The product, with the properties of the kernel's.
    fn product(&mut self, block: BlockId, operands: [ValueId; 3]) -> Option<ValueId> {
        let old = &self.source.module.ops[self.source.selection.dot.op];
        let ty = self.out.ty(operands[2]).clone();
        let op = self.out.create_op(Opcode::Dot, &operands, &[ty], old.loc);
        self.out.ops[op].props = old.props.clone();
        self.out.ops[op].span = old.span;
        self.out.append(block, op);
        self.out.result(op)
    }

    /// Waits for each tile of the epilogue and looks at its slot.
    fn read_tiles(&mut self, block: BlockId, scope: &mut Scope) -> Option<()> {
        let (selection, layout) = (self.source.selection, self.source.layout);
        for (index, tile) in selection.tiles.iter().enumerate() {
            let ring = layout.ring(RingUse::Tile(index))?;
            let ty = self.tile_type(tile.descriptor, &tile.plan.tile());
            let zero = self.zero?;
            let mut emit = self.emit(block, tile.op);
            emit.ring(Opcode::ConsumerWait, &ring.name, &[zero, zero], &[]);
            let slot = emit.slot(&ring.name, zero, 0, ty);
            scope.bind(tile.value, slot);
        }
        Some(())
    }

    /// The element-wise part, in the order of the kernel.
    fn epilogue(&mut self, block: BlockId, scope: &mut Scope) -> Option<()> {
        let (module, selection) = (self.source.module, self.source.selection);
        let needed = self.needed_to_compute();
        for &op in &module.blocks[selection.body].ops {
            let results = &module.ops[op].results;
            if !results.iter().any(|v| needed.contains(v) && scope.get(*v).is_none()) {
                continue;
            }
            if self.is_view_of_tile(op) {
                let (&operand, &result) = (module.ops[op].operands.first()?, results.first()?);
                let same = scope.get(operand)?;
                scope.bind(result, same);
                continue;
            }
            Copier { from: module, to: &mut self.out }.op(op, block, scope)?;
        }
        Some(())
    }

    /// A reshape of a loaded tile that only drops unit extents: the slot is seen without them anyway.
    fn is_view_of_tile(&self, op: OpId) -> bool {
        let module = self.source.module;
        if module.ops[op].opcode != Opcode::Reshape || is_scalar(module, op) {
            return false;
        }
        let Some(result) = module.result(op) else { return false };
        let seen = look_through(module, result);
        self.source.selection.tiles.iter().any(|tile| tile.value == seen.base)
    }

    /// One store: everybody is behind the last read of the staging bytes, writes its part, makes it visible to
    /// the copy engine, and one lane sends it off (C26, C33).
    fn store(&mut self, block: BlockId, index: usize, scope: &Scope) -> Option<()> {
        let (module, selection, layout) = (self.source.module, self.source.selection, self.source.layout);
        let store = selection.stores.get(index)?;
        let ring = layout.ring(RingUse::Staging(index))?;
        let barrier = [("barrier", Attr::symbol(layout.staging_barrier(index)?))];
        let zero = self.zero?;
        let value = scope.get(store.value)?;
        let coordinates = scope.all(module.ops[store.op].operands.get(2..)?)?;
        let descriptor = scope.get(store.descriptor)?;
        let mut emit = self.emit(block, store.op);
        emit.op(Opcode::BarrierSync, &[], &[], &barrier);
        let props = [("pipeline", Attr::symbol(&ring.name)), ("payload", number(0))];
        emit.op(Opcode::TileStore, &[value, zero], &[], &props);
        emit.op(Opcode::ProxyFence, &[], &[], &[]);
        emit.op(Opcode::BarrierSync, &[], &[], &barrier);
        let elected = emit.region(Opcode::Elect, &[]);
        let mut emit = self.emit(elected, store.op);
        let mut operands = vec![zero, descriptor];
        operands.extend(coordinates);
        emit.ring(Opcode::TmaStore, &ring.name, &operands, &[("payload", number(0))]);
        emit.op(Opcode::StoreCommit, &[], &[], &[]);
        emit.op(Opcode::StoreWait, &[], &[], &[("pending", number(0)), ("read", Attr::Bool(true))]);
        Some(())
    }
}
