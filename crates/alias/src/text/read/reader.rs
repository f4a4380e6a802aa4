//! The operations of one function, one by one.

use hashbrown::{HashMap, HashSet};
use warploom_ir::{Attr, OpId, ValueId};

use super::kernel::{Kernel, users};
use crate::error::{AliasError, AliasErrors, Result};
use crate::group::ReuseGroup;
use crate::model::{Counts, LeafId, SpecId};
use crate::text::part::{TextPart, integer};
use crate::types::Storage;

/// How a text is read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadOptions {
    /// TLX's meaning: legacy aliases stand, no inference.
    pub(crate) compat: bool,
}

pub(super) struct Reader<'t> {
    pub(super) part: &'t TextPart,
    pub(super) options: ReadOptions,
    pub(super) kernel: Kernel,
    pub(super) spec_of: HashMap<ValueId, SpecId>,
    pub(super) leaf_of: HashMap<ValueId, LeafId>,
    pub(super) group_of: HashMap<ValueId, ReuseGroup>,
    /// Groups that are elements of others, or named by an overlap definition.
    pub(super) inside: HashSet<ValueId>,
    pub(super) groups: Vec<ValueId>,
    pub(super) users: HashMap<ValueId, Vec<OpId>>,
}

/// Reads the operations of one function.
///
/// # Errors
/// Everything that is wrong with them, in the order of the text.
pub(crate) fn read(part: &TextPart, ops: &[OpId], options: ReadOptions) -> Result<Kernel, AliasErrors> {
    let mut reader = Reader {
        part,
        options,
        kernel: Kernel { ops: ops.to_vec(), ..Kernel::default() },
        spec_of: HashMap::new(),
        leaf_of: HashMap::new(),
        group_of: HashMap::new(),
        inside: HashSet::new(),
        groups: Vec::new(),
        users: users(part, ops),
    };
    let said: Vec<AliasError> =
        ops.iter().filter_map(|op| reader.op(*op).err().map(|e| e.at(part.pos(*op)))).collect();
    match said.is_empty() {
        true => Ok(reader.finish()),
        false => Err(AliasErrors(said)),
    }
}

