//! The maker of loops that multiply: what stands in front of them, in them, and behind them.

use std::fmt::{Display, Write};

use crate::ir::Choices;
use crate::pipeline::{TileArg, TileKernel};

/// The text of the type of a tile.
pub(super) fn tile(elem: &str, shape: &[usize]) -> String {
    format!("tensor<{}{elem}>", shape.iter().map(|n| format!("{n}x")).collect::<String>())
}

/// Where a line is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In front of all loops.
    Front,
    /// In the loop over K.
    Loop,
    /// Behind the loop over K, in the loop over tiles where there is one.
    Behind,
}

/// Makes one kernel.
pub(super) struct Maker<'c, 't> {
    pub choices: &'c mut Choices<'t>,
    front: String,
    inside: String,
    behind: String,
    params: Vec<String>,
    args: Vec<TileArg>,
    names: usize,
    /// Whether all operands come by descriptors, as partitions of their own want them.
    pub piped: bool,
    /// Whether it has many tiles then, which it stores by descriptors, so that computing partitions may take them in turn.
    pub persistent: bool,
    /// Rows of its products then.
    pub rows: usize,
    /// Trips of the loop over K.
    pub trips: usize,
    /// Trips of the loop over tiles.
    pub tiles: usize,
    /// What the loop over K carries: name inside, start, next, type.
    pub carried: Vec<[String; 4]>,
    /// What earlier loops gave and no other went on with: name, type.
    pub earlier: Vec<(String, String)>,
}

impl<'c, 't> Maker<'c, 't> {
    pub fn new(choices: &'c mut Choices<'t>, piped: bool) -> Self {
        let trips = [3, 4, 1, 2, 7][choices.below(5)];
        let persistent = piped && choices.once_in(4);
        let tiles = match (persistent, choices.once_in(3)) {
            (true, _) => [3, 2, 5, 4][choices.below(4)],
            (false, true) => 2,
            (false, false) => 1,
        };
        let rows = if piped && choices.once_in(2) { 64 } else { 128 };
        let text = String::new;
        Maker {
            choices,
            front: text(),
            inside: text(),
            behind: text(),
            params: Vec::new(),
            args: Vec::new(),
            names: 0,
            piped,
            persistent,
            rows,
            trips,
            tiles,
            carried: Vec::new(),
            earlier: Vec::new(),
        }
    }

    /// The whole kernel.
    pub fn kernel(mut self) -> TileKernel {
        let (mut loops, mut results) = (String::new(), Vec::new());
        for number in 0..1 + self.choices.below(4) / 3 {
            for _ in 0..1 + self.choices.below(5) / 3 {
                self.product();
            }
            loops += &self.loop_over_k(number);
            // What a later loop went on with is not there any more.
            let starts: Vec<_> = self.carried.iter().map(|c| c[1].clone()).collect();
            results.retain(|(name, _)| !starts.contains(name));
            let made = self.carried.drain(..).enumerate();
            results.extend(made.map(|(at, [_, _, _, ty])| (format!("%last{number}#{at}"), ty)));
            self.earlier.clone_from(&results);
        }
        let sums = |ty: &str| !ty.contains("ptr") && (ty.ends_with("xf32>") || ty.ends_with("xi32>"));
        for (name, ty) in results.iter().filter(|(_, ty)| sums(ty)) {
            match self.piped && !self.persistent {
                true => self.behind(name, ty),
                false => self.epilogue(name, ty),
            }
        }
        let trips = self.trips;
        if self.choices.once_in(3) {
            self.params.push("%trips: i32".to_owned());
            self.args.push(TileArg::Number(trips as i64));
        } else {
            let _ = writeln!(self.front, "    %trips = arith.constant {trips} : i32");
        }
        let (before, after) = match self.tiles {
            1 => ("    %t = arith.constant 0 : i32\n", ""),
            _ => ("    scf.for %t = %c0 to %tiles step %c1  : i32 {\n", "    }\n"),
        };
        let text = format!(
            "module {{\n  tt.func public @looped({}) attributes {{noinline = false}} {{\n    %c0 = arith.constant 0 : i32\n    \
             %c1 = arith.constant 1 : i32\n    %two = arith.constant 2 : i32\n    %s1 = arith.constant 1 : i64\n    %tiles = arith.constant {} : i32\n{}{before}    \
             %from = arith.muli %t, %trips : i32\n{loops}{}{after}    tt.return\n  }}\n}}\n",
            self.params.join(", "),
            self.tiles,
            self.front,
            self.behind,
        );
        TileKernel { text, args: self.args, programs: 1 }
    }

