//! Lowered text against the text it was made of (L13, L14).
//!
//! Reading is shared with the lowering; what was written is found by walking both texts side by side, and every
//! index expression of the lowered one is evaluated for every index.

use hashbrown::HashMap;
use warploom_ir::{Attr, OpId, Opcode, ValueId};

use super::carried::{Carried, carried, root};
use super::finding::AliasFindings;
use crate::error::AliasErrors;
use crate::layout::{AliasOptions, LeafLayout, StorageLayout};
use crate::model::LeafId;
use crate::text::TextPart;
use crate::text::read::{Kernel, ReadOptions, functions, open, read};
use crate::text::types::MemDesc;
use crate::types::Storage;

/// Indices of one leaf that are evaluated; the last one is always among them.
const MOST_INDICES: u64 = 4096;

/// Operations of part 1 that a lowering must have taken out (L14).
const GONE: [&str; 6] = [
    "tlx.storage_alias_spec",
    "tlx.shared_buffer_def",
    "tlx.storage_alias_local_alloc",
    "tlx.shared_buffer_local_alloc",
    "tlx.reuse_group",
    "tlx.set_buffer_overlap",
];

/// Checks the lowering of a text of one part: every index expression of `after`, evaluated for every index,
/// addresses what the layout of `before` says; captures and arguments have the types of what they carry; no
/// user of an expanded alias is left out; nothing of the specs is left, and each has one backing.
///
/// # Errors
/// Every L13 and L14 that does not hold, at most 100.
pub fn check_lowered(before: &str, after: &str, options: &AliasOptions) -> Result<(), AliasFindings> {
    let mut findings = AliasFindings::default();
    // A text that names a value by two types does not read.
    let (old, _) = open(before, 1).map_err(|e| unread("before", &e))?;
    let (new, _) = open(after, 1).map_err(|e| unread("after", &e))?;
    for op in new.walk().into_iter().filter(|op| GONE.contains(&new.name(*op))) {
        findings.add("L14", format!("line {}: {} is left", new.pos(op).line, new.name(op)));
    }
    if findings.0.is_empty() {
        let (mut kernels, mut at) = (functions(&old).into_iter(), functions(&new).into_iter());
        loop {
            match (kernels.next(), at.next()) {
                (Some(ops), Some(others)) => function(&old, &new, &ops, &others, options, &mut findings),
                (None, None) => break,
                _ => {
                    findings.add("L13", "the texts have different functions".to_owned());
                    break;
                }
            }
        }
    }
    findings.into_result()
}

fn unread(which: &str, errors: &AliasErrors) -> AliasFindings {
    let mut findings = AliasFindings::default();
    findings.add("L13", format!("{which}: {errors}"));
    findings
}

/// One function of both texts.
struct Pair<'t> {
    old: &'t TextPart,
    new: &'t TextPart,
    /// The value of the new text that stands for one of the old.
    value: HashMap<ValueId, ValueId>,
    /// Index operations that stand for each other.
    indices: Vec<(OpId, OpId)>,
    /// What the new text has for a leaf, and the backing of a spec.
    views: HashMap<ValueId, (LeafId, OpId)>,
    carried_old: Carried,
    carried_new: Carried,
}

fn function(
    old: &TextPart,
    new: &TextPart,
    ops: &[OpId],
    others: &[OpId],
    options: &AliasOptions,
    findings: &mut AliasFindings,
) {
    let kernel = match read(old, ops, ReadOptions { compat: options.compat }) {
        Ok(kernel) => kernel,
        Err(errors) => return errors.0.iter().for_each(|e| findings.add("L13", format!("before: {e}"))),
    };
    let layout = match kernel.module.layout(options) {
        Ok(layout) => layout,
        Err(errors) => return findings.add("L13", format!("before: {errors}")),
    };
    let mut pair = Pair {
        old,
        new,
        value: HashMap::new(),
        indices: Vec::new(),
        views: HashMap::new(),
        carried_old: carried(old),
        carried_new: carried(new),
    };
    if let Err(message) = pair.align(&kernel, ops, others) {
        return findings.add("L13", message);
    }
    let places: HashMap<LeafId, (&StorageLayout, &LeafLayout)> =
        layout.storages.iter().flat_map(|s| s.leaves.iter().map(move |l| (l.leaf, (s, l)))).collect();
    pair.backings(&places, findings);
    pair.addresses(&kernel, &places, options, findings);
    pair.types(findings);
    pair.users(others, findings);
}

