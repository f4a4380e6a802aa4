//! Generators for fuzz targets and property tests: modules from bytes. The same bytes give the same module.

use crate::group::{Element, GroupKind, ReuseGroup};
use crate::model::{AliasModule, Alloc, Counts, LeafId, SpecId};
use crate::types::{Elem, Encoding, Storage, TensorMemory};

/// Bytes that run out into zeros.
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// Reads from these.
    pub fn new(bytes: &'a [u8]) -> Bytes<'a> {
        Bytes(bytes)
    }

    /// A number below `n` (at most 2^16); 0 for 0.
    pub fn below(&mut self, n: u64) -> u64 {
        let mut byte = || match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                u64::from(*first)
            }
            None => 0,
        };
        let value = if n > 256 { byte() << 8 | byte() } else { byte() };
        value.checked_rem(n).unwrap_or(0)
    }

    /// One of these; the first when the bytes have run out.
    pub fn pick<T: Copy>(&mut self, of: &[T], default: T) -> T {
        of.get(self.below(of.len() as u64) as usize).copied().unwrap_or(default)
    }
}

/// How wild a generated module is.
#[derive(Clone, Copy, Debug)]
pub struct Ranges {
    /// Levels of groups.
    pub depth: u64,
    /// Largest group size.
    pub group_size: u64,
    /// Largest number of buffers.
    pub count: u64,
    /// Leaves of one spec.
    pub leaves: u64,
}

impl Ranges {
    /// What the property tests ask for: depth to 6, group sizes to 8, counts to 64.
    pub const WIDE: Ranges = Ranges { depth: 6, group_size: 8, count: 64, leaves: 12 };
    /// What the mutations are made of: depth to 5, 8 leaves, group sizes to 4, counts to 12.
    pub const SMALL: Ranges = Ranges { depth: 5, group_size: 4, count: 12, leaves: 8 };
}

/// A module with one to three specs, each with a tree over leaves of mixed types.
pub fn module(bytes: &[u8], ranges: Ranges) -> AliasModule {
    let mut b = Bytes::new(bytes);
    let mut m = AliasModule::new();
    for n in 0..=b.below(3) {
        let storage = b.pick(&[Storage::Smem, Storage::Tmem], Storage::Smem);
        let Ok(spec) = m.storage_alias_spec(storage, None) else { continue };
        m.name_spec(spec, format!("s{n}"), None);
        if b.below(8) == 7 {
            m.set_counts(spec, Counts::Gcd);
        }
        let count = 1 + b.below(ranges.leaves);
        let leaves: Vec<LeafId> = (0..count)
            .filter_map(|k| leaf(&mut b, &mut m, spec, storage, &format!("s{n}_{k}"), ranges).ok())
            .collect();
        if leaves.is_empty() || b.below(16) == 15 {
            continue;
        }
        if let Ok(tree) = tree(&mut b, &leaves, ranges.depth, ranges) {
            // A tree over the spec's own leaves, each once, is never refused.
            let _accepted = m.set_buffer_overlap(spec, tree);
        }
    }
    m
}

fn leaf(
    b: &mut Bytes<'_>,
    m: &mut AliasModule,
    spec: SpecId,
    storage: Storage,
    name: &str,
    ranges: Ranges,
) -> crate::Result<LeafId> {
    let elem = b.pick(
        &[Elem::F32, Elem::BF16, Elem::F8, Elem::F4, Elem::F64, Elem::int(1), Elem::int(24), Elem::PTR],
        Elem::F32,
    );
    let count = 1 + b.below(ranges.count);
    let mut alloc = match storage {
        Storage::Tmem => {
            let rows = b.pick(&[128, 64, 256, 32], 128);
            let columns = b.pick(&[16, 1, 3, 32, 64], 16);
            let mut e = TensorMemory::new(if rows == 64 { 64 } else { 128 }, 32);
            e.col_stride = b.pick(&[1, 2], 1);
            e.two_ctas = b.below(8) == 7;
            Alloc::new(name, count, [rows, columns], elem).encoding(Encoding::Tensor(e))
        }
        _ => {
            let tile = [1 + b.below(40), 1 + b.below(40)];
            let swizzle = b.pick(&[0, 0, 32, 64, 128], 0);
            let encoding = match swizzle {
                0 => Encoding::Swizzled,
                _ => Encoding::Nvmma { swizzle, fp4_padded: b.below(4) == 3 },
            };
            Alloc::new(name, count, tile, elem).encoding(encoding)
        }
    };
    if b.below(4) == 3 && storage == Storage::Smem {
        alloc = alloc.align(1024 << b.below(2)).encoding(Encoding::Swizzled);
    }
    m.local_alloc(alloc.reuse(spec))
}

