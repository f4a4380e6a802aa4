//! `warploom alias` as a user meets it: texts that check themselves, files that are refused, files that are no use.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::piped;

fn texts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs `warploom alias` on a file of another crate's tests.
fn alias(file: &str, flags: &[&str]) -> Output {
    let path = texts().join(file);
    Command::new(env!("CARGO_BIN_EXE_warploom")).arg("alias").arg(path).args(flags).output().unwrap()
}

/// Runs it on a text.
fn on_text(text: &str, flags: &[&str]) -> Output {
    piped(&[&["alias", "-"], flags].concat(), text.as_bytes())
}

fn said(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{out}{err}")
}

#[test]
fn texts_with_check_lines_check_themselves() {
    for (file, flags) in [
        ("alias/tests/texts/compat.mlir", &["--compat", "tlx", "--filecheck"][..]),
        ("alias/tests/texts/default.mlir", &["--filecheck"]),
        ("alias/tests/texts/errors.mlir", &["--verify-diagnostics"]),
    ] {
        let output = alias(file, flags);
        assert_eq!(output.status.code(), Some(0), "{file}: {}", said(&output));
    }
}

#[test]
fn refusals_and_wrong_use_have_their_status() {
    let refused = alias("alias/tests/texts/errors.mlir", &[]);
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    assert!(said(&refused).contains("errors.mlir:"), "a place: {}", said(&refused));
    assert_eq!(alias("alias/tests/texts/no_such_file.mlir", &[]).status.code(), Some(1));
    assert_eq!(alias("alias/tests/texts/default.mlir", &["--target", "sm_1"]).status.code(), Some(1));
    assert_eq!(alias("alias/tests/texts/default.mlir", &["--emit", "ptx"]).status.code(), Some(2));
}

#[test]
fn stablehlo_gets_storage_and_copies() {
    let output = alias("stablehlo/tests/files/loops.mlir", &["--emit", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap();
}

#[test]
fn odd_texts_end_with_a_message_not_a_panic() {
    let spec = "%0 = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>\n";
    let huge = format!(
        "{spec}%1 = tlx.storage_alias_local_alloc %0 : !tlx.storage_alias_spec<smem> -> \
         !ttg.memdesc<99999999999x99999999999x99999999999xf32, #shared, #smem, mutable>\n"
    );
    for text in
        ["", "not mlir at all", "module {", "\0\0\0", spec, &huge, "tt.func @f( {", "// -----\n// -----\n"]
    {
        let output = on_text(text, &[]);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{text:?}: {}", said(&output));
        assert!(!said(&output).contains("panicked"), "{text:?}: {}", said(&output));
    }
    assert_eq!(on_text(&huge, &[]).status.code(), Some(1));
}
