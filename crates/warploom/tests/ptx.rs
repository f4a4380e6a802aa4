//! `warploom ptx` as a user meets it: buffers and files in and out, findings, bad input.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]
#![cfg(feature = "llvm")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const VECTOR_ADD: &str = "
.version 8.0
.target sm_90a
.address_size 64
.visible .entry add(.param .u64 x, .param .u64 y, .param .u64 z, .param .u32 n) .maxntid 128 {
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<8>;
    .reg .b32 %f<4>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u64 %rd3, [z];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r2, 128, %r3;
    setp.ge.u32 %p1, %r4, %r1;
    @%p1 ret;
    mul.wide.u32 %rd4, %r4, 4;
    add.s64 %rd5, %rd1, %rd4;
    add.s64 %rd6, %rd2, %rd4;
    add.s64 %rd7, %rd3, %rd4;
    ld.global.f32 %f1, [%rd5];
    ld.global.f32 %f2, [%rd6];
    add.f32 %f3, %f1, %f2;
    st.global.f32 [%rd7], %f3;
    ret;
}";

/// Both warps write the same word and nothing orders them.
const RACE: &str = "
.version 8.0
.target sm_90a
.address_size 64
.visible .entry race(.param .u64 z) .reqntid 64 {
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    .shared .align 4 .b8 s[4];
    mov.u32 %r1, %tid.x;
    st.shared.b32 [s], %r1;
    bar.sync 0;
    ret;
}";

fn ptx(folder: &Path, text: &[u8], args: &[&str]) -> Output {
    let file = folder.join("k.ptx");
    fs::write(&file, text).unwrap();
    Command::new(env!("CARGO_BIN_EXE_warploom"))
        .arg("ptx")
        .arg(&file)
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

const X: &str = "ptr:X:f32:300:iota";
const Y: &str = "ptr:Y:f32:300:iota";
const Z: &str = "ptr:Z:f32:300";

/// The bytes of an `.npy` file of f32.
fn npy(values: &[f32]) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}", values.len());
    header += &" ".repeat(64 - (10 + header.len() + 1) % 64);
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    bytes
}

#[test]
fn a_good_kernel_is_clean_and_its_result_is_compared_and_kept() {
    let folder = TempDir::new().unwrap();
    let want: Vec<f32> = (0..300).map(|i| 2.0 * i as f32).collect();
    fs::write(folder.path().join("want.npy"), npy(&want)).unwrap();
    let args = ["--grid", "3", "--arg", X, "--arg", Y, "--arg", Z, "--arg", "u32:300"];
    let mut all = args.to_vec();
    all.extend([
        "--expect",
        "Z=want.npy:1e-6",
        "--dump",
        "Z=out.npy",
        "--dump",
        "X=x.raw",
        "--trace",
        "t.json",
    ]);
    let output = ptx(folder.path(), VECTOR_ADD.as_bytes(), &all);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("add on sm_90a: 6 of 6 interleavings clean"), "{}", text(&output));
    assert_eq!(fs::read(folder.path().join("out.npy")).unwrap(), npy(&want));
    assert_eq!(fs::read(folder.path().join("x.raw")).unwrap().len(), 1200);
    let trace: Value = serde_json::from_slice(&fs::read(folder.path().join("t.json")).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    assert!(events.iter().any(|e| e["name"] == "st.global.f32" && e["args"]["line"] == 26), "{events:?}");
    // What was dumped is read again, and a wrong expectation is a mismatch.
    fs::write(folder.path().join("wrong.npy"), npy(&vec![1.0; 300])).unwrap();
    let mut wrong = args.to_vec();
    wrong.extend(["--expect", "Z=wrong.npy", "--expect", "X=x.raw", "--json"]);
    let output = ptx(folder.path(), VECTOR_ADD.as_bytes(), &wrong);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["ok"], false);
    assert_eq!(answer["runs"][0]["clean"], true);
    assert_eq!(answer["runs"][0]["expected"][0]["right"], false);
    assert_eq!(answer["runs"][0]["expected"][1]["right"], true);
}

