//! Programs made for tests, and the tools of the machine.

#![allow(dead_code)] // each test file uses its own part

pub mod tensor;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use warploom_chips::Target;
use warploom_codegen::{EmitOptions, Emitted, emit};
use warploom_ir::{Diagnostic, Diagnostics};

/// A GEMM `C = epilogue(A @ B)` as a program.
#[derive(Clone, Debug)]
pub struct Gemm {
    /// The chip; those with tcgen05 get another program.
    pub chip: &'static str,
    /// Rows of the tile.
    pub m: u64,
    /// Columns of the tile.
    pub n: u64,
    /// K of the tile.
    pub k: u64,
    /// Element types of A and B.
    pub elems: [&'static str; 2],
    /// Whether A is stored [M, K] and B [N, K].
    pub k_major: [bool; 2],
    /// Slots of the ring.
    pub depth: u64,
    /// Warpgroups that multiply.
    pub groups: u64,
    /// Element type of C.
    pub out: &'static str,
    /// Parameters behind the descriptors.
    pub params: &'static str,
    /// Operations that make `%out` of `%acc`.
    pub epilogue: String,
    /// A tile read beside the product, of this element type: `%beta`.
    pub extra: Option<&'static str>,
    /// Whether two warpgroups share 128 rows of tensor memory.
    pub pairs: bool,
}

impl Default for Gemm {
    fn default() -> Gemm {
        Gemm {
            chip: "sm_90a",
            m: 128,
            n: 256,
            k: 64,
            elems: ["bf16", "bf16"],
            k_major: [true, true],
            depth: 3,
            groups: 2,
            out: "bf16",
            params: "",
            epilogue: String::new(),
            extra: None,
            pairs: false,
        }
    }
}

pub fn bytes(elem: &str) -> u64 {
    match elem {
        "f32" => 4,
        "bf16" | "f16" => 2,
        _ => 1,
    }
}

/// Default swizzle and box of C14.
pub fn cut(rows: u64, cols: u64, elem: &str) -> (u64, [u64; 2]) {
    let e = bytes(elem);
    let swizzle = [128, 64, 32].into_iter().find(|s| (cols * e).is_multiple_of(*s) && rows >= 8).unwrap_or(0);
    let inner = if swizzle == 0 { cols.min(256) } else { swizzle / e };
    (swizzle, [rows.min(256), inner])
}

pub fn record(rows: u64, cols: u64, elem: &str) -> String {
    let (swizzle, shape) = cut(rows, cols, elem);
    let code = [0u64, 32, 64, 128].iter().position(|&s| s == swizzle).unwrap();
    let kind = match elem {
        "f16" => 6,
        "f32" => 7,
        "bf16" => 10,
        _ => 0,
    };
    format!(
        "{{swizzle = {code} : i32, elem_size = {} : i32, elem_type = {kind} : i32, block_size = array<i32: {}, {}>, \
         fp4_padded = false, is_im2col = false}}",
        bytes(elem),
        shape[0],
        shape[1]
    )
}

impl Gemm {
    pub fn a(&self) -> [u64; 2] {
        if self.k_major[0] { [self.m, self.k] } else { [self.k, self.m] }
    }

    pub fn b(&self) -> [u64; 2] {
        if self.k_major[1] { [self.n, self.k] } else { [self.k, self.n] }
    }

