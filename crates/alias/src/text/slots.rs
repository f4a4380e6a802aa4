//! Expanded aliases and the indices into them (A35, A36).

use hashbrown::{HashMap, HashSet};

use super::lower::new_op;
use super::tree::{Form, OpId, Piece, Tree, ValueId};
use super::types::MemDesc;
use crate::error::{AliasError, Result};
use crate::index::SlotMap;
use crate::layout::LeafLayout;

/// Follows an expanded alias to every index operation.
pub(crate) struct Rewriter<'t> {
    tree: &'t mut Tree,
    users: HashMap<ValueId, Vec<OpId>>,
    before: HashMap<OpId, Vec<OpId>>,
}

/// What follows one alias.
struct Follow<'p> {
    slots: &'p SlotMap,
    name: String,
    count: u64,
    unit_type: MemDesc,
    seen: HashSet<ValueId>,
    work: Vec<ValueId>,
}

impl<'t> Rewriter<'t> {
    /// For the values of one function; of its operations `ops` some may be gone by now.
    pub(crate) fn new(
        tree: &'t mut Tree,
        ops: &[OpId],
        gone: &HashSet<OpId>,
        before: HashMap<OpId, Vec<OpId>>,
    ) -> Rewriter<'t> {
        let left: Vec<OpId> = ops.iter().copied().filter(|op| !gone.contains(op)).collect();
        let users = super::read::users(tree, &left);
        Rewriter { tree, users, before }
    }

    pub(crate) fn finish(self) -> HashMap<OpId, Vec<OpId>> {
        self.before
    }

    /// Expands one alias and rewrites its users; nothing where slots are indices.
    pub(crate) fn expand(&mut self, op: OpId, place: &LeafLayout) -> Result<()> {
        let Some(slots) = place.slots.as_ref().filter(|s| !s.is_identity()) else { return Ok(()) };
        let Some(value) = self.tree.ops.get(op).and_then(|o| o.results.first()).copied() else {
            return Ok(());
        };
        let Some(desc) = self.tree.ty(value).and_then(|t| MemDesc::parse(t).ok().flatten()) else {
            return Ok(());
        };
        // A single tile of tensor memory has no dimension to expand; it stays where the storage begins.
        if place.count == 1 && desc.dims.first() != Some(&1) {
            let message = format!("%{} has no dimension 0 to address slot {} with", place.name, slots.offset);
            let at = self.tree.ops.get(op).map(|o| o.pos);
            return Err(AliasError::new("A35", message).at(at).help("give it a leading dimension of 1"));
        }
        let mut follow = Follow {
            slots,
            name: place.name.clone(),
            count: place.count,
            unit_type: desc,
            seen: HashSet::new(),
            work: Vec::new(),
        };
        self.grow(value, &mut follow)?;
        if let Some(form) = self.tree.ops.get_mut(op).and_then(|o| o.form.as_mut()) {
            form.outs = self.tree.values.get(value).and_then(|v| v.ty.clone()).into_iter().collect();
        }
        while let Some(value) = follow.work.pop() {
            for user in self.users.get(&value).cloned().unwrap_or_default() {
                self.user(user, value, &mut follow)?;
            }
        }
        Ok(())
    }

    /// Gives a value the expanded type, once.
    fn grow(&mut self, value: ValueId, follow: &mut Follow<'_>) -> Result<()> {
        if !follow.seen.insert(value) {
            return Ok(());
        }
        let ty = self.tree.ty(value).unwrap_or("").to_owned();
        let desc = MemDesc::parse(&ty).ok().flatten();
        let Some(mut desc) = desc.filter(|d| d.dims.first() == Some(&follow.count)) else {
            return Err(AliasError::new("A35", format!("%{} is carried as {ty}", follow.name)));
        };
        if let Some(first) = desc.dims.first_mut() {
            *first = follow.slots.slots;
        }
        if let Some(v) = self.tree.values.get_mut(value) {
            v.ty = Some(desc.print());
        }
        follow.work.push(value);
        Ok(())
    }

    fn user(&mut self, id: OpId, value: ValueId, follow: &mut Follow<'_>) -> Result<()> {
        let Some(op) = self.tree.ops.get(id) else { return Ok(()) };
        let (name, at) = (op.name.clone(), op.pos);
        let carried = follow.name.clone();
        let refuse = || {
            AliasError::new("A35", format!("%{carried} is used by {name}; its index cannot be rewritten"))
                .at(at)
                .help("index it first, or use base and stride (no strict slots)")
        };
        match name.as_str() {
            "ttg.memdesc_index" => self.index(id, value, follow),
            "ttg.memdesc_reinterpret" | "tlx.local_alias" => {
                let out = op.form.as_ref().and_then(|f| f.outs.first()).cloned().unwrap_or_default();
                let desc = MemDesc::parse(&out).ok().flatten();
                if !desc.is_some_and(|d| same_size(&d, &follow.unit_type)) {
                    return Err(refuse());
                }
                let Some(result) = op.results.first().copied() else { return Ok(()) };
                self.grow(result, follow).map_err(|_| refuse())?;
                let ty = self.tree.ty(value).unwrap_or("").to_owned();
                let new = self.tree.ty(result).unwrap_or("").to_owned();
                if let Some(form) = self.tree.ops.get_mut(id).and_then(|o| o.form.as_mut()) {
                    (form.ins, form.outs) = (vec![ty], vec![new]);
                }
                Ok(())
            }
            "ttg.warp_specialize" if !op.quoted => {
                let numbers = operand_numbers(&op.body, value);
                let args: Vec<Vec<ValueId>> = self.region_args(id);
                for n in numbers {
                    // The default region has no arguments; it sees the value itself.
                    for arg in args.iter().filter_map(|a| a.get(n)) {
                        self.grow(*arg, follow).map_err(|_| refuse())?;
                    }
                }
                Ok(())
            }
            "scf.for" if !op.quoted => {
                let results = op.results.clone();
                let numbers = operand_numbers(&op.body, value);
                let args = self.region_args(id).into_iter().next().unwrap_or_default();
                for n in numbers {
                    // Bounds and step come first; argument 0 is the induction variable.
                    let Some(n) = n.checked_sub(3) else { return Err(refuse()) };
                    let (Some(arg), Some(result)) = (args.get(n + 1), results.get(n)) else {
                        return Err(refuse());
                    };
                    self.grow(*arg, follow).map_err(|_| refuse())?;
                    self.grow(*result, follow).map_err(|_| refuse())?;
                    self.yields(id, n, follow)?;
                }
                Ok(())
            }
            "scf.yield" => {
                let parent = self.tree.parent(id).and_then(|p| self.tree.ops.get(p));
                let Some(parent) = parent.filter(|p| p.name == "scf.for") else { return Err(refuse()) };
                for n in operand_numbers(&op.body, value) {
                    if parent.results.get(n).is_none_or(|r| !follow.seen.contains(r)) {
                        return Err(refuse());
                    }
                }
                Ok(())
            }
            _ => Err(refuse()),
        }
    }

    /// What a loop carries on must come from the same alias; checked after everything was followed from it.
    fn yields(&self, id: OpId, n: usize, follow: &Follow<'_>) -> Result<()> {
        let Some(region) = self.tree.regions_of(id).first().copied() else { return Ok(()) };
        let last = self.tree.regions.get(region).and_then(|r| r.blocks.last());
        let last = last.and_then(|b| self.tree.blocks.get(*b)).and_then(|b| b.ops.last());
        let Some(op) = last.and_then(|o| self.tree.ops.get(*o)) else { return Ok(()) };
        let uses: Vec<ValueId> =
            op.body.iter().filter_map(|p| if let Piece::Use(v, _) = p { Some(*v) } else { None }).collect();
        match uses.get(n) {
            Some(v) if follow.seen.contains(v) => Ok(()),
            _ => Err(AliasError::new(
                "A35",
                format!(
                    "%{} is used by scf.for, which carries on another buffer; its index cannot be rewritten",
                    follow.name
                ),
            )
            .at(op.pos)
            .help("carry the index and not the buffer")),
        }
    }

    /// Arguments of the entry block of each region that has any.
    fn region_args(&self, id: OpId) -> Vec<Vec<ValueId>> {
        let blocks = self.tree.regions_of(id).into_iter().filter_map(|r| {
            let first = self.tree.regions.get(r)?.blocks.first()?;
            self.tree.blocks.get(*first).map(|b| b.args.clone())
        });
        blocks.filter(|args| !args.is_empty()).collect()
    }

    /// The slot of an index, computed right before it is used (A36).
    fn index(&mut self, id: OpId, value: ValueId, follow: &Follow<'_>) -> Result<()> {
        let ty = self.tree.ty(value).unwrap_or("").to_owned();
        let Some(form) = self.tree.ops.get(id).and_then(|o| o.form.as_ref()) else { return Ok(()) };
        let [buffer, index] = form.operands.as_slice() else { return Ok(()) };
        if *buffer != value {
            return Ok(());
        }
        let index = *index;
        let slots = follow.slots;
        let mut emit = Emit { tree: self.tree, beside: id, ops: Vec::new() };
        let mut digits = Vec::new();
        let mut rest = index;
        for (radix, step) in slots.radices.iter().zip(slots.steps.iter().skip(1)).rev() {
            let c = emit.constant(*radix)?;
            let digit = emit.binary("arith.remsi", rest, c);
            rest = emit.binary("arith.divsi", rest, c);
            digits.push((digit, *step));
        }
        digits.push((rest, slots.steps.first().copied().unwrap_or(1)));
        let mut sum: Option<ValueId> = None;
        for (digit, step) in digits.into_iter().rev() {
            let term = match step {
                1 => digit,
                _ => {
                    let c = emit.constant(step)?;
                    emit.binary("arith.muli", digit, c)
                }
            };
            sum = Some(match sum {
                None => term,
                Some(sum) => emit.binary("arith.addi", sum, term),
            });
        }
        let mut slot = sum.unwrap_or(index);
        if slots.offset > 0 {
            let c = emit.constant(slots.offset)?;
            slot = emit.binary("arith.addi", slot, c);
        }
        let ops = emit.ops;
        self.before.entry(id).or_default().extend(ops);
        if let Some(form) = self.tree.ops.get_mut(id).and_then(|o| o.form.as_mut()) {
            form.operands = vec![value, slot];
            form.ins = vec![ty];
        }
        Ok(())
    }
}

