//! Allocations of specs, plain ones, and aliases (A6, A7, A15, A24).

use super::{Reader, integer, verify};
use crate::error::{AliasError, Result};
use crate::model::Alloc;
use crate::text::tree::{Form, Op, OpId, ValueId};
use crate::text::types::{MemDesc, elem, encoding};
use crate::types::Storage;

impl Reader<'_> {
    /// An allocation as its type says.
    pub(super) fn alloc(&self, op: &Op, form: &Form, ty: &str) -> Result<(Alloc, Storage)> {
        let desc = MemDesc::parse(ty)?
            .ok_or_else(|| AliasError::new("A17", format!("result must be a memory descriptor, got {ty}")))?;
        let storage = desc.storage(self.tree).ok_or_else(|| {
            AliasError::new("A17", format!("'{}' is no memory space", desc.space))
                .help("use #ttg.shared_memory or #ttng.tensor_memory")
        })?;
        let (count, tile) = match (storage, desc.dims.split_first()) {
            // A tile of tensor memory without a count is one buffer (A7).
            (Storage::Tmem, _) if desc.dims.len() == 2 => (1, desc.dims.as_slice()),
            (_, Some((count, tile))) => (*count, tile),
            (_, None) => return Err(AliasError::new("A7", "a buffer needs at least one dimension")),
        };
        if storage == Storage::Tmem && desc.dims.len() < 2 {
            let message = format!("TMEM allocations must be at least 2D, got rank {}", desc.dims.len());
            return Err(AliasError::new("A7", message));
        }
        let mut alloc = Alloc::new(self.name_of(op, form), count, tile, elem(&desc.elem)?)
            .storage(storage)
            .encoding(encoding(self.tree, &desc.encoding)?)
            .at(Some(op.pos));
        let number = |name: &str, code| match form.attr(name) {
            None => Ok(None),
            Some(text) => integer(text).and_then(|n| u64::try_from(n).ok()).map(Some).ok_or_else(|| {
                AliasError::new(code, format!("{name} must be a number of at least 0, got {text}"))
            }),
        };
        if let Some(align) = number("warploom.align", "A24")? {
            alloc = alloc.align(align);
            if let Some(tma) = op.results.first().and_then(|v| self.tma(*v)) {
                alloc = alloc.tma(tma);
            }
        }
        if !self.options.compat {
            if let Some(offset) = number("buffer_offset", "A30")? {
                alloc = alloc.buffer_offset(offset);
            }
            if let Some(pitch) = number("bytes_between_buffers", "A30")? {
                alloc = alloc.bytes_between_buffers(pitch);
            }
        }
        Ok((alloc, storage))
    }

    /// The first TMA operation that names a buffer, directly or by an index of it.
    pub(super) fn tma(&self, value: ValueId) -> Option<String> {
        let users = self.users.get(&value)?;
        users.iter().filter_map(|u| self.tree.ops.get(*u)).find_map(|op| {
            if op.name.contains("tma") || op.name.contains("descriptor") {
                return Some(op.name.clone());
            }
            let index = op.name == "ttg.memdesc_index";
            let result = op.results.first().filter(|_| index)?;
            self.users.get(result)?.iter().filter_map(|u| self.tree.ops.get(*u)).find_map(|op| {
                (op.name.contains("tma") || op.name.contains("descriptor")).then(|| op.name.clone())
            })
        })
    }

    pub(super) fn leaf(&mut self, id: OpId, op: &Op, form: &Form) -> Result<()> {
        let spec = form.operands.first().and_then(|v| self.spec_of.get(v)).copied().ok_or_else(|| {
            AliasError::new(
                "A15",
                format!(
                    "reuse must be a buffered_tensor or storage_alias_spec, got {}",
                    form.ins.first().map_or("nothing", String::as_str)
                ),
            )
        })?;
        let ty = form.outs.first().map_or("", String::as_str);
        let (alloc, storage) = self.alloc(op, form, ty)?;
        let own = self.kernel.module.spec(spec).storage();
        if storage != own {
            let place = match own {
                Storage::Tmem => "tensor memory",
                _ => "shared memory",
            };
            let message =
                format!("storage_alias_spec has {} storage but result is not in {place}", own.name());
            return Err(verify(op, AliasError::new("A6", message)).help("change the spec or the result type"));
        }
        let leaf = self.kernel.module.local_alloc(alloc.reuse(spec)).map_err(|e| verify(op, e))?;
        self.kernel.leaves.push((leaf, id));
        if let Some(value) = op.results.first() {
            self.leaf_of.insert(*value, leaf);
        }
        Ok(())
    }

    pub(super) fn plain(&mut self, _id: OpId, op: &Op, form: &Form) -> Result<()> {
        let ty = form.outs.first().map_or("", String::as_str);
        // Barriers and the like of other spaces are not ours to lay out.
        let Ok((alloc, _)) = self.alloc(op, form, ty) else { return Ok(()) };
        // A plain allocation is one block, whatever its first dimension says.
        let leaf = match self.kernel.module.local_alloc(alloc) {
            Ok(leaf) => leaf,
            Err(_) => return Ok(()),
        };
        if let (Some(value), true) = (op.results.first(), form.operands.is_empty()) {
            self.leaf_of.insert(*value, leaf);
        }
        Ok(())
    }

    /// Deprecated reuse of an allocation (A15); a view of a leaf of a spec stays one.
    pub(super) fn alias(&mut self, id: OpId, op: &Op, form: &Form) -> Result<()> {
        let from = form.ins.first().map_or("", String::as_str);
        let to = form.outs.first().map_or("", String::as_str);
        let space = |ty| MemDesc::parse(ty).ok().flatten().and_then(|d| d.storage(self.tree));
        if space(from).is_none() {
            let message = format!("reuse must be a buffered_tensor or storage_alias_spec, got {from}");
            return Err(verify(op, AliasError::new("A15", message)).help("alias an allocation"));
        }
        if space(from) != space(to) {
            return Err(verify(op, AliasError::new("A15", "reuse tensor has different storage"))
                .help("an alias lies where its operand lies"));
        }
        if self.options.compat {
            return Ok(());
        }
        let Some(owner) = form.operands.first().and_then(|v| self.leaf_of.get(v)).copied() else {
            return Ok(());
        };
        // An alias of a leaf of a declared spec is a view of it.
        if matches!(self.kernel.module.leaf(owner).reuse(), Some(crate::Reuse::Spec(_))) {
            return Ok(());
        }
        let fresh = self.kernel.module.leaf(owner).spec().is_none();
        let (alloc, _) = self.alloc(op, form, to)?;
        let leaf = self.kernel.module.local_alloc(alloc.reuse(owner)).map_err(|e| verify(op, e))?;
        if fresh
            && let Some(spec) = self.kernel.module.leaf(owner).spec()
            && let Some(def) =
                form.operands.first().and_then(|v| self.tree.values.get(*v)).and_then(|v| v.def)
        {
            self.kernel.specs.push((spec, def));
            self.kernel.leaves.push((owner, def));
        }
        self.kernel.leaves.push((leaf, id));
        if let Some(value) = op.results.first() {
            self.leaf_of.insert(*value, leaf);
        }
        Ok(())
    }
}
