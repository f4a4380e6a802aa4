//! Every kernel of the repository reads, and prints as it was (C1).

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use warploom_ir::{difference, parse, print, verify};

#[test]
fn every_kernel_prints_byte_for_byte_as_it_was_read() {
    for (name, text) in common::kernels() {
        let module = parse(&text).unwrap_or_else(|d| panic!("{name}: {d:#?}"));
        let printed = print(&module);
        for (n, (a, b)) in text.lines().zip(printed.lines()).enumerate() {
            assert_eq!(a, b, "{name}:{}", n + 1);
        }
        assert_eq!(text, printed, "{name}");
        let again = parse(&printed).unwrap();
        assert_eq!(difference(&module, &again), None, "{name}");
    }
}

#[test]
fn every_kernel_verifies() {
    for (name, text) in common::kernels() {
        let module = parse(&text).unwrap();
        let diags = verify(&module);
        assert!(diags.is_empty(), "{}", warploom_ir::diag::render(&diags, &name, &text));
    }
}
