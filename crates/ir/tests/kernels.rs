//! Every kernel of the reference folder reads, and prints as it was (C1).

mod common;

use warploom_ir::{difference, parse, print};

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
