//! Text in, text out: what is read prints as it was, and hostile text is refused with a place.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;

use warploom_ir::diag::Code;
use warploom_ir::{difference, parse, print, verify};

fn fixtures(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(folder);
    let mut files: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(path).unwrap())
        })
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// The text without comment lines.
fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("//")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn good_fixtures_print_byte_for_byte_and_verify() {
    for (name, text) in fixtures("good") {
        let module =
            parse(&text).unwrap_or_else(|d| panic!("{}", warploom_ir::diag::render(&d, &name, &text)));
        let printed = print(&module);
        for (wanted, found) in without_comments(&text).lines().zip(printed.lines()) {
            assert_eq!(wanted, found, "{name}");
        }
        assert_eq!(without_comments(&text), printed, "{name}");
        assert_eq!(difference(&module, &parse(&printed).unwrap()), None, "{name}");
        let diags = verify(&module);
        assert!(diags.is_empty(), "{}", warploom_ir::diag::render(&diags, &name, &text));
    }
}

/// Places and messages that `// error: part of the message` comments ask for, by line.
fn wanted_errors(text: &str) -> Vec<(usize, String)> {
    let mut wanted = Vec::new();
    for (n, line) in text.lines().enumerate() {
        for part in line.split("// error: ").skip(1) {
            wanted.push((n + 1, part.trim().to_owned()));
        }
    }
    wanted
}

