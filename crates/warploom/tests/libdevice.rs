//! Functions of NVIDIA's libdevice, linked where the user names the file: what the emulator makes of them is what the
//! interpreter computes (C68).
#![cfg(feature = "llvm")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "tests may fail")]

mod common;

use std::fmt::Write as _;
use std::path::PathBuf;

use common::{piped, tool};

/// `libdevice.10.bc`, as `make setup` installs it beside the assembler.
fn library() -> PathBuf {
    let ptxas = tool("ptxas");
    let path = ptxas.parent().unwrap().parent().unwrap().join("nvvm/libdevice/libdevice.10.bc");
    assert!(path.is_file(), "no {}: `make setup` installs it", path.display());
    path
}

/// A kernel that stores each of these functions of positive numbers behind the other; `{x}` stands for the numbers.
fn kernel(ty: &str, functions: &[String]) -> String {
    let mut body = String::new();
    for (n, function) in functions.iter().enumerate() {
        writeln!(body, "    %y{n} = {function}").unwrap();
        writeln!(body, "    %o{n} = arith.constant {} : i32", 64 * n).unwrap();
        writeln!(body, "    %b{n} = tt.addptr %q, %o{n} : !tt.ptr<{ty}>, i32").unwrap();
        writeln!(body, "    %s{n} = tt.splat %b{n} : !tt.ptr<{ty}> -> tensor<64x!tt.ptr<{ty}>>").unwrap();
        writeln!(body, "    %t{n} = tt.addptr %s{n}, %r : tensor<64x!tt.ptr<{ty}>>, tensor<64xi32>").unwrap();
        writeln!(body, "    tt.store %t{n}, %y{n} : tensor<64x!tt.ptr<{ty}>>").unwrap();
    }
    format!(
        "module {{
  tt.func public @k(%p: !tt.ptr<{ty}>, %q: !tt.ptr<{ty}>) {{
    %r = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
    %ps = tt.splat %p : !tt.ptr<{ty}> -> tensor<64x!tt.ptr<{ty}>>
    %at = tt.addptr %ps, %r : tensor<64x!tt.ptr<{ty}>>, tensor<64xi32>
    %v = tt.load %at : tensor<64x!tt.ptr<{ty}>>
    %a = math.absf %v : tensor<64x{ty}>
    %half = arith.constant dense<2.5e-01> : tensor<64x{ty}>
    %w = arith.mulf %a, %half : tensor<64x{ty}>
    %x = arith.addf %w, %half : tensor<64x{ty}>
{body}    tt.return
  }}
}}
"
    )
}

/// A call of a function of so many operands.
fn call(symbol: &str, operands: usize, ty: &str) -> String {
    let tile = format!("tensor<64x{ty}>");
    let (values, types) = (vec!["%x"; operands].join(", "), vec![tile.as_str(); operands].join(", "));
    format!(
        "tt.extern_elementwise {values} {{libname = \"\", libpath = \"\", pure = true, symbol = \"{symbol}\"}} : ({types}) -> {tile}"
    )
}

fn runs_right(text: &str, functions: usize, chip: &str) {
    let library = format!("--libdevice={}", library().display());
    let out = format!("--arg=[{}]", 64 * functions);
    let args = ["run", "-", "--target", chip, "--interleavings", "0", &library, "--arg=[64]", &out];
    let output = piped(&args, text.as_bytes());
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{chip}: {said}\n{text}");
}

const UNARY: [&str; 31] = [
    "acos", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "cospi", "erf", "erfc", "exp", "exp10",
    "expm1", "j0", "j1", "lgamma", "log", "log10", "log1p", "normcdf", "rcbrt", "rint", "sin", "sinh",
    "sinpi", "tan", "tanh", "tgamma", "y0", "y1",
];
const BINARY: [&str; 6] = ["atan2", "fdim", "fmod", "hypot", "pow", "remainder"];

#[test]
fn functions_of_f32_and_f64_are_those_of_the_interpreter_c68() {
    for (ty, suffix) in [("f32", "f"), ("f64", "")] {
        let mut functions: Vec<String> =
            UNARY.iter().map(|name| call(&format!("__nv_{name}{suffix}"), 1, ty)).collect();
        functions.extend(BINARY.iter().map(|name| call(&format!("__nv_{name}{suffix}"), 2, ty)));
        let text = kernel(ty, &functions);
        for chip in ["sm_80", "sm_100a"] {
            runs_right(&text, functions.len(), chip);
        }
    }
}

#[test]
fn functions_of_math_on_f64_are_libdevices_c68() {
    let names = ["exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf", "floor", "ceil"];
    let functions: Vec<String> =
        names.iter().map(|name| format!("math.{name} %x : tensor<64xf64>")).collect();
    runs_right(&kernel("f64", &functions), functions.len(), "sm_90a");
}

/// Without the file, with a wrong one, with a function that it does not have or that takes other numbers: refused, by name.
#[test]
fn what_cannot_be_linked_is_refused_c68() {
    let library = format!("--libdevice={}", library().display());
    let wrong = format!("--libdevice={}", tool("ptxas").display());
    let text = |symbol: &str, ty: &str| kernel(ty, &[call(symbol, 1, ty)]);
    for (text, option, said) in [
        (text("__nv_j0", "f64"), "--no-fusion", "--libdevice"),
        (text("__nv_j0", "f64"), wrong.as_str(), "no bitcode"),
        (text("__nv_j9", "f64"), library.as_str(), "the library has no __nv_j9"),
        (text("__nv_j0", "f32"), library.as_str(), "here it is called as"),
        (text("j0", "f64"), library.as_str(), "tt.extern_elementwise of j0"),
    ] {
        let output = piped(&["compile", "-", "--target", "sm_90a", option], text.as_bytes());
        let found = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{found}");
        assert!(found.contains(said), "no `{said}` in\n{found}");
        assert!(!found.contains("[internal]"), "{found}");
    }
}
