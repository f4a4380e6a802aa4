//! Times layout and lowering of modules with many specs, on one thread: `cargo bench -p warploom-alias`.
//!
//! Every module is laid out or lowered at three sizes, so that growth shows; the last is the 10,000 specs that
//! must stay under a second. A spec is that of the attention example: five leaves, three groups, indices.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::time::Instant;
use warploom_alias::{
    AliasLimits, AliasModule, AliasOptions, Alloc, Elem, GroupElement, ReuseGroup, Storage, TextOptions,
    check, lower_text,
};

const SIZES: [usize; 3] = [2_500, 5_000, 10_000];

fn main() {
    series("layout through the API", |n| {
        let module = module(n);
        let t = Instant::now();
        let layout = module.layout(&unlimited()).unwrap();
        let ms = t.elapsed().as_secs_f64() * 1e3;
        assert_eq!(layout.storages.len(), n);
        ms
    });
    series("check of that layout", |n| {
        let module = module(n);
        let layout = module.layout(&unlimited()).unwrap();
        let t = Instant::now();
        let options = warploom_alias::CheckOptions::of(&unlimited());
        check(&module, &layout, &options).unwrap();
        t.elapsed().as_secs_f64() * 1e3
    });
    series("refusal of a module that does not fit", |n| {
        let module = module(n);
        let t = Instant::now();
        let refused = module.layout(&AliasOptions::default()).unwrap_err();
        let ms = t.elapsed().as_secs_f64() * 1e3;
        assert_eq!(refused.0.len(), 1);
        ms
    });
    let base = TextOptions::default().layout(unlimited());
    let slots = TextOptions::default().layout(AliasOptions::tlx().limits(unlimited().limits));
    series("text, one function, base and stride", |n| lowered(&text(n, n), &base));
    series("text, one function, slots", |n| lowered(&text(n, n), &slots));
    series("text, a function for each spec", |n| lowered(&text(n, 1), &base));
    series("text, a function for each spec, slots", |n| lowered(&text(n, 1), &slots));
    series("text, deprecated aliases", |n| lowered(&legacy(n), &base));
}

/// Prints the milliseconds of each size.
fn series(name: &str, mut run: impl FnMut(usize) -> f64) {
    let times: Vec<String> = SIZES.iter().map(|&n| format!("{:>9.1}", run(n))).collect();
    println!("{name:<40} {} ms for {SIZES:?} specs", times.join(" "));
}

/// The specs of so large a module do not fit one kernel.
fn unlimited() -> AliasOptions {
    AliasOptions::default().limits(AliasLimits::default().tmem_columns(u64::MAX))
}

fn module(n: usize) -> AliasModule {
    let mut m = AliasModule::new();
    for k in 0..n {
        let spec = m.storage_alias_spec(Storage::Tmem, None).unwrap();
        let leaf = |m: &mut AliasModule, name: &str, count, columns, elem| {
            m.local_alloc(Alloc::new(format!("{name}{k}"), count, [128, columns], elem).reuse(spec)).unwrap()
        };
        let qk = leaf(&mut m, "qk", 2, 128, Elem::F32);
        let p = leaf(&mut m, "p", 8, 32, Elem::BF16);
        let rows = ["alpha", "l", "m"].map(|name| leaf(&mut m, name, 2, 1, Elem::F32));
        let slices = ReuseGroup::shared([p]).unwrap().group_size(4).unwrap();
        let beside = std::iter::once(GroupElement::from(slices)).chain(rows.map(GroupElement::from));
        let beside = ReuseGroup::distinct(beside).unwrap();
        let tree = ReuseGroup::shared([GroupElement::from(qk), beside.into()]).unwrap();
        m.set_buffer_overlap(spec, tree).unwrap();
    }
    m
}

fn lowered(text: &str, options: &TextOptions) -> f64 {
    let t = Instant::now();
    let out = lower_text(text, options);
    let ms = t.elapsed().as_secs_f64() * 1e3;
    assert!(!out.failed, "{}", out.render_diagnostics("bench").lines().next().unwrap_or(""));
    assert!(!out.text.contains("storage_alias_spec"));
    ms
}

const HEAD: &str = "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n\
    #smem = #ttg.shared_memory\n";

/// Shared memory, sizes that slots can express, `each` specs in a function.
fn text(n: usize, each: usize) -> String {
    let mut s = String::from(HEAD);
    for k in 0..n {
        if k % each == 0 {
            let _ = writeln!(s, "tt.func @f{k}(%i: i32) {{");
        }
        body(&mut s, k);
        if (k + 1) % each == 0 || k + 1 == n {
            s.push_str("tt.return\n}\n");
        }
    }
    s
}

fn body(s: &mut String, k: usize) {
    let leaf = |count: u32, rows: u32, elem: &str| {
        format!("!ttg.memdesc<{count}x{rows}x64x{elem}, #shared, #smem, mutable>")
    };
    let tile = |rows: u32, elem: &str| format!("!ttg.memdesc<{rows}x64x{elem}, #shared, #smem, mutable>");
    let (qk, p) = (leaf(2, 64, "f32"), leaf(4, 32, "f16"));
    let _ = writeln!(
        s,
        "%s{k} = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>\n\
         %q{k} = tlx.storage_alias_local_alloc %s{k} : !tlx.storage_alias_spec<smem> -> {qk}\n\
         %p{k} = tlx.storage_alias_local_alloc %s{k} : !tlx.storage_alias_spec<smem> -> {p}\n\
         %g{k} = tlx.reuse_group(%p{k}) group_kind = shared, group_size = 2 : ({p}) -> !tlx.reuse_group<shared>\n\
         %h{k} = tlx.reuse_group(%q{k}, %g{k}) group_kind = shared : ({qk}, !tlx.reuse_group<shared>) -> !tlx.reuse_group<shared>\n\
         tlx.set_buffer_overlap(%s{k}, %h{k}) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()\n\
         %a{k} = ttg.memdesc_index %q{k}[%i] : {qk} -> {}\n\
         %b{k} = ttg.memdesc_index %p{k}[%i] : {p} -> {}",
        tile(64, "f32"),
        tile(32, "f16"),
    );
}

/// Allocations with one alias each.
fn legacy(n: usize) -> String {
    let mut s = format!("{HEAD}tt.func @f(%i: i32) {{\n");
    for k in 0..n {
        let f32s = "!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>";
        let f16s = "!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>";
        let _ = writeln!(
            s,
            "%a{k} = ttg.local_alloc : () -> {f32s}\n%b{k} = tlx.local_alias %a{k} : {f32s} -> {f16s}"
        );
    }
    s.push_str("tt.return\n}\n");
    s
}
