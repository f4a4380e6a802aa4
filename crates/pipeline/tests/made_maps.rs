//! Descriptors that the kernel makes: tensor maps of its own (C16), and what the program checker says of broken ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{broken, broken_by, checked, compile_one, parse};
use warploom_chips::Target;
use warploom_pipeline::check::{self, Effort, Rule};
use warploom_pipeline::{CompileOptions, Compiled, Partitions, compile_to_program};
use warploom_testing::pipeline::{Outcome, exercise};

const GROUPS: &str = include_str!("kernels/groups.mlir");
const AGAIN: &str = include_str!("kernels/again.mlir");
const MIXED: &str = include_str!("../../warploom/tests/runs/mixed.mlir");

/// Chips that make tensor maps.
const CHIPS: [&str; 3] = ["sm_90a", "sm_100a", "sm_120a"];

fn target(chip: &str) -> Target {
    Target::named(chip).unwrap()
}

fn compiled(text: &str, chip: &str) -> Compiled {
    compile_one(&parse(text), &target(chip), &checked()).unwrap_or_else(|e| panic!("{chip}: {}", e[0]))
}

fn program(text: &str, chip: &str) -> String {
    warploom_ir::print(&compiled(text, chip).program)
}

#[test]
fn every_form_reads_back_and_resumes() {
    for text in [GROUPS, AGAIN, &common::kernel("gemm_device_descriptors")] {
        for chip in CHIPS {
            assert_eq!(exercise(text, &target(chip), &CompileOptions::default(), 8), Ok(Outcome::Compiled));
        }
    }
}

#[test]
fn the_copy_engine_goes_by_maps_that_the_kernel_makes() {
    for (text, maps) in [(GROUPS, 3), (AGAIN, 2)] {
        for chip in CHIPS {
            let program = program(text, chip);
            assert_eq!(program.matches("warploom.tensor_map").count(), maps, "{chip}");
            assert!(program.contains("warploom.tma_load") && !program.contains("tt.descriptor_"), "{chip}");
            // No argument is a descriptor.
            assert!(program.contains("warploom.descriptors = []"), "{chip}");
        }
    }
}

/// Maps of the function's scalars are made once, in front of all partitions, aside from their slots.
#[test]
fn partitions_share_maps() {
    for chip in ["sm_90a", "sm_100a"] {
        let module = parse(&common::kernel("gemm_device_descriptors"));
        let compiled = compile_to_program(&module, &target(chip), &checked()).unwrap();
        assert_eq!(compiled.strategy.partitions, Partitions::Several, "{chip}");
        let text = warploom_ir::print(&compiled.program);
        let (first, last) =
            (text.find("warploom.partition").unwrap(), text.rfind("warploom.tensor_map").unwrap());
        assert!(last < first, "{chip}");
        let from = text.rfind("staging = ").unwrap() + "staging = ".len();
        let staging: String = text[from..].chars().take_while(char::is_ascii_digit).collect();
        let moved = text.replace(&format!("staging = {staging}"), "staging = 0");
        assert!(broken(chip, &moved).contains(&Rule::Overlap), "{chip}: {staging}");
    }
}

/// Chips without the instruction, strides that may not be 1, maps that go round a loop, and tensors that lanes store to:
/// tiles go by pointers, and a remark says why.
#[test]
fn what_no_map_can_be_goes_by_pointers() {
    let other = "%some_stride = arith.extsi %rows : i32 to i64\n    %da = ";
    let strided = AGAIN.replacen("%da = ", other, 1).replacen("[%pitch, %unit]", "[%pitch, %some_stride]", 1);
    let stored = AGAIN
        .replace("tt.splat %pc", "tt.splat %b32")
        .replace("%base = ", "%b32 = tt.bitcast %b : !tt.ptr<f16> -> !tt.ptr<f32>\n      %base = ");
    for (text, chip, why) in [
        (AGAIN, "sm_80", None),
        (&strided, "sm_90a", Some("innermost stride")),
        (&stored, "sm_90a", Some("may store to a tensor")),
    ] {
        let kernel = compiled(text, chip);
        let text = warploom_ir::print(&kernel.program);
        assert!(!text.contains("tensor_map") && !text.contains("tensordesc"), "{chip}");
        let told = kernel.remarks.iter().find(|r| r.message.contains("not by TMA"));
        match why {
            Some(why) => assert!(told.unwrap().message.contains(why), "{told:?}"),
            None => assert!(told.is_none(), "{told:?}"),
        }
    }
}

#[test]
fn the_checker_finds_broken_maps() {
    let text = program(GROUPS, "sm_90a");
    let found = |from: &str, to: &str| broken_by("sm_90a", &text, from, to);
    for (what, from, to, rule) in [
        ("a store by the old map is under way", "read = false", "read = true", Rule::Overwrite),
        ("made where tiles lie", "staging = 0", "staging = 1024", Rule::Overlap),
        ("made askew", "staging = 0", "staging = 64", Rule::Shared),
        ("made outside", "staging = 0", "staging = 1048576", Rule::Shared),
        ("another swizzle", "tensor_map = {swizzle = 3", "tensor_map = {swizzle = 2", Rule::Boxes),
        ("another box", "block_size = array<i32: 64, 64>", "block_size = array<i32: 48, 64>", Rule::Boxes),
        ("nothing said", "warploom.tensor_map", "warploom.other", Rule::Boxes),
    ] {
        assert!(found(from, to).contains(&rule), "{what}: {:?}", found(from, to));
    }
}

/// A slot that is copied into again and again without an empty barrier: all have read it, fence, and meet.
#[test]
fn the_checker_finds_slots_overwritten_too_early() {
    let text = program(AGAIN, "sm_90a");
    let load = text.find("warploom.tma_load @once0").unwrap();
    let at = text[..load].rfind("warploom.barrier_sync").unwrap();
    let end = at + text[at..].find('\n').unwrap();
    assert!(!broken("sm_90a", &format!("{}{}", &text[..at], &text[end..])).is_empty());
    // Where the inner loop may have no trip, nothing else fences what was read.
    let text =
        program(&AGAIN.replace("to %wide step %side iter_args", "to %rows step %side iter_args"), "sm_90a");
    let without = text.replace("warploom.proxy_fence", "");
    let violations = check::program(&parse(&without), &target("sm_90a"), Effort::Quick).unwrap_err();
    assert!(
        violations.iter().any(|v| v.rule == Rule::Fence && v.to_string().contains("overwrites what warp")),
        "{violations:?}"
    );
}

/// A result that leaves by the copy engine lies where lanes copy to in the next round: all meet behind the store.
#[test]
fn the_checker_finds_results_overwritten_on_their_way() {
    let text = program(MIXED, "sm_90a");
    let at = text.rfind("warploom.barrier_sync").unwrap();
    assert!(text.rfind("warploom.tma_store").unwrap() < at);
    let end = at + text[at..].find('\n').unwrap();
    assert!(broken("sm_90a", &text).is_empty());
    assert_eq!(broken("sm_90a", &format!("{}{}", &text[..at], &text[end..])), [Rule::Read]);
}
