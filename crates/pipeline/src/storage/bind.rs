//! Reads the bindings of a kernel, and lays them out for the assignment (A44-A48).

use warploom_alias::schedule::{Binding, edges, parse_binding};
use warploom_alias::{LeafLayout, Storage as Space};
use warploom_bufassign::{AuthorLayout, LayoutLeaf, LayoutRef, Space as AssignSpace};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, Module, OpId};

use crate::place::refuse;
use crate::select::Selection;
use crate::storage::{BUFFER, Bindings};
use crate::walk::preorder;

impl Bindings {
    /// Whether the author bound anything.
    pub fn any(&self) -> bool {
        !self.bound.is_empty()
    }

    /// The leaf of the value that an operation fills.
    pub fn of(&self, op: OpId) -> Option<LayoutRef> {
        let at = self.bound.iter().position(|(bound, _)| *bound == op)?;
        self.refs.get(at).copied()
    }

    /// The storages, for the assignment.
    pub fn layouts(&self) -> &[AuthorLayout] {
        &self.layouts
    }

    /// The bound operations whose leaves share units with that of `op`: (its leaf, the other leaf, the other
    /// operation).
    fn neighbours(&self, layout: &warploom_alias::AliasLayout, op: OpId) -> Vec<(String, String, OpId)> {
        let Some((_, own)) = self.bound.iter().find(|(bound, _)| *bound == op) else { return Vec::new() };
        let name = |b: &Binding| layout.leaf(b.leaf).map(|(_, leaf)| leaf.name.clone());
        let others = self.bound.iter().filter(|(other, _)| *other != op);
        let meets = |other: &Binding| {
            let pair = [Binding { write: 0, ..own.clone() }, Binding { write: 1, ..other.clone() }];
            edges(layout, &pair).iter().any(|e| e.src != e.dst)
        };
        let found = others.filter(|(_, b)| meets(b)).filter_map(|(op, b)| Some((name(own)?, name(b)?, *op)));
        found.collect()
    }

    /// Adds to a refusal of the value that `op` fills which leaves share its place, and who writes there (A48).
    pub fn name_leaves(
        &self,
        module: &Module,
        layout: Option<&warploom_alias::AliasLayout>,
        op: OpId,
        refusal: Diagnostic,
    ) -> Diagnostic {
        let found = layout.map(|layout| self.neighbours(layout, op)).unwrap_or_default();
        found.into_iter().fold(refusal, |refusal, (own, other, writer)| {
            let text = format!(
                "%{own}, filled by {}, and %{other}, filled by {}, have places in common (A48)",
                module.op_name(op),
                module.op_name(writer)
            );
            refusal.note("leaves", text)
        })
    }

    /// Slots of a ring: the author's count (A45).
    pub fn depth(&self, ring: usize) -> Option<u64> {
        self.depths.get(ring).copied().flatten()
    }
}

/// Reads the bindings of a kernel.
///
/// # Errors
/// A44 for a binding that names no leaf, A48 for values that need their bytes at once, and storage that the
/// chip does not have.
pub(crate) fn bind(
    module: &Module,
    selection: &Selection,
    layout: Option<&warploom_alias::AliasLayout>,
) -> Result<Bindings, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut bindings = Bindings::default();
    let fills = fills(module, selection);
    for op in preorder(module, selection.func) {
        let Some(attr) = module.attr(op, BUFFER) else { continue };
        let fill = fills.iter().find(|(filled, _)| *filled == op);
        match (fill, binding(module, op, attr, layout)) {
            (Some(_), Ok(binding)) => bindings.bound.push((op, binding)),
            (None, Ok(_)) => errors.push(
                refuse(module, op, Code::Op, format!("{} fills no buffer", module.op_name(op)))
                    .rule("A44")
                    .note("bind", "the tt.descriptor_load or tt.descriptor_store whose buffer it is; in tensor memory the tt.dot, or what makes its operand"),
            ),
            (_, Err(error)) => errors.push(*error),
        }
    }
    if let Some(layout) = layout.filter(|_| errors.is_empty()) {
        bindings.lay_out(module, &fills, layout, &mut errors);
        bindings.order(module, selection, layout, &mut errors);
    }
    if errors.is_empty() { Ok(bindings) } else { Err(errors) }
}

