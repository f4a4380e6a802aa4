//! Groups and overlap definitions (A8 to A12, A40).

use super::{Reader, integer, unquoted, verify};
use crate::error::{AliasError, Result};
use crate::group::{Element, GroupKind, ReuseGroup};
use crate::model::Overlap;
use crate::text::tree::{Form, Op, OpId};

impl Reader<'_> {
    pub(super) fn group(&mut self, id: OpId, op: &Op, form: &Form) -> Result<()> {
        let text = form.attr("group_kind").unwrap_or("");
        let kind = GroupKind::from_name(text).ok_or_else(|| {
            verify(op, AliasError::new("A8", format!("group_kind is shared or distinct, not {text}")))
        })?;
        let ty = form.outs.first().map_or("", String::as_str);
        let of_type = ty.split_once('<').map_or("", |(_, t)| t.trim_end_matches('>').trim());
        if of_type != kind.name() {
            let message = format!(
                "group_kind attribute ({}) doesn't match result type group kind ({of_type})",
                kind.name()
            );
            return Err(verify(op, AliasError::new("A8", message)).help("write the same kind twice"));
        }
        let mut elements = Vec::new();
        let mut foreign = None;
        for (n, value) in form.operands.iter().enumerate() {
            if let Some(group) = self.group_of.get(value) {
                elements.push(Element::Group(group.clone()));
                self.inside.insert(*value, true);
            } else if let Some(leaf) = self.leaf_of.get(value) {
                elements.push(Element::Leaf(*leaf));
            } else {
                let got = form.ins.get(n).map_or("nothing", String::as_str);
                if got.starts_with("!ttg.memdesc<") {
                    // Some other buffer; the overlap definition says what is wrong with it.
                    foreign = Some(*value);
                    continue;
                }
                let message =
                    format!("reuse_group elements must be buffered_tensor or reuse_group, got {got}");
                return Err(verify(op, AliasError::new("A8", message)).help("name allocations or groups"));
            }
        }
        if let Some(value) = foreign {
            let message = "all elements in the reuse_group tree must be allocated via \
                           tlx.storage_alias_local_alloc, but found an element that is not";
            let name = self.tree.values.get(value).map_or("", |v| v.name.as_str());
            return Err(
                verify(op, AliasError::new("A10", message)).help(format!("allocate %{name} from the spec"))
            );
        }
        let size = form
            .attr("group_size")
            .map_or(Some(1), integer)
            .ok_or_else(|| verify(op, AliasError::new("A8", "group_size must be a positive integer")))?;
        let group = ReuseGroup::new(kind, elements).and_then(|g| {
            let name =
                op.results.first().and_then(|v| self.tree.values.get(*v)).map_or("", |v| v.name.as_str());
            g.named(name, Some(op.pos)).group_size(size)
        });
        let group = group.map_err(|e| verify(op, e))?;
        if let Some(value) = op.results.first() {
            self.group_of.insert(*value, group);
            self.groups.push(*value);
        }
        self.kernel.trees.push(id);
        Ok(())
    }

    pub(super) fn overlap(&mut self, id: OpId, op: &Op, form: &Form) -> Result<()> {
        self.kernel.trees.push(id);
        let mut parent = self.tree.parent(id);
        while let Some(around) = parent.and_then(|p| self.tree.ops.get(p)) {
            if around.name.starts_with("scf.") || around.name.starts_with("affine.") {
                return Err(AliasError::new(
                    "A11",
                    "set_buffer_overlap must not depend on runtime control flow",
                )
                .related(format!("it stands inside this '{}'", around.name), around.pos)
                .help("choose the scheme on compile-time constants"));
            }
            parent = parent.and_then(|p| self.tree.parent(p));
        }
        let block = op.block.and_then(|b| self.tree.blocks.get(b).map(|x| (b, x.region)));
        if let Some((block, region)) = block
            && self.tree.regions.get(region).is_some_and(|r| r.blocks.first() != Some(&block))
        {
            return Err(AliasError::new("A11", "set_buffer_overlap must not depend on runtime control flow")
                .help("move it to the entry block"));
        }
        let [spec, tree] = form.operands.as_slice() else {
            return Err(verify(op, AliasError::new("A10", "takes a storage_alias_spec and a reuse_group")));
        };
        let spec =
            self.spec_of.get(spec).copied().ok_or_else(|| {
                verify(op, AliasError::new("A10", "operand #0 must be a storage_alias_spec"))
            })?;
        let Some(tree_of) = self.group_of.get(tree).cloned() else {
            let ty = form.ins.get(1).map_or("", String::as_str);
            let message = match ty.starts_with("!tlx.reuse_group<") {
                true => "overlap_def must be defined by a tlx.reuse_group op".to_owned(),
                false => format!("overlap_def must be a reuse_group, got {ty}"),
            };
            return Err(verify(op, AliasError::new("A10", message)).help("name a tlx.reuse_group"));
        };
        self.inside.insert(*tree, true);
        let phase = form.attr("warploom.phase").map(|p| unquoted(p).to_owned());
        let overlap = Overlap { spec, phase, tree: tree_of, at: Some(op.pos) };
        self.kernel.module.overlap(overlap).map_err(|e| match e.code {
            "A10" => verify(op, e),
            _ => e,
        })
    }
}
