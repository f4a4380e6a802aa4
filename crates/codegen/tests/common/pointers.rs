//! Kernels of one partition that read a matrix through pointers and write matrices or vectors: how their text looks,
//! and what they leave behind on the emulator.

#![allow(dead_code, reason = "each test file uses its own part")]

#[path = "launch.rs"]
pub mod launch;

use launch::Case;
use warploom_chips::Target;
use warploom_codegen::{EmitOptions, Emitted};
use warploom_emulator::Policy;

use crate::common::messages;

/// A kernel whose partition holds a tile.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub chip: &'static str,
    pub rows: u64,
    pub cols: u64,
    pub warps: u64,
    /// `layout = .., tiling = ..` of the partition.
    pub layout: String,
    /// Bytes for exchanges between warps.
    pub scratch: u64,
    /// Element types of the buffers `%p0`, `%p1`, ..
    pub buffers: Vec<&'static str>,
    /// What the partition does.
    pub body: String,
}

impl Kernel {
    /// Elements side by side in a lane, lanes along the columns.
    pub fn blocked(rows: u64, cols: u64, warps: u64, tiling: [u64; 2]) -> Kernel {
        Kernel {
            chip: "sm_80",
            rows,
            cols,
            warps,
            layout: format!("layout = \"blocked\", tiling = array<i32: {}, {}>", tiling[0], tiling[1]),
            scratch: 0,
            buffers: Vec::new(),
            body: String::new(),
        }
    }

    /// The text of a program. `M` stands for a matrix of the tile's shape, `R` for a vector of its rows, `C` for one of
    /// its columns, as in `MxT`; `%mat` are offsets of the matrix, `%rows` and `%cols` of the vectors.
    pub fn text(&self) -> String {
        let Kernel { rows, cols, warps, .. } = *self;
        let params: Vec<String> = (0..self.buffers.len())
            .map(|i| format!("%p{i}: !tt.ptr<{}> {{tt.divisibility = 16 : i32}}", self.buffers[i]))
            .collect();
        let scratch = match self.scratch {
            0 => String::new(),
            bytes => format!(", scratch = array<i64: 0, {bytes}>, barrier = @all"),
        };
        let registers = (65536 / (32 * warps) / 8 * 8).min(256);
        let text = format!(
            "module attributes {{warploom.form = \"program\", warploom.target = \"{}\"}} {{\n\
             tt.func public @k({}) attributes {{noinline = false, warploom.warps = {warps} : i32, \
             warploom.max_registers = {registers} : i32, warploom.shared = {} : i32, warploom.descriptors = []}} {{\n\
             warploom.named_barrier @all {{id = 1 : i32, threads = {} : i32}}\n\
             warploom.partition @main {{warp = 0 : i32, warps = {warps} : i32, registers = {registers} : i32, {}{scratch}}} \
             {{\n\
             %rows = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : Rxi32\n\
             %cols = tt.make_range {{end = {cols} : i32, start = 0 : i32}} : Cxi32\n\
             %re = tt.expand_dims %rows {{axis = 1 : i32}} : Rxi32 -> tensor<{rows}x1xi32>\n\
             %ce = tt.expand_dims %cols {{axis = 0 : i32}} : Cxi32 -> tensor<1x{cols}xi32>\n\
             %wide = arith.constant dense<{cols}> : tensor<{rows}x1xi32>\n\
             %rw = arith.muli %re, %wide : tensor<{rows}x1xi32>\n\
             %rb = tt.broadcast %rw : tensor<{rows}x1xi32> -> Mxi32\n\
             %cb = tt.broadcast %ce : tensor<1x{cols}xi32> -> Mxi32\n\
             %mat = arith.addi %rb, %cb : Mxi32\n{}\n}}\ntt.return\n}}\n}}",
            self.chip,
            params.join(", "),
            self.scratch,
            32 * warps,
            self.layout,
            self.body
        );
        text.replace("Mx", &format!("tensor<{rows}x{cols}x"))
            .replace("Rx", &format!("tensor<{rows}x"))
            .replace("Cx", &format!("tensor<{cols}x"))
            .split('\n')
            .map(close)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Adds a load of buffer `from` as `%name`; `shape` is M, R or C.
    pub fn load(mut self, name: &str, from: usize, shape: &str) -> Kernel {
        let (ptr, at) = (format!("{shape}x!tt.ptr<{}>", self.buffers[from]), offsets(shape));
        self.body += &format!(
            "%{name}s = tt.splat %p{from} : !tt.ptr<{}> -> {ptr}\n\
             %{name}q = tt.addptr %{name}s, {at} : {ptr}, {shape}xi32\n\
             %{name} = tt.load %{name}q : {ptr}\n",
            self.buffers[from]
        );
        self
    }

    /// Adds a store of `%name` into buffer `to`.
    pub fn store(mut self, name: &str, to: usize, shape: &str) -> Kernel {
        let (ptr, at) = (format!("{shape}x!tt.ptr<{}>", self.buffers[to]), offsets(shape));
        self.body += &format!(
            "%{name}t{to} = tt.splat %p{to} : !tt.ptr<{}> -> {ptr}\n\
             %{name}u{to} = tt.addptr %{name}t{to}, {at} : {ptr}, {shape}xi32\n\
             tt.store %{name}u{to}, %{name} : {ptr}\n",
            self.buffers[to]
        );
        self
    }

    /// Adds operations.
    pub fn ops(mut self, text: &str) -> Kernel {
        self.body += text;
        self.body += "\n";
        self
    }

    pub fn compile(&self) -> Emitted {
        self.try_compile().unwrap_or_else(|e| panic!("{e}\n{}", self.text()))
    }

    pub fn try_compile(&self) -> Result<Emitted, String> {
        let module = warploom_ir::parse(&self.text()).map_err(|e| messages(&e))?;
        let found = warploom_ir::verify(&module);
        if !found.is_empty() {
            return Err(messages(&found));
        }
        warploom_codegen::emit(&module, &Target::named(self.chip).unwrap(), &EmitOptions::default())
            .map_err(|e| messages(&e))
    }

    /// Runs it on these buffers; returns them as it left them. Panics where the emulator finds anything.
    pub fn run(&self, emitted: &Emitted, buffers: &[Vec<u8>], policy: Policy) -> Vec<Vec<u8>> {
        let case = Case::new(self.chip, emitted);
        buffers.iter().fold(case, |case, bytes| case.buffer(bytes)).run([1, 1, 1], policy)
    }
}

fn offsets(shape: &str) -> &'static str {
    match shape {
        "R" => "%rows",
        "C" => "%cols",
        _ => "%mat",
    }
}

