//! Texts in, texts and diagnostics out.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use warploom_alias::{
    AliasOptions, TextOptions, TextOutput, filecheck, indexed_leaves, lower_text, verify_diagnostics,
};

fn compat() -> TextOptions {
    TextOptions::default().layout(AliasOptions::tlx())
}

fn clean(out: &TextOutput) {
    assert!(!out.failed, "{}", out.render_diagnostics("FILE"));
}

/// The tables of sections 10 and 11, text in and text out, by default and as TLX has them.
#[test]
fn a37_tables_of_the_specification() {
    let source = include_str!("texts/tables.mlir");
    let out = lower_text(source, &TextOptions::default());
    clean(&out);
    agreed(source, &out.text);
    let out = lower_text(source, &compat());
    clean(&out);
    agreed(&source.replace("CHECK", "OTHER").replace("TLX", "CHECK"), &out.text);
}

/// What is not ours passes through, renumbered as MLIR does (A20).
#[test]
fn a20_other_operations_pass_through() {
    let source = include_str!("texts/passes.mlir");
    for options in [TextOptions::default(), compat()] {
        let out = lower_text(source, &options.no_lower(true));
        clean(&out);
        agreed(source, &out.text);
        let again = lower_text(&out.text, &TextOptions::default().no_lower(true));
        clean(&again);
        assert_eq!(again.text, out.text);
    }
    clean(&lower_text(source, &TextOptions::default()));
    clean(&lower_text(source, &compat()));
}

/// Our FileCheck and LLVM's, which `make setup` installs, agree (A21).
fn agreed(source: &str, output: &str) {
    let said = filecheck(source, output).err().map_or_else(String::new, |errors| errors.render("FILE"));
    assert!(said.is_empty(), "{said}\n{output}");
    use std::io::Write;
    let name = format!("warploom-alias-{}-{}.mlir", std::process::id(), source.len());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, source).expect("the checks are written");
    let mut child = std::process::Command::new("FileCheck-22")
        .arg(&path)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .expect("FileCheck-22 runs; `make setup` installs it");
    child.stdin.take().expect("a pipe").write_all(output.as_bytes()).expect("the output is written");
    let done = child.wait().expect("FileCheck-22 ends");
    std::fs::remove_file(&path).expect("the checks are removed");
    assert!(done.success(), "LLVM's FileCheck disagrees");
}

#[test]
fn a37_compat_text() {
    let source = include_str!("texts/compat.mlir");
    let out = lower_text(source, &compat());
    clean(&out);
    agreed(source, &out.text);
}

#[test]
fn a32_default_text() {
    let source = include_str!("texts/default.mlir");
    let out = lower_text(source, &TextOptions::default());
    clean(&out);
    agreed(source, &out.text);
    let again = lower_text(&out.text, &TextOptions::default());
    clean(&again);
    assert_eq!(again.text, out.text, "lowered text lowers to itself");
}

#[test]
fn a20_errors_stand_where_they_belong() {
    let source = include_str!("texts/errors.mlir");
    let out = lower_text(source, &TextOptions::default());
    assert!(out.failed);
    if let Err(errors) = verify_diagnostics(source, &out.diagnostics) {
        panic!("{}", errors.render("FILE"));
    }
    for d in &out.diagnostics {
        assert!(d.at.is_some(), "{} has no place", d.message);
        assert!(d.help.is_some(), "{} has no remedy", d.message);
    }
}

#[test]
fn a49_text_that_orders_its_uses_and_text_that_does_not() {
    let source = include_str!("texts/sync.mlir");
    let out = lower_text(source, &TextOptions::default());
    assert!(!out.failed, "{}", out.render_diagnostics("FILE"));
    if let Err(errors) = verify_diagnostics(source, &out.diagnostics) {
        panic!("{}", errors.render("FILE"));
    }
    let denied = lower_text(source, &TextOptions::default().deny_alias_sync(true));
    assert!(denied.failed && denied.diagnostics.iter().any(|d| d.code == "A49"));
    let tlx = TextOptions::default().layout(AliasOptions::tlx());
    assert!(lower_text(source, &tlx).diagnostics.iter().all(|d| d.code != "A49"));
}

