//! Intervals against arithmetic itself, and what they decide.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use warploom_ir::axis::intervals::{Interval, combine, intervals};
use warploom_ir::{Module, OpId, Opcode, parse, walk};

/// What an operation gives on numbers of so many bits; none where it gives nothing that is defined.
fn exact(opcode: Opcode, bits: u32, a: i128, b: i128) -> Option<i128> {
    let mask = (1i128 << bits) - 1;
    let unsigned = |x: i128| x & mask;
    let wide = match opcode {
        Opcode::AddI => a + b,
        Opcode::SubI => a - b,
        Opcode::MulI => a * b,
        Opcode::MinSI => a.min(b),
        Opcode::MaxSI => a.max(b),
        Opcode::MinUI => unsigned(a).min(unsigned(b)),
        Opcode::MaxUI => unsigned(a).max(unsigned(b)),
        Opcode::DivSI => a.checked_div(b)?,
        Opcode::RemSI => a.checked_rem(b)?,
        Opcode::DivUI => unsigned(a).checked_div(unsigned(b))?,
        Opcode::RemUI => unsigned(a).checked_rem(unsigned(b))?,
        Opcode::ShLI | Opcode::ShRSI | Opcode::ShRUI if !(0..i128::from(bits)).contains(&b) => return None,
        Opcode::ShLI => a << b,
        Opcode::ShRSI => a >> b,
        Opcode::ShRUI => unsigned(a) >> b,
        Opcode::AndI => a & b,
        Opcode::OrI => a | b,
        Opcode::XOrI => a ^ b,
        _ => unreachable!("{opcode:?}"),
    };
    let wrapped = wide & mask;
    Some(if wrapped >> (bits - 1) == 1 { wrapped - mask - 1 } else { wrapped })
}

/// Every pair of intervals of four bits holds what every pair of numbers in them gives.
#[test]
fn intervals_hold_what_operations_give() {
    const BITS: u32 = 4;
    let all: Vec<Interval> =
        (-8..8).flat_map(|least| (least..8).map(move |most| Interval { least, most })).collect();
    let ops = [
        Opcode::AddI,
        Opcode::SubI,
        Opcode::MulI,
        Opcode::MinSI,
        Opcode::MaxSI,
        Opcode::MinUI,
        Opcode::MaxUI,
        Opcode::DivSI,
        Opcode::RemSI,
        Opcode::DivUI,
        Opcode::RemUI,
        Opcode::ShLI,
        Opcode::ShRSI,
        Opcode::ShRUI,
        Opcode::AndI,
        Opcode::OrI,
        Opcode::XOrI,
    ];
    for opcode in ops {
        let mut known = 0u32;
        for &a in &all {
            for &b in &all {
                let held = combine(opcode, BITS, a, b);
                known += u32::from(held != Interval::of_bits(BITS));
                for x in a.least..=a.most {
                    for y in b.least..=b.most {
                        let Some(z) = exact(opcode, BITS, x, y) else { continue };
                        assert!(
                            held.least <= z && z <= held.most,
                            "{opcode:?} {x} {y}: {z} outside {held:?}"
                        );
                    }
                }
            }
        }
        assert!(known > 100, "{opcode:?} says nothing: {known}");
    }
}

fn module(body: &str) -> (Module, OpId) {
    let text = format!(
        "module {{\n  tt.func public @k(%n: i32, %p: !tt.ptr<i32>) {{\n{body}\n    tt.return\n  }}\n}}\n"
    );
    let module = parse(&text).unwrap();
    let func = module.function("k").unwrap();
    (module, func)
}

/// What is said of each comparison, in the order of the text.
fn decided(body: &str) -> Vec<Option<bool>> {
    let (module, func) = module(body);
    let known = intervals(&module, func);
    let compared = walk::ops(&module, func).filter(|&op| module.ops[op].opcode == Opcode::CmpI);
    compared.map(|op| known.decides(&module, op)).collect()
}

#[test]
fn ranges_remainders_and_counters_are_bounded() {
    let found = decided(
        "    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c18 = arith.constant 18 : i32
    %c32 = arith.constant 32 : i32
    %m63 = arith.constant dense<63> : tensor<32xi32>
    %m64 = arith.constant dense<64> : tensor<32xi32>
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    scf.for %i = %c0 to %c18 step %c1 : i32 {
      %half = arith.remsi %i, %c2 : i32
      %at = arith.muli %half, %c32 : i32
      %all = tt.splat %at : i32 -> tensor<32xi32>
      %x = arith.addi %all, %r : tensor<32xi32>
      %a = arith.cmpi slt, %x, %m64 : tensor<32xi32>
      %b = arith.cmpi slt, %x, %m63 : tensor<32xi32>
      %c = arith.cmpi uge, %x, %m64 : tensor<32xi32>
      %d = arith.cmpi sge, %i, %c0 : i32
      %e = arith.cmpi eq, %i, %c18 : i32
      %f = arith.cmpi slt, %i, %n : i32
    }",
    );
    assert_eq!(found, [Some(true), None, Some(false), Some(true), Some(false), None]);
}

#[test]
fn what_may_wrap_and_what_loops_carry_may_be_anything() {
    let found = decided(
        "    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c5 = arith.constant 5 : i32
    %big = arith.constant 65536 : i32
    %pid = tt.get_program_id x : i32
    %a = arith.cmpi sge, %pid, %c0 : i32
    %wide = arith.muli %pid, %big : i32
    %b = arith.cmpi sge, %wide, %c0 : i32
    %next = arith.addi %n, %c1 : i32
    %c = arith.cmpi sgt, %next, %n : i32
    %d = arith.cmpi ult, %c0, %n : i32
    %last = scf.for %i = %c0 to %c5 step %c1 iter_args(%x = %c0) -> (i32)  : i32 {
      %e = arith.cmpi sge, %x, %c0 : i32
      %y = arith.subi %x, %c1 : i32
      scf.yield %y : i32
    }
    scf.for %i = %c5 to %c1 step %c1 : i32 {
      %f = arith.cmpi slt, %i, %c1 : i32
    }",
    );
    assert_eq!(found, [Some(true), None, None, None, None, None]);
}