/// Closes the angle brackets that a shorthand opened.
fn close(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("tensor<") {
        out.push_str(&rest[..at + 7]);
        rest = &rest[at + 7..];
        // The element type ends at a space, a comma, a bracket of the signature, or its own `>`.
        let inner = if rest.contains("!tt.ptr<") { rest.find("!tt.ptr<") } else { None };
        let stop = |text: &str| text.find([' ', ',', ')', '>', ':', ']']).unwrap_or(text.len());
        let end = match inner.filter(|&i| i < stop(rest)) {
            Some(i) => i + 8 + rest[i + 8..].find('>').map_or(0, |e| e + 1),
            None => stop(rest),
        };
        out.push_str(&rest[..end]);
        rest = &rest[end..];
        out.push('>');
        rest = rest.strip_prefix('>').unwrap_or(rest);
    }
    out.push_str(rest);
    out
}

/// f32 numbers as bytes, and back.
pub fn f32_bytes(list: &[f32]) -> Vec<u8> {
    list.iter().flat_map(|x| x.to_le_bytes()).collect()
}

pub fn f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

pub fn i32_bytes(list: &[i32]) -> Vec<u8> {
    list.iter().flat_map(|x| x.to_le_bytes()).collect()
}

pub fn i32s(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect()
}

/// Reproducible numbers below `limit`.
pub fn noise(count: u64, seed: u64, limit: u64) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) % limit
    };
    (0..count).map(|_| next()).collect()
}
