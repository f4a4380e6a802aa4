//! Binding a kernel's values to leaves (A44 to A46), and the order of uses in hand-written text (A49).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use warploom_alias::schedule::edges;
use warploom_alias::{AliasOptions, TextOptions, extract, indexed_leaves, lower_text, verify_diagnostics};

const T: &str = "!ttg.memdesc<2x64x64xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #ttg.shared_memory, mutable>";
const P: &str = "!ttg.memdesc<4x64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #ttg.shared_memory, mutable>";

fn kernel(binding: &str) -> String {
    format!(
        "tt.func @k(%n: i32, %pa: tensor<64x64x!tt.ptr<f16>>, %pb: tensor<64x32x!tt.ptr<f16>>) {{\n\
         %s = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>\n\
         %qk = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<smem> -> {T}\n\
         %p = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<smem> -> {P}\n\
         %g0 = tlx.reuse_group(%p) group_kind = shared, group_size = 2 : ({P}) -> !tlx.reuse_group<shared>\n\
         %g1 = tlx.reuse_group(%qk, %g0) group_kind = shared : ({T}, !tlx.reuse_group<shared>) -> !tlx.reuse_group<shared>\n\
         tlx.set_buffer_overlap(%s, %g1) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()\n\
         %a = tt.load %pa {{warploom.buffer = #warploom.buffer<\"qk\">}} : tensor<64x64x!tt.ptr<f16>>\n\
         %b = tt.load %pb {{warploom.buffer = {binding}}} : tensor<64x32x!tt.ptr<f16>>\n\
         tt.return\n}}\n"
    )
}

#[test]
fn a44_a_kernel_with_bindings_gives_layouts_and_constraints() {
    let text = kernel("#warploom.buffer<\"p\", mul = 2, add = 1>");
    let extracted = extract(&text, &AliasOptions::default()).unwrap().expect("it has a spec");
    assert!(!extracted.text.contains("tlx."), "{}", extracted.text);
    assert!(
        extracted.text.contains("%a = tt.load %pa {warploom.buffer = #warploom.buffer<\"qk\">}"),
        "{}",
        extracted.text
    );
    let bound: Vec<_> =
        extracted.bindings.iter().map(|b| (b.value.as_str(), b.name.as_str(), b.mul, b.add)).collect();
    assert_eq!(bound, [("a", "qk", 1, 0), ("b", "p", 2, 1)]);
    let constraints = extracted.constraints();
    assert_eq!((constraints.len(), constraints[0].bytes, constraints[0].align), (1, 16384, 128));
    let [qk, p] = constraints[0].leaves.as_slice() else { panic!("{constraints:?}") };
    assert_eq!((qk.bytes, qk.slots.as_slice()), (8192, &[0, 8192][..]));
    // Slice 1 of every iteration: indices 1 and 3, of base 0, strides [8192, 4096], radix 2 in normal form.
    assert_eq!((p.bytes, p.indices.as_slice(), p.slots.as_slice()), (4096, &[1, 3][..], &[4096, 12288][..]));
    assert_eq!((p.offset, p.strides.as_slice(), p.radices.is_empty()), (0, &[4096][..], true));
    // With its uses filled in, the edges of A46 follow: the scores of iteration j lie where p's of j lie.
    let mut bindings: Vec<_> = extracted.bindings.iter().map(|b| b.binding()).collect();
    (bindings[0].write, bindings[0].reads) = (0, vec![1]);
    (bindings[1].write, bindings[1].reads) = (1, vec![2]);
    let found: Vec<_> =
        edges(&extracted.layout, &bindings).into_iter().map(|e| (e.src, e.dst, e.distance)).collect();
    assert_eq!(found, [(0, 0, 2), (0, 1, 0), (1, 0, 2), (1, 1, 2)]);
    assert!(extract("tt.func @k() {\ntt.return\n}\n", &AliasOptions::default()).unwrap().is_none());
}

#[test]
fn a44_bad_bindings_have_a_place_and_a_remedy() {
    let rows = [
        (
            "#warploom.buffer<\"q\">",
            "warploom.buffer names \"q\", which is no allocation of a storage_alias_spec",
        ),
        ("#warploom.buffer<p>", "#warploom.buffer<p> is no binding"),
        ("#warploom.buffer<\"p\", mul = -1>", "#warploom.buffer<\"p\", mul = -1> is no binding"),
    ];
    for (binding, message) in rows {
        let errors = extract(&kernel(binding), &AliasOptions::default()).unwrap_err().0;
        assert_eq!((errors[0].code, errors[0].message.as_str()), ("A44", message));
        assert_eq!(errors[0].at.map(|p| p.line), Some(9));
        assert!(errors[0].help.is_some());
    }
    let used = kernel("#warploom.buffer<\"p\">")
        .replace("tt.return", &format!("\"test.use\"(%qk) : ({T}) -> ()\ntt.return"));
    let errors = extract(&used, &AliasOptions::default()).unwrap_err().0;
    assert_eq!(errors[0].message, "'test.use' uses an allocation of a storage_alias_spec directly");
}

#[test]
fn a44_indices_of_text_are_read_off() {
    let t = T.replace("2x64x64", "64x64");
    let of = |index: &str| {
        let loops = format!(
            "%c1 = arith.constant 1 : i32\n%c2 = arith.constant 2 : i32\n%c3 = arith.constant 3 : i32\n\
             scf.for %j = %c1 to %n step %c3 : i32 {{\n{index}\n%v = ttg.memdesc_index %qk[%i] : {T} -> {t}\n}}\ntt.return"
        );
        let text = kernel("#warploom.buffer<\"p\">").replace("tt.return", &loops);
        let (found, notes) = indexed_leaves(&text, &AliasOptions::default()).unwrap();
        assert_eq!((found.len(), found[0].leaf.as_str(), found[0].value.as_str()), (1, "qk", "v"));
        (found[0].visit, notes.len())
    };
    // The variable is 1 + 3 j: j counts iterations; everything modulo 2.
    assert_eq!(of("%i = arith.addi %j, %c2 : i32"), (Some((1, 1)), 0));
    assert_eq!(of("%i = arith.muli %j, %c2 : i32"), (Some((0, 0)), 0));
    assert_eq!(of("%i = arith.addi %c1, %c2 : i32"), (Some((0, 1)), 0));
    assert_eq!(of("%i = arith.remsi %j, %c2 : i32"), (None, 1));
    let mut deep = String::from("%x0 = arith.addi %j, %j : i32\n");
    for n in 1..60 {
        deep.push_str(&format!("%x{n} = arith.addi %x{0}, %x{0} : i32\n", n - 1));
    }
    assert_eq!(of(&format!("{deep}%i = arith.addi %x59, %c1 : i32")), (None, 1));
}

#[test]
fn a49_text_that_orders_its_uses_and_text_that_does_not() {
    let source = include_str!("texts/sync.mlir");
    let out = lower_text(source, &TextOptions::default());
    assert!(!out.failed, "{}", out.render_diagnostics("FILE"));
    if let Err(errors) = verify_diagnostics(source, &out.diagnostics) {
        panic!("{}", errors.render("FILE"));
    }
    let denied = lower_text(source, &TextOptions { deny_alias_sync: true, ..TextOptions::default() });
    assert!(denied.failed && denied.diagnostics.iter().any(|d| d.code == "A49"));
    let tlx = TextOptions { layout: AliasOptions::tlx(), ..TextOptions::default() };
    assert!(lower_text(source, &tlx).diagnostics.iter().all(|d| d.code != "A49"));
}
