//! Tiles that are not stored: their elements are computed at the positions where they are used (C8, C61).
//!
//! [`Lower::at`] evaluates a value at a position, with a stack of its own instead of recursion; what was
//! computed in a scope is computed once.

use smallvec::SmallVec;
use warploom_ir::diag::Code;
use warploom_ir::{Attr, OpId, Opcode, ValueId};

use super::Lower;
use super::neighbours::Neighbours;
use super::value::{Base, Bound, Coord, Coords, Key, Lazy, Memory, View};
use crate::error::{Result, internal, locate, refuse};
use crate::llvm::Val;

/// Most dimensions of a tile (C4): each has a bit of [`Lazy::varies`].
const MAX_RANK: usize = 20;

/// Values needed first, with the positions they are needed at.
pub(super) type Needs = SmallVec<[Key; 4]>;

/// Elements that are made at once.
pub(super) enum Together {
    /// Neighbours that one access brings.
    Load(OpId, Box<Neighbours>),
    /// Two that one instruction computes.
    Pair(OpId, [Coords; 2]),
}

impl<'c> Lower<'c, '_> {
    /// What a tile operation depends on: the dimensions it varies along and the memory it reads.
    pub(super) fn lazy(&self, op: OpId, result: ValueId) -> Result<Lazy> {
        let module = self.module;
        let rank = module.ty(result).shape().len();
        if rank > MAX_RANK {
            return Err(refuse(Code::Shape, format!("a tile of {rank} dimensions")).rule("C4").into());
        }
        let operands = &module.ops[op].operands;
        let of = |index: usize| self.lazy_of(*operands.get(index).unwrap_or(&result));
        let reads = operands.iter().fold(Memory::NONE, |all, &v| all.union(self.lazy_of(v).reads));
        let varies = match module.ops[op].opcode {
            Opcode::Constant => match module.attr(op, "value") {
                Some(Attr::Splat { .. }) => 0,
                _ => {
                    let text = "a constant tile with differing elements";
                    return Err(refuse(Code::Op, text)
                        .rule("C5")
                        .note("instead", "tt.make_range, tt.splat")
                        .into());
                }
            },
            Opcode::Splat => 0,
            Opcode::MakeRange => 1,
            Opcode::ExpandDims => {
                let axis = self.axis(op, rank)?;
                let low = (1u32 << axis) - 1;
                let inner = of(0).varies;
                inner & low | (inner & !low) << 1
            }
            Opcode::Broadcast => {
                let source = module.ty(operands[0]).shape();
                let ones = (0..rank).filter(|&d| source.get(d) == Some(&1)).fold(0u32, |m, d| m | 1 << d);
                of(0).varies & !ones
            }
            Opcode::Trans => {
                let order = self.order(op, rank)?;
                (0..rank).filter(|&d| of(0).varies & 1 << order[d] != 0).fold(0, |m, d| m | 1 << d)
            }
            Opcode::Reshape => {
                let (from, to) = (module.ty(operands[0]).shape(), module.ty(result).shape());
                if from.iter().product::<u64>() != to.iter().product::<u64>() {
                    return Err(refuse(Code::Verify, "tt.reshape into another number of elements").into());
                }
                (1u32 << rank) - 1
            }
            Opcode::Gather => (1u32 << rank) - 1,
            Opcode::Join => of(0).varies | of(1).varies | 1 << (rank - 1),
            Opcode::Load => operands.iter().fold(0, |m, &v| m | self.lazy_of(v).varies),
            opcode if opcode.is_elementwise() => {
                let same = |&v: &ValueId| module.ty(v).shape() == module.ty(result).shape();
                let scalar_condition = |&v: &ValueId| !module.ty(v).is_tensor();
                if !operands.iter().all(|v| same(v) || scalar_condition(v)) {
                    return Err(refuse(Code::Verify, "operands of different shapes").into());
                }
                operands.iter().fold(0, |m, &v| m | self.lazy_of(v).varies)
            }
            _ => return Err(self.unsupported(op)),
        };
        let reads = match module.ops[op].opcode {
            Opcode::Load => reads.union(Memory::GLOBAL),
            _ => reads,
        };
        let alike = if module.ops[op].opcode == Opcode::Load { self.loaded_alike(op) } else { [0; 2] };
        Ok(Lazy { varies, reads, alike })
    }

    /// What a value depends on; stored tiles vary along every dimension.
    pub(super) fn lazy_of(&self, value: ValueId) -> Lazy {
        match self.bound.get(&value) {
            Some(Bound::Lazy(lazy)) => *lazy,
            Some(Bound::View(view)) => {
                Lazy { varies: u32::MAX, reads: Memory::ring(view.ring), ..Lazy::default() }
            }
            Some(Bound::Fragment(_)) => {
                Lazy { varies: u32::MAX, reads: Memory::REGISTERS, ..Lazy::default() }
            }
            _ => Lazy::default(),
        }
    }

    pub(super) fn axis(&self, op: OpId, rank: usize) -> Result<usize> {
        let axis = usize::try_from(self.count(op, "axis")?).ok().filter(|&axis| axis < rank);
        axis.ok_or_else(|| refuse(Code::Verify, "axis out of range").into())
    }

    /// The permutation of `tt.trans`.
    pub(super) fn order(&self, op: OpId, rank: usize) -> Result<SmallVec<[usize; 5]>> {
        let order = match self.module.attr(op, "order") {
            Some(Attr::DenseArray { values, .. }) => values.as_slice(),
            _ => &[],
        };
        let order: SmallVec<[usize; 5]> = order.iter().filter_map(|&d| usize::try_from(d).ok()).collect();
        let valid = order.len() == rank && (0..rank).all(|d| order.contains(&d));
        valid.then_some(order).ok_or_else(|| refuse(Code::Verify, "tt.trans needs a permutation").into())
    }

    /// `tt.reshape` of a slot whose rows stay what they are: another view of it. Says whether that is one.
    pub(super) fn reshape_view(&mut self, op: OpId) -> Result<bool> {
        let (operand, result) = (self.operand(op, 0)?, self.only_result(op)?);
        let (from, to) = (self.module.ty(operand).shape(), self.module.ty(result).shape());
        let same = from.last() == to.last() && from.iter().product::<u64>() == to.iter().product::<u64>();
        let slot = self.slots.get(&operand).copied().filter(|view| {
            let payload = &self.program.rings[view.ring].payloads[view.payload];
            same && payload.columns.is_none()
        });
        let Some(view) = slot else { return Ok(false) };
        self.slots.insert(result, view);
        let seen = matches!(self.bound.get(&operand), Some(Bound::View(_)));
        if seen {
            self.bound.insert(result, Bound::View(view));
            self.open.push((result, Memory::ring(view.ring)));
        }
        Ok(seen)
    }

    /// `tt.trans`: of a view, another view; of other tiles, an exchange of coordinates.
    pub(super) fn trans(&mut self, op: OpId) -> Result<()> {
        let result = self.only_result(op)?;
        let rank = self.module.ty(result).shape().len();
        let order = self.order(op, rank)?;
        let operand = self.operand(op, 0)?;
        let shape = self.module.ty(operand).shape();
        let exchanged = exchanges(&order, shape);
        let slot = self.slots.get(&operand).zip(exchanged);
        let slot = slot.map(|(view, exchanged)| View { transposed: view.transposed != exchanged, ..*view });
        if let Some(view) = slot {
            self.slots.insert(result, view);
        }
        match (self.bound.get(&operand), slot) {
            (Some(Bound::View(_)), Some(view)) => {
                self.bound.insert(result, Bound::View(view));
                self.open.push((result, Memory::ring(view.ring)));
                Ok(())
            }
            _ => {
                let lazy = self.lazy(op, result)?;
                self.defer(result, lazy)
            }
        }
    }

    /// `tt.unsplat`: the only element.
    pub(super) fn unsplat(&mut self, op: OpId) -> Result<()> {
        let (source, result) = (self.operand(op, 0)?, self.only_result(op)?);
        let rank = self.module.ty(source).shape().len();
        let element = self.at(source, std::iter::repeat_n(Coord::ZERO, rank).collect())?;
        self.bound.insert(result, Bound::Scalar(element));
        Ok(())
    }

    /// The element of a value at a position.
    pub(super) fn at(&mut self, value: ValueId, at: Coords) -> Result<Val<'c>> {
        let root = self.key(value, at);
        let mut stack = vec![root.clone()];
        while let Some(key) = stack.last() {
            if self.memo.contains_key(key) {
                stack.pop();
                continue;
            }
            let key = key.clone();
            if let Some(value) = self.made_in_front(&key)? {
                self.remember(key, value);
                stack.pop();
                continue;
            }
            let together = self.together_with(&key);
            let needs = self.needs(&key, together.as_ref())?;
            let before = stack.len();
            stack.extend(needs.iter().filter(|need| !self.memo.contains_key(*need)).cloned());
            if stack.len() == before {
                match &together {
                    Some(Together::Load(op, all)) => self.remember_neighbours(*op, &key, all, &needs)?,
                    Some(Together::Pair(op, places)) => self.remember_pair(*op, key.0, places, &needs)?,
                    None => {
                        let value = self.compute(&key, &needs)?;
                        self.remember(key, value);
                    }
                }
                stack.pop();
            }
        }
        self.memo.get(&root).copied().ok_or_else(|| internal("an element was not computed"))
    }

    pub(super) fn remember(&mut self, key: Key, value: Val<'c>) {
        self.memo_log.push(key.clone());
        self.memo.insert(key, value);
    }

    /// What comes with this element: others of a load, or the one that it is computed with.
    fn together_with(&mut self, (value, at): &Key) -> Option<Together> {
        if !matches!(self.bound.get(value), Some(Bound::Lazy(_))) {
            return None;
        }
        let op = self.module.def_op(*value)?;
        match self.pair_of(op, *value, at) {
            Some(places) => Some(Together::Pair(op, places)),
            None => Some(Together::Load(op, Box::new(self.neighbours(op, at)?))),
        }
    }

    /// Loads an element with its neighbours, and keeps them all.
    fn remember_neighbours(&mut self, op: OpId, key: &Key, all: &Neighbours, needs: &Needs) -> Result<()> {
        let args = needs
            .iter()
            .map(|key| self.memo.get(key).copied().ok_or_else(|| internal("an operand is missing")));
        let args = args.collect::<Result<SmallVec<[Val<'c>; 4]>>>()?;
        let values = self.load_neighbours(op, all, &args).map_err(|r| locate(self.module, op, r))?;
        for (place, value) in all.places.iter().zip(values) {
            let key = self.key(key.0, place.clone());
            self.remember(key, value);
        }
        Ok(())
    }

    /// A position with the coordinates that do not matter set to zero, and those of elements that one load brings to the first of
    /// them, so that equal elements have equal keys.
    pub(super) fn key(&self, value: ValueId, mut at: Coords) -> Key {
        let Lazy { varies, alike, .. } = self.lazy_of(value);
        for (d, coord) in at.iter_mut().enumerate() {
            if varies & 1 << d == 0 {
                *coord = Coord::ZERO;
            }
        }
        for (coord, bits) in at.iter_mut().rev().zip(alike.into_iter().rev()).filter(|(_, bits)| *bits > 0) {
            let group = (1 << bits.min(31)).min(coord.base.multiple());
            coord.offset &= !(group - 1);
        }
        (value, at)
    }

    /// Along the last two dimensions, as powers of two: neighbours that are loaded from one place, masked alike, and that
    /// something alike stands for.
    fn loaded_alike(&self, op: OpId) -> [u8; 2] {
        let module = self.module;
        let Some(rank) = module.result(op).map(|v| module.ty(v).shape().len()) else { return [0; 2] };
        if module.is_volatile(op) {
            return [0; 2];
        }
        let along = |back: usize| {
            let dim = rank.checked_sub(back)?;
            let tiles = module.ops[op].operands.iter().filter(|&&v| module.ty(v).is_tensor());
            let equal = tiles.map(|&v| self.runs.along(module, v, dim).equal).min()?;
            Some(equal.max(1).trailing_zeros() as u8)
        };
        [along(2).unwrap_or(0), along(1).unwrap_or(0)]
    }

    /// What must be computed before an element: operands at their positions.
    pub(super) fn needs(&mut self, key: &Key, together: Option<&Together>) -> Result<Needs> {
        match together {
            Some(Together::Load(op, all)) => return Ok(self.neighbours_need(*op, all)),
            Some(Together::Pair(op, places)) => return Ok(self.pair_needs(*op, places)),
            None => {}
        }
        match self.edges(key) {
            Some(edges) => Ok(Self::edge_needs(&edges)),
            None => self.operands_at(key),
        }
    }

    /// The operands of an element at their positions.
    pub(super) fn operands_at(&mut self, key: &Key) -> Result<Needs> {
        let (value, at) = key;
        let Some(Bound::Lazy(_)) = self.bound.get(value) else {
            return Ok(Needs::new());
        };
        let op = self.module.def_op(*value).ok_or_else(|| internal("a tile without an operation"))?;
        let module = self.module;
        let operands = &module.ops[op].operands;
        if module.ops[op].opcode == Opcode::Gather {
            return self.gather_needs(op, key);
        }
        let mut positions = SmallVec::<[Coords; 4]>::new();
        match self.module.ops[op].opcode {
            Opcode::Constant | Opcode::MakeRange | Opcode::Splat => {}
            Opcode::ExpandDims | Opcode::Broadcast | Opcode::Trans => {
                positions.extend(self.seen_through(op, at)?);
            }
            Opcode::Reshape if self.moves(op) => positions.push(self.reshaped(key, operands[0])?),
            Opcode::Split => {
                let which = module.ops[op].results.iter().position(|result| result == value);
                let mut inner = at.clone();
                inner.push(Coord { base: Base::Zero, offset: which.unwrap_or(0) as u32 });
                positions.push(inner);
            }
            Opcode::Join => {
                let inner: Coords = at[..at.len() - 1].into();
                positions.extend([inner.clone(), inner]);
            }
            Opcode::Reshape => {
                let (from, to) = (self.module.ty(operands[0]).shape(), self.module.ty(*value).shape());
                let mut real = at.iter().zip(to).filter(|(_, n)| **n != 1).map(|(&c, _)| c);
                let fill = |&n: &u64| if n == 1 { Coord::ZERO } else { real.next().unwrap_or(Coord::ZERO) };
                positions.push(from.iter().map(fill).collect());
            }
            _ => positions.extend(operands.iter().map(|&v| match self.module.ty(v).is_tensor() {
                true => at.clone(),
                false => Coords::new(),
            })),
        }
        Ok(operands.iter().zip(positions).map(|(&v, at)| self.key(v, at)).collect())
    }

    /// Computes one element from its operands, which are known.
    fn compute(&mut self, key: &Key, needs: &Needs) -> Result<Val<'c>> {
        let (value, at) = key;
        match self.bound.get(value) {
            Some(Bound::Scalar(value)) => return Ok(*value),
            Some(Bound::Fragment(fragment)) => {
                let fragment = fragment.clone();
                return self.fragment_element(*value, &fragment, at);
            }
            Some(Bound::View(view)) => {
                let view = *view;
                return self.view_element(*value, &view, at);
            }
            Some(Bound::Lazy(_)) => {}
            _ => return Err(internal("a tile is used before it is computed")),
        }
        let op = self.module.def_op(*value).ok_or_else(|| internal("a tile without an operation"))?;
        let args = needs
            .iter()
            .map(|key| self.memo.get(key).copied().ok_or_else(|| internal("an operand is missing")));
        let args = args.collect::<Result<SmallVec<[Val<'c>; 4]>>>()?;
        if let Some(edges) = self.edges(key) {
            return self.within(&edges, &args);
        }
        let result = match self.module.ops[op].opcode {
            Opcode::Splat => self.scalar(self.operand(op, 0)?),
            Opcode::Gather => args.get(1).copied().ok_or_else(|| internal("an operand is missing")),
            Opcode::Join => self.joined(at, &args),
            Opcode::ExpandDims | Opcode::Broadcast | Opcode::Trans | Opcode::Reshape | Opcode::Split => {
                args.first().copied().ok_or_else(|| internal("an operand is missing"))
            }
            Opcode::MakeRange => self.range_element(op, at),
            _ => self.element(op, &args),
        };
        result.map_err(|refusal| locate(self.module, op, refusal))
    }

    fn range_element(&mut self, op: OpId, at: &Coords) -> Result<Val<'c>> {
        let start = self.count(op, "start")?;
        let index = self.coordinate(*at.first().unwrap_or(&Coord::ZERO))?;
        Ok(self.ir.add(index, self.ir.c32(start))?.into())
    }
}

/// Whether a permutation exchanges rows and columns of a tile; `None` where it does something else. Rows are all dimensions
/// but the last; where a tile has more than two, dimensions with one element may stand anywhere.
fn exchanges(order: &[usize], shape: &[u64]) -> Option<bool> {
    if order.len() == 2 {
        return Some(order.first() == Some(&1));
    }
    let last = shape.len().checked_sub(1)?;
    let moved: SmallVec<[usize; 5]> =
        order.iter().copied().filter(|&d| shape.get(d).is_some_and(|&n| n != 1)).collect();
    match (moved.as_slice(), *order.last()?) {
        (all, end) if all.is_sorted() && all.last() == Some(&last) && end == last => Some(false),
        (&[second, first], end) if second == last && end == first => Some(true),
        _ => None,
    }
}
