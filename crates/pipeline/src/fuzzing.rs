//! Kernels made up at random, for property tests and fuzz targets: matrix products of all shapes and types, most
//! of them legal, some of them not.

use std::fmt::Write;

use warploom_ir::Module;
use warploom_target::Target;

use crate::check;
use crate::compile::{Options, compile_to_program};
use crate::forms::Form;
use crate::resumed::resume;

/// A generated kernel, C = epilogue(A * B).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Extents M, N, K of the tile.
    pub extents: [u64; 3],
    /// Element type of A and B.
    pub input: &'static str,
    /// Element type of the result.
    pub output: &'static str,
    /// A is stored [K, M].
    pub a_transposed: bool,
    /// B is stored [N, K], as most are.
    pub b_transposed: bool,
    /// Descriptors have a leading extent of 1.
    pub batched: bool,
    /// The result is scaled by a scalar.
    pub alpha: bool,
    /// A tile is loaded and added.
    pub add_tile: bool,
    /// One value per column is added.
    pub bias: bool,
    /// One factor per row.
    pub row_scale: bool,
    /// The last operation.
    pub activation: Activation,
    /// `tt.num_stages`.
    pub num_stages: Option<u64>,
    /// Results stored: 1, or 2 with the second one before the activation.
    pub stores: u64,
}

/// What is applied last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activation {
    /// Nothing.
    None,
    /// max(x, 0).
    Relu,
    /// x / (1 + exp(-x)).
    Silu,
}

impl Default for Kernel {
    /// The plainest one: 128x128x64 in bf16.
    fn default() -> Kernel {
        Kernel {
            extents: [128, 128, 64],
            input: "bf16",
            output: "bf16",
            a_transposed: false,
            b_transposed: true,
            batched: false,
            alpha: false,
            add_tile: false,
            bias: false,
            row_scale: false,
            activation: Activation::None,
            num_stages: None,
            stores: 1,
        }
    }
}

/// Choices drawn from bytes; zeros when they run out.
struct Draw<'a>(&'a [u8]);

impl Draw<'_> {
    fn below(&mut self, limit: usize) -> usize {
        let (first, rest) = self.0.split_first().map_or((0, self.0), |(f, r)| (usize::from(*f), r));
        self.0 = rest;
        first % limit.max(1)
    }

    fn pick<T: Copy>(&mut self, list: &[T], otherwise: T) -> T {
        let at = self.below(list.len());
        list.get(at).copied().unwrap_or(otherwise)
    }
}

impl Kernel {
    /// The kernel that a string of bytes stands for; every string stands for one.
    pub fn from_bytes(bytes: &[u8]) -> Kernel {
        let mut draw = Draw(bytes);
        // Illegal extents and types come up now and then: they must be refused, not miscompiled.
        let m = draw.pick(&[64, 128, 256, 128, 64, 128, 64, 128, 256, 64, 32, 512], 128);
        let n = draw.pick(&[64, 128, 256, 128, 32, 16, 8, 64, 128, 64, 256, 512], 128);
        let k = draw.pick(&[32, 64, 128, 64, 16, 64, 256, 32, 64, 128], 64);
        let input = draw.pick(&["bf16", "f16", "f8E4M3FN", "f8E5M2", "f32", "bf16", "f16", "i8"], "bf16");
        let output = draw.pick(&["bf16", "f16", "f32", "f32", "bf16", "f16", "bf16", "f8E5M2"], "bf16");
        let narrow = input != "bf16" && input != "f16";
        let any = draw.below(16);
        Kernel {
            extents: [m, n, k],
            input,
            output,
            // 8- and 32-bit operands must have K contiguous: mostly so, sometimes not.
            a_transposed: any & 1 == 1 && (!narrow || any > 12),
            b_transposed: any & 2 == 0 || (narrow && any <= 12),
            batched: draw.below(4) == 3,
            alpha: draw.below(2) == 1,
            add_tile: draw.below(3) == 2,
            bias: draw.below(3) == 2,
            row_scale: draw.below(3) == 2,
            activation: draw.pick(&[Activation::None, Activation::Relu, Activation::Silu], Activation::None),
            num_stages: draw.pick(&[None, None, Some(1), Some(2), Some(4), Some(8)], None),
            stores: if draw.below(6) == 5 { 2 } else { 1 },
        }
    }

