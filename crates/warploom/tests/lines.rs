//! PTX that says which line of the kernel's source each instruction comes from.

#![cfg(feature = "llvm")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use warploom::codegen::EmitOptions;
use warploom::{Options, Target};

/// A load at line 5 and a store at line 6, within a helper of another file that line 7 calls.
const KERNEL: &str = r#"
#loc = loc("/home/me/kernel.py":3:1)
module {
  tt.func public @copy(%x: !tt.ptr<f32> loc("x"(#loc)), %y: !tt.ptr<f32> loc("y"(#loc))) {
    %at = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32> loc(#at)
    %px = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>> loc(#load)
    %ax = tt.addptr %px, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32> loc(#load)
    %v = tt.load %ax : tensor<128x!tt.ptr<f32>> loc(#load)
    %py = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>> loc(#called)
    %ay = tt.addptr %py, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32> loc(#called)
    tt.store %ay, %v : tensor<128x!tt.ptr<f32>> loc(#called)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#at = loc("/home/me/kernel.py":4:9)
#load = loc("v"("/home/me/kernel.py":5:9))
#store = loc("/home/me/helper.py":6:5)
#call = loc("/home/me/kernel.py":7:5)
#called = loc(callsite(#store at #call))
"#;

fn ptx(chip: &str, lines: bool) -> String {
    let options = Options::default().codegen(EmitOptions::default().lines(lines));
    let module = warploom::read(KERNEL).unwrap();
    warploom::compile(&module, &Target::named(chip).unwrap(), &options).unwrap().emitted.ptx
}

/// The line of the source that the first instruction with this word comes from.
fn line_of(ptx: &str, word: &str) -> Option<u32> {
    let before = ptx.split_once(word)?.0;
    let loc = before.lines().rev().find_map(|row| row.trim().strip_prefix(".loc"))?;
    loc.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn loads_and_stores_come_from_where_the_kernel_has_them() {
    for chip in ["sm_80", "sm_90a", "sm_100a", "sm_120a"] {
        let told = ptx(chip, true);
        assert_eq!((line_of(&told, "ld.global"), line_of(&told, "st.global")), (Some(5), Some(7)), "{told}");
        assert!(told.contains(".file\t1 \"/home/me/kernel.py\""), "{told}");
        assert!(!told.contains("debug") && !told.contains(".section"), "{told}");
    }
}

#[test]
fn the_instructions_are_the_same() {
    let code = |text: &str| -> Vec<String> {
        let rows = text.lines().map(|row| row.split("//").next().unwrap().trim().to_owned());
        let told = [".loc", ".file", "$L__func", "$L__tmp"];
        rows.filter(|row| !row.is_empty() && !told.iter().any(|word| row.starts_with(word))).collect()
    };
    assert_eq!(code(&ptx("sm_90a", true)), code(&ptx("sm_90a", false)));
    assert!(!ptx("sm_90a", false).contains(".loc"));
}