impl Pair<'_> {
    /// Walks both texts side by side: what the lowering takes out, replaces, or puts before an index.
    fn align(&mut self, kernel: &Kernel, ops: &[OpId], others: &[OpId]) -> Result<(), String> {
        let leaves: HashMap<OpId, LeafId> = kernel.leaves.iter().map(|(l, o)| (*o, *l)).collect();
        let mut at = 0;
        let (old, new) = (self.old, self.new);
        for op in ops.iter().copied() {
            let line = old.pos(op).line;
            let spec = kernel.specs.iter().find(|(_, o)| *o == op).map(|(s, _)| *s);
            let leaf = leaves.get(&op).copied();
            let used = spec.is_some_and(|s| kernel.module.leaves().any(|(_, l)| l.spec() == Some(s)));
            if kernel.trees.contains(&op) || spec.is_some() && !used {
                continue;
            }
            if spec.is_some() {
                let name = others.get(at).map_or("nothing", |o| new.name(*o));
                if !matches!(name, "ttg.local_alloc" | "ttng.tmem_alloc") {
                    return Err(format!("line {line}: the spec became {name}"));
                }
                at += 1;
                if leaf.is_none() {
                    continue;
                }
            }
            let wanted = |name: &str| match leaf {
                Some(_) => matches!(name, "tlx.local_alias" | "warploom.view"),
                None => name == old.name(op),
            };
            let other = loop {
                let Some(other) = others.get(at).copied() else {
                    return Err(format!("line {line}: {} is missing from the lowered text", old.name(op)));
                };
                at += 1;
                if wanted(new.name(other)) {
                    break other;
                }
                if old.name(op) != "ttg.memdesc_index" || !new.name(other).starts_with("arith.") {
                    return Err(format!("line {line}: {} became {}", old.name(op), new.name(other)));
                }
            };
            self.same(op, other, leaf)?;
        }
        match others.get(at) {
            Some(op) => {
                Err(format!("line {} of the lowered text: {} is new", new.pos(*op).line, new.name(*op)))
            }
            None => Ok(()),
        }
    }

    fn same(&mut self, op: OpId, other: OpId, leaf: Option<LeafId>) -> Result<(), String> {
        let (a, b) = (&self.old.module.ops[op], &self.new.module.ops[other]);
        if a.results.len() != b.results.len() {
            let line = self.old.pos(op).line;
            return Err(format!("line {line}: {} lost or gained results", self.old.name(op)));
        }
        self.value.extend(a.results.iter().copied().zip(b.results.iter().copied()));
        if let (Some(leaf), Some(value)) = (leaf, b.results.first()) {
            self.views.insert(*value, (leaf, other));
        }
        if self.old.name(op) == "ttg.memdesc_index" {
            self.indices.push((op, other));
        }
        for (r, s) in a.regions.iter().zip(&b.regions) {
            let (x, y) = (&self.old.module.regions[*r].blocks, &self.new.module.regions[*s].blocks);
            for (x, y) in x.iter().zip(y) {
                let (x, y) = (&self.old.module.blocks[*x].args, &self.new.module.blocks[*y].args);
                self.value.extend(x.iter().copied().zip(y.iter().copied()));
            }
        }
        Ok(())
    }

    /// L14: one backing per spec, of its size.
    fn backings(
        &self,
        places: &HashMap<LeafId, (&StorageLayout, &LeafLayout)>,
        findings: &mut AliasFindings,
    ) {
        let mut of: HashMap<crate::SpecId, ValueId> = HashMap::new();
        let mut views: Vec<_> = self.views.iter().collect();
        views.sort_unstable();
        for (_, (leaf, op)) in views {
            let Some((s, _)) = places.get(leaf) else { continue };
            let Some(base) = self.new.operand(*op, 0) else { continue };
            if *of.entry(s.spec).or_insert(base) != base {
                findings.add("L14", format!("storage {} has two backings", s.name));
            }
            let dims = MemDesc::of(self.new.module.ty(base)).map(|d| d.dims);
            let wanted = match s.space {
                Storage::Tmem => vec![u64::from(s.rows), s.size],
                _ => vec![s.size],
            };
            if dims.as_ref() != Some(&wanted) {
                findings.add("L14", format!("the backing of {} is {dims:?}, not {wanted:?}", s.name));
            }
        }
        let mut all: Vec<ValueId> = of.values().copied().collect();
        all.sort_unstable();
        if all.windows(2).any(|w| w.first() == w.last()) {
            findings.add("L14", "two specs have one backing".to_owned());
        }
    }

    /// L13: where each index of each view or alias leads.
    fn addresses(
        &self,
        kernel: &Kernel,
        places: &HashMap<LeafId, (&StorageLayout, &LeafLayout)>,
        options: &AliasOptions,
        findings: &mut AliasFindings,
    ) {
        let leaf_values: HashMap<ValueId, LeafId> =
            kernel.leaves.iter().filter_map(|(l, op)| Some((self.old.result(*op)?, *l))).collect();
        for (value, (leaf, op)) in &self.views {
            let Some((_, place)) = places.get(leaf) else { continue };
            if self.new.name(*op) != "warploom.view" {
                continue;
            }
            let number = |attr: &Attr| attr.as_i64().and_then(|n| u64::try_from(n).ok());
            let attr = |name: &str| self.new.module.attr(*op, name);
            let numbers = |name: &str| -> Vec<u64> {
                attr(name).and_then(Attr::as_array).unwrap_or(&[]).iter().filter_map(number).collect()
            };
            let base = attr("base").and_then(number);
            let (strides, radices) = (numbers("strides"), numbers("radices"));
            for i in indices(place.count) {
                let at = mixed(i, base, &strides, &radices);
                if at.is_none() || at != place.position(i) {
                    let name = self.new.value_name(*value);
                    findings.add("L13", format!("view %{name}[{i}] of %{} is at {at:?}", place.name));
                    break;
                }
            }
        }
        for (a, b) in &self.indices {
            let (x, y) = (&self.old.module.ops[*a].operands, &self.new.module.ops[*b].operands);
            let ([from, index], [to, computed]) = (x.as_slice(), y.as_slice()) else { continue };
            let line = self.new.pos(*b).line;
            let leaf_of = root(self.old, &self.carried_old, *from, &|v| leaf_values.contains_key(&v));
            let Some((_, place)) = leaf_values.get(&leaf_of).and_then(|l| places.get(l)) else {
                if self.value.get(index) != Some(computed) {
                    findings.add("L13", format!("line {line}: another buffer's index changed"));
                }
                continue;
            };
            let view = root(self.new, &self.carried_new, *to, &|v| self.views.contains_key(&v));
            if self.views.get(&view).map(|v| v.0) != Some(place.leaf) {
                findings.add("L13", format!("line {line}: an index of %{} reads another buffer", place.name));
                continue;
            }
            let slots = options.slots().then(|| MemDesc::of(self.new.module.ty(*to)));
            let slots = slots.flatten().and_then(|d| d.dims.first().copied());
            let same = self.value.get(index).copied();
            for i in indices(place.count) {
                let got = self.eval(*computed, same, i, 0);
                let wanted = match slots {
                    // A slot lies `unit` units behind the one before.
                    Some(slots) => {
                        got.filter(|g| *g < slots).and_then(|g| g.checked_mul(place.unit))
                            == place.position(i)
                    }
                    None => got == Some(i),
                };
                if !wanted {
                    let message = format!(
                        "line {line}: index {i} of %{} becomes {got:?}, which is not at {:?}",
                        place.name,
                        place.position(i)
                    );
                    findings.add("L13", message);
                    break;
                }
            }
        }
    }

    /// The value of an index expression where the original index is `i`.
    fn eval(&self, value: ValueId, index: Option<ValueId>, i: u64, depth: usize) -> Option<u64> {
        if Some(value) == index {
            return Some(i);
        }
        if depth >= 64 {
            return None;
        }
        if let Some(n) = self.new.module.const_int(value) {
            return u64::try_from(n).ok();
        }
        let op = &self.new.module.ops[self.new.module.def_op(value)?];
        let [a, b] = op.operands[..] else { return None };
        let (a, b) = (self.eval(a, index, i, depth + 1)?, self.eval(b, index, i, depth + 1)?);
        match op.opcode {
            Opcode::AddI => a.checked_add(b),
            Opcode::MulI => a.checked_mul(b),
            Opcode::DivSI => a.checked_div(b),
            Opcode::RemSI => a.checked_rem(b),
            _ => None,
        }
    }

    /// L13: what is captured or carried has the type of the argument that takes it. That operands have the types
    /// that the text gives them is known from reading it.
    fn types(&self, findings: &mut AliasFindings) {
        for (arg, from) in &self.carried_new {
            let (a, b) = (self.new.module.ty(*arg), self.new.module.ty(*from));
            if a != b {
                let name = self.new.value_name(*arg);
                findings.add("L13", format!("argument %{name} has type {a}, what it takes has {b}"));
            }
        }
    }

    /// L13: an expanded alias goes only where its index can be followed.
    fn users(&self, others: &[OpId], findings: &mut AliasFindings) {
        let back: HashMap<ValueId, ValueId> = self.value.iter().map(|(old, new)| (*new, *old)).collect();
        let count = |part: &TextPart, v: ValueId| {
            MemDesc::of(part.module.ty(v)).and_then(|d| d.dims.first().copied())
        };
        let grown = |v: ValueId| back.get(&v).is_some_and(|old| count(self.old, *old) != count(self.new, v));
        for op in others.iter().copied() {
            let follows = matches!(
                self.new.name(op),
                "ttg.memdesc_index"
                    | "ttg.memdesc_reinterpret"
                    | "tlx.local_alias"
                    | "ttg.warp_specialize"
                    | "scf.for"
                    | "scf.yield"
            );
            if follows {
                continue;
            }
            for value in &self.new.module.ops[op].operands {
                let memory = self.new.ty(*value).starts_with("!ttg.memdesc<");
                if memory && grown(*value) {
                    let line = self.new.pos(op).line;
                    findings.add("L13", format!("line {line}: {} uses an expanded alias", self.new.name(op)));
                }
            }
        }
    }
}

/// The indices of a leaf that are looked at.
fn indices(count: u64) -> impl Iterator<Item = u64> {
    (0..count.min(MOST_INDICES)).chain((count > MOST_INDICES).then(|| count - 1))
}

/// A31, from the numbers of a view.
fn mixed(i: u64, base: Option<u64>, strides: &[u64], radices: &[u64]) -> Option<u64> {
    let (outer, inner) = strides.split_first()?;
    if inner.len() != radices.len() {
        return None;
    }
    let mut below: u64 = radices.iter().try_fold(1u64, |p, k| p.checked_mul(*k))?;
    let mut at = base?.checked_add(i.checked_div(below)?.checked_mul(*outer)?)?;
    for (k, s) in radices.iter().zip(inner) {
        below = below.checked_div(*k)?;
        at = at.checked_add((i / below.max(1) % k).checked_mul(*s)?)?;
    }
    Some(at)
}