/// A tree over all these leaves.
fn tree(b: &mut Bytes<'_>, leaves: &[LeafId], depth: u64, ranges: Ranges) -> crate::Result<ReuseGroup> {
    let kind = b.pick(&[GroupKind::Shared, GroupKind::Distinct], GroupKind::Shared);
    let size = 1 + b.pick(&[0, 0, 1], 0) * b.below(ranges.group_size);
    let mut elements: Vec<Element> = Vec::new();
    let mut rest = leaves;
    while !rest.is_empty() {
        let take = 1 + b.below(rest.len() as u64) as usize;
        let (here, after) = rest.split_at(take.min(rest.len()));
        if depth > 1 && b.below(3) > 0 {
            elements.push(tree(b, here, depth - 1, ranges)?.into());
        } else {
            elements.extend(here.iter().map(|l| Element::Leaf(*l)));
        }
        rest = after;
    }
    ReuseGroup::new(kind, elements)?.group_size(size as i64)
}

/// The fuzz target `alias`: whatever the bytes say, a layout that is made is right.
///
/// # Errors
/// The findings of the checker.
pub fn layout_is_right(bytes: &[u8]) -> Result<(), Vec<crate::Finding>> {
    let m = module(bytes, Ranges::WIDE);
    let limits = crate::Limits { tmem_columns: u64::MAX, ..crate::Limits::default() };
    for compat in [false, true] {
        let options = crate::AliasOptions { compat, limits, ..crate::AliasOptions::default() };
        if let Ok(layout) = m.layout(&options) {
            crate::check(&m, &layout, &crate::CheckOptions { compat, limits })?;
        }
    }
    Ok(())
}

/// The module of these bytes as text, lowered: the text is what the layout says (L13, L14).
///
/// # Errors
/// The findings of the checker.
pub fn lowering_is_right(bytes: &[u8]) -> Result<(), Vec<crate::Finding>> {
    let text = text_of(&module(bytes, Ranges::SMALL));
    let limits = crate::Limits { tmem_columns: u64::MAX, ..crate::Limits::default() };
    for compat in [false, true] {
        let layout = crate::AliasOptions { compat, limits, ..crate::AliasOptions::default() };
        let options = crate::TextOptions { layout, ..crate::TextOptions::default() };
        let out = crate::lower_text(&text, &options);
        if !out.failed {
            crate::check_lowered(&text, &out.text, &options.layout)?;
        }
    }
    Ok(())
}

