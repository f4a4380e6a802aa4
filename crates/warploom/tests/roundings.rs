//! Every conversion of Triton in every rounding it has, on every number of 8 and 16 bits, on both sides of each number that
//! narrower formats have where the source is wider: the emulator gives bit for bit what the interpreter does (C68).
#![cfg(feature = "llvm")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "tests may fail")]

use warploom::{Options, Target};
use warploom_emulator::{self as emulator, Device, Launch, Policy};
use warploom_ir::interp::{self, InterpOptions, Interpreter, Memory, Tensor};
use warploom_ir::{FloatKind, Type};

const CHIPS: [&str; 4] = ["sm_80", "sm_90a", "sm_100a", "sm_120a"];

/// Elements of a program.
const BLOCK: u64 = 1024;

/// A format: its name in MLIR, its bits, the bits of its infinity, or of its largest number where it has none.
struct Format(&'static str, u32, u64);

const E4M3: Format = Format("f8E4M3FN", 8, 0x7e);
const E5M2: Format = Format("f8E5M2", 8, 0x7c);
const F16: Format = Format("f16", 16, 0x7c00);
const BF16: Format = Format("bf16", 16, 0x7f80);
const F32: Format = Format("f32", 32, 0x7f80_0000);
const F64: Format = Format("f64", 64, 0x7ff0_0000_0000_0000);

/// What is appended to the bits of a wider number: zeros, one, half a unit of f16 and of bf16 and what lies beside both.
const TAILS: [u32; 8] = [0, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001];

/// The operation that converts, or computes with `%x` of the first type a `%y` of the second.
fn conversion(from: &Format, to: &Format, rounding: &str) -> String {
    let (Format(from_name, from_bits, _), Format(to_name, to_bits, _)) = (from, to);
    let (x, y) = (format!("tensor<{BLOCK}x{from_name}>"), format!("tensor<{BLOCK}x{to_name}>"));
    match (from_bits.min(to_bits), rounding) {
        (8, "") => format!("%y = tt.fp_to_fp %x : {x} -> {y}"),
        (_, "") if from_bits < to_bits => format!("%y = arith.extf %x : {x} to {y}"),
        (_, "") if from_bits > to_bits => format!("%y = arith.truncf %x : {x} to {y}"),
        (_, mode) => format!(
            "%y = tt.fp_to_fp %x, rounding = {} : {x} -> {y}",
            if mode.is_empty() { "rtne" } else { mode }
        ),
    }
}

/// A kernel that makes every number of `from` (of its upper 16 bits, with a tail for each program in y), applies an
/// operation, and stores the bits, NaNs as one.
fn kernel(from: &Format, to: &Format, operation: &str) -> String {
    let (Format(from_name, from_bits, _), Format(to_name, to_bits, infinity)) = (from, to);
    let narrow = from_bits.min(&16);
    let cast = match narrow {
        8 => {
            "%u = arith.trunci %n : I to tensor<1024xi8>\n    %x = tt.bitcast %u : tensor<1024xi8> -> tensor<1024xFROM>"
        }
        _ if *from_bits == 16 => {
            "%u = arith.trunci %n : I to tensor<1024xi16>\n    %x = tt.bitcast %u : tensor<1024xi16> -> tensor<1024xFROM>"
        }
        _ => {
            "%s16 = arith.constant dense<16> : I
    %h = arith.shli %n, %s16 : I
    %w = arith.ori %h, %tail : I
    %single = tt.bitcast %w : I -> tensor<1024xf32>"
        }
    };
    let cast = match from_bits {
        32 => format!("{cast}\n    %x = tt.bitcast %w : I -> tensor<1024xf32>"),
        // A number of f32 and the least that can be added to it.
        64 => format!(
            "{cast}
    %wide = arith.extf %single : tensor<1024xf32> to tensor<1024xf64>
    %bits = tt.bitcast %wide : tensor<1024xf64> -> tensor<1024xi64>
    %odd = arith.constant dense<1> : tensor<1024xi64>
    %more = arith.extui %tail : I to tensor<1024xi64>
    %last = arith.andi %more, %odd : tensor<1024xi64>
    %sum = arith.addi %bits, %last : tensor<1024xi64>
    %x = tt.bitcast %sum : tensor<1024xi64> -> tensor<1024xf64>"
        ),
        _ => cast.to_owned(),
    };
    let mut tail = "%t0 = arith.constant 0 : i32".to_owned();
    for (n, bits) in TAILS.iter().enumerate().skip(1) {
        let before = n - 1;
        tail.push_str(&format!(
            "
    %v{n} = arith.constant {bits} : i32
    %k{n} = arith.constant {n} : i32
    %c{n} = arith.cmpi eq, %py, %k{n} : i32
    %t{n} = arith.select %c{n}, %v{n}, %t{before} : i32"
        ));
    }
    let most = (1u64 << (to_bits - 1)) - 1;
    let text = format!(
        "module {{
  tt.func public @k(%out: !tt.ptr<iTO> {{tt.divisibility = 16 : i32}}) {{
    %px = tt.get_program_id x : i32
    %py = tt.get_program_id y : i32
    %block = arith.constant 1024 : i32
    %width = arith.constant 65536 : i32
    %base = arith.muli %px, %block : i32
    %range = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : I
    %bases = tt.splat %base : i32 -> I
    %n = arith.addi %bases, %range : I
    {tail}
    %tail = tt.splat %t7 : i32 -> I
    {cast}
    {operation}
    %b = tt.bitcast %y : tensor<1024xTO> -> tensor<1024xiTO>
    %most = arith.constant dense<{most}> : tensor<1024xiTO>
    %inf = arith.constant dense<{infinity}> : tensor<1024xiTO>
    %size = arith.andi %b, %most : tensor<1024xiTO>
    %nan = arith.cmpi ugt, %size, %inf : tensor<1024xiTO>
    %r = arith.select %nan, %most, %b : tensor<1024xi1>, tensor<1024xiTO>
    %row = arith.muli %py, %width : i32
    %first = arith.addi %row, %base : i32
    %rows = tt.splat %first : i32 -> I
    %at = arith.addi %rows, %range : I
    %p = tt.splat %out : !tt.ptr<iTO> -> tensor<1024x!tt.ptr<iTO>>
    %q = tt.addptr %p, %at : tensor<1024x!tt.ptr<iTO>>, I
    tt.store %q, %r : tensor<1024x!tt.ptr<iTO>>
    tt.return
  }}
}}
"
    );
    text.replace("iTO", &format!("i{to_bits}"))
        .replace("FROM", from_name)
        .replace("xTO", &format!("x{to_name}"))
        .replace(" I", " tensor<1024xi32>")
}