    /// Options drawn from bytes as well: slots added, asked for, or squeezed by a small shared memory.
    pub fn options(bytes: &[u8]) -> Options {
        let mut draw = Draw(bytes);
        let mut options = Options { check: true, ..Options::default() };
        match draw.below(8) {
            0 => options.slack_slots = draw.below(4) as u64,
            1 => options.depth = Some(1 + draw.below(6) as u64),
            2 => options.smem_limit = Some(16_384 * (1 + draw.below(14) as u64)),
            _ => {}
        }
        options
    }

    /// The kernel as Triton would print it.
    pub fn text(&self) -> String {
        Printer::default().kernel(self)
    }
}

#[derive(Default)]
struct Printer {
    out: String,
}

impl Printer {
    fn line(&mut self, indent: usize, text: impl AsRef<str>) {
        let _ = writeln!(self.out, "{:width$}{}", "", text.as_ref(), width = 2 * indent);
    }

    fn kernel(mut self, kernel: &Kernel) -> String {
        let [m, n, k] = kernel.extents;
        let lead = if kernel.batched { "1x" } else { "" };
        let (e, o) = (kernel.input, kernel.output);
        let a_block = if kernel.a_transposed { format!("{k}x{m}") } else { format!("{m}x{k}") };
        let b_block = if kernel.b_transposed { format!("{n}x{k}") } else { format!("{k}x{n}") };
        let argument = |name: &str, block: &str, elem: &str| {
            let rank = if kernel.batched { 3 } else { 2 };
            let shapes: String = (0..rank).map(|d| format!(", %{name}.shape.{d}: i32")).collect();
            let strides: String = (0..rank).map(|d| format!(", %{name}.stride.{d}: i64")).collect();
            format!("%{name}: !tt.tensordesc<{lead}{block}x{elem}>{shapes}{strides}")
        };
        let mut arguments = vec![argument("a", &a_block, e), argument("b", &b_block, e)];
        if kernel.add_tile {
            arguments.push(argument("c", &format!("{m}x{n}"), o));
        }
        for store in 0..kernel.stores {
            arguments.push(argument(&format!("out{store}"), &format!("{m}x{n}"), o));
        }
        arguments.push("%bias: !tt.ptr<f32> {tt.divisibility = 16 : i32}".to_owned());
        arguments.push("%scale: !tt.ptr<f32> {tt.divisibility = 16 : i32}".to_owned());
        arguments.push("%alpha: f32, %M: i32, %N: i32, %K: i32".to_owned());
        self.line(0, "module {");
        self.line(
            1,
            format!("tt.func public @gemm({}) attributes {{noinline = false}} {{", arguments.join(", ")),
        );
        self.loop_part(kernel, &a_block, &b_block);
        self.epilogue(kernel);
        self.line(2, "tt.return");
        self.line(1, "}");
        self.line(0, "}");
        self.out
    }

    fn loop_part(&mut self, kernel: &Kernel, a_block: &str, b_block: &str) {
        let [m, n, k] = kernel.extents;
        let (e, acc) = (kernel.input, format!("tensor<{m}x{n}xf32>"));
        let (lead, z) = if kernel.batched { ("1x", "%z, ") } else { ("", "") };
        self.line(2, format!("%zero = arith.constant dense<0.000000e+00> : {acc}"));
        for (name, value) in [("c0", 0), ("bk", k), ("bm", m), ("bn", n)] {
            self.line(2, format!("%{name} = arith.constant {value} : i32"));
        }
        self.line(2, "%x = tt.get_program_id x : i32");
        self.line(2, "%y = tt.get_program_id y : i32");
        self.line(2, "%z = tt.get_program_id z : i32");
        self.line(2, "%row = arith.muli %x, %bm : i32");
        self.line(2, "%col = arith.muli %y, %bn : i32");
        self.line(
            2,
            format!("%r = scf.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> ({acc})  : i32 {{"),
        );
        let mut operand = |name: &str, block: &str, place: &str, seen: &str, swapped: bool| {
            let load = format!("%{name}.l = tt.descriptor_load %{name}[{z}{place}]");
            self.line(3, format!("{load} : !tt.tensordesc<{lead}{block}x{e}> -> tensor<{block}x{e}>"));
            if swapped {
                let order = "{order = array<i32: 1, 0>}";
                self.line(
                    3,
                    format!(
                        "%{name}.t = tt.trans %{name}.l {order} : tensor<{block}x{e}> -> tensor<{seen}x{e}>"
                    ),
                );
            }
            if swapped { format!("%{name}.t") } else { format!("%{name}.l") }
        };
        let (a_seen, b_seen) = (format!("{m}x{k}"), format!("{k}x{n}"));
        let a_place = if kernel.a_transposed { "%k, %row" } else { "%row, %k" };
        let b_place = if kernel.b_transposed { "%col, %k" } else { "%k, %col" };
        let a = operand("a", a_block, a_place, &a_seen, kernel.a_transposed);
        let b = operand("b", b_block, b_place, &b_seen, kernel.b_transposed);
        let types = format!("tensor<{a_seen}x{e}> * tensor<{b_seen}x{e}> -> {acc}");
        self.line(3, format!("%d = tt.dot {a}, {b}, %acc, inputPrecision = tf32 : {types}"));
        self.line(3, format!("scf.yield %d : {acc}"));
        match kernel.num_stages {
            Some(stages) => self.line(2, format!("}} {{tt.num_stages = {stages} : i32}}")),
            None => self.line(2, "}"),
        }
    }

