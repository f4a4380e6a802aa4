//! A loop rotated by one iteration (C28, C29): a first part of iteration 0, a body that holds the second stage of one
//! iteration and the first stage of the next, and the second stage of the last iteration; nothing where there is none.
//!
//! ```text
//! if lower < upper {  first stage of 0
//!                     for the other iterations i { steps of stage 0 for i, of stage 1 for i-1, in schedule order }
//!                     second stage of the last }
//! else             {  what the loop starts with }
//! ```
//!
//! With two stages a single iteration already goes this way, so that no unrotated copy of the loop is needed.

use warploom_ir::{Attr, OpId, Opcode, Type, ValueId};

use crate::specialize::copy::Scope;
use crate::specialize::shape::LoopShape;
use crate::specialize::walker::Walker;

impl Walker<'_, '_> {
    /// A pipelined loop in two stages.
    pub(super) fn rotated(&mut self, scf_for: OpId, mut shape: LoopShape) -> Option<()> {
        // What only the loading partition carries stays with it.
        shape.crossing.retain(|v| self.needed.values.contains(*v));
        let shape = &shape;
        let module = self.module();
        let body = module.entry(scf_for, 0)?;
        let (carried, rings) = (self.carried(scf_for), self.rings_in(scf_for));
        let bounds = self.bounds(scf_for)?;
        let mut initial = Vec::new();
        for &at in &carried {
            initial.push(self.read(*module.ops[scf_for].operands.get(3 + at)?, 0, scf_for)?);
        }
        let results: Vec<ValueId> =
            carried.iter().map(|&at| module.ops[scf_for].results.get(at).copied()).collect::<Option<_>>()?;
        let mut types: Vec<Type> = results.iter().map(|&v| module.ty(v).clone()).collect();
        types.extend(rings.iter().flat_map(|_| [Type::I32, Type::I32]));
        self.nameless = true;
        let any = self.less(bounds[0], bounds[1], scf_for)?;
        let rest = self.rest(scf_for, bounds)?;

        let scf_if = self.emit(scf_for).op(Opcode::If, &[any], &types, &[]);
        let (outside, base, iterators) = (self.at, self.scopes.clone(), self.iterators.clone());
        let region = self.b.out.add_region(scf_if);
        self.at = self.b.out.add_block(region);
        self.first_iteration(scf_for, shape, bounds[0], &carried, &initial)?;
        let values = self.around(scf_for, shape, [rest, bounds[1], bounds[2]], &base, &rings)?;
        self.last_iteration(scf_for, shape, &values, &base)?;
        let yielded = module.terminator(body)?;
        let mut last = Vec::new();
        for &at in &carried {
            last.push(self.read(*module.ops[yielded].operands.get(at)?, 0, yielded)?);
        }
        for &ring in &rings {
            last.extend(self.iterator(ring)?);
        }
        self.emit(yielded).op(Opcode::Yield, &last, &[], &[]);

        let region = self.b.out.add_region(scf_if);
        self.at = self.b.out.add_block(region);
        self.iterators = iterators;
        let mut unchanged = initial;
        for &ring in &rings {
            unchanged.extend(self.iterator(ring)?);
        }
        self.emit(yielded).op(Opcode::Yield, &unchanged, &[], &[]);

        (self.at, self.scopes) = (outside, base);
        self.nameless = false;
        let made = self.b.out.ops[scf_if].results.to_vec();
        for (&old, &new) in results.iter().zip(&made) {
            self.scopes.first_mut()?.bind(old, new);
        }
        self.bind_iterators(&rings, made.get(results.len()..)?);
        Some(())
    }

    /// `a < b`.
    pub(super) fn less(&mut self, a: ValueId, b: ValueId, at: OpId) -> Option<ValueId> {
        let op = self.emit(at).op(
            Opcode::CmpI,
            &[a, b],
            &[Type::I1],
            &[("predicate", Attr::Opaque("slt".to_owned()))],
        );
        self.b.out.result(op)
    }

    /// Where the second iteration starts. Past the greatest number there is none, and the loop is empty.
    fn rest(&mut self, scf_for: OpId, [lower, upper, step]: [ValueId; 3]) -> Option<ValueId> {
        let ty = self.b.out.ty(lower).clone();
        let sum = self.emit(scf_for).op(Opcode::AddI, &[lower, step], std::slice::from_ref(&ty), &[]);
        let sum = self.b.out.result(sum)?;
        let known = |v: ValueId| crate::classes::constant(&self.b.out, v);
        if let (Some(a), Some(b)) = (known(lower), known(step))
            && a.checked_add(b).is_some_and(|s| i32::try_from(s).is_ok())
        {
            return Some(sum);
        }
        let grows = self.less(lower, sum, scf_for)?;
        let chosen = self.emit(scf_for).op(Opcode::Select, &[grows, sum, upper], &[ty], &[]);
        self.b.out.result(chosen)
    }

    /// The first stage of iteration 0.
    fn first_iteration(
        &mut self,
        scf_for: OpId,
        shape: &LoopShape,
        lower: ValueId,
        carried: &[usize],
        initial: &[ValueId],
    ) -> Option<()> {
        let module = self.module();
        let args = module.blocks[module.entry(scf_for, 0)?].args.clone();
        let scope = self.scopes.first_mut()?;
        scope.bind(*args.first()?, lower);
        for (&at, &value) in carried.iter().zip(initial) {
            scope.bind(*args.get(at + 1)?, value);
        }
        for step in shape.steps.iter().filter(|s| s.stage == 0) {
            self.step(step.op, 0)?;
        }
        self.drain(scf_for);
        Some(())
    }

    /// The steady loop; gives what the crossing values are behind it.
    fn around(
        &mut self,
        scf_for: OpId,
        shape: &LoopShape,
        bounds: [ValueId; 3],
        base: &[Scope],
        rings: &[usize],
    ) -> Option<Vec<ValueId>> {
        let module = self.module();
        let body = module.entry(scf_for, 0)?;
        let args = module.blocks[body].args.clone();
        let yielded = module.terminator(body)?;
        let mut before = Vec::new();
        for &value in &shape.crossing {
            before.push(self.read(value, 0, scf_for)?);
        }
        self.scopes = base.to_vec();
        self.between_trips(scf_for);
        let opened = self.open_loop(scf_for, bounds, &shape.crossing, &before, (rings, &[]))?;
        // The loop counts the younger iteration.
        let counter = *self.b.out.blocks[self.at].args.first()?;
        let mut younger = base.first()?.clone();
        younger.bind(*args.first()?, counter);
        self.scopes.push(younger);
        let next = module.ops[yielded].operands.iter().copied();
        self.next_of = args.iter().copied().skip(1).zip(next).collect();
        for step in &shape.steps {
            self.step(step.op, if step.stage == 0 { 1 } else { 0 })?;
        }
        self.drain(scf_for);
        let mut last = Vec::new();
        for &value in &shape.crossing {
            last.push(self.read(value, 1, scf_for)?);
        }
        Some(self.close_loop(opened, yielded, &last, (rings, &[]))?.0)
    }

    /// The second stage of the last iteration.
    fn last_iteration(
        &mut self,
        scf_for: OpId,
        shape: &LoopShape,
        values: &[ValueId],
        base: &[Scope],
    ) -> Option<()> {
        self.scopes = base.to_vec();
        for (&old, &new) in shape.crossing.iter().zip(values) {
            self.scopes.first_mut()?.bind(old, new);
        }
        for step in shape.steps.iter().filter(|s| s.stage > 0) {
            self.step(step.op, 0)?;
        }
        self.close_turns(scf_for);
        self.drain(scf_for);
        Some(())
    }
}