/// A StableHLO function with pairs, loops and boundaries from bytes: well-formed, not always legal.
pub fn host_text(bytes: &[u8]) -> String {
    let mut b = Bytes::new(bytes);
    let mut out = String::from("func.func @f(%n: tensor<i1>, %x: tensor<4xf32>, %m: memref<4xf32>) {\n");
    let (mut tensors, mut buffers) = (vec!["%x".to_owned()], vec!["%m".to_owned()]);
    let mut open = 0u64;
    for n in 0..2 + b.below(24) {
        let t = tensors.get(b.below(tensors.len() as u64) as usize).cloned().unwrap_or_default();
        let m = buffers.get(b.below(buffers.len() as u64) as usize).cloned().unwrap_or_default();
        let pairs = match b.below(4) {
            0 => "[]".to_owned(),
            k => format!(
                "[#stablehlo.output_operand_alias<output_tuple_indices = [{}], operand_index = {}, operand_tuple_indices = []>]",
                if k == 3 { "0" } else { "" },
                k / 2
            ),
        };
        match b.below(7) {
            0 => {
                out.push_str(&format!("%v{n} = stablehlo.add {t}, {t} : tensor<4xf32>\n"));
                tensors.push(format!("%v{n}"));
            }
            1 => {
                out.push_str(&format!(
                    "%v{n} = stablehlo.custom_call @Pin({t}) : (tensor<4xf32>) -> memref<4xf32>\n"
                ));
                buffers.push(format!("%v{n}"));
            }
            2 => {
                out.push_str(&format!(
                    "%v{n} = stablehlo.custom_call @Unpin({m}) : (memref<4xf32>) -> tensor<4xf32>\n"
                ));
                tensors.push(format!("%v{n}"));
            }
            3 | 4 => {
                out.push_str(&format!(
                    "%v{n} = stablehlo.custom_call @w({m}, {t}) {{output_operand_aliases = {pairs}}} : (memref<4xf32>, tensor<4xf32>) -> memref<4xf32>\n"
                ));
                buffers.push(format!("%v{n}"));
            }
            5 if open < 3 => {
                out.push_str(&format!(
                    "%w{open}_{n}:2 = stablehlo.while(%f{n} = %n, %b{n} = {m}) : tensor<i1>, memref<4xf32> cond {{\n\
                     stablehlo.return %f{n} : tensor<i1>\n}} do {{\n"
                ));
                buffers.push(format!("%b{n}"));
                open += 1;
            }
            6 if open > 0 => {
                out.push_str(&format!("stablehlo.return %n, {m} : tensor<i1>, memref<4xf32>\n}}\n"));
                open -= 1;
            }
            _ => {}
        }
    }
    for _ in 0..open {
        let last = buffers.last().cloned().unwrap_or_default();
        out.push_str(&format!("stablehlo.return %n, {last} : tensor<i1>, memref<4xf32>\n}}\n"));
    }
    out.push_str("return\n}\n");
    out
}

/// Bytes as a StableHLO function: refused, or its storage obeys L16 and its text lowers to itself.
///
/// # Errors
/// The text whose storage is wrong or that is not stable.
pub fn host_is_right(bytes: &[u8]) -> Result<(), String> {
    let text = host_text(bytes);
    let out = crate::lower_text(&text, &crate::TextOptions::default());
    match out.diagnostics.iter().any(|d| d.code == "L16") {
        true => Err(text),
        false => text_is_stable(&text),
    }
}

/// The fuzz target `alias_text`: no text panics, and lowered text lowers to itself. The text that was not
/// stable, if there is one.
///
/// # Errors
/// The lowered text that lowers to another.
pub fn text_is_stable(text: &str) -> Result<(), String> {
    let tlx = crate::TextOptions { layout: crate::AliasOptions::tlx(), ..crate::TextOptions::default() };
    crate::lower_text(text, &tlx);
    let out = crate::lower_text(text, &crate::TextOptions::default());
    if out.failed {
        return Ok(());
    }
    let again = crate::lower_text(&out.text, &crate::TextOptions::default());
    if again.failed || again.text != out.text { Err(out.text) } else { Ok(()) }
}

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
        if spec.counts == Counts::Gcd {
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

fn type_of(leaf: &crate::Leaf, count: Option<u64>) -> String {
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
            Element::Leaf(leaf) => {
                names.push(format!("%l{}", leaf.index()));
                types.push(type_of(m.leaf(*leaf), Some(m.leaf(*leaf).count())));
            }
            Element::Group(inner) => {
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
