//! Kernels that one agent runs, on the chips that multiply synchronously and without a product on every chip: their
//! PTX on the emulator against what the kernel means.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]
#![cfg(feature = "llvm")]

use std::path::{Path, PathBuf};

use warploom::run::{ArgSpec, Case, policies, prepare};
use warploom::{Options, Resumed, Target};
use warploom_emulator as emulator;

fn kernel(name: &str) -> Option<String> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/kernels")
        .join(format!("{name}.ttir"));
    let text = std::fs::read_to_string(path).ok();
    if text.is_none() {
        println!("skipped: {name} is not there");
    }
    text
}

/// Compiles a kernel for a chip and runs it on each list of arguments.
fn run(
    name: &str,
    text: &str,
    chip: &str,
    options: &Options,
    cases: &[(Vec<ArgSpec>, [u32; 3])],
    seeds: u64,
) {
    let target = Target::named(chip).unwrap();
    let module = warploom::read(text).unwrap_or_else(|d| panic!("{name}: {}", d[0]));
    let output = warploom::compile(&module, &target, options).unwrap_or_else(|d| panic!("{name}: {}", d[0]));
    assert!(matches!(output.lowered, Resumed::Single(_)), "{name}");
    let metadata = &output.emitted.metadata;
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    for (number, (args, grid)) in cases.iter().enumerate() {
        let case = Case { args: args.clone(), grid: *grid, seed: number as u64 + 1 };
        let prepared = prepare(&module, &metadata.name, &case).unwrap_or_else(|e| panic!("{name}: {e}"));
        for policy in policies(seeds) {
            let options = emulator::Options { policy, ..emulator::Options::default() };
            let outcome =
                prepared.run(&ptx, metadata, &target, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(
                outcome.passed(),
                "{name} on {chip}, case {number}, {policy:?}: relative error {:.2e}\n{}",
                outcome.relative_error,
                outcome.report
            );
        }
    }
}

/// `a, b, c, M, N, K, strides` of a pointer GEMM.
fn gemm(m: i64, n: i64, k: i64) -> (Vec<ArgSpec>, [u32; 3]) {
    use ArgSpec::{Buffer, Int};
    let sa = k.max(16);
    let buffer = |count: i64| Buffer(count.max(16) as u64);
    let args =
        vec![buffer(m * sa), buffer(k * n), buffer(m * n), Int(m), Int(n), Int(k), Int(sa), Int(n), Int(n)];
    (args, [m.unsigned_abs().div_ceil(128) as u32, n.unsigned_abs().div_ceil(128) as u32, 1])
}

#[test]
fn pointer_gemm_runs_right_for_every_trip_count_of_c28() {
    let Some(text) = kernel("gemm_pointers") else { return };
    let cases: Vec<_> = [0, 16, 32, 64, 96, 112, 128, 160, 304].map(|k| gemm(112, 96, k)).into();
    run("gemm_pointers", &text, "sm_80", &Options::default(), &cases, 2);
}

#[test]
fn pointer_gemm_runs_right_on_every_chip_and_depth() {
    let Some(text) = kernel("gemm_pointers") else { return };
    for chip in ["sm_86", "sm_89", "sm_120a"] {
        run("gemm_pointers", &text, chip, &Options::default(), &[gemm(144, 128, 80)], 1);
    }
    for depth in [2, 3, 5] {
        let mut options = Options::default();
        options.pipeline.depth = Some(depth);
        run("gemm_pointers", &text, "sm_80", &options, &[gemm(128, 128, 112)], 1);
    }
}

/// wgmma of what `cp.async` brought, with a product left unfinished in each trip, or none.
#[test]
fn pointer_gemm_multiplies_asynchronously_for_every_trip_count_of_c28() {
    let Some(text) = kernel("gemm_pointers") else { return };
    let cases: Vec<_> = [0, 16, 32, 64, 96, 112, 128, 160, 304].map(|k| gemm(112, 96, k)).into();
    run("gemm_pointers", &text, "sm_90a", &Options::default(), &cases, 2);
    for depth in [2, 3, 5] {
        let mut options = Options::default();
        options.pipeline.depth = Some(depth);
        run("gemm_pointers", &text, "sm_90a", &options, &[gemm(128, 128, 0), gemm(144, 128, 208)], 2);
    }
}

/// Each order of that form is needed: without it some interleaving shows what breaks.
#[test]
fn asynchronous_products_of_one_agent_without_an_order_are_found() {
    let Some(text) = kernel("gemm_pointers") else { return };
    let target = Target::named("sm_90a").unwrap();
    let module = warploom::read(&text).unwrap();
    let mut options = Options::default();
    options.pipeline.depth = Some(3);
    let output = warploom::compile(&module, &target, &options).unwrap();
    let (metadata, ptx) = (&output.emitted.metadata, &output.emitted.ptx);
    let (args, grid) = gemm(128, 128, 208);
    let prepared = prepare(&module, &metadata.name, &Case { args, grid, seed: 1 }).unwrap();
    let passes = |text: &str| {
        let ptx = emulator::Module::parse(text).unwrap();
        policies(4).into_iter().all(|policy| {
            let options = emulator::Options { policy, ..emulator::Options::default() };
            prepared.run(&ptx, metadata, &target, &options).unwrap().passed()
        })
    };
    assert!(passes(ptx));
    for (name, from, to) in [
        ("no proxy fence", "fence.proxy.async.shared::cta;", ""),
        ("no wait for copies", "cp.async.wait_group \t0;", "cp.async.wait_group \t1;"),
        ("a slot filled too early", "wgmma.wait_group.sync.aligned 1;", "wgmma.wait_group.sync.aligned 2;"),
        ("nobody meets", "bar.sync", "// bar.sync"),
        ("a sum read too early", "wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;"),
    ] {
        assert!(ptx.contains(from), "{name}");
        assert!(!passes(&ptx.replace(from, to)), "{name}");
    }
}

/// A tensor as Triton passes a descriptor on this chip (C17): pointer, shape, strides, flags, shape and strides again.
fn tensor(rows: i64, cols: i64) -> Vec<ArgSpec> {
    use ArgSpec::{Buffer, Int};
    let whole = [Int(rows), Int(cols), Int(cols), Int(1)];
    let mut args = vec![Buffer((rows * cols).max(16).unsigned_abs())];
    args.extend(whole.clone());
    args.extend([Int(0), Int(0)]);
    args.extend(whole);
    args
}

#[test]
fn the_gemm_exported_for_8_0_runs_right() {
    let Some(text) = kernel("gemm_bf16_128.sm80") else { return };
    let case = |m: i64, n: i64, k: i64| {
        let mut args = tensor(m, k.max(8));
        args.extend(tensor(n, k.max(8)));
        args.extend(tensor(m, n));
        args.push(ArgSpec::Int(k));
        (args, [1, 1, 1])
    };
    let cases: Vec<_> = [0, 64, 72, 192].map(|k| case(100, 120, k)).into();
    for chip in ["sm_80", "sm_90a"] {
        run("gemm_bf16_128.sm80", &text, chip, &Options::default(), &cases, 1);
    }
}

#[test]
fn layer_norm_runs_right_on_every_chip() {
    use ArgSpec::{Buffer, Float, Int};
    let Some(text) = kernel("layernorm") else { return };
    let case = |n: i64| {
        let row = (n.max(1) as u64).next_multiple_of(16);
        let wide = Buffer(2 * row);
        let args = vec![
            wide.clone(),
            wide,
            Buffer(row),
            Buffer(row),
            Buffer(2),
            Buffer(2),
            Int(row as i64),
            Int(n),
            Float(1e-5),
        ];
        (args, [2, 1, 1])
    };
    let cases: Vec<_> = [1000, 1024, 2500].map(case).into();
    for chip in ["sm_80", "sm_90a"] {
        run("layernorm", &text, chip, &Options::default(), &cases, 1);
    }
}

#[test]
fn soft_max_runs_right_without_a_pipelined_loop() {
    use ArgSpec::{Buffer, Int};
    let Some(text) = kernel("softmax") else { return };
    let case = |rows: i64, cols: i64| {
        let wide = Buffer((rows * 4096) as u64);
        (vec![wide.clone(), wide, Int(4096), Int(4096), Int(rows), Int(cols)], [2, 1, 1])
    };
    run("softmax", &text, "sm_80", &Options::default(), &[case(3, 4096), case(3, 1000)], 1);
}

/// A product of tiles behind descriptors, M by N by K, the step of its loop an argument where `step` says so.
fn product([m, n, k]: [u64; 3], elem: &str, step: bool) -> String {
    let descriptor = |name: &str, rows: u64, cols: u64| {
        format!(
            "%{name}: !tt.tensordesc<{rows}x{cols}x{elem}>, %{name}0: i32, %{name}1: i32, %{name}2: i64, %{name}3: i64"
        )
    };
    let (a, b, c) = (descriptor("a", m, k), descriptor("b", k, n), descriptor("c", m, n));
    let (given, by) = if step { (", %step: i32", "%step") } else { ("", "%ck") };
    format!(
        "module {{\n  tt.func public @k({a}, {b}, {c}, %to: i32{given}) attributes {{noinline = false}} {{\n\
         %zero = arith.constant dense<0.000000e+00> : tensor<{m}x{n}xf32>\n%from = arith.constant 0 : i32\n\
         %ck = arith.constant {k} : i32\n%cm = arith.constant {m} : i32\n%cn = arith.constant {n} : i32\n\
         %x = tt.get_program_id x : i32\n%y = tt.get_program_id y : i32\n\
         %row = arith.muli %x, %cm : i32\n%col = arith.muli %y, %cn : i32\n\
         %r = scf.for %at = %from to %to step {by} iter_args(%sum = %zero) -> (tensor<{m}x{n}xf32>) : i32 {{\n\
         %p = tt.descriptor_load %a[%row, %at] : !tt.tensordesc<{m}x{k}x{elem}> -> tensor<{m}x{k}x{elem}>\n\
         %q = tt.descriptor_load %b[%at, %col] : !tt.tensordesc<{k}x{n}x{elem}> -> tensor<{k}x{n}x{elem}>\n\
         %d = tt.dot %p, %q, %sum : tensor<{m}x{k}x{elem}> * tensor<{k}x{n}x{elem}> -> tensor<{m}x{n}xf32>\n\
         scf.yield %d : tensor<{m}x{n}xf32>\n}}\n\
         %t = arith.truncf %r : tensor<{m}x{n}xf32> to tensor<{m}x{n}x{elem}>\n\
         tt.descriptor_store %c[%row, %col], %t : !tt.tensordesc<{m}x{n}x{elem}>, tensor<{m}x{n}x{elem}>\n\
         tt.return\n}}\n}}"
    )
}

/// Tiles by TMA in one agent, and the same kernels through pointers where there is none; trip counts below 0, of 0, 1, as
/// many as slots and more (C28), extents that no tile divides.
#[test]
fn tiles_behind_descriptors_run_right_for_every_trip_count_of_c28() {
    for (extents, elem, step, chip) in [
        ([64, 64, 32], "bf16", false, "sm_120a"),
        ([64, 64, 32], "f16", true, "sm_120a"),
        ([32, 128, 16], "f16", false, "sm_90a"),
        ([16, 64, 64], "bf16", true, "sm_120a"),
        ([64, 64, 32], "bf16", true, "sm_80"),
    ] {
        let text = product(extents, elem, step);
        let [m, n, k] = extents;
        let case = |to: i64| {
            let (rows, cols, depth) = (m + m / 2 + 8, n + n / 2 + 8, to.max(16) as u64);
            let depth = depth.next_multiple_of(16);
            let mut args = vec![
                ArgSpec::Tensor(vec![rows, depth]),
                ArgSpec::Tensor(vec![depth, cols]),
                ArgSpec::Tensor(vec![rows, cols]),
                ArgSpec::Int(to),
            ];
            args.extend(step.then_some(ArgSpec::Int(k as i64)));
            (args, [2, 2, 1])
        };
        let step = k as i64;
        let cases: Vec<_> = [-7, 0, step / 2, step, 2 * step, 3 * step + 8, 7 * step].map(case).into();
        run("product", &text, chip, &Options::default(), &cases, 1);
    }
}

/// A product masked by bounds of the column: `first + column <= last`, and less than the row; the first column is stated to
/// be a multiple of 64, or not.
fn masked(stated: bool) -> String {
    let text = product([64, 64, 32], "f16", false);
    let divisor = if stated { " {tt.divisibility = 64 : i32}" } else { "" };
    let text =
        text.replace("%to: i32)", &format!("%to: i32, %first: i32{divisor}, %last: i32, %start: i32)"));
    let mask = "%iota = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n\
        %f = tt.splat %first : i32 -> tensor<64xi32>\n%cols = arith.addi %f, %iota : tensor<64xi32>\n\
        %s = tt.splat %start : i32 -> tensor<64xi32>\n%rows = arith.addi %s, %iota : tensor<64xi32>\n\
        %l = tt.splat %last : i32 -> tensor<64xi32>\n%in = arith.cmpi sle, %cols, %l : tensor<64xi32>\n\
        %in1 = tt.expand_dims %in {axis = 0 : i32} : tensor<64xi1> -> tensor<1x64xi1>\n\
        %in2 = tt.broadcast %in1 : tensor<1x64xi1> -> tensor<64x64xi1>\n\
        %m1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>\n\
        %n1 = tt.expand_dims %cols {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>\n\
        %m2 = tt.broadcast %m1 : tensor<64x1xi32> -> tensor<64x64xi32>\n\
        %n2 = tt.broadcast %n1 : tensor<1x64xi32> -> tensor<64x64xi32>\n\
        %low = arith.cmpi sgt, %m2, %n2 : tensor<64x64xi32>\n\
        %both = arith.andi %in2, %low : tensor<64x64xi1>\n\
        %kept = arith.select %both, %r, %zero : tensor<64x64xi1>, tensor<64x64xf32>\n\
        %t = arith.truncf %kept ";
    let out = text.replace("%t = arith.truncf %r ", mask);
    assert!(out.contains("%kept") && out.contains("%last"));
    out
}

/// Masks that are bounds of the column are one comparison with the least of them; right where sums and differences of 32 bits
/// come to their ends, and where nothing is known of the first column.
#[test]
fn masks_of_bounds_are_right_at_the_ends_of_their_numbers() {
    let ends = [
        (0, 20, 0),
        (64, 90, 70),
        (-128, -70, -100),
        (i64::from(i32::MAX) - 63, i64::from(i32::MAX), i64::from(i32::MAX) - 40),
        (i64::from(i32::MAX) - 63, i64::from(i32::MIN), 0),
        (i64::from(i32::MIN), i64::from(i32::MAX), i64::from(i32::MIN)),
        (i64::from(i32::MIN), i64::from(i32::MIN) + 5, 0),
        (i64::from(i32::MIN), i64::from(i32::MAX), i64::from(i32::MAX) - 63),
    ];
    let case = |(first, last, start): (i64, i64, i64)| {
        let args = vec![
            ArgSpec::Tensor(vec![64, 32]),
            ArgSpec::Tensor(vec![32, 64]),
            ArgSpec::Tensor(vec![64, 64]),
            ArgSpec::Int(32),
            ArgSpec::Int(first),
            ArgSpec::Int(last),
            ArgSpec::Int(start),
        ];
        (args, [1, 1, 1])
    };
    let mut all: Vec<_> = ends.map(case).into();
    for chip in ["sm_80", "sm_120a"] {
        run("masked", &masked(true), chip, &Options::default(), &all, 1);
    }
    // Sums that wrap around: only where the first column is no multiple of as many columns as there are.
    all.extend(
        [(i64::from(i32::MAX) - 20, 100, 50), (i64::from(i32::MAX) - 20, i64::from(i32::MIN) + 9, 0)]
            .map(case),
    );
    run("masked", &masked(false), "sm_80", &Options::default(), &all, 1);
}