    fn epilogue(&mut self, kernel: &Kernel) {
        let [m, n, _] = kernel.extents;
        let acc = format!("tensor<{m}x{n}xf32>");
        let mut value = "%r".to_owned();
        if kernel.alpha {
            self.line(2, format!("%e.alpha = tt.splat %alpha : f32 -> {acc}"));
            self.line(2, format!("%e.scaled = arith.mulf {value}, %e.alpha : {acc}"));
            value = "%e.scaled".to_owned();
        }
        if kernel.add_tile {
            let (lead, z) = if kernel.batched { ("1x", "%z, ") } else { ("", "") };
            let tile = format!("tensor<{m}x{n}x{}>", kernel.output);
            let desc = format!("!tt.tensordesc<{lead}{m}x{n}x{}>", kernel.output);
            self.line(2, format!("%e.c = tt.descriptor_load %c[{z}%row, %col] : {desc} -> {tile}"));
            let wide = if kernel.output == "f32" {
                "%e.c"
            } else {
                self.line(2, format!("%e.cw = arith.extf %e.c : {tile} to {acc}"));
                "%e.cw"
            };
            self.line(2, format!("%e.sum = arith.addf {value}, {wide} : {acc}"));
            value = "%e.sum".to_owned();
        }
        if kernel.bias {
            self.vector("bias", n, 0, ["%col", "%N"], &acc);
            self.line(2, format!("%e.biased = arith.addf {value}, %bias.w : {acc}"));
            value = "%e.biased".to_owned();
        }
        if kernel.row_scale {
            self.vector("scale", m, 1, ["%row", "%M"], &acc);
            self.line(2, format!("%e.rows = arith.mulf {value}, %scale.w : {acc}"));
            value = "%e.rows".to_owned();
        }
        for store in 1..kernel.stores {
            self.store(kernel, store, &value);
        }
        match kernel.activation {
            Activation::None => {}
            Activation::Relu => {
                self.line(2, format!("%e.zero = arith.constant dense<0.000000e+00> : {acc}"));
                self.line(2, format!("%e.act = arith.maxnumf {value}, %e.zero : {acc}"));
                value = "%e.act".to_owned();
            }
            Activation::Silu => {
                self.line(2, format!("%e.one = arith.constant dense<1.000000e+00> : {acc}"));
                self.line(2, format!("%e.neg = arith.negf {value} : {acc}"));
                self.line(2, format!("%e.exp = math.exp %e.neg : {acc}"));
                self.line(2, format!("%e.den = arith.addf %e.exp, %e.one : {acc}"));
                self.line(2, format!("%e.act = arith.divf {value}, %e.den : {acc}"));
                value = "%e.act".to_owned();
            }
        }
        self.store(kernel, 0, &value);
    }

    /// A masked load of one value per row or column, widened to the tile.
    fn vector(&mut self, name: &str, length: u64, axis: u32, [start, end]: [&str; 2], acc: &str) {
        let (index, pointer) = (format!("tensor<{length}xi32>"), format!("tensor<{length}x!tt.ptr<f32>>"));
        self.line(
            2,
            format!("%{name}.i = tt.make_range {{end = {length} : i32, start = 0 : i32}} : {index}"),
        );
        self.line(2, format!("%{name}.o = tt.splat {start} : i32 -> {index}"));
        self.line(2, format!("%{name}.p = arith.addi %{name}.o, %{name}.i : {index}"));
        self.line(2, format!("%{name}.e = tt.splat {end} : i32 -> {index}"));
        self.line(2, format!("%{name}.m = arith.cmpi slt, %{name}.p, %{name}.e : {index}"));
        self.line(2, format!("%{name}.s = tt.splat %{name} : !tt.ptr<f32> -> {pointer}"));
        self.line(2, format!("%{name}.a = tt.addptr %{name}.s, %{name}.p : {pointer}, {index}"));
        self.line(2, format!("%{name}.z = arith.constant dense<0.000000e+00> : tensor<{length}xf32>"));
        self.line(2, format!("%{name}.v = tt.load %{name}.a, %{name}.m, %{name}.z : {pointer}"));
        let shape = if axis == 0 { format!("1x{length}") } else { format!("{length}x1") };
        let types = format!("tensor<{length}xf32> -> tensor<{shape}xf32>");
        self.line(2, format!("%{name}.d = tt.expand_dims %{name}.v {{axis = {axis} : i32}} : {types}"));
        self.line(2, format!("%{name}.w = tt.broadcast %{name}.d : tensor<{shape}xf32> -> {acc}"));
    }