#[test]
fn bad_fixtures_give_just_the_errors_that_their_comments_name() {
    let mut count = 0;
    let mut wrong = String::new();
    for (name, text) in fixtures("bad") {
        let diags = match parse(&text) {
            Ok(module) => verify(&module).into(),
            Err(diags) => diags,
        };
        let mut wanted = wanted_errors(&text);
        count += wanted.len();
        for diag in &diags {
            let line = diag.place(&text).unwrap_or_else(|| panic!("{name}: no place: {diag:?}")).line;
            match wanted.iter().position(|(l, part)| *l == line && diag.message.contains(part.as_str())) {
                Some(at) => drop(wanted.remove(at)),
                None => wrong += &format!("{name}:{line}: not expected: {}\n", diag.message),
            }
        }
        for (line, part) in wanted {
            wrong += &format!("{name}:{line}: missing: {part}\n");
        }
        assert!(diags.is_sorted_by_key(|d| d.offset), "{name}: errors out of order");
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(count > 200, "{count} errors are tried");
}

#[test]
fn a_file_cut_anywhere_is_a_parse_error_with_a_place() {
    let mut files = fixtures("good");
    files.extend(common::kernels());
    for (name, text) in files {
        let whole = text.trim_end().len();
        // Every byte of short files, every few of long ones.
        let step = 1 + text.len() / 500;
        for cut in (0..whole).step_by(step) {
            let Some(head) = text.get(..cut) else { continue };
            // Locations behind the module may be missing without loss where nothing uses them.
            let diags = match parse(head) {
                Err(diags) => diags,
                Ok(_) if head.trim_end().ends_with('}') || head.contains("#late") => continue,
                Ok(_) if head.trim_end().ends_with("loc(#outer)") => continue,
                Ok(_) => panic!("{name} cut at {cut} reads"),
            };
            assert!(diags.iter().any(|d| d.code == Code::Parse), "{name} cut at {cut}: {diags:?}");
            assert!(diags.iter().all(|d| d.offset.is_some_and(|o| o as usize <= cut)), "{name} at {cut}");
        }
    }
}

#[test]
fn nesting_is_bounded_however_deep_the_text() {
    let many = 500_000;
    let deep = |text: &str| text.repeat(many);
    let inputs = [
        deep("("),
        deep("{"),
        deep("["),
        deep("<"),
        deep("module {"),
        deep("\"a.b\"() ({"),
        format!("%0 = \"a.b\"() : () -> {}", deep("!tt.ptr<")),
        format!("\"a.b\"() : () -> {}", deep("tensor<4x")),
        format!("\"a.b\"() : () -> {}", deep("!x.y<")),
        format!("\"a.b\"() : {}", deep("(")),
        format!("\"a.b\"() : {}", deep("() -> (")),
        format!("\"a.b\"() {{a = {}", deep("[")),
        format!("\"a.b\"() {{a = {}", deep("{a = ")),
        format!("\"a.b\"() {{a = {}", deep("#x.y<")),
        format!("\"a.b\"() {{a = dense<{}", deep("[")),
        format!("\"a.b\"() : () -> () loc({}", deep("callsite(")),
        format!("\"a.b\"() : () -> () loc({}", deep("fused[")),
        format!("\"a.b\"() : () -> () loc({}", deep("\"a\"(")),
        deep("\""),
        deep("%"),
        deep("\n%"),
        deep("{-#"),
        deep("@\""),
        deep("\\"),
        deep("%a = "),
        deep("\n#a = "),
    ];
    // A small stack: the depth limits must hold with room to spare.
    std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(move || {
            for input in inputs {
                let diags = parse(&input).unwrap_err();
                assert!(!diags.is_empty() && diags.len() <= warploom_ir::text::MAX_ERRORS);
                assert!(diags.iter().all(|d| d.offset.is_some()));
            }
        })
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn nesting_up_to_the_limit_is_read_verified_and_printed_on_a_small_stack() {
    let depth = warploom_ir::text::MAX_REGIONS as usize - 1;
    let text =
        format!("module {{\n{}{}}}\n", "\"a.b\"() ({\n".repeat(depth), "}) : () -> ()\n".repeat(depth));
    std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(move || {
            let module = parse(&text).unwrap();
            assert!(verify(&module).is_empty());
            assert_eq!(difference(&module, &parse(&print(&module)).unwrap()), None);
        })
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn many_errors_are_cut_off() {
    let text = "module {\n".to_owned() + &"  arith.nonsense\n".repeat(100_000) + "}\n";
    assert_eq!(parse(&text).unwrap_err().len(), warploom_ir::text::MAX_ERRORS);
}

#[test]
fn what_the_text_may_leave_out_or_write_otherwise_means_the_same() {
    let pairs = [
        // Functions without a module around them, and a generic module.
        ("tt.func @f() {\n tt.return\n}", "module {\n tt.func @f() {\n tt.return\n }\n}"),
        (
            "\"builtin.module\"() ({\n tt.func @f() {\n tt.return\n }\n}) : () -> ()",
            "module {\n tt.func @f() {\n tt.return\n }\n}",
        ),
        // Keywords as numbers, and the older spelling of a descriptor.
        (
            "tt.func @f() { %0 = \"tt.get_program_id\"() <{axis = 1 : i32}> : () -> i32\n tt.return }",
            "tt.func @f() { %0 = tt.get_program_id y : i32\n tt.return }",
        ),
        (
            "tt.func @f(%a: !tt.tensordesc<tensor<4x8xf32>>) { tt.return }",
            "tt.func @f(%a: !tt.tensordesc<4x8xf32>) { tt.return }",
        ),
        // Bytes of a constant, an implied yield, comments, resources.
        (
            "\"a.b\"() {a = dense<\"0x0100000002000000\"> : tensor<2xi32>} : () -> () // note\n{-# any #-}",
            "\"a.b\"() {a = dense<[1, 2]> : tensor<2xi32>} : () -> ()",
        ),
        (
            "tt.func @f(%c: i1) { scf.if %c { scf.yield }\n tt.return }",
            "tt.func @f(%c: i1) { scf.if %c { }\n tt.return }",
        ),
        (
            "tt.func @f(%p: !tt.ptr<f32>, %m: i1) { %0 = \"tt.load\"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (!tt.ptr<f32>, i1) -> f32\n tt.return }",
            "tt.func @f(%p: !tt.ptr<f32>, %m: i1) { %0 = tt.load %p, %m : !tt.ptr<f32>\n tt.return }",
        ),
    ];
    for (a, b) in pairs {
        let read = |text| parse(text).unwrap_or_else(|d| panic!("{text}: {d:#?}"));
        assert_eq!(difference(&read(a), &read(b)), None, "{a}");
    }
}

#[test]
fn equality_sees_names_types_attributes_locations_and_operands() {
    let base = "module {\n  tt.func @f(%a: i32, %b: i32) {\n    %x = arith.addi %a, %b {k.v = 1 : i32} : i32 loc(\"f\":1:2)\n    tt.return\n  }\n}\n";
    let changes = [
        ("%x", "%y"),
        ("%a, %b {", "%b, %a {"),
        ("k.v = 1 : i32", "k.v = 2 : i32"),
        ("k.v = 1 : i32", "k.w = 1 : i32"),
        ("\"f\":1:2", "\"f\":1:3"),
        ("addi", "muli"),
        ("@f", "@g"),
        ("    tt.return", "    tt.return {a.b}"),
        ("module {", "#a = 1\nmodule {"),
        ("module {", "#a = loc(unknown)\nmodule {"),
        ("module {", "module attributes {a.b} {"),
    ];
    let module = parse(base).unwrap();
    for (from, to) in changes {
        let other = parse(&base.replace(from, to)).unwrap();
        assert!(difference(&module, &other).is_some(), "{from} to {to}");
    }
    let i64s = parse(&base.replace("i32", "i64")).unwrap();
    assert!(difference(&module, &i64s).is_some());
}

#[test]
fn names_that_would_collide_are_told_apart_when_printed() {
    let mut module = parse("tt.func @f(%a: i32) {\n %x = arith.addi %a, %a : i32\n %y = arith.addi %x, %a : i32\n %0 = arith.addi %y, %x : i32\n tt.return }").unwrap();
    let values: Vec<_> = module.values.keys().collect();
    for value in values {
        module.values[value].name = Some("9 v".to_owned());
    }
    let text = print(&module);
    assert!(text.contains("%_9_v_0 = arith.addi %_9_v, %_9_v : i32"), "{text}");
    assert!(text.contains("%_9_v_2 = arith.addi %_9_v_1, %_9_v_0 : i32"), "{text}");
    assert_eq!(print(&parse(&text).unwrap()), text);
}

#[test]
fn a_value_used_before_its_definition_keeps_its_name() {
    let text = "module {\n  tt.func @f(%a: i32) {\n    %0 = \"a.b\"(%x) ({\n      %x_0 = arith.addi %a, %a : i32\n    }) : (i32) -> i32\n    %x = arith.addi %a, %a : i32\n    tt.return\n  }\n}\n";
    let module = parse(text).unwrap();
    assert_eq!(print(&module), text);
    let diags = verify(&module);
    assert_eq!(diags.len(), 1);
    assert!(diags[0].message.contains("before its definition"), "{diags:?}");
}

/// What Triton 3.5 to 3.8 write for loads and stores, and what 3.9 writes for the same.
#[test]
fn older_spellings_are_read_as_the_new_ones_c5() {
    let kernel = |load: &str, store: &str, desc: &str| {
        format!(
            "module {{
  tt.func public @k(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %o: tensor<8xf32>, %d: !tt.tensordesc<8x8xf32>, %i: i32) {{
    {load}
    {store}
    {desc}
    tt.return
  }}
}}
"
        )
    };
    let policy = |modifier: &str, eviction: &str| {
        format!(
            "{{cachePolicy = #tt.cache_policy<cache_modifier = {modifier}, eviction_policy = {eviction}>}}"
        )
    };
    let new = kernel(
        &format!("%x = tt.load %p, %m, %o {} : tensor<8x!tt.ptr<f32>>", policy("cg", "evict_first")),
        &format!("tt.store %p, %x, %m {} : tensor<8x!tt.ptr<f32>>", policy("none", "evict_last")),
        "%y = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<8x8xf32> -> tensor<8x8xf32>",
    );
    let old = kernel(
        "%x = tt.load %p, %m, %o cacheModifier = cg evictionPolicy = evict_first : tensor<8x!tt.ptr<f32>>",
        "tt.store %p, %x, %m evictionPolicy = evict_last : tensor<8x!tt.ptr<f32>>",
        "%y = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<8x8xf32>> -> tensor<8x8xf32>",
    );
    let generic = kernel(
        "%x = \"tt.load\"(%p, %m, %o) <{boundaryCheck = array<i32>, cache = 3 : i32, evict = 2 : i32, isVolatile = false, operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<8x!tt.ptr<f32>>, tensor<8xi1>, tensor<8xf32>) -> tensor<8xf32>",
        "\"tt.store\"(%p, %x, %m) <{boundaryCheck = array<i32>, cache = 1 : i32, evict = 3 : i32}> : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> ()",
        "%y = \"tt.descriptor_load\"(%d, %i, %i) <{cache = 1 : i32, evict = 1 : i32}> : (!tt.tensordesc<tensor<8x8xf32>>, i32, i32) -> tensor<8x8xf32>",
    );
    let printed = |text: &str| {
        let module =
            parse(text).unwrap_or_else(|d| panic!("{}", warploom_ir::diag::render(&d, "text", text)));
        let diags = verify(&module);
        assert!(diags.is_empty(), "{}", warploom_ir::diag::render(&diags, "text", text));
        print(&module).replace("isVolatile = false, ", "")
    };
    assert_eq!(printed(&new), new);
    assert_eq!(printed(&old), new);
    assert_eq!(printed(&generic), new);
}
