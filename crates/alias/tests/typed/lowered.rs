//! Lowered texts against what they were made of (L13, L14), and their mutants (M18, M19).

use warploom_alias::{AliasEmit, AliasLimits, AliasOptions, TextOptions, check_lowered, lower_text};
use warploom_testing::alias::{Ranges, module, text_of};

fn options(compat: bool, strict: bool) -> TextOptions {
    let limits = AliasLimits::default().tmem_columns(u64::MAX);
    TextOptions::default().layout(AliasOptions::default().compat(compat).strict_slots(strict).limits(limits))
}

/// The lowered text, which its checker accepts.
fn lowered(text: &str, options: &TextOptions) -> Option<String> {
    let out = lower_text(text, options);
    if out.failed {
        return None;
    }
    let checked = check_lowered(text, &out.text, &options.layout);
    assert_eq!(checked, Ok(()), "{text}\n{}", out.text);
    Some(out.text)
}

fn caught(text: &str, bad: &str, options: &TextOptions, law: &str, what: &str) {
    let found = check_lowered(text, bad, &options.layout).expect_err(what);
    assert!(found.iter().any(|f| f.law == law), "{what}: {found:?}\n{bad}");
}

/// Bytes of a case.
fn bytes(seed: u64) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 32) as u8
    };
    (0..100).map(|_| next()).collect()
}

#[test]
fn l13_l14_texts_of_the_fixtures() {
    for (source, options) in [
        (include_str!("../texts/compat.mlir"), options(true, true)),
        (include_str!("../texts/default.mlir"), options(false, false)),
        (include_str!("../texts/tables.mlir"), options(false, false)),
        (include_str!("../texts/tables.mlir"), options(true, true)),
    ] {
        for part in source.split("// -----\n") {
            assert!(lowered(part, &options).is_some(), "{part}");
        }
    }
}

/// What a text says and what the API says are one layout.
#[test]
fn a19_texts_of_random_modules_say_what_the_api_says() {
    let mut compared = 0;
    for seed in 0..150 {
        let m = module(&bytes(seed), Ranges::SMALL);
        let json = options(false, false).emit(AliasEmit::Json);
        let out = lower_text(&text_of(&m), &json);
        let Ok(layout) = m.layout(&json.layout) else {
            assert!(out.failed, "seed {seed}");
            continue;
        };
        assert!(!out.failed, "{}\n{}", out.render_diagnostics("FILE"), text_of(&m));
        let text: serde_json::Value = serde_json::from_str(&out.text).expect("json");
        let api = warploom_alias::to_json(&layout);
        for (a, b) in
            text["storages"].as_array().expect("list").iter().zip(api["storages"].as_array().expect("list"))
        {
            for key in ["size", "groups", "stride", "align", "rows"] {
                assert_eq!(a[key], b[key], "seed {seed}: {key}");
            }
            for (x, y) in
                a["leaves"].as_array().expect("list").iter().zip(b["leaves"].as_array().expect("list"))
            {
                for key in ["base", "unit", "count", "radices", "strides"] {
                    assert_eq!(x[key], y[key], "seed {seed}: {key}");
                }
            }
        }
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn m18_m19_mutants_of_lowered_texts() {
    let mut made = [0usize; 5];
    for seed in 0..120 {
        let m = module(&bytes(seed), Ranges::SMALL);
        let text = text_of(&m);
        let default = options(false, false);
        if let Some(good) = lowered(&text, &default) {
            let view = good.lines().find(|l| l.contains("warploom.view"));
            if let Some(line) = view {
                let (head, tail) = line.split_once("base = ").expect("a base");
                caught(
                    &text,
                    &good.replace(line, &format!("{head}base = 1{tail}")),
                    &default,
                    "L13",
                    "a base moved",
                );
                made[0] += 1;
            }
        }
        let compat = options(true, true);
        let Some(good) = lowered(&text, &compat) else { continue };
        let lines: Vec<&str> = good.lines().collect();
        let layout = m.layout(&compat.layout).expect("laid out");
        // Counts of leaves whose slots are their indices although the map has more to it: no mutants of these.
        let plain: Vec<String> = layout
            .storages
            .iter()
            .flat_map(|s| &s.leaves)
            .filter(|l| l.slots.as_ref().is_some_and(|s| (0..l.count).all(|i| s.slot(i) == Some(i))))
            .map(|l| format!("memdesc<{}x", l.count))
            .collect();
        for (n, line) in lines.iter().enumerate() {
            // A rewritten index comes right after what computes it.
            let computed = line.contains("ttg.memdesc_index") && n > 0 && lines[n - 1].contains("arith.");
            if !computed || plain.iter().any(|p| line.contains(p)) {
                continue;
            }
            let (head, tail) = line.split_once('[').expect("an index");
            let (slot, tail) = tail.split_once(']').expect("an index");
            let index = index_of(&lines, n);
            let bad = good.replacen(line, &format!("{head}[{index}]{tail}"), 1);
            caught(&text, &bad, &compat, "L13", &format!("M18: not rewritten, seed {seed}"));
            made[1] += 1;
            let twice = format!("%twice{n} = arith.addi {slot}, {slot} : i32\n{head}[%twice{n}]{tail}");
            caught(
                &text,
                &good.replacen(line, &twice, 1),
                &compat,
                "L13",
                &format!("M18: rewritten twice, seed {seed}"),
            );
            made[2] += 1;
        }
        for line in lines.iter().filter(|l| l.contains("partition0(")) {
            let (head, tail) = line.split_once("memdesc<").expect("a type");
            let (count, tail) = tail.split_once('x').expect("a count");
            let old: u64 = count.parse().expect("a number");
            let bad = good.replacen(line, &format!("{head}memdesc<{}x{tail}", old + 1), 1);
            caught(&text, &bad, &compat, "L13", &format!("M19: another type, seed {seed}"));
            made[3] += 1;
        }
        if let Some(backing) = lines.iter().find(|l| l.contains("_alloc :")) {
            let (head, tail) = backing.split_once(" = ").expect("a name");
            let bad = good.replacen(backing, &format!("{head} = {tail}\n%left = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>"), 1);
            caught(&text, &bad, &compat, "L14", "a spec is left");
            made[4] += 1;
        }
    }
    assert!(made.iter().all(|n| *n >= 20), "{made:?}");
}

/// The index that the computation in front of line `n` begins with.
fn index_of(lines: &[&str], n: usize) -> String {
    let mut at = n;
    while at > 0 && lines[at - 1].contains("arith.") {
        at -= 1;
    }
    let constants: Vec<&str> = lines[at..n]
        .iter()
        .filter(|l| l.contains("arith.constant"))
        .filter_map(|l| l.trim().split_once(" = ").map(|p| p.0))
        .collect();
    let first = lines[at..n].iter().find(|l| !l.contains("arith.constant")).expect("an operation");
    let operands = first.split_once("i ").expect("operands").1;
    let operand = operands.split([',', ' ']).find(|o| o.starts_with('%') && !constants.contains(o));
    operand.expect("an index").to_owned()
}