fn int(bits: u32) -> Type {
    Type::Int(bits, warploom_ir::Signedness::Signless)
}

/// Runs a kernel on chips; what differs, as numbers of elements and both results.
fn differing(text: &str, to_bits: u32, grid: [u32; 3], chips: &[&str]) -> Vec<String> {
    let module = warploom::read(text).unwrap_or_else(|d| panic!("{}\n{text}", d[0]));
    let count = u64::from(grid[0]) * u64::from(grid[1]) * BLOCK;
    let tensor = Tensor::with_strides(int(to_bits), &[count], &[1]).unwrap();
    let mut memory = Memory::new();
    let buffer = memory.upload(&tensor);
    let args = interp::bind_args(&module, Some("k"), &[interp::Arg::ptr(buffer)]).unwrap();
    Interpreter::run(&module, Some("k"), grid, &args, &mut memory, &InterpOptions::default()).unwrap();
    let expected = memory.download(buffer, &tensor).unwrap().bytes().to_vec();
    let mut found = Vec::new();
    for chip in chips {
        let target = Target::named(chip).unwrap();
        let output = match warploom::compile(&module, &target, &Options::default()) {
            Ok(output) => output,
            Err(refused) => {
                found.push(format!("{chip}: {}", refused[0]));
                continue;
            }
        };
        let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
        let mut device = Device::new(&target);
        let address = device.alloc_from(tensor.bytes(), "out").unwrap();
        let entry = ptx.entry("k").unwrap();
        let args = vec![emulator::Arg::Ptr(address), emulator::Arg::U64(0), emulator::Arg::U64(0)];
        let launch = Launch { grid, smem: output.emitted.metadata.shared as u32, args, ..Launch::of(entry) };
        let options = emulator::RunOptions::default().policy(Policy::Lazy);
        let report = device.run(&ptx, &launch, &options).unwrap();
        assert!(report.clean(), "{report}");
        let bytes = device.read(address).unwrap();
        let width = (to_bits / 8) as usize;
        let wrong = expected.chunks(width).zip(bytes.chunks(width)).enumerate().filter(|(_, (a, b))| a != b);
        let wrong: Vec<_> = wrong.collect();
        if let Some((n, (a, b))) = wrong.first() {
            found.push(format!("{chip}: {} differ, first {n:#x}: {a:x?} means, {b:x?} found", wrong.len()));
        }
    }
    found
}