/// New operations in front of another.
struct Emit<'t> {
    tree: &'t mut Tree,
    beside: OpId,
    ops: Vec<OpId>,
}

impl Emit<'_> {
    fn push(&mut self, name: &str, form: Form) -> ValueId {
        let (id, value) = new_op(self.tree, self.beside, (name, form));
        self.ops.push(id);
        value
    }

    fn constant(&mut self, n: u64) -> Result<ValueId> {
        if n > i32::MAX as u64 {
            return Err(AliasError::new("A36", format!("slot {n} does not fit an i32 index")));
        }
        let form = Form {
            attrs: vec![("value".to_owned(), n.to_string())],
            outs: vec!["i32".to_owned()],
            ..Form::default()
        };
        Ok(self.push("arith.constant", form))
    }

    fn binary(&mut self, name: &str, a: ValueId, b: ValueId) -> ValueId {
        let form = Form { operands: vec![a, b], outs: vec!["i32".to_owned()], ..Form::default() };
        self.push(name, form)
    }
}

/// Which operands of a piecewise operation a value is.
fn operand_numbers(body: &[Piece], value: ValueId) -> Vec<usize> {
    let uses = body.iter().filter_map(|p| if let Piece::Use(v, _) = p { Some(*v) } else { None });
    uses.enumerate().filter(|(_, v)| *v == value).map(|(n, _)| n).collect()
}

/// Whether two types have the same count and the same bytes per buffer.
fn same_size(a: &MemDesc, b: &MemDesc) -> bool {
    let bits = |d: &MemDesc| {
        let elem = crate::Elem::from_name(&d.elem)?;
        d.dims.iter().skip(1).try_fold(u64::from(elem.bits()), |p, n| p.checked_mul(*n))
    };
    a.dims.first() == b.dims.first() && bits(a).is_some() && bits(a) == bits(b)
}
