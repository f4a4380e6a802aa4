//! How many neighbours one access takes, where loops move the place (C48).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/pointers.rs"]
mod pointers;

use pointers::{Kernel, f32_bytes, f32s};
use warploom_emulator::Policy;

/// Adds up 128 neighbours from every place below `end`, `step` apart, by `scf.while`.
fn sums(step: u64, end: u64) -> Kernel {
    let vector = "Cxf32";
    let kernel = Kernel { buffers: vec!["f32", "f32"], ..Kernel::blocked(1, 128, 1, [4, 32]) };
    kernel
        .ops(&format!(
            "%zero = arith.constant dense<0.000000e+00> : {vector}\n%lo = arith.constant 0 : i32\n\
             %step = arith.constant {step} : i32\n%end = arith.constant {end} : i32\n\
             %l:2 = scf.while (%k0 = %lo, %s0 = %zero) : (i32, {vector}) -> (i32, {vector}) {{\n\
             %more = arith.cmpi slt, %k0, %end : i32\n\
             scf.condition(%more) %k0, %s0 : i32, {vector}\n}} do {{\n^bb0(%k: i32, %s: {vector}):\n\
             %p = tt.addptr %p0, %k : !tt.ptr<f32>, i32"
        ))
        .ops(
            "%ps = tt.splat %p : !tt.ptr<f32> -> Cx!tt.ptr<f32>\n\
             %pq = tt.addptr %ps, %cols : Cx!tt.ptr<f32>, Cxi32\n\
             %x = tt.load %pq : Cx!tt.ptr<f32>\n\
             %t = arith.addf %s, %x : Cxf32\n%n = arith.addi %k, %step : i32\n\
             scf.yield %n, %t : i32, Cxf32\n}\n\
             %y = arith.addf %l#1, %zero : Cxf32",
        )
        .store("y", 1, "C")
}

#[test]
fn a_place_that_a_while_loop_moves_by_16_bytes_is_aligned() {
    for (step, end) in [(4, 48), (8, 0), (3, 48)] {
        let kernel = sums(step, end);
        let emitted = kernel.compile();
        let wide = emitted.ptx.contains("ld.global.v4.b32");
        assert_eq!(wide, step % 4 == 0 && end > 0, "{step}");
        let x: Vec<f32> = (0..176).map(|i| (i * i % 97) as f32).collect();
        let after = kernel.run(&emitted, &[f32_bytes(&x), vec![0; 512]], Policy::Eager);
        for (i, y) in f32s(&after[1]).into_iter().enumerate() {
            let wanted: f32 = (0..end).step_by(step as usize).map(|k| x[i + k as usize]).sum();
            assert_eq!(y, wanted, "{step}: {i}");
        }
    }
}

/// What authors say of caches at a load from `%p0` and at the store of the result.
fn with_policies(load: &str, store: &str) -> Result<warploom_codegen::Emitted, String> {
    let policy = |text: &str| format!("{{cachePolicy = #tt.cache_policy<{text}>}}");
    let pointers = "Cx!tt.ptr<f32>";
    let kernel = Kernel { buffers: vec!["f32", "f32"], ..Kernel::blocked(1, 128, 1, [4, 32]) };
    kernel
        .ops(&format!(
            "%s = tt.splat %p0 : !tt.ptr<f32> -> {pointers}\n%q = tt.addptr %s, %cols : {pointers}, Cxi32\n\
             %x = tt.load %q {} : {pointers}\n%t = tt.splat %p1 : !tt.ptr<f32> -> {pointers}\n\
             %u = tt.addptr %t, %cols : {pointers}, Cxi32\n%y = arith.addf %x, %x : Cxf32\n\
             tt.store %u, %y {} : {pointers}",
            policy(load),
            policy(store)
        ))
        .try_compile()
}

#[test]
fn cache_policies_reach_the_instructions_g22() {
    let load = "cache_modifier = cg, eviction_policy = evict_normal";
    let store = "cache_modifier = none, eviction_policy = evict_first";
    let emitted = with_policies(load, store).unwrap();
    assert!(emitted.ptx.contains("ld.global.cg.v4.b32"), "{}", emitted.ptx);
    assert!(emitted.ptx.contains("st.global.L1::evict_first.v4.b32"), "{}", emitted.ptx);
    // A modifier of stores at a load, and a word that is none.
    for wrong in [
        "cache_modifier = wt, eviction_policy = evict_normal",
        "cache_modifier = none, eviction_policy = never",
    ] {
        assert!(with_policies(wrong, store).unwrap_err().contains("no cache policy"), "{wrong}");
    }
}
