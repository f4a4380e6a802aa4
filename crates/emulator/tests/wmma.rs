//! `wmma` in every shape and type against a plain product of matrices, and its fragments against `mma.sync` (E101).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use warploom_chips::Target;
use warploom_emulator::{Arg, Device, Launch, Module, Policy, Report, RunOptions};

/// A product: shape, types of A and B and of C and D, bits of their elements, registers of A, B, and C.
struct Form {
    shape: (usize, usize, usize),
    operand: &'static str,
    bits: usize,
    sum: &'static str,
    registers: [usize; 3],
}

fn form(
    shape: (usize, usize, usize),
    operand: &'static str,
    bits: usize,
    sum: &'static str,
    registers: [usize; 3],
) -> Form {
    Form { shape, operand, bits, sum, registers }
}

fn forms() -> Vec<Form> {
    let mut all = vec![
        form((16, 16, 8), "tf32", 32, "f32", [4, 4, 8]),
        form((8, 8, 4), "f64", 64, "f64", [1, 1, 2]),
        form((8, 8, 32), "s4", 4, "s32", [1, 1, 2]),
        form((8, 8, 32), "u4", 4, "s32", [1, 1, 2]),
        form((8, 8, 128), "b1", 1, "s32", [1, 1, 2]),
    ];
    for (shape, [a, b]) in [((16, 16, 16), [1, 1]), ((32, 8, 16), [2, 0]), ((8, 32, 16), [0, 2])] {
        let of = |one: usize| [one << a >> 1, one << b >> 1];
        all.push(form(shape, "f16", 16, "f32", [8, 8, 8]));
        all.push(form(shape, "f16", 16, "f16", [8, 8, 4]));
        all.push(form(shape, "bf16", 16, "f32", [of(4)[0], of(4)[1], 8]));
        all.push(form(shape, "s8", 8, "s32", [of(2)[0], of(2)[1], 8]));
        all.push(form(shape, "u8", 8, "s32", [of(2)[0], of(2)[1], 8]));
    }
    all
}

/// Bits of a small whole number.
fn encode(ty: &str, x: i64) -> u64 {
    match ty {
        "f16" => u64::from(half::f16::from_f64(x as f64).to_bits()),
        "bf16" => u64::from(half::bf16::from_f64(x as f64).to_bits()),
        "tf32" | "f32" => u64::from((x as f32).to_bits()),
        "f64" => (x as f64).to_bits(),
        _ => x as u64,
    }
}

/// A matrix in memory, by rows or by columns.
fn packed(
    ty: &str,
    bits: usize,
    rows: usize,
    columns: usize,
    by_column: bool,
    at: impl Fn(usize, usize) -> i64,
) -> Vec<u8> {
    let mut out = vec![0_u8; rows * columns * bits / 8];
    for r in 0..rows {
        for c in 0..columns {
            let first = bits * if by_column { c * rows + r } else { r * columns + c };
            for b in 0..bits {
                out[(first + b) / 8] |= ((encode(ty, at(r, c)) >> b & 1) as u8) << ((first + b) % 8);
            }
        }
    }
    out
}

fn list(prefix: &str, first: usize, n: usize) -> String {
    let names: Vec<String> = (first..first + n).map(|i| format!("%{prefix}{i}")).collect();
    format!("{{{}}}", names.join(", "))
}

fn launch(body: &str, buffers: &[Vec<u8>], threads: u32) -> (Report, Vec<u8>) {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.shared .align 32 .b8 tile[4096];\n\
         .visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) .reqntid {threads} {{\n\
         .reg .b32 %r<60>;\n.reg .b64 %rd<8>;\n.reg .f64 %d<60>;\nld.param.u64 %rd1, [a];\n\
         ld.param.u64 %rd2, [b];\nld.param.u64 %rd3, [c];\nld.param.u64 %rd4, [d];\n{body}\nret;\n}}\n"
    );
    let module = Module::parse(&text).unwrap_or_else(|e| panic!("{body}: {e}"));
    if let Some(refusal) = module.entries()[0].refusal() {
        panic!("{body}: {refusal}");
    }
    let mut device = Device::new(&Target::named("sm_90a").unwrap());
    let at: Vec<u64> = buffers.iter().map(|b| device.alloc_from(b, "matrix").unwrap()).collect();
    let args = at.iter().map(|a| Arg::Ptr(*a)).collect();
    let launch = Launch { args, ..Launch::of(&module.entries()[0]) };
    let report = device.run(&module, &launch, &RunOptions::default().policy(Policy::Random(3))).unwrap();
    (report, device.read(at[3]).unwrap().to_vec())
}

