//! What a trip of a loop is priced at beside its operations: addresses, masks, rows of indices and handshakes (T42, T43).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use warploom_chips::cost::unit;
use warploom_pipeline::loops::{GraphOptions, loop_graphs};
use warploom_pipeline::{CompileOptions, resume};

/// Cycles of each unit that nodes whose operation ends like this hold, in a loop with such a body.
fn held(body: &str, operation: &str, on: &str) -> u64 {
    let text = format!(
        "module {{
  tt.func public @f(%p: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %q: !tt.ptr<f32>, %n: i32) {{
    %zero = arith.constant 0 : i32
    %step = arith.constant 1024 : i32
    %none = arith.constant dense<0.0> : tensor<1024xf32>
    %range = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : tensor<1024xi32>
    %bound = tt.splat %n : i32 -> tensor<1024xi32>
    %still = arith.cmpi slt, %range, %bound : tensor<1024xi32>
    %sum = scf.for %i = %zero to %n step %step iter_args(%acc = %none) -> (tensor<1024xf32>) : i32 {{
      %at = tt.splat %i : i32 -> tensor<1024xi32>
      %index = arith.addi %at, %range : tensor<1024xi32>
      %moved = tt.addptr %p, %i : !tt.ptr<f32>, i32
      %tile = tt.splat %moved : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
      %pointers = tt.addptr %tile, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
      {body}
      %more = arith.addf %acc, %data : tensor<1024xf32>
      scf.yield %more : tensor<1024xf32>
    }}
    %outs = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %out = tt.addptr %outs, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tt.store %out, %sum : tensor<1024x!tt.ptr<f32>>
    tt.return
  }}
}}"
    );
    let module = common::parse(&text);
    let graphs = loop_graphs(&module, None, &common::hopper(), GraphOptions::default()).unwrap();
    let nodes = graphs[0].graph.nodes.iter().filter(|node| node.op.ends_with(operation));
    nodes.flat_map(|node| &node.uses).filter(|held| held.resource == on).map(|held| held.duration).sum()
}

const PLAIN: &str = "%data = tt.load %pointers : tensor<1024x!tt.ptr<f32>>";

/// A mask that every trip has is computed before the loop; one that may cut a move in two takes more than its address.
#[test]
fn t42_masks_of_copies() {
    let masked = |mask: &str| format!("%data = tt.load %pointers, {mask}, %none : tensor<1024x!tt.ptr<f32>>");
    let moving = format!("%mask = arith.cmpi slt, %index, %bound : tensor<1024xi32>\n{}", masked("%mask"));
    let on = |body: &str| held(body, "load", unit::ALU);
    assert_eq!(on(PLAIN), on(&masked("%still")));
    assert!(on(&moving) > 4 * on(PLAIN), "{} {}", on(&moving), on(PLAIN));
}

/// Indices that only addresses and masks are made of are priced with those; what data are made of has instructions.
#[test]
fn t42_rows_of_indices() {
    let mask = "%mask = arith.cmpi slt, %index, %bound : tensor<1024xi32>";
    let load = "tt.load %pointers, %mask, %none : tensor<1024x!tt.ptr<f32>>";
    let addresses = format!("{mask}\n%data = {load}");
    let chosen = "arith.select %mask, %loaded, %none : tensor<1024xi1>, tensor<1024xf32>";
    let data = format!("{mask}\n%loaded = {load}\n%data = {chosen}");
    for operation in ["cmpi", "addi"] {
        assert_eq!(held(&addresses, operation, unit::ALU), 0, "{operation}");
        assert_eq!(held(&data, operation, unit::ALU), 1024 / 64, "{operation}");
    }
}

/// A mask and a shift of the same bits are one instruction each, with what cuts out or moves before.
#[test]
fn t42_bits_share_instructions() {
    let body = "%raw = tt.load %pointers : tensor<1024x!tt.ptr<f32>>
      %bits = tt.bitcast %raw : tensor<1024xf32> -> tensor<1024xi32>
      %eight = arith.constant dense<8> : tensor<1024xi32>
      %low = arith.shrui %bits, %eight : tensor<1024xi32>
      %cut = arith.andi %low, %eight : tensor<1024xi32>
      %high = arith.shli %cut, %eight : tensor<1024xi32>
      %data = tt.bitcast %high : tensor<1024xi32> -> tensor<1024xf32>";
    assert_eq!(held(body, "shrui", unit::ALU), 0);
    assert_eq!(held(body, "andi", unit::ALU), 1024 / 64);
    assert_eq!((held(body, "shli", unit::ALU), held(body, "shli", unit::FP32)), (0, 1024 / 64));
}

/// Partitions that share more rings hold more of the units that count slots and phases.
#[test]
fn t43_handshakes_by_ring() {
    let of = |kernel: &str| {
        let module = common::parse(&common::kernel(kernel));
        let loops = resume(&module, &common::hopper(), &CompileOptions::default()).unwrap().facts().loops;
        loops[0].loads["math"][unit::ALU]
    };
    // Eight warps each: one ring, and three.
    assert!(of("gated") > 2 * of("gemm_bf16_128"), "{} {}", of("gated"), of("gemm_bf16_128"));
}