/// Tries a list of conversions.
fn agree(list: &[(&Format, &Format, &str)], chips: &[&str]) {
    let mut wrong = Vec::new();
    for (from, to, rounding) in list {
        let text = kernel(from, to, &conversion(from, to, rounding));
        let grid = match from.1 {
            8 => [1, 1, 1],
            16 => [64, 1, 1],
            _ => [64, TAILS.len() as u32, 1],
        };
        let found = differing(&text, to.1, grid, chips);
        wrong.extend(found.into_iter().map(|what| format!("{} to {} {rounding}: {what}", from.0, to.0)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_number_of_8_bits_converts_alike_c68() {
    let wide = [&F16, &BF16, &F32, &F64];
    let list: Vec<_> = [&E4M3, &E5M2].into_iter().flat_map(|from| wide.map(|to| (from, to, ""))).collect();
    agree(&list, &CHIPS);
    agree(&[(&E4M3, &E5M2, ""), (&E5M2, &E4M3, "")], &CHIPS);
}

#[test]
fn every_number_of_16_bits_converts_alike_c68() {
    let list = [
        (&F16, &F32, ""),
        (&F16, &F64, ""),
        (&F16, &BF16, "rtne"),
        (&F16, &E4M3, "rtne"),
        (&F16, &E5M2, "rtne"),
        (&F16, &E5M2, "rtz"),
        (&BF16, &F32, ""),
        (&BF16, &F64, ""),
        (&BF16, &F16, "rtne"),
        (&BF16, &E4M3, "rtne"),
        (&BF16, &E5M2, "rtne"),
    ];
    agree(&list, &CHIPS);
}

#[test]
fn wider_numbers_round_alike_on_both_sides_of_every_narrow_one_c68() {
    let list = [
        (&F32, &F16, ""),
        (&F32, &F16, "rtz"),
        (&F32, &BF16, ""),
        (&F32, &BF16, "rtz"),
        (&F32, &E4M3, "rtne"),
        (&F32, &E5M2, "rtne"),
        (&F64, &F32, ""),
        (&F64, &F16, ""),
        (&F64, &BF16, ""),
        (&F64, &E4M3, "rtne"),
        (&F64, &E5M2, "rtne"),
    ];
    agree(&list, &["sm_80", "sm_90a"]);
}

#[test]
fn functions_that_are_exact_are_so_on_every_number_of_16_bits_c68() {
    let mut wrong = Vec::new();
    for format in [&F16, &BF16] {
        let ty = format!("tensor<{BLOCK}x{}>", format.0);
        for name in ["arith.negf", "math.absf", "math.floor", "math.ceil"] {
            let text = kernel(format, format, &format!("%y = {name} %x : {ty}"));
            let found = differing(&text, 16, [64, 1, 1], &CHIPS);
            wrong.extend(found.into_iter().map(|what| format!("{name} of {}: {what}", format.0)));
        }
        // Each number beside one, its opposite, zeros of both signs and no number.
        for name in ["arith.maxnumf", "arith.minnumf", "arith.maximumf", "arith.minimumf"] {
            for other in
                ["1.0", "0.0", "-0.0", if format.1 == 16 && format.0 == "f16" { "0x7E00" } else { "0x7FC0" }]
            {
                let body =
                    format!("%o = arith.constant dense<{other}> : {ty}\n    %y = {name} %x, %o : {ty}");
                let found = differing(&kernel(format, format, &body), 16, [64, 1, 1], &["sm_80", "sm_90a"]);
                wrong.extend(
                    found.into_iter().map(|what| format!("{name} of {} and {other}: {what}", format.0)),
                );
            }
        }
        for name in
            ["oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"]
        {
            let body = format!(
                "%o = arith.constant dense<1.0> : {ty}
    %t = arith.cmpf {name}, %x, %o : {ty}
    %z = arith.constant dense<0.0> : {ty}
    %y = arith.select %t, %o, %z : tensor<{BLOCK}xi1>, {ty}"
            );
            let found = differing(&kernel(format, format, &body), 16, [64, 1, 1], &["sm_80", "sm_90a"]);
            wrong.extend(found.into_iter().map(|what| format!("{name} of {}: {what}", format.0)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn integers_of_8_and_16_bits_become_floats_alike_and_back_c68() {
    let mut wrong = Vec::new();
    for bits in [8u32, 16] {
        let int = Format(if bits == 8 { "i8" } else { "i16" }, bits, (1 << (bits - 1)) - 1);
        for to in [&F16, &BF16, &F32, &F64] {
            for name in ["arith.sitofp", "arith.uitofp"] {
                let body = format!("%y = {name} %x : tensor<{BLOCK}x{}> to tensor<{BLOCK}x{}>", int.0, to.0);
                let grid = [if bits == 8 { 1 } else { 64 }, 1, 1];
                let found = differing(&kernel(&int, to, &body), to.1, grid, &CHIPS);
                wrong.extend(found.into_iter().map(|what| format!("{name} {} to {}: {what}", int.0, to.0)));
            }
        }
    }
    for from in [&F16, &BF16] {
        let ty = format!("tensor<{BLOCK}x{}>", from.0);
        // What an integer cannot hold has no meaning (MLIR: poison), so that it becomes zero first.
        for (to, bits, least, most) in
            [("i8", 8, -128.5, 127.5), ("i16", 16, -32768.5, 32767.5), ("i32", 32, -2e9, 2e9)]
        {
            let (least, most) =
                (FloatKind::F64.text(f64::to_bits(least)), FloatKind::F64.text(f64::to_bits(most)));
            let body = format!(
                "%wx = arith.extf %x : {ty} to tensor<{BLOCK}xf64>
    %least = arith.constant dense<{least}> : tensor<{BLOCK}xf64>
    %greatest = arith.constant dense<{most}> : tensor<{BLOCK}xf64>
    %ca = arith.cmpf ogt, %wx, %least : tensor<{BLOCK}xf64>
    %cb = arith.cmpf olt, %wx, %greatest : tensor<{BLOCK}xf64>
    %cc = arith.andi %ca, %cb : tensor<{BLOCK}xi1>
    %z = arith.constant dense<0.0> : {ty}
    %xx = arith.select %cc, %x, %z : tensor<{BLOCK}xi1>, {ty}
    %y = arith.fptosi %xx : {ty} to tensor<{BLOCK}x{to}>"
            );
            let int = Format(to, bits, (1 << (bits - 1)) - 1);
            let found = differing(&kernel(from, &int, &body), bits, [64, 1, 1], &CHIPS);
            wrong.extend(found.into_iter().map(|what| format!("fptosi {} to {to}: {what}", from.0)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