#[test]
fn products_of_every_shape_and_type_are_right() {
    for f in forms() {
        let (m, n, k) = f.shape;
        let below = f.bits < 8;
        let (unsigned, one) = (f.operand.starts_with('u'), f.operand == "b1");
        let small = |x: usize| if one { x as i64 & 1 } else { x as i64 % 8 - if unsigned { 0 } else { 3 } };
        let a = |r: usize, c: usize| small(r * 5 + c * 3 + r * c);
        let b = |r: usize, c: usize| small(r * 3 + c * 7 + 2 + r * c);
        let c = |r: usize, c: usize| (r * 3 + c) as i64 % 11 - 5;
        let size = if f.sum == "f64" {
            64
        } else if f.sum == "f16" {
            16
        } else {
            32
        };
        let reg = if f.sum == "f64" { "d" } else { "r" };
        let shape = format!("m{m}n{n}k{k}");
        for (a_column, b_column, c_column) in
            [(false, true, false), (true, false, true), (false, false, true)]
        {
            if below && (a_column || !b_column) {
                continue;
            }
            let order = |column: bool| if column { "col" } else { "row" };
            let [ra, rb, rc] =
                [list(reg, 0, f.registers[0]), list(reg, 10, f.registers[1]), list(reg, 20, f.registers[2])];
            let (o, s) = (f.operand, f.sum);
            let types = if o == "f16" { format!("{s}.{s}") } else { format!("{s}.{o}.{o}.{s}") };
            let kind = if one { ".and.popc" } else { "" };
            let (oa, ob, oc) = (order(a_column), order(b_column), order(c_column));
            let body = format!(
                "wmma.load.a.sync.aligned.{oa}.{shape}.global.{o} {ra}, [%rd1];\n\
                 wmma.load.b.sync.aligned.{ob}.{shape}.{o} {rb}, [%rd2], {};\n\
                 wmma.load.c.sync.aligned.{oc}.{shape}.{s} {rc}, [%rd3];\n\
                 wmma.mma{kind}.sync.aligned.{oa}.{ob}.{shape}.{types} {rc}, {ra}, {rb}, {rc};\n\
                 wmma.store.d.sync.aligned.row.{shape}.{s} [%rd4], {rc}, {n};",
                if b_column { k } else { n }
            );
            let buffers = [
                packed(o, f.bits, m, k, a_column, a),
                packed(o, f.bits, k, n, b_column, b),
                packed(s, size, m, n, c_column, c),
                vec![0; m * n * size / 8],
            ];
            let (report, got) = launch(&body, &buffers, 32);
            assert!(report.clean(), "{body}\n{report}");
            let product = |r: usize, j: usize| c(r, j) + (0..k).map(|i| a(r, i) * b(i, j)).sum::<i64>();
            assert_eq!(got, packed(s, size, m, n, false, product), "{body}");
        }
    }
}

#[test]
fn bits_are_compared_with_xor_too() {
    let body = "wmma.load.a.sync.aligned.row.m8n8k128.b1 {%r0}, [%rd1];\n\
                wmma.load.b.sync.aligned.col.m8n8k128.b1 {%r1}, [%rd2];\nmov.b32 %r2, 0;\nmov.b32 %r3, 0;\n\
                wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r2, %r3}, {%r0}, {%r1}, {%r2, %r3};\n\
                wmma.store.d.sync.aligned.row.m8n8k128.s32 [%rd4], {%r2, %r3};";
    let of = |seed: u8| (0..128_u8).map(|i| i.wrapping_mul(37).wrapping_add(seed)).collect::<Vec<u8>>();
    let (a, b) = (of(5), of(90));
    let (report, got) = launch(body, &[a.clone(), b.clone(), vec![0; 256], vec![0; 256]], 32);
    assert!(report.clean(), "{report}");
    for (i, word) in got.chunks(4).enumerate() {
        let (row, column) = (16 * (i / 8), 16 * (i % 8));
        let differ: u32 = (0..16).map(|x| (a[row + x] ^ b[column + x]).count_ones()).sum();
        assert_eq!(u32::from_le_bytes(word.try_into().unwrap()), differ);
    }
}

#[test]
fn fragments_are_those_of_mma() {
    let body = "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%rd1];\n\
                wmma.load.b.sync.aligned.col.m16n16k16.f16 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%rd2];\n\
                mov.b32 %r30, 0;\n\
                mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r20, %r21, %r22, %r23}, {%r0, %r1, %r2, %r3}, \
                {%r10, %r11}, {%r30, %r30, %r30, %r30};\n\
                mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r24, %r25, %r26, %r27}, {%r4, %r5, %r6, %r7}, \
                {%r12, %r13}, {%r30, %r30, %r30, %r30};\n\
                wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd4], {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27};";
    let (a, b) =
        (|r: usize, c: usize| (r * 3 + c) as i64 % 7 - 3, |r: usize, c: usize| (r + 5 * c) as i64 % 5 - 2);
    let buffers =
        [packed("f16", 16, 16, 16, false, a), packed("f16", 16, 16, 16, true, b), vec![0; 16], vec![0; 1024]];
    let (report, got) = launch(body, &buffers, 32);
    assert!(report.clean(), "{report}");
    let product = |r: usize, j: usize| (0..16).map(|i| a(r, i) * b(i, j)).sum::<i64>();
    assert_eq!(got, packed("f32", 32, 16, 16, false, product));
}

#[test]
fn mistakes_are_found() {
    let load = "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}";
    let store = "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [tile], {%r20, %r20, %r20, %r20, %r20, %r20, %r20, %r20};";
    let cases = [
        (format!("add.u64 %rd1, %rd1, 8;\n{load}, [%rd1];"), 32, "A02"),
        (format!("{load}, [%rd1], 12;"), 32, "A02"),
        (format!("{load}, [%rd1], 64;"), 32, "A01"),
        (
            format!(
                "mov.u32 %r30, %laneid;\nmul.wide.u32 %rd5, %r30, 16;\nadd.u64 %rd5, %rd5, %rd1;\n{load}, [%rd5];"
            ),
            32,
            "W03",
        ),
        (format!("mov.u32 %r20, %tid.x;\n{store}"), 64, "R01"),
        (format!("mov.u32 %r20, %laneid;\n{}", store.replace(';', ", 4;")), 32, "R01"),
        (store.replace("[tile]", "[%rd4]").replace(".shared", ".global"), 32, "U03"),
    ];
    for (body, threads, code) in cases {
        let (report, _) = launch(&body, &vec![vec![0; 1024]; 4], threads);
        assert!(report.has(code), "{body}: no {code}\n{report}");
    }
}