    /// The program's text.
    pub fn text(&self) -> String {
        if self.chip != "sm_90a" {
            return self.tensor_text();
        }
        let ([ar, ac], [br, bc], [m, n]) = (self.a(), self.b(), [self.m, self.n]);
        let (ea, eb) = (self.elems[0], self.elems[1]);
        let (ta, tb) = (format!("{ar}x{ac}x{ea}"), format!("{br}x{bc}x{eb}"));
        let tc = format!("{m}x{n}x{}", self.out);
        let (sa, sb) = (ar * ac * bytes(ea), br * bc * bytes(eb));
        let (slot_a, slot_b) = (sa.next_multiple_of(1024), sb.next_multiple_of(1024));
        let (sc, depth) = ((m * n * bytes(self.out)).next_multiple_of(1024), self.depth);
        let at_b = slot_a * depth;
        let ring = at_b + slot_b * depth;
        let se = self.extra.map_or(0, |e| m * n * bytes(e)).next_multiple_of(1024);
        // C leaves through the ring where there is no room beside it.
        let at_c = if ring + se + sc + 1024 > 232_448 { 0 } else { ring + se };
        let bars = (ring + se).max(at_c + sc);
        let shared = bars + 16 * depth + 16;
        let warps = 4 * self.groups + 4;
        let most = (65536 / (32 * warps) / 8 * 8).min(256);
        let (few, many) = match self.groups {
            1 => (most, most),
            2 => (40, 232),
            3 => (24, 160),
            _ => (24, 112),
        };
        let kind = |k: &str| match k {
            "f32" => 8,
            "bf16" | "f16" => 16,
            _ => 32,
        };
        let records = [record(ar, ac, ea), record(br, bc, eb), record(m, n, self.out)];
        let mut records = records.join(", ");
        let mut extra_param = String::new();
        if let Some(e) = self.extra {
            let _ = write!(records, ", {}", record(m, n, e));
            extra_param =
                format!(", %e: !tt.tensordesc<{m}x{n}x{e}>, %e0: i32, %e1: i32, %e2: i64, %e3: i64");
        }
        assert!(self.k.is_multiple_of(kind(ea)));
        let mut t = String::new();
        let acc = format!("tensor<{m}x{n}xf32>");
        let _ = writeln!(
            t,
            "module attributes {{warploom.form = \"program\", warploom.target = \"sm_90a\"}} {{\n\
             tt.func public @gemm(%a: !tt.tensordesc<{ta}>, %a0: i32, %a1: i32, %a2: i64, %a3: i64, \
             %b: !tt.tensordesc<{tb}>, %b0: i32, %b1: i32, %b2: i64, %b3: i64, \
             %c: !tt.tensordesc<{tc}>, %c0: i32, %c1: i32, %c2: i64, %c3: i64{extra_param}, %K: i32{}) attributes \
             {{noinline = false, warploom.warps = {warps} : i32, warploom.max_registers = {most} : i32, \
             warploom.shared = {shared} : i32, warploom.descriptors = [{records}]}} {{",
            self.params
        );
        let _ = writeln!(t, "%zero = arith.constant dense<0.000000e+00> : {acc}");
        for c in [0, 1, self.k, m, n].iter().collect::<std::collections::BTreeSet<_>>() {
            let _ = writeln!(t, "%i{c} = arith.constant {c} : i32");
        }
        let _ = writeln!(
            t,
            "%px = tt.get_program_id x : i32\n%row = arith.muli %px, %i{m} : i32\n\
             %py = tt.get_program_id y : i32\n%col = arith.muli %py, %i{n} : i32"
        );
        let _ = writeln!(
            t,
            "warploom.pipeline @p0 {{depth = {depth} : i32, handshake = \"tma_to_wgmma\", payload = [\"a\", \"b\"], \
             tile = [tensor<{ta}>, tensor<{tb}>], swizzle = array<i32: {}, {}>, offset = array<i64: 0, {at_b}>, \
             stride = array<i64: {slot_a}, {slot_b}>, bytes = {} : i32, full = {bars} : i32, empty = {} : i32, \
             arrive_full = 1 : i32, arrive_empty = {} : i32}}",
            cut(ar, ac, ea).0,
            cut(br, bc, eb).0,
            sa + sb,
            bars + 8 * depth,
            4 * self.groups
        );
        let _ = writeln!(
            t,
            "warploom.pipeline @p1 {{depth = 1 : i32, handshake = \"none\", payload = [\"c\"], tile = [tensor<{tc}>], \
             swizzle = array<i32: {}>, offset = array<i64: {at_c}>, stride = array<i64: {sc}>, bytes = 0 : i32, \
             full = -1 : i32, empty = -1 : i32, arrive_full = 0 : i32, arrive_empty = 0 : i32}}",
            cut(m, n, self.out).0
        );
        if let Some(e) = self.extra {
            let _ = writeln!(
                t,
                "warploom.pipeline @p2 {{depth = 1 : i32, handshake = \"tma_to_generic\", payload = [\"e\"], \
                 tile = [tensor<{m}x{n}x{e}>], swizzle = array<i32: {}>, offset = array<i64: {ring}>, \
                 stride = array<i64: {se}>, bytes = {} : i32, full = {} : i32, empty = {} : i32, arrive_full = 1 : i32, \
                 arrive_empty = {} : i32}}",
                cut(m, n, e).0,
                m * n * bytes(e),
                bars + 16 * depth,
                bars + 16 * depth + 8,
                4 * self.groups
            );
        }
        let _ = writeln!(
            t,
            "warploom.named_barrier @math {{id = 1 : i32, threads = {} : i32}}",
            128 * self.groups
        );
        let coords = |k_major: bool, outer: &str| {
            if k_major { format!("%{outer}, %k") } else { format!("%k, %{outer}") }
        };
        let _ = writeln!(
            t,
            "warploom.partition @load {{warp = 0 : i32, warps = 4 : i32, registers = {few} : i32}} {{\nwarploom.elect {{\n\
             %p:2 = scf.for %k = %i0 to %K step %i{} iter_args(%i = %i0, %f = %i1) -> (i32, i32) : i32 {{\n\
             warploom.producer_acquire @p0[%i, %f]\n\
             warploom.producer_commit @p0[%i, %f] {{bytes = {} : i32}}\n\
             warploom.tma_load @p0[%i] {{payload = 0 : i32}} %a[{}] : !tt.tensordesc<{ta}>\n\
             warploom.tma_load @p0[%i] {{payload = 1 : i32}} %b[{}] : !tt.tensordesc<{tb}>\n\
             %n:2 = warploom.advance @p0[%i, %f]\nscf.yield %n#0, %n#1 : i32, i32\n}}",
            self.k,
            sa + sb,
            coords(self.k_major[0], "row"),
            coords(self.k_major[1], "col"),
        );
        if let Some(e) = self.extra {
            let _ = writeln!(
                t,
                "warploom.producer_acquire @p2[%i0, %i1]\n\
                 warploom.producer_commit @p2[%i0, %i1] {{bytes = {} : i32}}\n\
                 warploom.tma_load @p2[%i0] {{payload = 0 : i32}} %e[%row, %col] : !tt.tensordesc<{m}x{n}x{e}>",
                m * n * bytes(e)
            );
        }
        let _ = writeln!(t, "}}\n}}");
        let k = self.k;
        let _ = writeln!(
            t,
            "warploom.partition @math {{warp = 4 : i32, warps = {} : i32, registers = {many} : i32}} {{\n\
             %l:3 = scf.for %k = %i0 to %K step %i{k} iter_args(%d = %zero, %i = %i0, %f = %i0) -> ({acc}, i32, i32) : i32 \
             {{\nwarploom.consumer_wait @p0[%i, %f]\n\
             %xs = warploom.slot @p0[%i] {{payload = 0 : i32}} : tensor<{ta}>\n\
             %ys = warploom.slot @p0[%i] {{payload = 1 : i32}} : tensor<{tb}>",
            4 * self.groups
        );
        let mut names = ["%xs", "%ys"];
        if !self.k_major[0] {
            let _ = writeln!(
                t,
                "%xt = tt.trans %xs {{order = array<i32: 1, 0>}} : tensor<{ta}> -> tensor<{m}x{k}x{ea}>"
            );
            names[0] = "%xt";
        }
        if self.k_major[1] {
            let _ = writeln!(
                t,
                "%yt = tt.trans %ys {{order = array<i32: 1, 0>}} : tensor<{tb}> -> tensor<{k}x{n}x{eb}>"
            );
            names[1] = "%yt";
        }
        let _ = writeln!(
            t,
            "%r = tt.dot {}, {}, %d, inputPrecision = tf32 : tensor<{m}x{k}x{ea}> * tensor<{k}x{n}x{eb}> -> {acc}\n\
             %w = warploom.mma_wait %r {{pending = 1 : i32}} : {acc}\n\
             warploom.consumer_release @p0[%i, %f] {{lag = 1 : i32}}\n\
             %n:2 = warploom.advance @p0[%i, %f]\nscf.yield %w, %n#0, %n#1 : {acc}, i32, i32\n}}\n\
             %acc = warploom.mma_wait %l#0 {{pending = 0 : i32}} : {acc}",
            names[0], names[1]
        );
        if let Some(e) = self.extra {
            let _ = writeln!(
                t,
                "warploom.consumer_wait @p2[%i0, %i0]\n\
                 %beta = warploom.slot @p2[%i0] {{payload = 0 : i32}} : tensor<{m}x{n}x{e}>"
            );
        }
        if self.epilogue.is_empty() && self.out != "f32" {
            let _ = writeln!(t, "%out = arith.truncf %acc : {acc} to tensor<{tc}>");
        }
        t.push_str(&self.epilogue);
        let out = if self.epilogue.is_empty() && self.out == "f32" { "%acc" } else { "%out" };
        if self.extra.is_some() {
            t.push_str("warploom.consumer_release @p2[%i0, %i0] {lag = 0 : i32}\n");
        }
        let _ = writeln!(
            t,
            "warploom.barrier_sync @math\n\
             warploom.tile_store {out}, @p1[%i0] {{payload = 0 : i32}} : tensor<{tc}>\n\
             warploom.proxy_fence\nwarploom.barrier_sync @math\nwarploom.elect {{\n\
             warploom.tma_store @p1[%i0] {{payload = 0 : i32}} %c[%row, %col] : !tt.tensordesc<{tc}>\n\
             warploom.store_commit\nwarploom.store_wait {{pending = 0 : i32, read = true}}\n}}\n}}\ntt.return\n}}\n}}"
        );
        t
    }

