//! Programs of some lines for one or two warps.

use proptest::collection::vec;
use proptest::prelude::*;

/// A short program for one or two warps: an entry `k` with a pointer to 256 bytes and 1,024 bytes of shared memory.
#[derive(Clone, Debug)]
pub struct Program {
    /// The PTX text.
    pub text: String,
    /// Threads of the CTA.
    pub threads: u32,
    /// Seed of a random schedule.
    pub seed: u64,
}

/// Lines with registers to fill in: `{d}` is written, the others are read.
const LINES: &[&str] = &[
    "add.s32 %r{d}, %r{a}, %r{b};",
    "sub.u32 %r{d}, %r{a}, %r{b};",
    "mul.lo.s32 %r{d}, %r{a}, %r{b};",
    "mad.lo.u32 %r{d}, %r{a}, %r{b}, %r{c};",
    "div.s32 %r{d}, %r{a}, %r{b};",
    "rem.u32 %r{d}, %r{a}, %r{b};",
    "shl.b32 %r{d}, %r{a}, %r{b};",
    "shr.s32 %r{d}, %r{a}, %r{b};",
    "bfe.u32 %r{d}, %r{a}, %r{b}, %r{c};",
    "prmt.b32 %r{d}, %r{a}, %r{b}, %r{c};",
    "fma.rn.f32 %r{d}, %r{a}, %r{b}, %r{c};",
    "ex2.approx.ftz.f32 %r{d}, %r{a};",
    "cvt.rn.bf16x2.f32 %r{d}, %r{a}, %r{b};",
    "cvt.rzi.s32.f32 %r{d}, %r{a};",
    "setp.lt.s32 %p1, %r{a}, %r{b};",
    "selp.b32 %r{d}, %r{a}, %r{b}, %p1;",
    "shfl.sync.bfly.b32 %r{d}, %r{a}, %r{b}, 31, -1;",
    "@%p1 add.u32 %r{d}, %r{a}, 1;",
    "st.shared.b32 [%r30], %r{a};",
    "ld.shared.b32 %r{d}, [%r31];",
    "st.shared.b32 [%r{a}], %r{b};",
    "ld.shared.v2.b32 {%r{d}, %r{c}}, [%r{a}];",
    "ld.global.b32 %r{d}, [%rd2];",
    "st.global.b32 [%rd2], %r{a};",
    "red.global.add.u32 [%rd1], %r{a};",
    "bar.sync 0;",
    "bar.sync 1, 32;",
    "bar.arrive 2, 64;",
    "bar.warp.sync -1;",
    "cp.async.ca.shared.global [%r30], [%rd2], 4;",
    "cp.async.commit_group;",
    "cp.async.wait_group 0;",
    "mbarrier.init.shared.b64 [%r29], 1;",
    "mbarrier.arrive.shared.b64 _, [%r29];",
    "mbarrier.test_wait.parity.shared.b64 %p1, [%r29], %r{a};",
    "mbarrier.inval.shared.b64 [%r29];",
    "@%p1 bra $out;",
    "elect.sync %r{d}|%p1, -1;",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r{d}}, [%r30];",
    "fence.proxy.async.shared::cta;",
];

/// A line by number with its registers.
fn line(number: usize, registers: [u8; 4]) -> String {
    let line = LINES[number % LINES.len()].to_owned();
    let slots = ["{a}", "{b}", "{c}", "{d}"].iter().zip(registers);
    slots.fold(line, |line, (slot, r)| line.replace(slot, &(r % 8).to_string()))
}

fn program(lines: &[String], again: bool, two: bool, seed: u64) -> Program {
    let threads = if two { 64 } else { 32 };
    let again = if again { "\tbra $top;\n" } else { "" };
    let body: String = lines.iter().map(|line| format!("\t{line}\n")).collect();
    let text = format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 s[];\n\
         .visible .entry k(.param .u64 data) .reqntid {threads} {{\n\
         \t.reg .pred %p<2>;\n\t.reg .b32 %r<32>;\n\t.reg .b64 %rd<4>;\n\
         \tld.param.u64 %rd1, [data];\n\tmov.u32 %r0, %tid.x;\n\tmov.u32 %r1, %laneid;\n\tmov.b32 %r2, 12;\n\
         \tmov.b32 %r28, s;\n\tadd.s32 %r29, %r28, 512;\n\tmad.lo.u32 %r30, %r0, 4, %r28;\n\txor.b32 %r31, %r30, 4;\n\
         \tmad.wide.u32 %rd2, %r0, 4, %rd1;\n$top:\n{body}{again}$out:\n\tret;\n}}\n"
    );
    Program { text, threads, seed }
}

/// Programs of 1 to 40 lines: arithmetic, shared and global memory, barriers, asynchronous copies, mbarriers. Most of
/// them are wrong somewhere; some never end.
pub fn programs() -> impl Strategy<Value = Program> {
    let line = (0..LINES.len(), any::<[u8; 4]>()).prop_map(|(number, registers)| line(number, registers));
    let again = proptest::bool::weighted(0.125);
    (vec(line, 1..=40), again, any::<bool>(), any::<u64>())
        .prop_map(|(lines, again, two, seed)| program(&lines, again, two, seed))
}

/// The program that the bytes of a fuzzer stand for: one for the form, eight for the seed, five for each line.
pub fn program_of(bytes: &[u8]) -> Program {
    let (form, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let (seed, rest) = rest.split_at(rest.len().min(8));
    let seed = seed.iter().fold(0, |all, &byte| all << 8 | u64::from(byte));
    let one = |c: &[u8]| line(usize::from(c[0]), [c[1], c[2], c[3], c[4]]);
    let lines: Vec<String> = rest.chunks_exact(5).take(40).map(one).collect();
    program(&lines, form & 7 == 7, form & 8 != 0, seed)
}
