//! The text of a generated kernel, as Triton would print it.

use std::fmt::Write;

use super::kernel::{Activation, Kernel};

impl Kernel {
    /// The kernel as Triton would print it.
    pub fn text(&self) -> String {
        Printer::default().kernel(self)
    }
}

/// Prints a kernel, line by line.
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