/// The operations that fill buffers, and where those lie. An accumulator of several slots that no trip reads has none
/// of its own.
fn fills(module: &Module, selection: &Selection) -> Vec<(OpId, Space)> {
    let loads = selection.loads.iter().map(|l| (l.op, Space::Smem));
    let stores = selection.stores.iter().map(|s| (s.op, Space::Smem));
    let accumulators =
        selection.accumulators.iter().enumerate().filter(|(i, s)| s.home == *i && s.slots == 1);
    let accumulators =
        accumulators.filter_map(|(_, s)| selection.dots.get(s.dot)).map(|d| (d.op, Space::Tmem));
    let operands = selection.operands.iter().enumerate().filter(|(i, f)| f.home == *i);
    let operands = operands.filter_map(|(_, f)| module.def_op(f.value)).map(|op| (op, Space::Tmem));
    loads.chain(stores).chain(accumulators).chain(operands).collect()
}

/// One attribute, and the leaf that it names.
fn binding(
    module: &Module,
    op: OpId,
    attr: &Attr,
    layout: Option<&warploom_alias::AliasLayout>,
) -> Result<Binding, Box<Diagnostic>> {
    let text = attr.as_str().unwrap_or_default();
    let (name, mul, add) = parse_binding(text).map_err(|error| {
        let refusal = refuse(module, op, Code::Verify, error.message.clone()).rule("A44");
        Box::new(error.help.iter().fold(refusal, |refusal, help| refusal.note("instead", help.clone())))
    })?;
    let leaves = || layout.into_iter().flat_map(|l| &l.storages).flat_map(|s| &s.leaves);
    let Some(leaf) = leaves().find(|leaf| leaf.name == name) else {
        let known: Vec<String> = leaves().map(|leaf| format!("%{}", leaf.name)).collect();
        let known = if known.is_empty() { "the file declares no leaf".to_owned() } else { known.join(", ") };
        let text = format!("{BUFFER} names leaf %{name}, which no storage_alias_spec has");
        return Err(Box::new(refuse(module, op, Code::Verify, text).rule("A44").note("known", known)));
    };
    Ok(Binding {
        value: module.op_name(op).to_owned(),
        leaf: leaf.leaf,
        mul,
        add,
        write: 0,
        reads: Vec::new(),
    })
}

impl Bindings {
    /// One layout per storage, in it one leaf per binding: its buffers in the order of the iterations.
    fn lay_out(
        &mut self,
        module: &Module,
        fills: &[(OpId, Space)],
        layout: &warploom_alias::AliasLayout,
        errors: &mut Vec<Diagnostic>,
    ) {
        for (id, storage) in (0u64..).zip(&layout.storages) {
            let mut leaves = Vec::new();
            for (op, binding) in &self.bound {
                let Some(leaf) = storage.leaves.iter().find(|l| l.leaf == binding.leaf) else { continue };
                if !fills.contains(&(*op, storage.space)) {
                    let text = format!("%{} lies in {}", leaf.name, storage.space.name());
                    let refusal = refuse(module, *op, Code::Target, text).rule("A44");
                    errors.push(refusal.note(
                        "supported",
                        "copies fill shared memory, smem; products and what they read from registers tensor memory, tmem",
                    ));
                    continue;
                }
                self.refs.push(LayoutRef { id, leaf: leaves.len() as u64 });
                leaves.push(LayoutLeaf { bytes: leaf.unit, slots: binding.slots(leaf) });
            }
            if !leaves.is_empty() {
                let (bytes, align) = (storage.size, storage.align.max(1));
                let space = match storage.space {
                    Space::Tmem => AssignSpace::Tmem,
                    _ => AssignSpace::Smem,
                };
                self.layouts.push(AuthorLayout { id, space, bytes, align, leaves });
            }
        }
        // `refs` was filled storage by storage; bindings stand in the order of the text.
        let storage_of =
            |b: &Binding| layout.storages.iter().position(|s| s.leaves.iter().any(|l| l.leaf == b.leaf));
        let mut order: Vec<usize> = (0..self.bound.len()).collect();
        order.sort_by_key(|&at| self.bound.get(at).and_then(|(_, b)| storage_of(b)));
        let mut refs = vec![LayoutRef { id: 0, leaf: 0 }; self.bound.len()];
        for (&at, &r) in order.iter().zip(&self.refs) {
            if let Some(slot) = refs.get_mut(at) {
                *slot = r;
            }
        }
        self.refs = refs;
    }

