//! Long kernels without branches: what time and memory are measured with.

use std::fmt::Write;

/// How the operations of a [`StraightLine`] hang together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Each reads the one before it: the longest chain, and one value alive.
    Chain,
    /// One half reads values far back, the other adds them all up: many values alive.
    Wide,
    /// Moves a pointer on, loads, adds to the result so far, stores: a quarter each.
    Memory,
}

/// A kernel of so many operations in a row, on numbers or on tiles of 128, in a loop or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StraightLine {
    /// Operations in the row.
    pub operations: usize,
    /// How they hang together.
    pub shape: Shape,
    /// On tiles of 128 elements, not on scalars.
    pub tiles: bool,
    /// In the body of a loop that carries the result.
    pub looped: bool,
}

impl StraightLine {
    /// The eleven kernels of this length: none loads tiles in a loop, which would be a loop to schedule.
    pub fn all(operations: usize) -> Vec<StraightLine> {
        let mut all = Vec::new();
        for shape in [Shape::Chain, Shape::Wide, Shape::Memory] {
            for (tiles, looped) in [(false, false), (false, true), (true, false), (true, true)] {
                if shape != Shape::Memory || !tiles || !looped {
                    all.push(StraightLine { operations, shape, tiles, looped });
                }
            }
        }
        all
    }

    /// The kernel `straight(x, y, n)` as text.
    pub fn text(&self) -> String {
        let mut out = String::from(
            "module {\n  tt.func public @straight(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {\n    \
             %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n",
        );
        let (ty, pointer, from, to) = match self.tiles {
            true => {
                out.push_str("    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>\n");
                for name in ["x", "y"] {
                    // Writing to a string cannot fail.
                    let _ = writeln!(
                        out,
                        "    %{name}s = tt.splat %{name} : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>"
                    );
                    let _ = writeln!(
                        out,
                        "    %{name}p = tt.addptr %{name}s, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>"
                    );
                }
                ("tensor<128xf32>", "tensor<128x!tt.ptr<f32>>", "%xp", "%yp")
            }
            false => ("f32", "!tt.ptr<f32>", "%x", "%y"),
        };
        let _ = writeln!(out, "    %v = tt.load {from} : {pointer}");
        let first = if self.looped { "%acc" } else { "%v" };
        if self.looped {
            let carried = format!("iter_args(%acc = %v) -> ({ty}) : i32");
            let _ = writeln!(out, "    %last = scf.for %i = %c0 to %n step %c1 {carried} {{");
        }
        let made = self.operations(&mut out, first, ty);
        if self.looped {
            let _ = writeln!(out, "      scf.yield {made} : {ty}\n    }}");
        }
        let stored = if self.looped { "%last" } else { made.as_str() };
        let _ = writeln!(out, "    tt.store {to}, {stored} : {pointer}\n    tt.return\n  }}\n}}");
        out
    }

    /// Writes the operations; the name of the last result.
    fn operations(&self, out: &mut String, first: &str, ty: &str) -> String {
        if self.shape == Shape::Memory {
            return self.accesses(out, first, ty);
        }
        let mut last = first.to_owned();
        let wide = if self.shape == Shape::Wide { self.operations / 2 } else { 0 };
        for n in 0..wide {
            let back = if n == 0 { first.to_owned() } else { format!("%w{}", n / 2) };
            let _ = writeln!(out, "      %w{n} = arith.mulf {first}, {back} : {ty}");
        }
        for n in 0..self.operations - wide {
            let name = if n % 2 == 0 { "arith.addf" } else { "arith.mulf" };
            let other = if n < wide { format!("%w{n}") } else { first.to_owned() };
            let name = if wide > 0 { "arith.addf" } else { name };
            let _ = writeln!(out, "      %a{n} = {name} {last}, {other} : {ty}");
            last = format!("%a{n}");
        }
        last
    }
    /// Writes the operations of [`Shape::Memory`]; the name of the last sum.
    fn accesses(&self, out: &mut String, first: &str, ty: &str) -> String {
        let (mut at, mut last, pointer) = match self.tiles {
            true => ("%yp".to_owned(), first.to_owned(), "tensor<128x!tt.ptr<f32>>, tensor<128xi32>"),
            false => ("%y".to_owned(), first.to_owned(), "!tt.ptr<f32>, i32"),
        };
        let (step, of) = (if self.tiles { "%r" } else { "%c1" }, pointer.split(", ").next().unwrap_or(""));
        for n in 0..self.operations.div_ceil(4) {
            let _ = writeln!(out, "      %p{n} = tt.addptr {at}, {step} : {pointer}");
            let _ = writeln!(out, "      %l{n} = tt.load %p{n} : {of}");
            let _ = writeln!(out, "      %a{n} = arith.addf {last}, %l{n} : {ty}");
            let _ = writeln!(out, "      tt.store %p{n}, %a{n} : {of}");
            (at, last) = (format!("%p{n}"), format!("%a{n}"));
        }
        last
    }
}
