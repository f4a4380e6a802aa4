//! Texts that are PTX, and texts that nearly are.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// A register, symbol or special register.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        (0..40_u32).prop_map(|n| format!("%r{n}")),
        (0..9_u32).prop_map(|n| format!("%rd{n}")),
        select(&["%p1", "%tid.x", "%cluster_ctarank", "smem", "$str", "_x", "param_0"][..])
            .prop_map(str::to_owned),
    ]
}

/// A constant in one of the forms that PTX knows.
fn constant() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|v| v.to_string()),
        any::<u64>().prop_map(|v| v.to_string()),
        any::<u32>().prop_map(|v| format!("{v:#x}")),
        any::<u16>().prop_map(|v| format!("{v}U")),
        any::<u8>().prop_map(|v| format!("0b{v:b}")),
        any::<u32>().prop_map(|v| format!("0f{v:08X}")),
        any::<u32>().prop_map(|v| format!("-0f{v:08x}")),
        any::<u64>().prop_map(|v| format!("0d{v:016X}")),
        (any::<i16>(), 0..1000_u32).prop_map(|(a, b)| format!("{a}.{b:03}")),
    ]
}

fn simple() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => name(),
        2 => constant(),
        1 => name().prop_map(|n| format!("!{n}")),
        1 => (name(), any::<i32>()).prop_map(|(n, k)| format!("{n}+{k}")),
        1 => (name(), name()).prop_map(|(a, b)| format!("{a}|{b}")),
    ]
}

fn address() -> impl Strategy<Value = String> {
    let plain = prop_oneof![
        name(),
        (name(), any::<i32>()).prop_map(|(n, k)| format!("{n}+{k}")),
        any::<u32>().prop_map(|v| v.to_string()),
    ];
    let coordinates = vec(simple(), 1..5).prop_map(|list| format!(", {{{}}}", list.join(", ")));
    let behind = prop_oneof![
        4 => Just(String::new()),
        1 => coordinates,
        1 => name().prop_map(|n| format!(", {n}, {{%r1, %r2}}")),
    ];
    (plain, behind).prop_map(|(at, behind)| format!("[{at}{behind}]"))
}

fn operand() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => simple(),
        2 => address(),
        1 => vec(simple(), 1..9).prop_map(|list| format!("{{{}}}", list.join(", "))),
        1 => vec(name(), 0..3).prop_map(|list| format!("({})", list.join(", "))),
    ]
}

fn instruction() -> impl Strategy<Value = String> {
    const OPCODES: &[&str] = &[
        "add.s32",
        "ld.shared::cta.v4.b32",
        "st.global.L1::evict_first.b64",
        "mbarrier.try_wait.parity.shared::cta.b64",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes",
        "call.uni",
        "ret",
        "bar.sync",
        "no.such_thing",
    ];
    let guard = prop_oneof![3 => Just(""), 1 => Just("@%p1 "), 1 => Just("@!%p1 ")];
    (guard, select(OPCODES), vec(operand(), 0..6))
        .prop_map(|(guard, opcode, operands)| format!("{guard}{opcode} {};", operands.join(", ")))
}

/// A statement of a body; `#` stands for a number of its own.
fn statement() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => instruction(),
        1 => Just("$L#:".to_owned()),
        1 => Just("$T#: .branchtargets $L1, $L2;".to_owned()),
        1 => Just("$P#: .callprototype (.param .b32 _) _ (.param .b64 _);".to_owned()),
        1 => any::<u8>().prop_map(|n| format!(".reg .b32 %r#_<{n}>, extra#;")),
        1 => (any::<u16>(), any::<u16>()).prop_map(|(l, c)| format!(".loc 1 {l} {c}\n")),
        1 => Just(".loc 1 2 3, function_name $f, inlined_at 1 4 5\n".to_owned()),
        1 => Just(".pragma \"nounroll\";".to_owned()),
        1 => Just(".local .align 8 .b8 depot#[16], other#;".to_owned()),
        1 => Just("// a remark\n".to_owned()),
    ]
}

/// Statements with blocks among them, in text.
fn body() -> impl Strategy<Value = String> {
    let leaf = vec(statement(), 0..12).prop_map(|list| list.join("\n"));
    leaf.prop_recursive(3, 40, 4, |inner| {
        vec(prop_oneof![statement(), inner.prop_map(|b| format!("{{\n{b}\n}}"))], 0..6)
            .prop_map(|list| list.join("\n"))
    })
}

/// Something at the top level; `#` stands for a number of its own.
fn item() -> impl Strategy<Value = String> {
    let parameter = select(
        &[
            ".param .u64 a#",
            ".param .align 64 .b8 map#[128]",
            ".param .u64 .ptr .global .align 16 p#",
            ".param .u32 n#",
        ][..],
    );
    let tuning = select(
        &[
            "",
            ".reqntid 128",
            ".maxntid 1, 2, 3 .minnctapersm 2",
            ".maxnreg 168 .pragma \"nounroll\";",
            ".explicitcluster .reqnctapercluster 2",
        ][..],
    );
    let kernel = (vec(parameter, 0..4), tuning, body())
        .prop_map(|(p, t, b)| format!(".visible .entry k#({}) {t} {{\n{b}\n}}", p.join(", ")));
    let others = select(
        &[
            ".file 1 \"kernel.py\"",
            ".file 2 \"a\\\"b.py\", 1700000000, 4711",
            ".extern .shared .align 1024 .b8 dynamic#[];",
            ".global .align 4 .v2 .f32 table#[2][2] = {{0f3F800000, 1.5}, {-2, 0x10}};",
            ".const .u64 pointer# = generic(table+8);",
            ".global .attribute(.unified(19, 95)) .b32 a#, b#;",
            ".extern .func (.param .b32 r) other# (.param .b32 a, .param .b64 b);",
            ".weak .func f#() .noreturn {\nret;\n}",
            ".section .debug_info {\n.b8 1, 2\n.b32 $str\n{ }\n}",
            ".pragma \"nounroll\";",
        ][..],
    );
    prop_oneof![2 => kernel, 3 => others.prop_map(str::to_owned)]
}

/// Puts numbers in the place of `#`: `#` of the text, and `#` of the declaration that follows it, are alike.
fn number(text: &str) -> String {
    let mut out = String::new();
    for (i, line) in text.split_inclusive('\n').enumerate() {
        out.push_str(&line.replace('#', &i.to_string()));
    }
    out
}

/// Texts that the reader must take: every directive, every form of operand, any opcode. Names need not be declared.
pub fn module_texts() -> impl Strategy<Value = String> {
    vec(item(), 0..6).prop_map(|items| {
        let head = ".version 8.6\n.target sm_90a, debug\n.address_size 64\n";
        number(&format!("{head}{}\n", items.join("\n")))
    })
}

/// A text with some bytes changed, put in or taken out; it may still be PTX, or not even be a text of that length.
pub fn damaged(text: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let damage = (any::<proptest::sample::Index>(), 0..3_u8, select(&b"[]{}();,.:%@!|+-0\"/*\n\x80"[..]));
    (text, vec(damage, 1..6)).prop_map(|(text, list)| {
        let mut bytes = text.into_bytes();
        for (at, way, byte) in list {
            let at = at.index(bytes.len().max(1));
            match way {
                0 if at < bytes.len() => bytes[at] = byte,
                1 if at < bytes.len() => drop(bytes.remove(at)),
                _ => bytes.insert(at.min(bytes.len()), byte),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