#[test]
fn equal_input_gives_equal_bytes_and_seeds_choose_the_interleaving() {
    let folder = TempDir::new().unwrap();
    let args =
        ["--grid", "3", "--arg", "ptr:X:f32:300:rand", "--arg", Y, "--arg", Z, "--arg", "u32:300", "--json"];
    let run = |more: &[&str]| {
        let mut all = args.to_vec();
        all.extend(more);
        ptx(folder.path(), VECTOR_ADD.as_bytes(), &all).stdout
    };
    assert_eq!(run(&["--seed", "5"]), run(&["--seed", "5"]));
    let policies = |bytes: Vec<u8>| {
        let answer: Value = serde_json::from_slice(&bytes).unwrap();
        let runs = answer["runs"].as_array().unwrap().clone();
        runs.iter().map(|r| r["policy"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(policies(run(&["--seed", "5"])), ["random:5"]);
    assert_eq!(policies(run(&["--seeds", "1"])), ["eager", "lazy", "random:1"]);
    assert_eq!(policies(run(&["--policy", "pct:3", "--policy", "lazy"])), ["pct:3", "lazy"]);
}

#[test]
fn a_race_is_reported_with_line_partitions_and_bytes() {
    let folder = TempDir::new().unwrap();
    let output = ptx(folder.path(), RACE.as_bytes(), &["--arg", "ptr:Z:i32:1"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let report = text(&output);
    for part in
        ["error[R01]", "where: shared 0..4", "line 10 st.shared.b32 by warp", "against: line 10", "instead:"]
    {
        assert!(report.contains(part), "no `{part}` in:\n{report}");
    }
    let output = ptx(folder.path(), RACE.as_bytes(), &["--arg", "ptr:Z:i32:1", "--race", "off"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

#[test]
fn tensor_maps_go_by_value_and_behind_pointers() {
    let folder = TempDir::new().unwrap();
    let kernel = |param: &str, map: &str| {
        format!(
            ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k({param}, .param .u64 z) .reqntid 32 {{\n\
             .reg .pred %p<3>;\n.reg .b32 %r<6>;\n.reg .b64 %rd<6>;\n.shared .align 128 .b8 s[256];\n\
             .shared .align 8 .b8 bar[8];\nld.param.u64 %rd2, [z];\n{map}\nmov.u32 %r1, %tid.x;\n\
             setp.eq.u32 %p1, %r1, 0;\n@!%p1 bra $wait;\nmbarrier.init.shared.b64 [bar], 1;\n\
             mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n\
             cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [s], [%rd1, {{4, 1}}], [bar];\n\
             $wait:\nbar.warp.sync -1;\n$loop:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra $loop;\n\
             mul.lo.u32 %r2, %r1, 8;\nmov.u32 %r3, s;\nadd.u32 %r3, %r3, %r2;\nld.shared.b64 %rd3, [%r3];\n\
             cvt.u64.u32 %rd4, %r2;\nadd.u64 %rd4, %rd4, %rd2;\nst.global.b64 [%rd4], %rd3;\nret;\n}}\n"
        )
    };
    // Box of 8 columns and 8 rows from column 4, row 1 of a 16x16 table of its own indices; rows below are zero.
    let want: Vec<f32> = (0..64).map(|i| ((i / 8 + 1) * 16 + i % 8 + 4) as f32).collect();
    fs::write(folder.path().join("want.npy"), npy(&want)).unwrap();
    for (param, map) in [
        (".param .align 64 .b8 m[128]", "mov.b64 %rd5, m;\ncvta.param.u64 %rd1, %rd5;"),
        (".param .u64 m", "ld.param.u64 %rd1, [m];"),
    ] {
        let args = ["--buffer", "A:f32:16x16:iota", "--arg", "tmap:A:box=8x8", "--arg", "ptr:Z:f32:64"];
        let mut all = args.to_vec();
        all.extend(["--expect", "Z=want.npy:0"]);
        let output = ptx(folder.path(), kernel(param, map).as_bytes(), &all);
        assert_eq!(output.status.code(), Some(0), "{param}: {}", text(&output));
    }
    let bad = ["--buffer", "A:f32:16x15:iota", "--arg", "tmap:A:box=8x8", "--arg", "ptr:Z:f32:64"];
    let output = ptx(folder.path(), kernel(".param .u64 m", "ld.param.u64 %rd1, [m];").as_bytes(), &bad);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("stride 60"), "{}", text(&output));
}

#[test]
fn textures_are_objects_of_buffers() {
    let folder = TempDir::new().unwrap();
    let kernel = ".version 8.6\n.target sm_90a\n.address_size 64\n\
                  .visible .entry k(.param .u64 t, .param .u64 z) .reqntid 32 {\n.reg .b32 %r<3>;\n.reg .f32 %f<8>;\n\
                  .reg .b64 %rd<4>;\nld.param.u64 %rd1, [t];\nld.param.u64 %rd2, [z];\nmov.u32 %r1, %tid.x;\n\
                  cvt.rn.f32.u32 %f1, %r1;\nmov.f32 %f2, 0f40000000;\n\
                  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];\n\
                  mad.wide.u32 %rd3, %r1, 4, %rd2;\nst.global.f32 [%rd3], %f4;\nret;\n}\n";
    // Channel 1 of texels that hold their own indices, halfway between columns and between rows 1 and 2.
    let at = |x: i32, y: i32| f64::from(2 * (8 * y + x.clamp(0, 7)) + 1);
    let one = |x: i32| (at(x - 1, 1) + at(x, 1) + at(x - 1, 2) + at(x, 2)) / 4.0;
    let want: Vec<f32> = (0..32).map(|x| one(x) as f32).collect();
    fs::write(folder.path().join("want.npy"), npy(&want)).unwrap();
    let z = ["--arg", "ptr:Z:f32:32", "--expect", "Z=want.npy:0"];
    let args = |texture: &'static str| {
        let mut all = vec!["--buffer", "A:f32:4x8x2:iota", "--arg", texture];
        all.extend(z);
        ptx(folder.path(), kernel.as_bytes(), &all)
    };
    let output = args("tex:A:2d:linear");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    for (wrong, code, says) in [
        ("tex:A:2d:cubic", 2, "cubic"),
        ("tex:A", 2, "needs its kind"),
        ("tex:A:cube", 2, "faces"),
        ("tex:A:2d:fractions", 1, "fractions"),
        ("tex:B:2d", 2, "no buffer is called B"),
    ] {
        let output = args(wrong);
        assert_eq!(output.status.code(), Some(code), "{wrong}: {}", text(&output));
        assert!(text(&output).contains(says), "{wrong}: {}", text(&output));
    }
}

#[test]
fn synchronisation_that_a_launch_can_do_without_is_named() {
    let folder = TempDir::new().unwrap();
    let one = "st.shared.b32 [s], %r1;";
    let twice = RACE.replace(one, "bar.sync 0;").replace(".reqntid 64", ".reqntid 32");
    let output = ptx(folder.path(), twice.as_bytes(), &["--arg", "ptr:Z:i32:1", "--mutate"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("each of the lines 10, 11 alone"), "{}", text(&output));
}

#[test]
fn bad_input_is_refused_or_found_with_code_place_and_remedy() {
    let folder = TempDir::new().unwrap();
    let good = ["--grid", "3", "--arg", X, "--arg", Y, "--arg", Z, "--arg", "u32:300"];
    let with = |more: &[&'static str]| {
        let mut all = good.to_vec();
        all.extend(more);
        all
    };
    let replaced = |to: &str| VECTOR_ADD.replace("add.f32 %f3, %f1, %f2;", to).into_bytes();
    let few = vec!["--arg", X, "--arg", Y];
    let size = vec!["--arg", X, "--arg", Y, "--arg", Z, "--arg", "u64:300"];
    let off = vec!["--arg", X, "--arg", "ptr:X+2", "--arg", Z, "--arg", "u32:100"];
    let long = vec!["--grid", "3", "--arg", X, "--arg", Y, "--arg", Z, "--arg", "u32:384"];
    let vadd = VECTOR_ADD.as_bytes().to_vec();
    type Wrong<'a> = (&'a str, Vec<u8>, Vec<&'a str>, &'a [&'a str]);
    let cases: Vec<Wrong<'_>> = vec![
        (
            "outside the subset",
            replaced("tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f3}, [%rd1, {%r1, %r1, %r1, %r1}];"),
            with(&[]),
            &["error[X01]", "k.ptx:25", "tex.2dms", "instead: tex, tld4"],
        ),
        (
            "a sparse product",
            replaced(
                "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r1}, {%f1}, %r1, 0;",
            ),
            with(&[]),
            &["error[X01]", "sparse", "mma.sync m16n8"],
        ),
        (
            "no such instruction",
            replaced("frobnicate.b32 %r1, %r1;"),
            with(&[]),
            &["error[X01]", "frobnicate"],
        ),
        (
            "parameter count",
            vadd.clone(),
            few,
            &["error[L01]", "2 arguments for the 4 parameters", "x, y, z, n"],
        ),
        ("parameter size", vadd.clone(), size, &["error[L01]", "8 bytes, parameter n has 4", "pass a .u32"]),
        ("misaligned", vadd.clone(), off, &["error[A02]", "line 24 ld.global.f32", "multiple of 4"]),
        ("out of bounds", vadd.clone(), long, &["error[A01]", "line 23 ld.global.f32", "mend the address"]),
        (
            "too many threads",
            vadd.clone(),
            with(&["--block", "2048"]),
            &["error[L01]", "2048 threads", "1 to 1024"],
        ),
        (
            "shared memory",
            vadd.clone(),
            with(&["--smem", "400000"]),
            &["error[L01]", "400000 bytes of shared memory"],
        ),
        (
            "cluster",
            vadd.clone(),
            with(&["--cluster", "2"]),
            &["error[L01]", "does not divide the grid of 3"],
        ),
        (
            "another chip",
            vadd.clone(),
            with(&["--target", "sm_80"]),
            &["error[L01]", "sm_90a", "compile for the chip"],
        ),
        ("unknown chip", vadd.clone(), with(&["--target", "sm_42"]), &["error[target]", "sm_90a"]),
        ("no such kernel", vadd.clone(), with(&["--entry", "mul"]), &["error[L01]", "no entry 'mul'", "add"]),
        (
            "infinite loop",
            replaced("$again:\nbra $again;"),
            with(&["--max-steps", "20000"]),
            &["error[D02]", "line 26 bra"],
        ),
        ("not PTX", b"int main() { return 0; }".to_vec(), with(&[]), &["error[P01]", "k.ptx:1", "instead:"]),
        ("empty", Vec::new(), with(&[]), &["error[P01]", "instead:"]),
        ("cut off", vadd[..vadd.len() / 2].to_vec(), with(&[]), &["error[P01]"]),
        ("not text", vec![0xff, 0xfe, 0x00], with(&[]), &["error[parse]", "not UTF-8"]),
    ];
    for (what, bytes, args, parts) in cases {
        let output = ptx(folder.path(), &bytes, &args);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(1), "{what}: {said}");
        for part in parts {
            assert!(said.contains(part), "{what}: no `{part}` in:\n{said}");
        }
        assert!(!said.contains("panicked"), "{what}: {said}");
    }
}

#[test]
fn refusals_are_json_too() {
    let folder = TempDir::new().unwrap();
    let output = ptx(folder.path(), b"", &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["ok"], false);
    assert_eq!(answer["diagnostics"][0]["code"], "P01");
}

#[test]
fn a_wrong_command_line_is_status_2() {
    let folder = TempDir::new().unwrap();
    for args in [
        &["--arg", "ptr:X:f33:10"][..],
        &["--arg", "ptr:X:f32:0"],
        &["--arg", "ptr:X:f32:99999999999999"],
        &["--arg", "i32:many"],
        &["--arg", "tmap:X:swizzle=128"],
        &["--arg", "nothing"],
        &["--arg", "ptr:X"],
        &["--grid", "0"],
        &["--policy", "sometimes"],
        &["--race", "maybe"],
        &["--dump", "Z=z.npy"],
    ] {
        let output = ptx(folder.path(), VECTOR_ADD.as_bytes(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output));
    }
}
