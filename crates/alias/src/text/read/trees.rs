//! Groups and overlap definitions (A8 to A12, A40).

use warploom_ir::OpId;

use super::reader::Reader;
use crate::error::{AliasError, Result};
use crate::group::{GroupElement, GroupKind, ReuseGroup};
use crate::model::Overlap;
use crate::text::part::integer;

impl Reader<'_> {
    pub(super) fn group(&mut self, op: OpId) -> Result<()> {
        let text = self.part.attr(op, "group_kind").unwrap_or_default();
        let kind = GroupKind::from_name(&text).ok_or_else(|| {
            self.verify(op, AliasError::new("A8", format!("group_kind is shared or distinct, not {text}")))
        })?;
        let ty = self.result_type(op);
        let of_type = ty.split_once('<').map_or("", |(_, t)| t.trim_end_matches('>').trim());
        if of_type != kind.name() {
            let message = format!(
                "group_kind attribute ({}) doesn't match result type group kind ({of_type})",
                kind.name()
            );
            return Err(self.verify(op, AliasError::new("A8", message)).help("write the same kind twice"));
        }
        let mut elements = Vec::new();
        let mut foreign = None;
        for value in &self.part.module.ops[op].operands {
            if let Some(group) = self.group_of.get(value) {
                elements.push(GroupElement::Group(group.clone()));
                self.inside.insert(*value);
            } else if let Some(leaf) = self.leaf_of.get(value) {
                elements.push(GroupElement::Leaf(*leaf));
            } else {
                let got = self.part.ty(*value);
                if got.starts_with("!ttg.memdesc<") {
                    // Some other buffer; the overlap definition says what is wrong with it.
                    foreign = Some(*value);
                    continue;
                }
                let message =
                    format!("reuse_group elements must be buffered_tensor or reuse_group, got {got}");
                return Err(self
                    .verify(op, AliasError::new("A8", message))
                    .help("name allocations or groups"));
            }
        }
        if let Some(value) = foreign {
            let message = "all elements in the reuse_group tree must be allocated via \
                           tlx.storage_alias_local_alloc, but found an element that is not";
            let name = self.part.value_name(value);
            let help = format!("allocate %{name} from the spec");
            return Err(self.verify(op, AliasError::new("A10", message)).help(help));
        }
        let size =
            self.part.module.attr(op, "group_size").map_or(Some(1), integer).ok_or_else(|| {
                self.verify(op, AliasError::new("A8", "group_size must be a positive integer"))
            })?;
        let group = ReuseGroup::new(kind, elements).and_then(|g| {
            let name = self.part.result(op).map_or("", |v| self.part.value_name(v));
            g.named(name, Some(self.part.pos(op))).group_size(size)
        });
        let group = group.map_err(|e| self.verify(op, e))?;
        if let Some(value) = self.part.result(op) {
            self.group_of.insert(value, group);
            self.groups.push(value);
        }
        self.kernel.trees.push(op);
        Ok(())
    }

    pub(super) fn overlap(&mut self, op: OpId) -> Result<()> {
        self.kernel.trees.push(op);
        let m = &self.part.module;
        let mut parent = m.parent(op);
        while let Some(around) = parent {
            let name = self.part.name(around);
            if name.starts_with("scf.") || name.starts_with("affine.") {
                return Err(AliasError::new(
                    "A11",
                    "set_buffer_overlap must not depend on runtime control flow",
                )
                .related(format!("it stands inside this '{name}'"), self.part.pos(around))
                .help("choose the scheme on compile-time constants"));
            }
            parent = m.parent(around);
        }
        let block = m.ops[op].block;
        let first = block.and_then(|b| m.blocks[b].region).and_then(|r| m.regions[r].blocks.first().copied());
        if first != block {
            return Err(AliasError::new("A11", "set_buffer_overlap must not depend on runtime control flow")
                .help("move it to the entry block"));
        }
        let [spec, tree] = m.ops[op].operands[..] else {
            return Err(
                self.verify(op, AliasError::new("A10", "takes a storage_alias_spec and a reuse_group"))
            );
        };
        let spec = self.spec_of.get(&spec).copied().ok_or_else(|| {
            self.verify(op, AliasError::new("A10", "operand #0 must be a storage_alias_spec"))
        })?;
        let Some(tree_of) = self.group_of.get(&tree).cloned() else {
            let ty = self.part.ty(tree);
            let message = match ty.starts_with("!tlx.reuse_group<") {
                true => "overlap_def must be defined by a tlx.reuse_group op".to_owned(),
                false => format!("overlap_def must be a reuse_group, got {ty}"),
            };
            return Err(self.verify(op, AliasError::new("A10", message)).help("name a tlx.reuse_group"));
        };
        self.inside.insert(tree);
        let phase = m.attr(op, "warploom.phase").and_then(|p| p.as_str()).map(str::to_owned);
        let overlap = Overlap { spec, phase, tree: tree_of, at: Some(self.part.pos(op)) };
        self.kernel.module.overlap(overlap).map_err(|e| match e.code {
            "A10" => self.verify(op, e),
            _ => e,
        })
    }
}