impl Reader<'_> {
    fn op(&mut self, op: OpId) -> Result<()> {
        if let Some(text) = self.part.attr(op, "warploom.buffer") {
            self.kernel.bindings.push((op, text));
        }
        match self.part.name(op) {
            "tlx.storage_alias_spec" => self.spec(op),
            "tlx.storage_alias_local_alloc" => self.defined(op).and_then(|()| self.leaf(op)),
            "ttg.local_alloc" | "ttng.tmem_alloc" => {
                self.defined(op)?;
                self.plain(op);
                Ok(())
            }
            "tlx.local_alias" => self.defined(op).and_then(|()| self.alias(op)),
            "tlx.reuse_group" => self.defined(op).and_then(|()| self.group(op)),
            "tlx.set_buffer_overlap" => self.defined(op).and_then(|()| self.overlap(op)),
            "ttg.memdesc_index" => self.defined(op).and_then(|()| self.index(op)),
            "ttg.memdesc_reinterpret"
            | "ttg.memdesc_subslice"
            | "ttg.memdesc_trans"
            | "ttng.tmem_subslice"
            | "warploom.view" => self.defined(op),
            _ => Ok(()),
        }
    }

    /// Operands of the operations that matter are made before they are used, so that aliases have no cycle.
    fn defined(&self, op: OpId) -> Result<()> {
        for (n, value) in self.part.module.ops[op].operands.iter().enumerate() {
            // Operations are numbered in the order of the text.
            if self.part.module.def_op(*value).is_some_and(|def| def >= op) {
                let message = format!("operand #{n} does not dominate this use");
                return Err(AliasError::new("A16", message)
                    .help("define it before; an alias of itself has no storage"));
            }
        }
        Ok(())
    }

    /// A verifier's error carries the name of the operation.
    pub(super) fn verify(&self, op: OpId, error: AliasError) -> AliasError {
        AliasError { message: format!("'{}' op {}", self.part.name(op), error.message), ..error }
    }

    /// The type of the result as text; empty without one.
    pub(super) fn result_type(&self, op: OpId) -> String {
        self.part.result(op).map_or_else(String::new, |v| self.part.ty(v))
    }

    pub(super) fn name_of(&self, op: OpId) -> String {
        match self.part.module.attr(op, "warploom.name").and_then(Attr::as_str) {
            Some(name) => name.to_owned(),
            None => self.part.result(op).map_or("", |v| self.part.value_name(v)).to_owned(),
        }
    }

    fn spec(&mut self, op: OpId) -> Result<()> {
        let (part, at) = (self.part, self.part.pos(op));
        let ty = self.result_type(op);
        let params = ty.split_once('<').map_or("", |(_, t)| t.trim_end_matches('>'));
        let (kind, typed_size) = match params.split_once(',') {
            Some((kind, size)) => (kind.trim(), Some(size.trim())),
            None => (params.trim(), None),
        };
        let storage = Storage::of_spec(&part.attr(op, "storage").unwrap_or_default());
        let storage = storage.map_err(|e| self.verify(op, e))?;
        Storage::of_spec(kind).map_err(|e| self.verify(op, e))?;
        if kind != storage.name() {
            let message = format!("storage {} doesn't match its type's storage {kind}", storage.name());
            return Err(self.verify(op, AliasError::new("A4", message)).help("write the same storage twice"));
        }
        let constant = || {
            AliasError::new("A5", "buffer_size_bytes must be a compile-time constant").help("write a number")
        };
        let size = part.module.attr(op, "size").map(|a| integer(a).ok_or_else(constant)).transpose()?;
        let typed = typed_size.map(|text| text.parse::<i64>().map_err(|_| constant())).transpose()?;
        if let (Some(a), Some(b)) = (size, typed)
            && a != b
        {
            let message = format!("storage_alias_spec size {a} doesn't match its type's size {b}");
            return Err(self.verify(op, AliasError::new("A5", message)).help("write the same size twice"));
        }
        let declared = self.kernel.module.storage_alias_spec(storage, size.or(typed));
        let spec = declared.map_err(|e| self.verify(op, e))?;
        let name = self.name_of(op);
        let m = &mut self.kernel.module;
        m.name_spec(spec, name, Some(at));
        if let Some(text) = part.attr(op, "warploom.counts") {
            let counts = Counts::from_name(text.trim_matches('"')).ok_or_else(|| {
                AliasError::new(
                    "A41",
                    format!("warploom.counts is \"prefix\", \"equal\" or \"gcd\", not {text}"),
                )
            })?;
            m.set_counts(spec, counts);
        }
        if part.module.attr(op, "warploom.merge").is_some() {
            m.allow_merge(spec);
        }
        self.kernel.specs.push((spec, op));
        if let Some(value) = part.result(op) {
            self.spec_of.insert(value, spec);
        }
        Ok(())
    }

    /// A33: constant indices are in range.
    fn index(&mut self, op: OpId) -> Result<()> {
        let [buffer, index] = self.part.module.ops[op].operands[..] else { return Ok(()) };
        if let Some(spec) = self.spec_of.get(&buffer) {
            let at = self.kernel.module.spec(*spec).at;
            return Err(AliasError::new("A1", "storage_alias_spec is not a buffer and cannot be indexed")
                .related("the spec is here", at)
                .help("index an allocation of it"));
        }
        let Some(leaf) = self.leaf_of.get(&buffer).filter(|_| !self.options.compat) else { return Ok(()) };
        let leaf = self.kernel.module.leaf(*leaf);
        if leaf.spec().is_none() {
            return Ok(());
        }
        match self.part.module.const_int(index) {
            Some(i) if u64::try_from(i).map_or(true, |i| i >= leaf.count()) => {
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

    fn finish(mut self) -> Kernel {
        for value in self.groups.iter().filter(|v| !self.inside.contains(*v)) {
            if let Some(group) = self.group_of.get(value) {
                self.kernel.module.declare_group(group.clone());
            }
        }
        self.kernel
    }
}
