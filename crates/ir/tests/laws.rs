//! The laws of `warploom-testing` on modules and texts that it makes.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use warploom_ir::{Attr, Loc, Module, parse, print};
use warploom_testing::ir::{
    Choices, TextOutcome, bytes_keep_the_laws, damaged_modules, damaged_text, interpreter_is_total,
    module_of, module_reads_back, modules, text_reads_and_prints,
};
use warploom_testing::repeatable;

const TEXTS: [&str; 3] = [
    include_str!("fixtures/good/every_op.mlir"),
    include_str!("fixtures/good/generic.mlir"),
    include_str!("fixtures/good/program.mlir"),
];

proptest! {
    #![proptest_config(repeatable())]

    #[test]
    fn modules_verify_read_back_and_run(module in modules()) {
        module_reads_back(&module, true).map_err(TestCaseError::fail)?;
        interpreter_is_total(&module).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn damaged_texts_of_modules_keep_the_laws(text in damaged_modules()) {
        text_reads_and_prints(&text).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn any_bytes_keep_the_laws(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        bytes_keep_the_laws(&bytes).map_err(TestCaseError::fail)?;
        let tape: Vec<u8> = std::iter::once(0).chain(bytes).collect();
        bytes_keep_the_laws(&tape).map_err(TestCaseError::fail)?;
    }
}

/// A generator whose texts all fail alike, or never, would test nothing.
#[test]
fn damage_refuses_spoils_and_spares() {
    let mut runner = TestRunner::deterministic();
    let mut count = [0; 3];
    for n in 0..600 {
        let text = damaged_text(TEXTS[n % 3]).new_tree(&mut runner).unwrap().current();
        let outcome = text_reads_and_prints(&text).unwrap_or_else(|law| panic!("{law}\n----\n{text}"));
        count[outcome as usize] += 1;
    }
    assert!(count.iter().all(|n| *n > 0), "refused, unsound, sound: {count:?}");
}

#[test]
fn modules_are_large_and_shrink_to_nothing() {
    let mut runner = TestRunner::deterministic();
    let mut operations = 0;
    for _ in 0..50 {
        operations += modules().new_tree(&mut runner).unwrap().current().ops.len();
    }
    assert!(operations > 1000, "{operations} operations are few");

    let mut tree = modules().new_tree(&mut runner).unwrap();
    while tree.simplify() {}
    assert!(tree.current().ops.len() <= 4, "{}", print(&tree.current()));
}

/// Places that share their parts have more of them than the module has places.
#[test]
fn shared_places_read_back() {
    let mut module = parse("module { tt.func @f() { tt.return } }").unwrap();
    let unknown = module.unknown_loc();
    let call = module.locs.push(Loc::CallSite { callee: unknown, caller: unknown });
    let both = module.locs.push(Loc::CallSite { callee: call, caller: call });
    let func = module.functions().next().unwrap();
    module.ops[func].loc = both;
    assert!(
        print(&module).contains("callsite(callsite(unknown at unknown) at callsite(unknown at unknown))")
    );
    assert_eq!(module_reads_back(&module, true), Ok(()));
}

#[test]
fn the_laws_can_be_broken() {
    // A module that cannot be read back: an attribute kept as text that no reader takes.
    let mut module = parse("\"a.b\"() {x = 1} : () -> ()").unwrap();
    let op = module.blocks[module.body()].ops[0];
    module.ops[op].attrs.set("x", Attr::Opaque("<".into()));
    assert!(module_reads_back(&module, true).is_err());
    let mut module: Module = module_of(&mut Choices::new(&[7; 100]));
    let func = module.functions().next().unwrap();
    module.ops[func].props.remove("function_type");
    assert!(module_reads_back(&module, true).is_err());
}

#[test]
fn bytes_of_a_fuzzer_are_text_or_choices() {
    assert_eq!(text_reads_and_prints("module {}"), Ok(TextOutcome::Sound));
    assert_eq!(bytes_keep_the_laws(b"module {}"), Ok(()));
    assert_eq!(bytes_keep_the_laws(b"\xff\xfe ("), Ok(()));
    assert_eq!(bytes_keep_the_laws(&[0, 1, 2, 3]), Ok(()));
}
