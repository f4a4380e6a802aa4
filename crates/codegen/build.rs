//! Compiles the gate of LLVM's passes, and links LLVM: its archives for NVPTX alone where a release is built and the archives
//! are there, else its shared library.
//!
//! The shared library has all of LLVM's targets. Bringing it, and the libraries it needs, into a process took 30
//! milliseconds, a third of the compile of a middling kernel. Debug builds stay with it: their many tests link faster so.

use std::env;
use std::error::Error;
use std::path::Path;
use std::process::Command;

/// What this crate calls: code generation, passes, reading and linking libdevice; `inkwell` calls the last.
const COMPONENTS: [&str; 5] = ["nvptx", "passes", "bitreader", "linker", "executionengine"];

/// The variable by which `llvm-sys` finds LLVM.
const PREFIX: &str = "LLVM_SYS_221_PREFIX";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={PREFIX}");
    let config = match env::var(PREFIX) {
        Ok(prefix) => format!("{prefix}/bin/llvm-config"),
        Err(_) => "llvm-config-22".to_owned(),
    };
    let ask = |arguments: &[&str]| -> Result<Vec<String>, Box<dyn Error>> {
        let done = Command::new(&config).args(arguments).output().map_err(|e| format!("{config}: {e}"))?;
        if !done.status.success() {
            return Err(format!("{config}: {}", String::from_utf8_lossy(&done.stderr)).into());
        }
        Ok(String::from_utf8(done.stdout)?.split_whitespace().map(str::to_owned).collect())
    };
    gate(&ask(&["--includedir"])?.concat());
    println!("cargo:rustc-link-search=native={}", ask(&["--libdir"])?.concat());
    let release = env::var("PROFILE").as_deref() == Ok("release")
        && env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux");
    let archives = match release {
        true => ask(&[&["--link-static", "--libfiles"], &COMPONENTS[..]].concat()).unwrap_or_default(),
        false => Vec::new(),
    };
    if !archives.is_empty() && archives.iter().all(|archive| Path::new(archive).is_file()) {
        for archive in archives.iter().filter_map(|archive| Path::new(archive).file_name()?.to_str()) {
            println!("cargo:rustc-link-lib=static:-bundle,+verbatim={archive}");
        }
        // By name and version: packages that link need not be there, only those that LLVM's own library runs with.
        for library in ["libz.so.1", "libzstd.so.1"] {
            println!("cargo:rustc-link-lib=dylib:+verbatim={library}");
        }
    } else {
        for library in ask(&["--link-shared", "--libnames"])? {
            println!("cargo:rustc-link-lib=dylib:+verbatim={library}");
        }
    }
    Ok(())
}

/// `src/gate.cpp`. It is linked before LLVM, of which it asks; LLVM's exceptions and type information are not needed.
fn gate(include: &str) {
    println!("cargo:rerun-if-changed=src/gate.cpp");
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .file("src/gate.cpp")
        .include(include)
        .warnings(false)
        .flags(["-fno-exceptions", "-fno-rtti"])
        .compile("warploom_gate");
}