    /// Compiles it for its chip.
    pub fn emit(&self) -> Result<Emitted, Diagnostics> {
        emit_for(self.chip, &self.text(), &EmitOptions::default())
    }
}

/// Compiles a program's text for sm_90a.
pub fn emit_text(text: &str, options: &EmitOptions) -> Result<Emitted, Diagnostics> {
    emit_for("sm_90a", text, options)
}

/// Compiles a program's text for a chip.
pub fn emit_for(chip: &str, text: &str, options: &EmitOptions) -> Result<Emitted, Diagnostics> {
    let module = warploom_ir::parse(text)?;
    emit(&module, &Target::named(chip).unwrap(), options)
}

/// A program of `tests/programs`.
pub fn program(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// All messages of a refusal.
pub fn messages(list: &[Diagnostic]) -> String {
    list.iter().map(|d| format!("{d}\n")).collect()
}

/// A tool of the workspace's virtual environment or of the search path; `make setup` installs it.
pub fn tool(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    let mut stack = vec![(root.join(".venv"), 0)];
    while let Some((folder, depth)) = stack.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.ends_with(format!("bin/{name}")) && path.is_file() {
                found.push(path);
            } else if depth < 7 && entry.file_type().is_ok_and(|t| t.is_dir()) {
                stack.push((path, depth + 1));
            }
        }
    }
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    found
        .into_iter()
        .next()
        .or_else(|| std::env::split_paths(&path).map(|p| p.join(name)).find(|p| p.is_file()))
        .unwrap_or_else(|| panic!("no {name}: make setup installs it"))
}
