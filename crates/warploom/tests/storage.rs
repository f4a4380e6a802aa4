//! Kernels whose author says where buffers lie (A44-A51): the layout is kept, proved against the schedule, and runs. What
//! is refused stands in `files/storage`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]
#![cfg(feature = "llvm")]

use std::path::Path;

use warploom::ir::print;
use warploom::run::{ArgSpec, Case, policies, prepare};
use warploom::{Options, Resumed, Target};
use warploom_emulator as emulator;

fn kernel() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/storage/gemm.ttir");
    std::fs::read_to_string(path).unwrap()
}

fn hopper() -> Target {
    Target::named("sm_90a").unwrap()
}

/// What a compiled kernel's author is told.
fn remarks(text: &str) -> Vec<warploom::ir::Diagnostic> {
    let module = warploom::read(text).unwrap_or_else(|d| panic!("{}", d[0]));
    let lowered =
        warploom::lower(&module, &hopper(), &Options::default()).unwrap_or_else(|d| panic!("{}", d[0]));
    lowered.remarks().to_vec()
}

fn program(text: &str) -> String {
    let module = warploom::read(text).unwrap_or_else(|d| panic!("{}", d[0]));
    let lowered =
        warploom::lower(&module, &hopper(), &Options::default()).unwrap_or_else(|d| panic!("{}", d[0]));
    print(lowered.program())
}

fn line_of(text: &str, part: &str) -> usize {
    let at = text.lines().position(|line| line.contains(part)).unwrap();
    at + 1
}

#[test]
fn a_binding_without_any_declaration_is_refused_a44() {
    let plain: String = kernel().lines().filter(|l| !l.contains("tlx.")).map(|l| format!("{l}\n")).collect();
    let errors = warploom::read(&plain)
        .and_then(|m| warploom::lower(&m, &hopper(), &Options::default()).map(|_| ()))
        .expect_err("a refusal");
    assert!(errors[0].to_string().contains("the file declares no leaf"), "{}", errors[0]);
}

#[test]
fn the_scheduled_and_assigned_forms_keep_the_storage() {
    let module = warploom::read(&kernel()).unwrap();
    let lowered = warploom::lower(&module, &hopper(), &Options::default()).unwrap();
    let Resumed::Compiled(compiled) = &lowered else { panic!("compiled") };
    let direct = print(&compiled.program);
    assert_eq!(program(&print(&compiled.scheduled)), direct);
    assert_eq!(program(&print(&compiled.assigned)), direct);
    let report = warploom::pipeline::explain(compiled);
    assert!(report.contains("storage as the author laid it out") && report.contains("ring_b[2]"), "{report}");
}

#[test]
fn it_runs_right() {
    let module = warploom::read(&kernel()).unwrap();
    let output = warploom::compile(&module, &hopper(), &Options::default()).unwrap();
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    let metadata = &output.emitted.metadata;
    for trips in [0u64, 1, 3, 4, 7] {
        let k = trips * 64;
        let args = vec![
            ArgSpec::Tensor(vec![104, k.max(16)]),
            ArgSpec::Tensor(vec![216, k.max(16)]),
            ArgSpec::Tensor(vec![104, 216]),
            ArgSpec::Int(k as i64),
        ];
        let case = Case { args, grid: [1, 1, 1], seed: trips };
        let prepared = prepare(&module, &metadata.name, &case).unwrap();
        for policy in policies(2) {
            let options = emulator::RunOptions::default().policy(policy);
            let outcome = prepared.run(&ptx, metadata, &hopper(), &options).unwrap();
            assert!(outcome.passed(), "{trips} trips, {policy:?}: {}", outcome.report);
        }
    }
}

#[test]
fn shared_leaves_that_never_meet_and_have_no_order_are_warned_of_a49() {
    // B behind the staging tile of a store, shared with A: the two are filled together, the layout alone parts them.
    let (a, b) = (
        "!ttg.memdesc<3x128x64xbf16, #nvmma, #smem, mutable>",
        "!ttg.memdesc<3x256x64xbf16, #nvmma, #smem, mutable>",
    );
    let group = |name: &str, of: &str, kind: &str, size: u32, types: &str| {
        format!(
            "%{name} = \"tlx.reuse_group\"({of}) <{{group_kind = #tlx.reuse_group_kind<{kind}>, group_size = {size} : i64}}> \
             : ({types}) -> !tlx.reuse_group<{kind}>"
        )
    };
    let lines = [
        format!("%pad = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> {a}"),
        group("behind", "%pad, %ring_b", "distinct", 1, &format!("{a}, {b}")),
        group("ring", "%ring_a, %behind", "shared", 3, &format!("{a}, !tlx.reuse_group<distinct>")),
    ];
    let replace = |line: &str| match line.trim_start() {
        l if l.starts_with("%ring = ") => lines.join("\n"),
        l if l.starts_with("%all = ") => {
            line.replace(", !tlx.reuse_group<distinct>)", ", !tlx.reuse_group<shared>)")
        }
        _ => line.to_owned(),
    };
    let wrong: Vec<String> = kernel().lines().map(replace).collect();
    let wrong = wrong.join("\n");
    let said = remarks(&wrong);
    let warned = said.iter().find(|r| r.rule == Some("A49")).unwrap_or_else(|| panic!("{said:?}"));
    assert!(warned.message.contains("missing edge a -> b, distance 0"), "{}", warned.message);
}

