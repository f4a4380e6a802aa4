//! Expanded aliases and the indices into them (A35, A36).

use hashbrown::{HashMap, HashSet};
use warploom_ir::{Attr, OpId, Opcode, Type, ValueId};

use super::part::TextPart;
use super::read::users;
use super::types::MemDesc;
use crate::error::{AliasError, Result};
use crate::index::SlotMap;
use crate::layout::LeafLayout;

/// Follows an expanded alias to every index operation.
pub(super) struct Rewriter<'t> {
    part: &'t mut TextPart,
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
    pub(super) fn new(
        part: &'t mut TextPart,
        ops: &[OpId],
        gone: &HashSet<OpId>,
        before: HashMap<OpId, Vec<OpId>>,
    ) -> Rewriter<'t> {
        let left: Vec<OpId> = ops.iter().copied().filter(|op| !gone.contains(op)).collect();
        let users = users(part, &left);
        Rewriter { part, users, before }
    }

    pub(super) fn finish(self) -> HashMap<OpId, Vec<OpId>> {
        self.before
    }

    /// Expands one alias and rewrites its users; nothing where slots are indices.
    pub(super) fn expand(&mut self, op: OpId, place: &LeafLayout) -> Result<()> {
        let Some(slots) = place.slots.as_ref().filter(|s| !s.is_identity()) else { return Ok(()) };
        let Some(value) = self.part.result(op) else { return Ok(()) };
        let Some(desc) = MemDesc::of(self.part.module.ty(value)) else { return Ok(()) };
        // A single tile of tensor memory has no dimension to expand; it stays where the storage begins.
        if place.count == 1 && desc.dims.first() != Some(&1) {
            let message = format!("%{} has no dimension 0 to address slot {} with", place.name, slots.offset);
            let at = self.part.pos(op);
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
        let desc = MemDesc::of(self.part.module.ty(value));
        let Some(mut desc) = desc.filter(|d| d.dims.first() == Some(&follow.count)) else {
            let ty = self.part.ty(value);
            return Err(AliasError::new("A35", format!("%{} is carried as {ty}", follow.name)));
        };
        if let Some(first) = desc.dims.first_mut() {
            *first = follow.slots.slots;
        }
        self.part.module.values[value].ty = desc.print();
        follow.work.push(value);
        Ok(())
    }

    fn user(&mut self, op: OpId, value: ValueId, follow: &mut Follow<'_>) -> Result<()> {
        let (name, at) = (self.part.name(op).to_owned(), self.part.pos(op));
        let carried = follow.name.clone();
        let refuse = || {
            AliasError::new("A35", format!("%{carried} is used by {name}; its index cannot be rewritten"))
                .at(at)
                .help("index it first, or use base and stride (no strict slots)")
        };
        let data = &self.part.module.ops[op];
        let numbers: Vec<usize> =
            data.operands.iter().enumerate().filter(|(_, v)| **v == value).map(|(n, _)| n).collect();
        match name.as_str() {
            "ttg.memdesc_index" => self.index(op, value, follow),
            "ttg.memdesc_reinterpret" | "tlx.local_alias" => {
                let Some(result) = self.part.result(op) else { return Ok(()) };
                let desc = MemDesc::of(self.part.module.ty(result));
                if !desc.is_some_and(|d| same_size(&d, &follow.unit_type)) {
                    return Err(refuse());
                }
                self.grow(result, follow).map_err(|_| refuse())
            }
            "ttg.warp_specialize" if data.props.contains("partitionNumWarps") => {
                let args = self.part.region_args(op);
                for n in numbers {
                    // The default region has no arguments; it sees the value itself.
                    for arg in args.iter().filter_map(|a| a.get(n)) {
                        self.grow(*arg, follow).map_err(|_| refuse())?;
                    }
                }
                Ok(())
            }
            "scf.for" => {
                let results = data.results.clone();
                let args = self.part.region_args(op).into_iter().next().unwrap_or_default();
                for n in numbers {
                    // Bounds and step come first; argument 0 is the induction variable.
                    let Some(n) = n.checked_sub(3) else { return Err(refuse()) };
                    let (Some(arg), Some(result)) = (args.get(n + 1), results.get(n)) else {
                        return Err(refuse());
                    };
                    self.grow(*arg, follow).map_err(|_| refuse())?;
                    self.grow(*result, follow).map_err(|_| refuse())?;
                    self.yields(op, n, follow)?;
                }
                Ok(())
            }
            "scf.yield" => {
                let m = &self.part.module;
                let parent = m.parent(op).filter(|p| m.ops[*p].opcode == Opcode::For);
                let Some(parent) = parent else { return Err(refuse()) };
                let results = &m.ops[parent].results;
                match numbers.iter().all(|n| results.get(*n).is_some_and(|r| follow.seen.contains(r))) {
                    true => Ok(()),
                    false => Err(refuse()),
                }
            }
            _ => Err(refuse()),
        }
    }

    /// What a loop carries on must come from the same alias; checked after everything was followed from it.
    fn yields(&self, op: OpId, n: usize, follow: &Follow<'_>) -> Result<()> {
        let m = &self.part.module;
        let Some(last) = m.entry(op, 0).and_then(|b| m.terminator(b)) else { return Ok(()) };
        match m.ops[last].operands.get(n) {
            Some(v) if follow.seen.contains(v) => Ok(()),
            _ => Err(AliasError::new(
                "A35",
                format!(
                    "%{} is used by scf.for, which carries on another buffer; its index cannot be rewritten",
                    follow.name
                ),
            )
            .at(self.part.pos(last))
            .help("carry the index and not the buffer")),
        }
    }

    /// The slot of an index, computed right before it is used (A36).
    fn index(&mut self, op: OpId, value: ValueId, follow: &Follow<'_>) -> Result<()> {
        let [buffer, index] = self.part.module.ops[op].operands[..] else { return Ok(()) };
        if buffer != value {
            return Ok(());
        }
        let slots = follow.slots;
        let mut emit = NewOps { part: self.part, beside: op, ops: Vec::new() };
        let mut digits = Vec::new();
        let mut rest = index;
        for (radix, step) in slots.radices.iter().zip(slots.steps.iter().skip(1)).rev() {
            let c = emit.constant(*radix)?;
            let digit = emit.binary(Opcode::RemSI, rest, c);
            rest = emit.binary(Opcode::DivSI, rest, c);
            digits.push((digit, *step));
        }
        digits.push((rest, slots.steps.first().copied().unwrap_or(1)));
        let mut sum: Option<ValueId> = None;
        for (digit, step) in digits.into_iter().rev() {
            let term = match step {
                1 => digit,
                _ => {
                    let c = emit.constant(step)?;
                    emit.binary(Opcode::MulI, digit, c)
                }
            };
            sum = Some(match sum {
                None => term,
                Some(sum) => emit.binary(Opcode::AddI, sum, term),
            });
        }
        let mut slot = sum.unwrap_or(index);
        if slots.offset > 0 {
            let c = emit.constant(slots.offset)?;
            slot = emit.binary(Opcode::AddI, slot, c);
        }
        let ops = emit.ops;
        self.before.entry(op).or_default().extend(ops);
        if let Some(operand) = self.part.module.ops[op].operands.get_mut(1) {
            *operand = slot;
        }
        Ok(())
    }
}