    /// The depth of each ring, and whether its handshake keeps its copies apart (A45 to A48).
    fn order(
        &mut self,
        module: &Module,
        selection: &Selection,
        layout: &warploom_alias::AliasLayout,
        errors: &mut Vec<Diagnostic>,
    ) {
        let binding = |op: OpId| self.bound.iter().find(|(bound, _)| *bound == op).map(|(_, b)| b);
        let mut depths = Vec::new();
        // Bound copies of loops: ring, operation, binding, leaf, and iterations until the buffers repeat.
        let mut copies: Vec<(usize, OpId, &Binding, &LeafLayout, u64)> = Vec::new();
        for (ring, data) in selection.rings.iter().enumerate() {
            let ops = data.payloads().iter().filter_map(|&l| selection.loads.get(l)).map(|l| l.op);
            let bound: Vec<_> = ops
                .filter_map(|op| {
                    let b = binding(op)?;
                    let (_, leaf) = layout.leaf(b.leaf)?;
                    Some((ring, op, b, leaf, b.period(leaf.count)))
                })
                .collect();
            let depth = bound.first().map(|c| c.4).filter(|_| data.looped);
            for &(_, op, _, leaf, n) in bound.iter().filter(|c| depth.is_some_and(|depth| c.4 != depth)) {
                let first = bound.first().map(|c| c.3.name.clone()).unwrap_or_default();
                let text = format!(
                    "%{} gives {n} buffers to the loop, %{first} gives {}; one handshake fills both",
                    leaf.name,
                    depth.unwrap_or(0)
                );
                errors
                    .push(refuse(module, op, Code::Layout, text).rule("A45").note("instead", "equal counts"));
            }
            depths.push(depth);
            if data.looped {
                copies.extend(bound);
            }
        }
        for (at, &x) in copies.iter().enumerate() {
            for &y in copies.iter().skip(at + 1) {
                errors.extend(clash(module, layout, x, y));
            }
        }
        self.depths = depths;
    }
}

/// Two copies of loops with a byte in common. A slot is handed over by its own ring: buffers of one ring are kept
/// apart when they meet a whole turn later, nothing orders the slots of two rings.
fn clash(
    module: &Module,
    layout: &warploom_alias::AliasLayout,
    x: (usize, OpId, &Binding, &LeafLayout, u64),
    y: (usize, OpId, &Binding, &LeafLayout, u64),
) -> Option<Diagnostic> {
    let pair = [Binding { write: 0, ..x.2.clone() }, Binding { write: 1, ..y.2.clone() }];
    let between = edges(layout, &pair).into_iter().filter(|e| e.src != e.dst).map(|e| e.distance).min()?;
    let (a, b) = (&x.3.name, &y.3.name);
    let refusal = if x.0 != y.0 {
        let text =
            format!("leaves %{a} and %{b} share bytes, and no handshake orders the rings that they hold");
        refuse(module, y.1, Code::Layout, text).rule("A47")
    } else if between < x.4 {
        let text = format!(
            "leaves %{a} and %{b} share bytes {between} iterations apart, and one handshake frees both only after {}",
            x.4
        );
        refuse(module, y.1, Code::Layout, text).rule("A48")
    } else {
        return None;
    };
    Some(refusal.note("instead", "make them distinct, or give one another buffer by add = .."))
}