    /// The loop of what was made since the last one.
    fn loop_over_k(&mut self, number: usize) -> String {
        let list = |n: usize| self.carried.iter().map(|c| c[n].clone()).collect::<Vec<_>>().join(", ");
        let starts: Vec<_> = self.carried.iter().map(|c| format!("{} = {}", c[0], c[1])).collect();
        // Tiles may have trips of their own number, none included.
        let (end, count) = match self.persistent && self.choices.once_in(2) {
            true => {
                let odd = format!("    %odd{number} = arith.remui %t, %two : i32\n");
                (
                    format!("%end{number}"),
                    format!("{odd}    %end{number} = arith.subi %trips, %odd{number} : i32\n"),
                )
            }
            false => ("%trips".to_owned(), String::new()),
        };
        format!(
            "{count}    %last{number}:{} = scf.for %k{number} = %c0 to {end} step %c1 iter_args({}) -> ({})  : i32 {{\n    \
             %i = arith.addi %from, %k{number} : i32\n{}    scf.yield {} : {}\n    }}\n",
            self.carried.len(),
            starts.join(", "),
            list(3),
            std::mem::take(&mut self.inside),
            list(2),
            list(3),
        )
    }

    /// Writes a line.
    pub fn line(&mut self, place: Place, line: impl Display) {
        let out = match place {
            Place::Front => &mut self.front,
            Place::Loop => &mut self.inside,
            Place::Behind => &mut self.behind,
        };
        let _ = writeln!(out, "    {line}");
    }

    /// A name that nothing has.
    pub fn fresh(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    /// Writes `%name = what` and gives the name.
    pub fn put(&mut self, place: Place, what: impl Display) -> String {
        let name = self.fresh();
        self.line(place, format!("{name} = {what}"));
        name
    }

    /// A constant in front of all loops: a number, or a tile of it.
    pub fn constant(&mut self, number: impl Display, ty: &str) -> String {
        match ty.starts_with("tensor") {
            true => self.put(Place::Front, format!("arith.constant dense<{number}> : {ty}")),
            false => self.put(Place::Front, format!("arith.constant {number} : {ty}")),
        }
    }

    /// A parameter: a pointer to so many elements.
    pub fn buffer(&mut self, elem: &str, count: usize) -> String {
        let name = format!("%p{}", self.params.len());
        self.params.push(format!("{name}: !tt.ptr<{elem}> {{tt.divisibility = 16 : i32}}"));
        self.args.push(TileArg::Random(count as u64));
        name
    }

    /// A parameter: a pointer to these numbers.
    pub fn table(&mut self, numbers: Vec<i64>) -> String {
        let name = format!("%p{}", self.params.len());
        self.params.push(format!("{name}: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}"));
        self.args.push(TileArg::Buffer(numbers));
        name
    }

    /// A descriptor of rows that lie behind each other: of a buffer by the kernel, or by the host.
    pub fn descriptor(&mut self, elem: &str, dims: &[usize], block: &[usize]) -> String {
        let ty =
            format!("!tt.tensordesc<{}{elem}>", block.iter().map(|n| format!("{n}x")).collect::<String>());
        if self.choices.once_in(3) {
            let name = format!("%p{}", self.params.len());
            self.params.push(format!("{name}: {ty}"));
            for d in 0..dims.len() {
                self.params.push(format!("%{}d{d}: i32", &name[1..]));
            }
            for d in 0..dims.len() {
                self.params.push(format!("%{}s{d}: i64", &name[1..]));
            }
            self.args.push(TileArg::Tensor(dims.iter().map(|&d| d as u64).collect()));
            return name;
        }
        let base = self.buffer(elem, dims.iter().product());
        let extents: Vec<_> = dims.iter().map(|d| self.constant(d, "i32")).collect();
        let strides: Vec<_> = (0..dims.len())
            .map(|d| match dims[d + 1..].iter().product::<usize>() {
                1 => "%s1".to_owned(),
                stride => self.constant(stride, "i64"),
            })
            .collect();
        let what = format!(
            "tt.make_tensor_descriptor {base}, [{}], [{}] : !tt.ptr<{elem}>, {ty}",
            extents.join(", "),
            strides.join(", ")
        );
        self.put(Place::Front, what)
    }
}