/// New operations in front of another.
struct NewOps<'t> {
    part: &'t mut TextPart,
    beside: OpId,
    ops: Vec<OpId>,
}

impl NewOps<'_> {
    fn push(&mut self, opcode: Opcode, operands: &[ValueId]) -> (OpId, ValueId) {
        let m = &mut self.part.module;
        let loc = m.ops[self.beside].loc;
        let op = m.create_op(opcode, operands, &[], loc);
        let value = m.add_result(op, Type::I32);
        self.ops.push(op);
        (op, value)
    }

    fn constant(&mut self, n: u64) -> Result<ValueId> {
        let Ok(number) = i32::try_from(n) else {
            return Err(AliasError::new("A36", format!("slot {n} does not fit an i32 index")));
        };
        let (op, value) = self.push(Opcode::Constant, &[]);
        self.part.module.ops[op].props.set("value", Attr::i32(number));
        Ok(value)
    }

    fn binary(&mut self, opcode: Opcode, a: ValueId, b: ValueId) -> ValueId {
        self.push(opcode, &[a, b]).1
    }
}

/// Whether two types have the same count and the same bytes per buffer.
fn same_size(a: &MemDesc, b: &MemDesc) -> bool {
    let bits = |d: &MemDesc| {
        let elem = crate::Elem::from_name(&d.elem)?;
        d.dims.iter().skip(1).try_fold(u64::from(elem.bits()), |p, n| p.checked_mul(*n))
    };
    a.dims.first() == b.dims.first() && bits(a).is_some() && bits(a) == bits(b)
}
