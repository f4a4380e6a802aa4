//! Products of one block whose operands and results lie in memory either way round: they come and go by accesses as wide as
//! memory allows, and are right (G21).
#![cfg(feature = "llvm")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "tests may fail")]

use warploom::run::{Case, prepare};
use warploom::{Options, Target};
use warploom_emulator::{self as emulator, Policy};

const CHIPS: [&str; 4] = ["sm_80", "sm_90a", "sm_100a", "sm_120a"];

/// Which matrices have their columns consecutive in memory: A, B, the result.
type Turned = [bool; 3];

/// Places of a matrix behind argument `name`, columns consecutive where `turned`.
fn places(name: &str, elem: &str, [rows, cols]: [u64; 2], turned: bool) -> String {
    let shape = format!("{rows}x{cols}");
    let (down, along) = if turned { (1, rows) } else { (cols, 1) };
    format!(
        "
    %{name}r = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32>
    %{name}c = tt.make_range {{end = {cols} : i32, start = 0 : i32}} : tensor<{cols}xi32>
    %{name}r1 = tt.expand_dims %{name}r {{axis = 1 : i32}} : tensor<{rows}xi32> -> tensor<{rows}x1xi32>
    %{name}c1 = tt.expand_dims %{name}c {{axis = 0 : i32}} : tensor<{cols}xi32> -> tensor<1x{cols}xi32>
    %{name}d = arith.constant dense<{down}> : tensor<{rows}x1xi32>
    %{name}a = arith.constant dense<{along}> : tensor<1x{cols}xi32>
    %{name}r2 = arith.muli %{name}r1, %{name}d : tensor<{rows}x1xi32>
    %{name}c2 = arith.muli %{name}c1, %{name}a : tensor<1x{cols}xi32>
    %{name}r3 = tt.broadcast %{name}r2 : tensor<{rows}x1xi32> -> tensor<{shape}xi32>
    %{name}c3 = tt.broadcast %{name}c2 : tensor<1x{cols}xi32> -> tensor<{shape}xi32>
    %{name}o = arith.addi %{name}r3, %{name}c3 : tensor<{shape}xi32>
    %{name}s = tt.splat %{name} : !tt.ptr<{elem}> -> tensor<{shape}x!tt.ptr<{elem}>>
    %{name}p = tt.addptr %{name}s, %{name}o : tensor<{shape}x!tt.ptr<{elem}>>, tensor<{shape}xi32>"
    )
}

/// A product of two blocks of `elem` in `sum`, stored as `out`.
fn product([m, n, k]: [u64; 3], [elem, sum, out]: [&str; 3], [a, b, c]: Turned) -> String {
    let zero = if sum == "i32" { "0" } else { "0.000000e+00" };
    let narrowed = match (sum, out) {
        (sum, out) if sum == out => "%r = arith.addWORD %d, %z : tensor<SHAPExSUM>",
        (_, "f16" | "bf16") => "%r = arith.truncf %d : tensor<SHAPExSUM> to tensor<SHAPExOUT>",
        _ => "%r = tt.fp_to_fp %d, rounding = rtne : tensor<SHAPExSUM> -> tensor<SHAPExOUT>",
    };
    let narrowed = narrowed
        .replace("SHAPE", &format!("{m}x{n}"))
        .replace("SUM", sum)
        .replace("OUT", out)
        .replace("WORD", if sum == "i32" { "i" } else { "f" });
    format!(
        "module {{
  tt.func public @k(%a: !tt.ptr<{elem}> {{tt.divisibility = 16 : i32}}, %b: !tt.ptr<{elem}> {{tt.divisibility = 16 : i32}}, %c: !tt.ptr<{out}> {{tt.divisibility = 16 : i32}}) {{{}{}{}
    %z = arith.constant dense<{zero}> : tensor<{m}x{n}x{sum}>
    %x = tt.load %ap : tensor<{m}x{k}x!tt.ptr<{elem}>>
    %y = tt.load %bp : tensor<{k}x{n}x!tt.ptr<{elem}>>
    %d = tt.dot %x, %y, %z, inputPrecision = tf32 : tensor<{m}x{k}x{elem}> * tensor<{k}x{n}x{elem}> -> tensor<{m}x{n}x{sum}>
    {narrowed}
    tt.store %cp, %r : tensor<{m}x{n}x!tt.ptr<{out}>>
    tt.return
  }}
}}
",
        places("a", elem, [m, k], a),
        places("b", elem, [k, n], b),
        places("c", out, [m, n], c),
    )
}

/// What is wrong with a product on a chip.
fn wrong(text: &str, chip: &str, [m, n, k]: [u64; 3]) -> Option<String> {
    let module = warploom::read(text).unwrap_or_else(|d| panic!("{}\n{text}", d[0]));
    let target = Target::named(chip).unwrap();
    let output = match warploom::compile(&module, &target, &Options::default()) {
        Ok(output) => output,
        Err(refused) => return Some(refused[0].to_string()),
    };
    let args = [m * k, k * n, m * n].map(|count| format!("[{count}]").parse().unwrap());
    let prepared = prepare(&module, "k", &Case { args: args.into(), grid: [1, 1, 1], seed: 5 }).unwrap();
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    let options = emulator::RunOptions::default().policy(Policy::Lazy);
    match prepared.run(&ptx, &output.emitted.metadata, &target, &options) {
        Ok(found) if found.passed() => {}
        Ok(found) => return Some(format!("right: {}, {}", found.right, found.report)),
        Err(error) => return Some(error.to_string()),
    }
    let ptx = &output.emitted.ptx;
    for access in ["ld.global", "st.global"] {
        let all = ptx.lines().filter(|line| line.contains(access));
        let narrow = all.filter(|line| !line.contains(".v4.b32") && !line.contains(".v2.b64"));
        if let Some(line) = narrow.into_iter().next() {
            return Some(format!("a narrow access: {}", line.trim()));
        }
        if !ptx.contains(access) {
            return Some(format!("no {access}"));
        }
    }
    None
}

/// Tries a product each way round on the chips.
fn every_way(sizes: [u64; 3], types: [&str; 3], chips: &[&str]) {
    let mut found = Vec::new();
    for way in 0..8 {
        let turned = [1, 2, 4].map(|bit| way & bit != 0);
        let text = product(sizes, types, turned);
        for chip in chips {
            let what =
                wrong(&text, chip, sizes).map(|what| format!("{types:?} {turned:?} on {chip}: {what}"));
            found.extend(what);
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn products_of_16_bits_come_and_go_wide_g21() {
    every_way([64, 64, 64], ["f16", "f32", "f32"], &CHIPS);
    every_way([32, 32, 32], ["bf16", "f32", "bf16"], &["sm_80", "sm_90a"]);
}

#[test]
fn products_of_32_bits_come_and_go_wide_g21() {
    every_way([64, 64, 32], ["f32", "f32", "f32"], &CHIPS);
    every_way([32, 32, 32], ["f32", "f32", "f32"], &["sm_90a"]);
}

#[test]
fn products_of_8_bits_come_and_go_wide_g21() {
    every_way([128, 64, 64], ["i8", "i32", "i32"], &["sm_80", "sm_90a", "sm_100a"]);
    every_way([128, 64, 64], ["f8E4M3FN", "f32", "f8E4M3FN"], &["sm_90a", "sm_100a"]);
}
