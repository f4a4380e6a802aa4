//! Masks that are bounds of the column: `first + column < bound` in every element is `column < bound - first`, one comparison
//! with a constant, and several such bounds are the least of them.
//!
//! `first + column` must not wrap around: the numbers of a row are consecutive, and the first one is a multiple of as many
//! as there are. `bound - first` saturates, which leaves the comparison with a small column what it was.

use inkwell::IntPredicate;
use smallvec::SmallVec;
use warploom_ir::{Opcode, Type};

use super::Lower;
use super::element::INT_PREDICATES;
use super::tile::Needs;
use super::value::{Base, Bound, Coord, Key};
use crate::error::{Result, internal};
use crate::family::{Axis, Family};
use crate::llvm::{Val, as_int};

/// Deepest nesting of a mask that is looked at, and most bounds of one.
const DEEPEST: u32 = 12;
const MOST: usize = 4;

/// A bound: in its row, the element of column `c` is true where `first + c` is less than `bound`, or equal if `closed`.
pub(super) struct Edge {
    first: Key,
    bound: Key,
    closed: bool,
}

/// The bounds of a mask, and the column.
pub(super) struct Edges {
    all: SmallVec<[Edge; 2]>,
    column: Coord,
}

impl<'c> Lower<'c, '_> {
    /// The bounds that a mask is made of, if it is made of nothing else. Chunks that are copied have few columns and lie as
    /// no tile of the partition does: they gain nothing.
    pub(super) fn edges(&mut self, key: &Key) -> Option<Edges> {
        let column = *key.1.get(column(key)?)?;
        let own = matches!(column.base, Base::Lane(family, _) if family.bare() == self.place.family);
        if !own || matches!(self.place.family, Family::Blocked(_)) {
            return None;
        }
        let mut edges = Edges { all: SmallVec::new(), column };
        self.collect(key, 0, &mut edges).then_some(edges).filter(|e| !e.all.is_empty())
    }

    fn collect(&mut self, key: &Key, depth: u32, edges: &mut Edges) -> bool {
        let (value, at) = key;
        let lazy = matches!(self.bound.get(value), Some(Bound::Lazy(_)));
        let Some(op) = self.module.def_op(*value).filter(|_| lazy && depth < DEEPEST) else { return false };
        let Some(dim) = column(key).filter(|&dim| at.get(dim) == Some(&edges.column)) else { return false };
        match self.module.ops[op].opcode {
            Opcode::AndI | Opcode::Broadcast | Opcode::ExpandDims => {
                let Ok(needs) = self.operands_at(key) else { return false };
                needs.iter().all(|inner| self.collect(inner, depth + 1, edges))
            }
            Opcode::CmpI => match self.edge(key, dim) {
                Some(edge) if edges.all.len() < MOST => {
                    edges.all.push(edge);
                    true
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// A comparison as a bound of the column.
    fn edge(&mut self, (value, at): &Key, dim: usize) -> Option<Edge> {
        let op = self.module.def_op(*value)?;
        let &[a, b] = self.module.ops[op].operands.as_slice() else { return None };
        let (runs, still, closed) = match self.predicate(op, &INT_PREDICATES).ok()? {
            IntPredicate::SLT => (a, b, false),
            IntPredicate::SLE => (a, b, true),
            IntPredicate::SGT => (b, a, false),
            IntPredicate::SGE => (b, a, true),
            _ => return None,
        };
        let extent = *self.module.ty(runs).shape().get(dim)?;
        let words = *self.module.ty(runs).elem() == Type::I32;
        let lazy = matches!(self.bound.get(&runs), Some(Bound::Lazy(_)));
        // The first column's number is another lane's where lanes hold them.
        if !words || !lazy || self.is_held(runs) || self.lazy_of(still).varies & 1 << dim != 0 {
            return None;
        }
        let run = self.runs.along(self.module, runs, dim);
        if run.consecutive < extent || run.multiple < extent {
            return None;
        }
        let mut start = at.clone();
        *start.get_mut(dim)? = Coord::ZERO;
        Some(Edge { first: self.key(runs, start.clone()), bound: self.key(still, start), closed })
    }

    /// What must be computed for bounds.
    pub(super) fn edge_needs(edges: &Edges) -> Needs {
        edges.all.iter().flat_map(|edge| [edge.first.clone(), edge.bound.clone()]).collect()
    }

    /// An element of a mask of bounds, from the operands of each.
    pub(super) fn within(&mut self, edges: &Edges, args: &[Val<'c>]) -> Result<Val<'c>> {
        let mut least: Option<Val<'c>> = None;
        for (edge, pair) in edges.all.iter().zip(args.chunks_exact(2)) {
            let mut limit = self.ir.overloaded("ssub.sat", &[pair[1], pair[0]])?;
            if edge.closed {
                limit = self.ir.overloaded("sadd.sat", &[limit, self.ir.c32(1).into()])?;
            }
            least = Some(match least {
                Some(least) => self.ir.overloaded("smin", &[least, limit])?,
                None => limit,
            });
        }
        let least = least.ok_or_else(|| internal("a mask of nothing"))?;
        // The lane's own first column goes to the other side, so that a constant is left.
        let own = self.coordinate(Coord { offset: 0, ..edges.column })?;
        let rest = as_int(self.ir.overloaded("ssub.sat", &[least, own.into()])?)?;
        let offset = self.ir.c32(u64::from(edges.column.offset));
        Ok(self.ir.icmp(IntPredicate::SLT, offset, rest)?.into())
    }
}

/// The dimension of the column.
fn column((_, at): &Key) -> Option<usize> {
    at.iter().position(|coord| matches!(coord.base, Base::Lane(_, Axis::Col)))
}
