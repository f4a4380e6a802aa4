//! Modules as text.

use warploom_alias::{AliasModule, Counts, Encoding, GroupElement, Leaf, ReuseGroup, Storage};

/// A module as text: its specs, leaves and trees, and one index into each leaf, in a partition of its own.
pub fn text_of(m: &AliasModule) -> String {
    let mut out = String::from("module {\ntt.func @f(%i: i32) {\n");
    let mut captures = Vec::new();
    for (id, spec) in m.specs() {
        let (n, space) = (id.index(), spec.storage().name());
        out.push_str(&format!("%s{n} = tlx.storage_alias_spec storage = {space}"));
        if let Some(size) = spec.size_bytes() {
            out.push_str(&format!(", size = {size}"));
        }
        if spec.counts() == Counts::Gcd {
            out.push_str(" {warploom.counts = \"gcd\"}");
        }
        let size = spec.size_bytes().map_or_else(String::new, |s| format!(", {s}"));
        out.push_str(&format!(" : !tlx.storage_alias_spec<{space}{size}>\n"));
    }
    for (id, leaf) in m.leaves() {
        let Some(spec) = leaf.spec() else { continue };
        let (n, s, ty) = (id.index(), spec.index(), type_of(leaf, Some(leaf.count())));
        let size = m.spec(spec).size_bytes().map_or_else(String::new, |s| format!(", {s}"));
        let align = leaf.align().map_or_else(String::new, |a| format!(" {{warploom.align = {a}}}"));
        let space = leaf.storage().name();
        out.push_str(&format!(
            "%l{n} = tlx.storage_alias_local_alloc %s{s}{align} : !tlx.storage_alias_spec<{space}{size}> -> {ty}\n"
        ));
        captures.push((n, ty, type_of(leaf, None)));
    }
    for (n, overlap) in m.overlaps().iter().enumerate() {
        let mut count = 0;
        let tree = write_group(m, &overlap.tree, &format!("g{n}"), &mut count, &mut out);
        let (s, kind) = (overlap.spec.index(), overlap.tree.kind().name());
        let spec = m.spec(overlap.spec);
        let size = spec.size_bytes().map_or_else(String::new, |s| format!(", {s}"));
        out.push_str(&format!(
            "tlx.set_buffer_overlap(%s{s}, %{tree}) : (!tlx.storage_alias_spec<{}{size}>, !tlx.reuse_group<{kind}>) -> ()\n",
            spec.storage().name()
        ));
    }
    for (n, ty, tile) in &captures {
        out.push_str(&format!(
            "ttg.warp_specialize(%l{n}, %i)\ndefault {{\nttg.warp_yield\n}}\npartition0(%a{n}: {ty}, %j{n}: i32) num_warps(4) {{\n\
             %x{n} = ttg.memdesc_index %a{n}[%j{n}] : {ty} -> {tile}\nttg.warp_return\n}} : ({ty}, i32) -> ()\n"
        ));
        out.push_str(&format!("%y{n} = ttg.memdesc_index %l{n}[%i] : {ty} -> {tile}\n"));
    }
    out.push_str("tt.return\n}\n}\n");
    out
}

fn type_of(leaf: &Leaf, count: Option<u64>) -> String {
    let dims: String = count.iter().chain(leaf.tile()).map(|d| format!("{d}x")).collect();
    let elem = match leaf.elem().bits() {
        64 => "f64".to_owned(),
        32 => "f32".to_owned(),
        16 => "bf16".to_owned(),
        bits => format!("i{bits}"),
    };
    let encoding = match leaf.encoding() {
        Encoding::Nvmma { swizzle, fp4_padded } => format!(
            "#ttg.nvmma_shared<{{swizzlingByteWidth = {swizzle}, transposed = false, elementBitWidth = 8, fp4Padded = {fp4_padded}}}>"
        ),
        Encoding::Tensor(e) => format!(
            "#ttng.tensor_memory_encoding<blockM = {}, blockN = {}, colStride = {}{}>",
            e.block_m,
            e.block_n,
            e.col_stride,
            if e.two_ctas { ", twoCTAs = true" } else { "" }
        ),
        _ => "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>".to_owned(),
    };
    let space = if leaf.storage() == Storage::Tmem { "#ttng.tensor_memory" } else { "#ttg.shared_memory" };
    format!("!ttg.memdesc<{dims}{elem}, {encoding}, {space}, mutable>")
}

/// Writes the groups of a tree, the innermost first; the name of its root.
fn write_group(m: &AliasModule, group: &ReuseGroup, tree: &str, count: &mut u32, out: &mut String) -> String {
    let (mut names, mut types) = (Vec::new(), Vec::new());
    for element in group.elements() {
        match element {
            GroupElement::Leaf(leaf) => {
                names.push(format!("%l{}", leaf.index()));
                types.push(type_of(m.leaf(*leaf), Some(m.leaf(*leaf).count())));
            }
            GroupElement::Group(inner) => {
                names.push(format!("%{}", write_group(m, inner, tree, count, out)));
                types.push(format!("!tlx.reuse_group<{}>", inner.kind().name()));
            }
        }
    }
    let (name, kind) = (format!("{tree}_{count}"), group.kind().name());
    *count += 1;
    out.push_str(&format!(
        "%{name} = tlx.reuse_group({}) group_kind = {kind}, group_size = {} : ({}) -> !tlx.reuse_group<{kind}>\n",
        names.join(", "),
        group.size(),
        types.join(", ")
    ));
    name
}
