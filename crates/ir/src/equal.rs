//! Structural equality of modules (C1).

use std::collections::HashMap;

use crate::attr::AttrDict;
use crate::entity::{BlockId, LocId, OpId, RegionId, ValueId};
use crate::loc::{Loc, MIN_PARTS};
use crate::module::Module;
use crate::walk::{Event, events};

/// Whether two modules say the same: operations, types, attributes, names and locations, in order. How the
/// arenas number things does not matter, nor the order of attributes, nor byte offsets of the text.
pub fn equal(a: &Module, b: &Module) -> bool {
    difference(a, b).is_none()
}

/// The first thing that two modules say differently, in words; `None` when they are [`equal`].
pub fn difference(a: &Module, b: &Module) -> Option<String> {
    Comparison { a, b, values: HashMap::new(), uses: Vec::new() }.modules().err()
}

struct Comparison<'m> {
    a: &'m Module,
    b: &'m Module,
    /// Values of `a` and the ones of `b` that they correspond to.
    values: HashMap<ValueId, ValueId>,
    /// Operands to compare when all values are known.
    uses: Vec<(OpId, ValueId, ValueId)>,
}

impl Comparison<'_> {
    fn modules(mut self) -> Result<(), String> {
        let (a, b) = (self.a, self.b);
        let names = |m: &Module| m.loc_aliases.iter().map(|x| x.0.clone()).collect::<Vec<_>>();
        if a.attr_aliases != b.attr_aliases {
            return Err("attribute aliases differ".into());
        }
        if names(a) != names(b) || a.leading_loc_aliases != b.leading_loc_aliases {
            return Err("location aliases differ in name, order or place".into());
        }
        for ((name, x), (_, y)) in a.loc_aliases.iter().zip(&b.loc_aliases) {
            if !self.locs(*x, *y) {
                return Err(format!("location alias #{name} differs"));
            }
        }
        let mut left = events(a, a.root);
        let mut right = events(b, b.root);
        loop {
            match (left.next(), right.next()) {
                (None, None) => break,
                (Some(Event::Op(x)), Some(Event::Op(y))) => self.operations(x, y)?,
                (Some(Event::Block(x)), Some(Event::Block(y))) => self.blocks(x, y)?,
                (Some(Event::Enter(x)), Some(Event::Enter(y))) => self.regions(x, y)?,
                (Some(Event::Done(_)), Some(Event::Done(_))) => {}
                (Some(Event::Leave(_)), Some(Event::Leave(_))) => {}
                _ => return Err("operations are nested differently".into()),
            }
        }
        for (op, x, y) in std::mem::take(&mut self.uses) {
            if self.values.get(&x) != Some(&y) {
                return Err(format!("an operand of {} differs", self.describe(op)));
            }
        }
        Ok(())
    }

    fn describe(&self, op: OpId) -> String {
        crate::text::print_op(self.a, op)
    }

    fn operations(&mut self, x: OpId, y: OpId) -> Result<(), String> {
        let (a, b) = (&self.a.ops[x], &self.b.ops[y]);
        let differ = |what: &str| Err(format!("{what} of `{}` differs", self.describe(x)));
        if self.a.op_name(x) != self.b.op_name(y) {
            return Err(format!("`{}` against `{}`", self.describe(x), crate::text::print_op(self.b, y)));
        }
        if a.operands.len() != b.operands.len() || a.regions.len() != b.regions.len() {
            return differ("the number of operands or regions");
        }
        if !dicts(&a.props, &b.props) || !dicts(&a.attrs, &b.attrs) {
            return differ("an attribute");
        }
        if !self.locs(a.loc, b.loc) {
            return differ("the location");
        }
        let places = |m: &Module, blocks: &[BlockId]| -> Vec<Option<usize>> {
            let place = |b: &BlockId| {
                let region = m.blocks[*b].region?;
                m.regions[region].blocks.iter().position(|other| other == b)
            };
            blocks.iter().map(place).collect()
        };
        if places(self.a, &a.successors) != places(self.b, &b.successors) {
            return differ("a successor");
        }
        if !self.bind(&a.results, &b.results) {
            return Err(format!("a result of `{}` differs", self.describe(x)));
        }
        self.uses.extend(a.operands.iter().zip(&b.operands).map(|(u, v)| (x, *u, *v)));
        Ok(())
    }

    fn regions(&mut self, x: RegionId, y: RegionId) -> Result<(), String> {
        match self.a.regions[x].blocks.len() == self.b.regions[y].blocks.len() {
            true => Ok(()),
            false => Err("a region has another number of blocks".into()),
        }
    }

    fn blocks(&mut self, x: BlockId, y: BlockId) -> Result<(), String> {
        let (a, b) = (&self.a.blocks[x], &self.b.blocks[y]);
        let locs =
            a.args.iter().zip(&b.args).all(|(u, v)| self.locs(self.a.values[*u].loc, self.b.values[*v].loc));
        if !(self.bind(&a.args, &b.args) && locs) {
            let first = |m: &Module, args: &[ValueId]| {
                args.iter()
                    .map(|&v| format!("{:?}: {}", m.values[v].name, m.ty(v)))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            return Err(format!(
                "the arguments of a block differ: ({}) and ({})",
                first(self.a, &a.args),
                first(self.b, &b.args)
            ));
        }
        match a.ops.len() == b.ops.len() {
            true => Ok(()),
            false => Err(format!("a block has {} operations, or {}", a.ops.len(), b.ops.len())),
        }
    }

    /// Types and names agree; the values correspond from now on.
    fn bind(&mut self, xs: &[ValueId], ys: &[ValueId]) -> bool {
        let same = |(x, y): (&ValueId, &ValueId)| {
            let (a, b) = (&self.a.values[*x], &self.b.values[*y]);
            a.ty == b.ty && a.name == b.name
        };
        let equal = xs.len() == ys.len() && xs.iter().zip(ys).all(same);
        self.values.extend(xs.iter().copied().zip(ys.iter().copied()));
        equal
    }

    fn locs(&self, x: LocId, y: LocId) -> bool {
        let mut work = vec![(x, y)];
        let mut steps = 0;
        while let Some((x, y)) = work.pop() {
            steps += 1;
            // What leads back to itself is like nothing else.
            if steps > self.a.locs.len().max(MIN_PARTS) {
                return false;
            }
            match (&self.a.locs[x], &self.b.locs[y]) {
                (Loc::Unknown, Loc::Unknown) => {}
                (Loc::Alias(p), Loc::Alias(q)) if p == q => {}
                (Loc::File { .. }, Loc::File { .. }) if self.a.locs[x] == self.b.locs[y] => {}
                (Loc::Name { name: p, child: c }, Loc::Name { name: q, child: d }) if p == q => {
                    match (c, d) {
                        (None, None) => {}
                        (Some(c), Some(d)) => work.push((*c, *d)),
                        _ => return false,
                    }
                }
                (Loc::CallSite { callee: c, caller: d }, Loc::CallSite { callee: e, caller: f }) => {
                    work.extend([(*c, *e), (*d, *f)])
                }
                (Loc::Fused { metadata: p, parts: c }, Loc::Fused { metadata: q, parts: d })
                    if p == q && c.len() == d.len() =>
                {
                    work.extend(c.iter().copied().zip(d.iter().copied()));
                }
                _ => return false,
            }
        }
        true
    }
}

/// The same attributes in any order.
fn dicts(a: &AttrDict, b: &AttrDict) -> bool {
    a.len() == b.len() && a.iter().all(|(name, attr)| b.get(name) == Some(attr))
}
