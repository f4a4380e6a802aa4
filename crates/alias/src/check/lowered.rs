//! Lowered text against the text it was made of (L13, L14).
//!
//! Reading is shared with the lowering; what was written is found by walking both texts side by side, and every
//! index expression of the lowered one is evaluated for every index.

use hashbrown::HashMap;

use super::carried::{Carried, carried, root};
use super::{Finding, Findings};
use crate::layout::{AliasOptions, LeafLayout, StorageLayout};
use crate::model::LeafId;
use crate::text::form::read_forms;
use crate::text::parse::parse;
use crate::text::print::constant;
use crate::text::read::{Kernel, ReadOptions, functions, read};
use crate::text::tree::{OpId, Piece, Tree, ValueId};
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
pub fn check_lowered(before: &str, after: &str, options: &AliasOptions) -> Result<(), Vec<Finding>> {
    let mut findings = Findings::default();
    // A text that names a value by two types does not read.
    let old = reading(before).map_err(|e| vec![finding("L13", format!("before: {e}"))])?;
    let new = reading(after).map_err(|e| vec![finding("L13", format!("after: {e}"))])?;
    for op in new.walk().into_iter().filter_map(|o| new.ops.get(o)) {
        if GONE.contains(&op.name.as_str()) {
            findings.add("L14", format!("line {}: {} is left", op.pos.line, op.name));
        }
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
    if findings.0.is_empty() { Ok(()) } else { Err(findings.0) }
}

fn finding(law: &'static str, message: String) -> Finding {
    Finding { law, message }
}

fn reading(text: &str) -> crate::Result<Tree> {
    let mut tree = parse(text, 1)?;
    read_forms(&mut tree)?;
    Ok(tree)
}

/// One function of both texts.
struct Pair<'t> {
    old: &'t Tree,
    new: &'t Tree,
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
    old: &Tree,
    new: &Tree,
    ops: &[OpId],
    others: &[OpId],
    options: &AliasOptions,
    findings: &mut Findings,
) {
    let kernel = match read(old, ops, ReadOptions { compat: options.compat }) {
        Ok(kernel) => kernel,
        Err(errors) => return errors.iter().for_each(|e| findings.add("L13", format!("before: {e}"))),
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
    pair.types(others, findings);
    pair.users(others, findings);
}

impl Pair<'_> {
    /// Walks both texts side by side: what the lowering takes out, replaces, or puts before an index.
    fn align(&mut self, kernel: &Kernel, ops: &[OpId], others: &[OpId]) -> Result<(), String> {
        let leaves: HashMap<OpId, LeafId> = kernel.leaves.iter().map(|(l, o)| (*o, *l)).collect();
        let mut at = 0;
        let (old, new) = (self.old, self.new);
        for id in ops {
            let Some(op) = old.ops.get(*id) else { continue };
            let is_spec = kernel.specs.iter().any(|(_, o)| o == id);
            let leaf = leaves.get(id).copied();
            let used = kernel
                .specs
                .iter()
                .find(|(_, o)| o == id)
                .is_some_and(|(s, _)| kernel.module.leaves().any(|(_, l)| l.spec() == Some(*s)));
            if kernel.trees.contains(id) || is_spec && !used {
                continue;
            }
            if is_spec {
                let backing = others.get(at).and_then(|o| new.ops.get(*o));
                let name = backing.map_or("nothing", |o| o.name.as_str());
                if !matches!(name, "ttg.local_alloc" | "ttng.tmem_alloc") {
                    return Err(format!("line {}: the spec became {name}", op.pos.line));
                }
                at += 1;
                if leaf.is_none() {
                    continue;
                }
            }
            let wanted = |name: &str| match leaf {
                Some(_) => matches!(name, "tlx.local_alias" | "warploom.view"),
                None => name == op.name,
            };
            loop {
                let Some(other) = others.get(at).and_then(|o| new.ops.get(*o)) else {
                    return Err(format!(
                        "line {}: {} is missing from the lowered text",
                        op.pos.line, op.name
                    ));
                };
                if wanted(&other.name) {
                    break;
                }
                if op.name != "ttg.memdesc_index" || !other.name.starts_with("arith.") {
                    return Err(format!("line {}: {} became {}", op.pos.line, op.name, other.name));
                }
                at += 1;
            }
            let Some(other) = others.get(at).copied() else { continue };
            at += 1;
            self.same(*id, other, leaf)?;
        }
        match others.get(at).and_then(|o| new.ops.get(*o)) {
            Some(extra) => Err(format!("line {} of the lowered text: {} is new", extra.pos.line, extra.name)),
            None => Ok(()),
        }
    }

    fn same(&mut self, id: OpId, other: OpId, leaf: Option<LeafId>) -> Result<(), String> {
        let (Some(a), Some(b)) = (self.old.ops.get(id), self.new.ops.get(other)) else { return Ok(()) };
        if a.results.len() != b.results.len() {
            return Err(format!("line {}: {} lost or gained results", a.pos.line, a.name));
        }
        self.value.extend(a.results.iter().copied().zip(b.results.iter().copied()));
        if let (Some(leaf), Some(value)) = (leaf, b.results.first()) {
            self.views.insert(*value, (leaf, other));
        }
        if a.name == "ttg.memdesc_index" {
            self.indices.push((id, other));
        }
        for (r, s) in self.old.regions_of(id).into_iter().zip(self.new.regions_of(other)) {
            let blocks =
                |tree: &Tree, r: usize| tree.regions.get(r).map_or_else(Vec::new, |r| r.blocks.clone());
            for (x, y) in blocks(self.old, r).into_iter().zip(blocks(self.new, s)) {
                let args =
                    |tree: &Tree, b: usize| tree.blocks.get(b).map_or_else(Vec::new, |b| b.args.clone());
                self.value.extend(args(self.old, x).into_iter().zip(args(self.new, y)));
            }
        }
        Ok(())
    }

    /// L14: one backing per spec, of its size.
    fn backings(&self, places: &HashMap<LeafId, (&StorageLayout, &LeafLayout)>, findings: &mut Findings) {
        let mut of: HashMap<crate::SpecId, ValueId> = HashMap::new();
        let mut views: Vec<_> = self.views.iter().collect();
        views.sort_unstable();
        for (_, (leaf, op)) in views {
            let Some((s, _)) = places.get(leaf) else { continue };
            let base = self.new.ops.get(*op).and_then(|o| o.form.as_ref()?.operands.first().copied());
            let Some(base) = base else { continue };
            if *of.entry(s.spec).or_insert(base) != base {
                findings.add("L14", format!("storage {} has two backings", s.name));
            }
            let desc = self.new.ty(base).and_then(|t| MemDesc::parse(t).ok().flatten());
            let dims = desc.map(|d| d.dims);
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
        findings: &mut Findings,
    ) {
        let leaf_values: HashMap<ValueId, LeafId> = kernel
            .leaves
            .iter()
            .filter_map(|(l, o)| Some((*self.old.ops.get(*o)?.results.first()?, *l)))
            .collect();
        for (value, (leaf, op)) in &self.views {
            let Some((_, place)) = places.get(leaf) else { continue };
            let Some(op) = self.new.ops.get(*op).filter(|o| o.name == "warploom.view") else { continue };
            let numbers = |name: &str| -> Vec<u64> {
                let text = op.form.as_ref().and_then(|f| f.attr(name)).unwrap_or("");
                let inner = text.trim().trim_start_matches('[').trim_end_matches(']');
                inner.split(',').filter_map(|n| n.trim().parse().ok()).collect()
            };
            let (base, strides, radices) = (numbers("base"), numbers("strides"), numbers("radices"));
            for i in indices(place.count) {
                let at = mixed(i, base.first().copied(), &strides, &radices);
                if at.is_none() || at != place.position(i) {
                    let name = self.new.values.get(*value).map_or("", |v| v.name.as_str());
                    findings.add("L13", format!("view %{name}[{i}] of %{} is at {at:?}", place.name));
                    break;
                }
            }
        }
        for (a, b) in &self.indices {
            let Some((x, y)) = self.old.ops.get(*a).zip(self.new.ops.get(*b)) else { continue };
            let (Some(f), Some(g)) = (x.form.as_ref(), y.form.as_ref()) else { continue };
            let ([from, index], [to, computed]) = (f.operands.as_slice(), g.operands.as_slice()) else {
                continue;
            };
            let leaf_of = root(self.old, &self.carried_old, *from, &|v| leaf_values.contains_key(&v));
            let Some((_, place)) = leaf_values.get(&leaf_of).and_then(|l| places.get(l)) else {
                if self.value.get(index) != Some(computed) {
                    findings.add("L13", format!("line {}: another buffer's index changed", y.pos.line));
                }
                continue;
            };
            let view = root(self.new, &self.carried_new, *to, &|v| self.views.contains_key(&v));
            if self.views.get(&view).map(|v| v.0) != Some(place.leaf) {
                findings.add(
                    "L13",
                    format!("line {}: an index of %{} reads another buffer", y.pos.line, place.name),
                );
                continue;
            }
            let slots =
                options.slots().then(|| self.new.ty(*to).and_then(|t| MemDesc::parse(t).ok().flatten()));
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
                        "line {}: index {i} of %{} becomes {got:?}, which is not at {:?}",
                        y.pos.line,
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
        let op = self.new.values.get(value)?.def.and_then(|d| self.new.ops.get(d)).filter(|_| depth < 64)?;
        if let Some((n, _)) = constant(op) {
            return u64::try_from(n).ok();
        }
        let (a, b) = match (op.form.as_ref().map(|f| f.operands.as_slice()), op.body.as_slice()) {
            (Some([a, b]), _) => (*a, *b),
            (None, [Piece::Use(a, _), Piece::Text(..), Piece::Use(b, _), ..]) => (*a, *b),
            _ => return None,
        };
        let (a, b) = (self.eval(a, index, i, depth + 1)?, self.eval(b, index, i, depth + 1)?);
        match op.name.as_str() {
            "arith.addi" => a.checked_add(b),
            "arith.muli" => a.checked_mul(b),
            "arith.divsi" => a.checked_div(b),
            "arith.remsi" => a.checked_rem(b),
            _ => None,
        }
    }

    /// L13: what is captured or carried has the type of the argument that takes it.
    fn types(&self, others: &[OpId], findings: &mut Findings) {
        for (arg, from) in &self.carried_new {
            let (a, b) = (self.new.ty(*arg), self.new.ty(*from));
            if let (Some(a), Some(b)) = (a, b)
                && a != b
            {
                let name = self.new.values.get(*arg).map_or("", |v| v.name.as_str());
                findings.add("L13", format!("argument %{name} has type {a}, what it takes has {b}"));
            }
        }
        for op in others.iter().filter_map(|o| self.new.ops.get(*o)) {
            let Some(form) = &op.form else { continue };
            for (value, ty) in form.operands.iter().zip(&form.ins) {
                if self.new.ty(*value).is_some_and(|t| t != ty) {
                    findings.add(
                        "L13",
                        format!("line {}: {} names another type than its operand has", op.pos.line, op.name),
                    );
                }
            }
        }
    }

    /// L13: an expanded alias goes only where its index can be followed.
    fn users(&self, others: &[OpId], findings: &mut Findings) {
        let back: HashMap<ValueId, ValueId> = self.value.iter().map(|(old, new)| (*new, *old)).collect();
        let grown = |v: ValueId| {
            let count = |tree: &Tree, v: ValueId| {
                tree.ty(v)
                    .and_then(|t| MemDesc::parse(t).ok().flatten())
                    .and_then(|d| d.dims.first().copied())
            };
            back.get(&v).is_some_and(|old| count(self.old, *old) != count(self.new, v))
        };
        for op in others {
            let Some(o) = self.new.ops.get(*op) else { continue };
            let follows = matches!(
                o.name.as_str(),
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
            for value in self.new.operands(*op) {
                let memory = self.new.ty(value).is_some_and(|t| t.starts_with("!ttg.memdesc<"));
                if memory && grown(value) {
                    findings.add("L13", format!("line {}: {} uses an expanded alias", o.pos.line, o.name));
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
