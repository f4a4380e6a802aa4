//! Allocations of specs, plain ones, and aliases (A6, A7, A15, A24).

use warploom_ir::{OpId, Type, ValueId};

use super::reader::Reader;
use crate::error::{AliasError, Result};
use crate::model::Alloc;
use crate::text::part::integer;
use crate::text::types::{MemDesc, elem, encoding};
use crate::types::Storage;

impl Reader<'_> {
    /// An allocation as its type says.
    pub(super) fn alloc(&self, op: OpId) -> Result<(Alloc, Storage)> {
        let ty = &self.result_type(op);
        let desc = MemDesc::parse(ty)?
            .ok_or_else(|| AliasError::new("A17", format!("result must be a memory descriptor, got {ty}")))?;
        let storage = desc.storage(self.part).ok_or_else(|| {
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
        let mut alloc = Alloc::new(self.name_of(op), count, tile, elem(&desc.elem)?)
            .storage(storage)
            .encoding(encoding(self.part, &desc.encoding)?)
            .at(Some(self.part.pos(op)));
        let number = |name: &str, code| match self.part.module.attr(op, name) {
            None => Ok(None),
            Some(attr) => integer(attr).and_then(|n| u64::try_from(n).ok()).map(Some).ok_or_else(|| {
                let text = self.part.attr(op, name).unwrap_or_default();
                AliasError::new(code, format!("{name} must be a number of at least 0, got {text}"))
            }),
        };
        if let Some(align) = number("warploom.align", "A24")? {
            alloc = alloc.align(align);
            if let Some(tma) = self.part.result(op).and_then(|v| self.tma(v)) {
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
    fn tma(&self, value: ValueId) -> Option<String> {
        let users = |value| self.users.get(&value).map_or(&[][..], Vec::as_slice).iter().copied();
        let is_tma = |op: OpId| {
            let name = self.part.name(op);
            (name.contains("tma") || name.contains("descriptor")).then(|| name.to_owned())
        };
        users(value).find_map(|op| {
            is_tma(op).or_else(|| {
                let index = self.part.name(op) == "ttg.memdesc_index";
                let result = self.part.result(op).filter(|_| index)?;
                users(result).find_map(is_tma)
            })
        })
    }

    pub(super) fn leaf(&mut self, op: OpId) -> Result<()> {
        let operand = self.part.operand(op, 0);
        let spec = operand.and_then(|v| self.spec_of.get(&v)).copied().ok_or_else(|| {
            let got = operand.map_or_else(|| "nothing".to_owned(), |v| self.part.ty(v));
            AliasError::new(
                "A15",
                format!("reuse must be a buffered_tensor or storage_alias_spec, got {got}"),
            )
        })?;
        let (alloc, storage) = self.alloc(op)?;
        let own = self.kernel.module.spec(spec).storage();
        if storage != own {
            let place = match own {
                Storage::Tmem => "tensor memory",
                _ => "shared memory",
            };
            let message =
                format!("storage_alias_spec has {} storage but result is not in {place}", own.name());
            return Err(self
                .verify(op, AliasError::new("A6", message))
                .help("change the spec or the result type"));
        }
        let leaf = self.kernel.module.local_alloc(alloc.reuse(spec)).map_err(|e| self.verify(op, e))?;
        self.kernel.leaves.push((leaf, op));
        if let Some(value) = self.part.result(op) {
            self.leaf_of.insert(value, leaf);
        }
        Ok(())
    }

    pub(super) fn plain(&mut self, op: OpId) {
        // Barriers and the like of other spaces are not ours to lay out.
        let Ok((alloc, _)) = self.alloc(op) else { return };
        // A plain allocation is one block, whatever its first dimension says.
        let Ok(leaf) = self.kernel.module.local_alloc(alloc) else { return };
        if let (Some(value), None) = (self.part.result(op), self.part.operand(op, 0)) {
            self.leaf_of.insert(value, leaf);
        }
    }

    /// Deprecated reuse of an allocation (A15); a view of a leaf of a spec stays one.
    pub(super) fn alias(&mut self, op: OpId) -> Result<()> {
        let Some(from) = self.part.operand(op, 0) else { return Ok(()) };
        let space = |ty: &Type| MemDesc::of(ty).and_then(|d| d.storage(self.part));
        let of_operand = space(self.part.module.ty(from));
        if of_operand.is_none() {
            let got = self.part.ty(from);
            let message = format!("reuse must be a buffered_tensor or storage_alias_spec, got {got}");
            return Err(self.verify(op, AliasError::new("A15", message)).help("alias an allocation"));
        }
        let of_result = self.part.result(op).and_then(|v| space(self.part.module.ty(v)));
        if of_operand != of_result {
            return Err(self
                .verify(op, AliasError::new("A15", "reuse tensor has different storage"))
                .help("an alias lies where its operand lies"));
        }
        if self.options.compat {
            return Ok(());
        }
        let Some(owner) = self.leaf_of.get(&from).copied() else { return Ok(()) };
        // An alias of a leaf of a declared spec is a view of it.
        if matches!(self.kernel.module.leaf(owner).reuse(), Some(crate::Reuse::Spec(_))) {
            return Ok(());
        }
        let fresh = self.kernel.module.leaf(owner).spec().is_none();
        let (alloc, _) = self.alloc(op)?;
        let leaf = self.kernel.module.local_alloc(alloc.reuse(owner)).map_err(|e| self.verify(op, e))?;
        if fresh
            && let Some(spec) = self.kernel.module.leaf(owner).spec()
            && let Some(def) = self.part.module.def_op(from)
        {
            self.kernel.specs.push((spec, def));
            self.kernel.leaves.push((owner, def));
        }
        self.kernel.leaves.push((leaf, op));
        if let Some(value) = self.part.result(op) {
            self.leaf_of.insert(value, leaf);
        }
        Ok(())
    }
}
