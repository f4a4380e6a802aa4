//! What does not change in a loop is loaded in front of it, and what there are no registers for is made anew from that (C8).
//! That the kernels give what they should is for `tests/runs/invariant.mlir`.
#![cfg(feature = "llvm")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "tests may fail")]

use std::collections::HashMap;

use warploom::{Options, Target};

const CHIPS: [&str; 3] = ["sm_80", "sm_90a", "sm_100a"];

/// The PTX of a kernel of the file, by its name.
fn ptx(name: &str, chip: &str) -> String {
    let all = include_str!("runs/invariant.mlir").split("// -----");
    let text = all.into_iter().find(|text| text.contains(&format!("@{name}("))).unwrap();
    compiled(text, name, chip)
}

fn compiled(text: &str, name: &str, chip: &str) -> String {
    let module = warploom::read(text).unwrap_or_else(|d| panic!("{name}: {}", d[0]));
    let output = warploom::compile(&module, &Target::named(chip).unwrap(), &Options::default());
    output.unwrap_or_else(|d| panic!("{name}, {chip}: {}", d[0])).emitted.ptx
}

/// The lines of each innermost loop: from a label to a branch back to it, with no other such branch between.
fn innermost(ptx: &str) -> Vec<Vec<&str>> {
    let lines: Vec<&str> = ptx.lines().map(str::trim).collect();
    let label = |line: &str| line.strip_suffix(':').map(str::to_owned);
    let labels: HashMap<String, usize> =
        lines.iter().enumerate().filter_map(|(at, line)| Some((label(line)?, at))).collect();
    let back = |(at, line): (usize, &&str)| {
        let to = line.split_once("bra")?.1.trim_start_matches(".uni").trim().trim_end_matches(';');
        labels.get(to).copied().filter(|&head| head <= at).map(|head| (head, at))
    };
    let loops: Vec<(usize, usize)> = lines.iter().enumerate().filter_map(back).collect();
    let inner = loops.iter().filter(|a| !loops.iter().any(|b| b != *a && a.0 <= b.0 && b.1 <= a.1));
    inner.map(|&(head, end)| lines[head..end].to_vec()).collect()
}

fn count(lines: &[&str], what: &str) -> usize {
    lines.iter().filter(|line| line.contains(what)).count()
}

#[test]
fn what_stays_is_loaded_in_front_of_a_loop_c8() {
    for chip in CHIPS {
        // What changes is copied ahead.
        for name in ["weighted", "nested", "ordered", "outer"] {
            let ptx = ptx(name, chip);
            // The outer loop copies, and may stand around its inner one in another order than the text's.
            let inner = |lines: &Vec<&str>| name != "nested" || count(lines, "cp.async") == 0;
            let loops: Vec<Vec<&str>> = innermost(&ptx).into_iter().filter(inner).collect();
            assert!(!loops.is_empty(), "{name}, {chip}\n{ptx}");
            for lines in loops {
                assert_eq!(count(&lines, "ld.global"), 0, "{name}, {chip}\n{}", lines.join("\n"));
                assert_eq!(count(&lines, "sqrt"), 0, "{name}, {chip}\n{}", lines.join("\n"));
            }
        }
    }
}

#[test]
fn what_has_no_registers_stays_in_the_loop_c8() {
    let all = include_str!("runs/invariant.mlir").split("// -----");
    let outer = all.into_iter().find(|text| text.contains("@outer(")).unwrap();
    let larger = outer.replace("<32x", "<256x").replace("end = 32 ", "end = 256 ").replace("4096", "32768");
    for chip in CHIPS {
        let made = |ptx: &str| innermost(ptx).iter().map(|lines| count(lines, "ex2")).collect::<Vec<_>>();
        // 32 elements of each of 128 lanes have registers; 64 of each of 512 lanes, beside the 64 that the loop carries, have none.
        let ptx = ptx("outer", chip);
        assert!(made(&ptx).iter().all(|&n| n == 0), "{chip}: {:?}\n{ptx}", made(&ptx));
        let ptx = compiled(&larger, "outer", chip);
        assert!(made(&ptx).contains(&64), "{chip}: {:?}\n{ptx}", made(&ptx));
    }
}