// ---- tensor memory ----

fn attention() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/storage/attention.sm_100a.ttir");
    std::fs::read_to_string(path).unwrap()
}

fn blackwell() -> Target {
    Target::named("sm_100a").unwrap()
}

/// The program of a kernel for a chip with tensor memory, or what is refused and at which line.
fn tensor_program(text: &str) -> Result<String, (String, usize)> {
    let found = warploom::read(text).and_then(|m| warploom::lower(&m, &blackwell(), &Options::default()));
    found.map(|lowered| print(lowered.program())).map_err(|errors| {
        let line = errors[0].place(text).map_or(0, |place| place.line);
        let said = |d: &warploom::Diagnostic| format!("{d}\nrule: {}", d.rule.unwrap_or_default());
        (errors.iter().map(said).collect::<Vec<_>>().join("\n"), line)
    })
}

/// The declaration of the ring whose payload has this name.
fn ring<'a>(program: &'a str, payload: &str) -> &'a str {
    let wanted = format!("payload = [\"{payload}\"]");
    program.lines().find(|l| l.contains("warploom.pipeline") && l.contains(&wanted)).unwrap()
}

#[test]
fn operands_lie_over_scores_where_the_tree_says_a44() {
    let text = tensor_program(&attention()).unwrap_or_else(|(said, _)| panic!("{said}"));
    // QK at columns 0 and 128, P over them, O beside both: the positions of the worked example, P in one slice.
    for payload in ["product", "operand"] {
        let line = ring(&text, payload);
        assert!(line.contains("column = array<i64: 0>, columns = array<i64: 128>"), "{line}");
        assert!(line.contains("depth = 2"), "{line}");
    }
    assert!(ring(&text, "acc").contains("column = array<i64: 256>"), "{text}");
    assert!(text.contains("warploom.tmem = 512"), "{text}");
    let module = warploom::read(&attention()).unwrap();
    let lowered = warploom::lower(&module, &blackwell(), &Options::default()).unwrap();
    let Resumed::Compiled(compiled) = &lowered else { panic!("compiled") };
    for form in [&compiled.scheduled, &compiled.assigned] {
        assert_eq!(tensor_program(&print(form)).unwrap(), text);
    }
}

#[test]
fn the_attention_of_the_author_runs_right() {
    runs_right(&warploom::read(&attention()).unwrap());
}

/// Compiles the attention kernel and compares it with the interpreter under every policy, for a few trip counts.
fn runs_right(module: &warploom::ir::Module) {
    form_runs_right(module, module);
}

/// The same of a later form of it.
fn form_runs_right(module: &warploom::ir::Module, form: &warploom::ir::Module) {
    let output = warploom::compile(form, &blackwell(), &Options::default()).unwrap();
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    for blocks in [0u64, 1, 2, 3] {
        let rows = (blocks * 128).max(128);
        let tile = || ArgSpec::Tensor(vec![rows, 128]);
        let (count, scale) = (ArgSpec::Int((blocks * 128) as i64), "0.25".parse().unwrap());
        let args = vec![tile(), tile(), tile(), tile(), format!("[{rows}]").parse().unwrap(), count, scale];
        let case = Case { args, grid: [1, 1, 1], seed: blocks };
        let prepared = prepare(module, &output.emitted.metadata.name, &case).unwrap();
        for policy in policies(2) {
            let options = emulator::RunOptions::default().policy(policy);
            let outcome = prepared.run(&ptx, &output.emitted.metadata, &blackwell(), &options).unwrap();
            assert!(outcome.passed(), "{blocks} blocks, {policy:?}: {}", outcome.report);
        }
    }
}

