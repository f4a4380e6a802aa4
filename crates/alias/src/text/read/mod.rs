//! From operations to a module: what the text declares, verified (A3 to A15).

mod leaves;
mod trees;

use hashbrown::HashMap;

use super::print::constant;
use super::tree::{Form, Op, OpId, Tree, ValueId};
use crate::error::{AliasError, Note, Result};
use crate::group::ReuseGroup;
use crate::model::{AliasModule, Counts, LeafId, SpecId};
use crate::types::Storage;

/// What the function of a part declares, and where.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    pub(crate) module: AliasModule,
    /// Operations of the function, in the order of the text.
    pub(crate) ops: Vec<OpId>,
    /// Operation of each spec; for a legacy spec, that of the owner.
    pub(crate) specs: Vec<(SpecId, OpId)>,
    /// Operation of each leaf of a spec.
    pub(crate) leaves: Vec<(LeafId, OpId)>,
    /// Groups and overlap definitions.
    pub(crate) trees: Vec<OpId>,
    pub(crate) notes: Vec<Note>,
    /// Bindings of values to leaves (A44), in the order of the text.
    pub(crate) bindings: Vec<(OpId, String)>,
}

/// How a text is read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadOptions {
    /// TLX's meaning: legacy aliases stand, no inference.
    pub(crate) compat: bool,
}

struct Reader<'t> {
    tree: &'t Tree,
    options: ReadOptions,
    kernel: Kernel,
    spec_of: HashMap<ValueId, SpecId>,
    leaf_of: HashMap<ValueId, LeafId>,
    group_of: HashMap<ValueId, ReuseGroup>,
    /// Groups that are elements of others, or named by an overlap definition.
    inside: HashMap<ValueId, bool>,
    groups: Vec<ValueId>,
    errors: Vec<AliasError>,
    users: HashMap<ValueId, Vec<OpId>>,
}

/// Operations by function, each list in the order of the text.
pub(crate) fn functions(tree: &Tree) -> Vec<Vec<OpId>> {
    let mut out: Vec<Vec<OpId>> = vec![Vec::new()];
    for op in tree.walk() {
        if tree.ops.get(op).is_some_and(|o| o.name == "func" || o.name.ends_with(".func")) {
            out.push(Vec::new());
        }
        if let Some(last) = out.last_mut() {
            last.push(op);
        }
    }
    out
}

/// Which of these operations read each value. Values do not cross functions, so those of one function are
/// enough for its values.
pub(crate) fn users(tree: &Tree, ops: &[OpId]) -> HashMap<ValueId, Vec<OpId>> {
    let mut out: HashMap<ValueId, Vec<OpId>> = HashMap::new();
    for op in ops {
        for value in tree.operands(*op) {
            let list = out.entry(value).or_default();
            if list.last() != Some(op) {
                list.push(*op);
            }
        }
    }
    out
}

/// Reads the operations of one function.
///
/// # Errors
/// Everything that is wrong with them, in the order of the text.
pub(crate) fn read(tree: &Tree, ops: &[OpId], options: ReadOptions) -> Result<Kernel, Vec<AliasError>> {
    let mut reader = Reader {
        tree,
        options,
        kernel: Kernel { ops: ops.to_vec(), ..Kernel::default() },
        spec_of: HashMap::new(),
        leaf_of: HashMap::new(),
        group_of: HashMap::new(),
        inside: HashMap::new(),
        groups: Vec::new(),
        errors: Vec::new(),
        users: users(tree, ops),
    };
    for id in ops {
        if let Some(op) = tree.ops.get(*id)
            && let Err(error) = reader.op(*id, op)
        {
            reader.errors.push(error.at(op.pos));
        }
    }
    reader.finish()
}

/// A verifier's error carries the name of the operation.
fn verify(op: &Op, error: AliasError) -> AliasError {
    let name = current_name(&op.name);
    AliasError { message: format!("'{name}' op {}", error.message), ..error }
}

/// The name that replaced a deprecated one (A3).
fn current_name(name: &str) -> &str {
    match name {
        "tlx.shared_buffer_def" => "tlx.storage_alias_spec",
        "tlx.shared_buffer_local_alloc" => "tlx.storage_alias_local_alloc",
        other => other,
    }
}

/// The integer that an attribute begins with.
fn integer(text: &str) -> Option<i64> {
    text.split(':').next()?.trim().parse().ok()
}

fn unquoted(text: &str) -> &str {
    text.trim_matches('"')
}