/// Indices whose coefficients outgrow every integer are no pairs.
#[test]
fn a44_deep_indices_visit_any_buffer() {
    let mut body = String::from("%c1 = arith.constant 1 : i32\nscf.for %j = %c1 to %n step %c1 : i32 {\n");
    body.push_str("%x0 = arith.addi %j, %j : i32\n");
    for n in 1..60 {
        body.push_str(&format!("%x{n} = arith.addi %x{0}, %x{0} : i32\n", n - 1));
    }
    let (buffers, buffer) = (
        "!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>",
        "!ttg.memdesc<64x64xf16, #shared, #smem, mutable>",
    );
    body.push_str(&format!("%v = ttg.memdesc_index %qk[%x59] : {buffers} -> {buffer}\n}}\ntt.return"));
    let source = include_str!("texts/bound.mlir").replace("tt.return", &body);
    let (found, _) = indexed_leaves(&source, &AliasOptions::default()).unwrap();
    let visits: Vec<_> = found.iter().map(|leaf| (leaf.value.as_str(), leaf.visit)).collect();
    assert_eq!(visits, [("v", None)]);
}

#[test]
fn a16_broken_texts_are_refused_and_never_panic() {
    let source = include_str!("texts/compat.mlir");
    for cut in (0..source.len()).step_by(61) {
        let head = source.get(..cut).unwrap_or("");
        lower_text(head, &compat());
        lower_text(source.get(cut..).unwrap_or(""), &TextOptions::default());
    }
    for text in [
        "(",
        "{",
        "%",
        "%0 = ",
        "\"a\"(",
        "module {",
        "#a = <",
        "x.y {{{{",
        "^bb0(%a: ",
        "}",
        "%a:2000 = x.y",
    ] {
        lower_text(text, &TextOptions::default());
    }
    for open in ["(", "{", "[", "<", "x.y {\n", "\"x.y\"() ({\n", "scf.if %c {\n"] {
        let deep = open.repeat(100_000);
        assert!(lower_text(&deep, &TextOptions::default()).failed);
    }
}

#[test]
fn ten_thousand_specs_lower_in_under_a_second() {
    let t = "!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable>";
    let mut source = String::from(
        "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n\
         #smem = #ttg.shared_memory\nmodule {\ntt.func @f(%i: i32) {\n",
    );
    for n in 0..10_000 {
        source.push_str(&format!(
            "%s{n} = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>\n\
             %a{n} = tlx.storage_alias_local_alloc %s{n} : !tlx.storage_alias_spec<smem> -> {t}\n\
             %b{n} = tlx.storage_alias_local_alloc %s{n} : !tlx.storage_alias_spec<smem> -> {t}\n\
             %g{n} = tlx.reuse_group(%a{n}, %b{n}) group_kind = distinct : ({t}, {t}) -> !tlx.reuse_group<distinct>\n\
             tlx.set_buffer_overlap(%s{n}, %g{n}) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()\n"
        ));
    }
    source.push_str("tt.return\n}\n}\n");
    for options in [TextOptions::default(), compat()] {
        let start = std::time::Instant::now();
        let out = lower_text(&source, &options);
        let took = start.elapsed();
        clean(&out);
        println!("10,000 specs: {took:?}");
        // A debug build on a busy machine is given room; a release build takes a tenth.
        assert!(took.as_secs() < 20, "{took:?}");
    }
}

/// Bare words and quotes that open nothing are no operations; what is one reads back as it was printed. Found by the
/// fuzzer.
#[test]
fn a16_nonsense_is_refused_or_stable() {
    for text in [
        "f0",
        "\n\"",
        "\"\"",
        "\"\"()",
        "\"x\"",
        "\"x",
        "%0 = f0",
        "module {\n  f0\n}",
        "A.",
        "a.b",
        "!=",
        "#a =",
        "!a = }",
        "!a = <",
    ] {
        assert_eq!(warploom_testing::alias::text_is_stable(text), Ok(()), "{text}");
    }
}