#[test]
fn operands_over_the_live_accumulator_are_refused_b20() {
    let line = |text: &str, part: &str| text.lines().find(|l| l.contains(part)).unwrap().to_owned();
    let (row, all) = (line(&attention(), "%row = "), line(&attention(), "%all = "));
    // P in the columns of O, both beside QK.
    let swapped = |text: &str, from: &str, to: &str| text.replace(from, to);
    let row_wrong = swapped(&swapped(&row, "(%qk, %p)", "(%o, %p)"), "group_size = 2", "group_size = 1");
    let row_wrong = swapped(&row_wrong, "(!ttg.memdesc<2x128x128xf32", "(!ttg.memdesc<1x128x128xf32");
    let all_wrong = swapped(&swapped(&all, "(%row, %o)", "(%row, %qk)"), "<1x128x128xf32", "<2x128x128xf32");
    let wrong = attention().replace(&row, &row_wrong).replace(&all, &all_wrong);
    assert_ne!(wrong, attention());
    let (said, at) = tensor_program(&wrong).expect_err("a refusal");
    // Both lifetimes by name, at the operation that fills one of them.
    assert!(said.contains("acc") && said.contains("operand") && said.contains("B20"), "{said}");
    assert!(said.contains("%p, filled by arith.truncf, and %o, filled by tt.dot"), "{said}");
    let ops = ["#warploom.buffer<\"p\">", "#warploom.buffer<\"o\">"].map(|part| line_of(&wrong, part));
    assert!(ops.contains(&at), "line {at}: {said}");
}

#[test]
fn a_leaf_in_the_wrong_memory_is_refused_a44() {
    let wrong = attention().replace(
        "%cst_0, inputPrecision = tf32 {warploom.buffer = #warploom.buffer<\"qk\">}",
        "%cst_0, inputPrecision = tf32",
    );
    let at = wrong.find("%8 = tt.descriptor_load").unwrap();
    let colon = at + wrong[at..].find(" : ").unwrap();
    let wrong =
        format!("{} {{warploom.buffer = #warploom.buffer<\"qk\">}}{}", &wrong[..colon], &wrong[colon..]);
    let (said, line) = tensor_program(&wrong).expect_err("a refusal");
    assert!(said.contains("%qk lies in tmem") && said.contains("A44"), "{said}");
    assert_eq!(line, line_of(&wrong, "%8 = tt.descriptor_load"));
}

/// The attention kernel with one buffer of the scores and of the operands.
fn one_buffer() -> String {
    attention().replace("2x128x128x", "1x128x128x").replace("group_size = 2", "group_size = 1")
}

#[test]
fn few_buffers_in_tensor_memory_raise_ii_a45() {
    let module = warploom::read(&one_buffer()).unwrap();
    let lowered = warploom::lower(&module, &blackwell(), &Options::default()).unwrap();
    let Resumed::Compiled(compiled) = &lowered else { panic!("compiled") };
    let (from, to) = (compiled.depths[0].unlimited_ii, compiled.loops[0].answer.ii);
    assert!(to > from, "II {from} and {to}");
    let said: Vec<&str> = compiled.remarks.iter().map(|r| r.message.as_str()).collect();
    assert!(
        said.contains(&format!("leaf %qk has 1 buffer: II rises from {from} to {to}").as_str()),
        "{said:?}"
    );
    runs_right(&module);
}

#[test]
fn too_few_buffers_for_a_given_schedule_are_refused_b20() {
    let module = warploom::read(&attention()).unwrap();
    let lowered = warploom::lower(&module, &blackwell(), &Options::default()).unwrap();
    let Resumed::Compiled(compiled) = &lowered else { panic!("compiled") };
    let one = print(&compiled.scheduled)
        .replace("2x128x128x", "1x128x128x")
        .replace("group_size = 2", "group_size = 1");
    let (said, _) = tensor_program(&one).expect_err("a refusal");
    assert!(said.contains("B20") && said.contains("%qk"), "{said}");
}

/// M21: each step of the handshakes that carry the alias edges of scores and operands, removed in turn. What the checker
/// lets pass must be one that nobody needs, and so run clean: the first acquire of a fresh slot, the last release.
#[test]
fn removed_handshakes_of_shared_leaves_are_refused_by_the_program_checker() {
    let text = tensor_program(&attention()).unwrap();
    let kernel = warploom::read(&attention()).unwrap();
    let name = |payload: &str| {
        let line = text.lines().find(|l| l.contains(&format!("payload = [\"{payload}\"]"))).unwrap();
        line.split_whitespace().nth(1).unwrap()
    };
    let rings = [name("product"), name("operand")];
    let steps = ["producer_acquire", "producer_commit", "consumer_wait", "consumer_release"];
    let (mut refused, mut needless) = (0, 0);
    for (n, line) in text.lines().enumerate() {
        let of = |ring: &&str| steps.iter().any(|s| line.contains(&format!("warploom.{s} {ring}[")));
        if !rings.iter().any(of) {
            continue;
        }
        let without: Vec<&str> = text.lines().enumerate().filter(|l| l.0 != n).map(|l| l.1).collect();
        let module = warploom::ir::parse(&without.join("\n")).unwrap();
        if warploom::pipeline::check_program(&module, &blackwell()).is_err() {
            refused += 1;
        } else {
            needless += 1;
            form_runs_right(&kernel, &module);
        }
    }
    println!("{refused} refused, {needless} needless");
    assert!(refused >= 8 && needless <= 4, "{refused} refused, {needless} needless");
}