impl Reader<'_> {
    fn op(&mut self, id: OpId, op: &Op) -> Result<()> {
        self.binding(id, op);
        let Some(form) = &op.form else { return Ok(()) };
        self.dominance(id, form)?;
        match op.name.as_str() {
            "tlx.storage_alias_spec" | "tlx.shared_buffer_def" => self.spec(id, op, form),
            "tlx.storage_alias_local_alloc" | "tlx.shared_buffer_local_alloc" => self.leaf(id, op, form),
            "ttg.local_alloc" | "ttng.tmem_alloc" => self.plain(id, op, form),
            "tlx.local_alias" => self.alias(id, op, form),
            "tlx.reuse_group" => self.group(id, op, form),
            "tlx.set_buffer_overlap" => self.overlap(id, op, form),
            "ttg.memdesc_index" => self.index(op, form),
            _ => Ok(()),
        }
    }

    /// Operands of the operations that matter are made before they are used, so that aliases have no cycle.
    fn dominance(&self, id: OpId, form: &Form) -> Result<()> {
        for (n, value) in form.operands.iter().enumerate() {
            if self.tree.values.get(*value).and_then(|v| v.def).is_some_and(|def| def >= id) {
                let message = format!("operand #{n} does not dominate this use");
                return Err(AliasError::new("A16", message)
                    .help("define it before; an alias of itself has no storage"));
            }
        }
        Ok(())
    }

    fn name_of(&self, op: &Op, form: &Form) -> String {
        match form.attr("warploom.name") {
            Some(name) => unquoted(name).to_owned(),
            None => op
                .results
                .first()
                .and_then(|v| self.tree.values.get(*v))
                .map_or_else(String::new, |v| v.name.clone()),
        }
    }

    fn spec(&mut self, id: OpId, op: &Op, form: &Form) -> Result<()> {
        if op.name == "tlx.shared_buffer_def" {
            let message = "'tlx.shared_buffer_def' was renamed to 'tlx.storage_alias_spec'";
            self.kernel.notes.push(AliasError::warning("A3", message).at(op.pos).help("use the new name"));
        }
        let ty = form.outs.first().map_or("", String::as_str);
        let params = ty.split_once('<').map_or("", |(_, t)| t.trim_end_matches('>'));
        let (kind, typed_size) = match params.split_once(',') {
            Some((kind, size)) => (kind.trim(), Some(size.trim())),
            None => (params.trim(), None),
        };
        let storage = Storage::of_spec(form.attr("storage").unwrap_or("")).map_err(|e| verify(op, e))?;
        Storage::of_spec(kind).map_err(|e| verify(op, e))?;
        if kind != storage.name() {
            let message = format!("storage {} doesn't match its type's storage {kind}", storage.name());
            return Err(verify(op, AliasError::new("A4", message)).help("write the same storage twice"));
        }
        let constant = |text: &str| {
            integer(text).ok_or_else(|| {
                AliasError::new("A5", "buffer_size_bytes must be a compile-time constant")
                    .help("write a number")
            })
        };
        let size = form.attr("size").map(constant).transpose()?;
        let typed = typed_size.map(constant).transpose()?;
        if let (Some(a), Some(b)) = (size, typed)
            && a != b
        {
            let message = format!("storage_alias_spec size {a} doesn't match its type's size {b}");
            return Err(verify(op, AliasError::new("A5", message)).help("write the same size twice"));
        }
        let m = &mut self.kernel.module;
        let spec = m.storage_alias_spec(storage, size.or(typed)).map_err(|e| verify(op, e))?;
        let name = self.name_of(op, form);
        let m = &mut self.kernel.module;
        m.name_spec(spec, name, Some(op.pos));
        if let Some(text) = form.attr("warploom.counts") {
            let counts = Counts::from_name(unquoted(text)).ok_or_else(|| {
                AliasError::new(
                    "A41",
                    format!("warploom.counts is \"prefix\", \"equal\" or \"gcd\", not {text}"),
                )
            })?;
            m.set_counts(spec, counts);
        }
        if form.attr("warploom.merge").is_some() {
            m.allow_merge(spec);
        }
        self.kernel.specs.push((spec, id));
        if let Some(value) = op.results.first() {
            self.spec_of.insert(*value, spec);
        }
        Ok(())
    }

    /// A33: constant indices are in range.
    fn index(&mut self, _op: &Op, form: &Form) -> Result<()> {
        let [buffer, index] = form.operands.as_slice() else { return Ok(()) };
        if let Some(spec) = self.spec_of.get(buffer) {
            let at = self.kernel.module.spec(*spec).at;
            return Err(AliasError::new("A1", "storage_alias_spec is not a buffer and cannot be indexed")
                .related("the spec is here", at)
                .help("index an allocation of it"));
        }
        let Some(leaf) = self.leaf_of.get(buffer).filter(|_| !self.options.compat) else { return Ok(()) };
        let leaf = self.kernel.module.leaf(*leaf);
        if leaf.spec().is_none() {
            return Ok(());
        }
        let def = self.tree.values.get(*index).and_then(|v| v.def).and_then(|d| self.tree.ops.get(d));
        match def.and_then(constant) {
            Some((i, _)) if u64::try_from(i).map_or(true, |i| i >= leaf.count()) => {
                let message = format!(
                    "index {i} is out of range for {}, which has {} buffers",
                    leaf.shown(),
                    leaf.count()
                );
                Err(AliasError::new("A33", message).help("index 0 .. n - 1"))
            }
            _ => Ok(()),
        }
    }

    /// `warploom.buffer = #warploom.buffer<..>` of any operation (A44).
    fn binding(&mut self, id: OpId, op: &Op) {
        if let Some(form) = &op.form {
            if let Some(text) = form.attr("warploom.buffer") {
                self.kernel.bindings.push((id, text.to_owned()));
            }
            return;
        }
        let mut pieces = op.body.iter();
        if pieces.any(|p| p.text() == "warploom.buffer") {
            let rest: Vec<_> = pieces.skip(1).cloned().collect();
            let len = super::parse::type_len(&rest);
            let stop = rest.iter().position(|p| p.text() == "}").unwrap_or(len);
            let end = rest.iter().position(|p| p.text() == ">").map_or(stop, |n| n + 1);
            self.kernel.bindings.push((id, super::parse::join(rest.get(..end).unwrap_or(&[]))));
        }
    }

    fn finish(mut self) -> Result<Kernel, Vec<AliasError>> {
        for value in &self.groups {
            if !self.inside.contains_key(value)
                && let Some(group) = self.group_of.get(value)
            {
                self.kernel.module.declare_group(group.clone());
            }
        }
        match self.errors.is_empty() {
            true => Ok(self.kernel),
            false => Err(self.errors),
        }
    }
}