    fn store(&mut self, kernel: &Kernel, number: u64, value: &str) {
        let [m, n, _] = kernel.extents;
        let (acc, o) = (format!("tensor<{m}x{n}xf32>"), kernel.output);
        let tile = format!("tensor<{m}x{n}x{o}>");
        let mut value = value.to_owned();
        if o != "f32" {
            self.line(2, format!("%s{number}.n = arith.truncf {value} : {acc} to {tile}"));
            value = format!("%s{number}.n");
        }
        let (mut stored, mut place, mut desc) =
            (tile.clone(), "%row, %col".to_owned(), format!("{m}x{n}x{o}"));
        if kernel.batched {
            stored = format!("tensor<1x{m}x{n}x{o}>");
            self.line(2, format!("%s{number}.r = tt.reshape {value} : {tile} -> {stored}"));
            value = format!("%s{number}.r");
            place = format!("%z, {place}");
            desc = format!("1x{desc}");
        }
        self.line(
            2,
            format!("tt.descriptor_store %out{number}[{place}], {value} : !tt.tensordesc<{desc}>, {stored}"),
        );
    }
}

/// What became of a generated kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It compiled, passed every checker, and each of its text forms read back and resumed to the same program.
    Compiled,
    /// It was refused with a diagnostic.
    Refused,
}

/// Compiles a kernel and tests the laws: what compiles passes the checkers under many interleavings, every text form
/// verifies and reads back to an equal module, and resuming from any of them gives the same program.
///
/// # Errors
/// The law that does not hold.
pub fn exercise(text: &str, target: &Target, options: &Options, seeds: u64) -> Result<Outcome, String> {
    let Ok(module) = warploom_ir::parse(text) else { return Ok(Outcome::Refused) };
    let compiled = match compile_to_program(&module, target, options) {
        Ok(compiled) => compiled,
        Err(refusals) => {
            let internal = refusals.iter().find(|r| r.code == warploom_ir::diag::Code::Internal);
            return match internal {
                Some(bug) => Err(format!("internal error: {bug}")),
                None if refusals.is_empty() => Err("refused without a reason".to_owned()),
                None => Ok(Outcome::Refused),
            };
        }
    };
    check::program(&compiled.program, target, check::Effort::Seeds(seeds))
        .map_err(|v| v.first().map(ToString::to_string).unwrap_or_default())?;
    for (form, module) in [
        (Form::Scheduled, &compiled.scheduled),
        (Form::Assigned, &compiled.assigned),
        (Form::Program, &compiled.program),
    ] {
        let back = reads_back(module).map_err(|error| format!("{}: {error}", form.name()))?;
        let resumed = resume(&back, target, options).map_err(|errors| {
            format!(
                "{} does not resume: {}",
                form.name(),
                errors.first().map(ToString::to_string).unwrap_or_default()
            )
        })?;
        if warploom_ir::print(resumed.program()) != warploom_ir::print(&compiled.program) {
            return Err(format!("{} resumes to another program", form.name()));
        }
    }
    Ok(Outcome::Compiled)
}

/// The module that a module's text reads back to; it must be equal.
fn reads_back(module: &Module) -> Result<Module, String> {
    let text = warploom_ir::print(module);
    let back = warploom_ir::parse(&text).map_err(|errors| {
        format!("does not read back: {}", errors.first().map(ToString::to_string).unwrap_or_default())
    })?;
    if let Some(error) = warploom_ir::verify(&back).first() {
        return Err(format!("does not verify: {error}"));
    }
    match warploom_ir::difference(module, &back) {
        None => Ok(back),
        Some(difference) => Err(format!("reads back differently: {difference}")),
    }
}
