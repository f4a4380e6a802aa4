//! The maker of a kernel: what is at hand, and what is done next.

use std::fmt::{Display, Write};

use super::kernel::{TileArg, TileKernel};
use super::values::{Elem, Value, ty};
use crate::ir::{Choices, tape};

/// Elements of a tile at most.
pub(super) const LARGEST: u64 = 1024;
/// Elements of each buffer that is read.
pub(super) const INPUT: usize = 4096;

/// Makes one kernel.
pub(super) struct Maker<'c, 't> {
    pub choices: &'c mut Choices<'t>,
    out: String,
    /// Values that may be used here.
    pub values: Vec<Value>,
    names: usize,
    /// Operations still to make.
    budget: usize,
    /// Loops and branches around this place.
    pub depth: usize,
    /// Elements written so far behind the pointer to each type of [`Elem::INTS`].
    pub written: [u64; 4],
}

impl<'c, 't> Maker<'c, 't> {
    pub fn new(choices: &'c mut Choices<'t>) -> Self {
        let budget = 4 + choices.below(24);
        Maker { choices, out: String::new(), values: Vec::new(), names: 0, budget, depth: 0, written: [0; 4] }
    }

    /// The whole kernel.
    pub fn kernel(mut self) -> TileKernel {
        let seed = self.choices.bits();
        self.name("%pid = tt.get_program_id x : i32");
        self.at_hand("%pid", Elem::I32, 1);
        self.at_hand("%few", Elem::I32, 3);
        self.at_hand("%none", Elem::I32, 0);
        for (n, elem) in Elem::INTS.iter().enumerate() {
            self.name(&format!("%base{n} = arith.muli %pid, %size{n} : i32"));
            let name = elem.name();
            self.name(&format!("%to{n} = tt.addptr %out{n}, %base{n} : !tt.ptr<{name}>, i32"));
        }
        for _ in 0..1 + self.choices.below(3) {
            self.load();
        }
        self.steps();
        self.results();
        let programs = 1 + self.choices.below(2) as u32;
        let mut params = Vec::new();
        let mut args = Vec::new();
        for (n, elem) in Elem::INTS.iter().enumerate() {
            params.push(format!("%in{n}: !tt.ptr<{}> {{tt.divisibility = 16 : i32}}", elem.name()));
            args.push(TileArg::Buffer(numbers(seed.wrapping_add(n as u64), INPUT)));
        }
        for (n, elem) in Elem::INTS.iter().enumerate() {
            params.push(format!("%out{n}: !tt.ptr<{}> {{tt.divisibility = 16 : i32}}", elem.name()));
            let size = self.written[n].max(1) * u64::from(programs);
            args.push(TileArg::Buffer(vec![0; size as usize]));
        }
        for (n, written) in self.written.iter().enumerate() {
            let divided = if written % 16 == 0 { " {tt.divisibility = 16 : i32}" } else { "" };
            params.push(format!("%size{n}: i32{divided}"));
            args.push(TileArg::Number(*written as i64));
        }
        params.push("%few: i32, %none: i32".to_owned());
        args.extend([TileArg::Number(3), TileArg::Number(0)]);
        let text = format!(
            "module {{\n  tt.func public @tiles({}) attributes {{noinline = false}} {{\n{}    tt.return\n  }}\n}}\n",
            params.join(", "),
            self.out
        );
        TileKernel { text, args, programs }
    }

    fn at_hand(&mut self, name: &str, elem: Elem, most: u64) {
        self.values.push(Value { name: name.to_owned(), elem, shape: Vec::new(), most });
    }

    /// Writes a line.
    pub fn name(&mut self, line: &str) {
        let _ = writeln!(self.out, "{:width$}{line}", "", width = 4 + 2 * self.depth);
    }

    /// A name that nothing has.
    pub fn fresh(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    /// Writes `%name = what` and gives the name.
    pub fn put(&mut self, what: impl Display) -> String {
        let name = self.fresh();
        self.name(&format!("{name} = {what}"));
        name
    }

    /// Writes a value that others may use.
    pub fn value(&mut self, what: impl Display, elem: Elem, shape: &[u64], most: u64) -> Value {
        let name = self.put(what);
        let value = Value { name, elem, shape: shape.to_vec(), most };
        self.values.push(value.clone());
        value
    }

    /// A constant of a type, the same everywhere.
    pub fn constant(&mut self, number: i64, elem: Elem, shape: &[u64]) -> String {
        let text = match elem {
            Elem::I1 => (number != 0).to_string(),
            _ if elem.float() => format!("{number}.0"),
            _ => number.to_string(),
        };
        match (shape, elem) {
            ([], Elem::I1) => self.put(format!("arith.constant {text}")),
            ([], _) => self.put(format!("arith.constant {text} : {}", elem.name())),
            _ => self.put(format!("arith.constant dense<{text}> : {}", ty(elem.name(), shape))),
        }
    }

    /// One of the values that fit, the later the likelier.
    pub fn pick(&mut self, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        let found: Vec<Value> = self.values.iter().rev().filter(|v| fits(v)).cloned().collect();
        let at = self.choices.below(found.len()).min(self.choices.below(found.len()));
        found.get(at).cloned()
    }

    /// Another value of the same type, or the same.
    pub fn peer(&mut self, value: &Value) -> Value {
        self.pick(|v| v.alike(value)).unwrap_or_else(|| value.clone())
    }

    /// Any shape of a tile.
    pub fn shape(&mut self) -> Vec<u64> {
        let mut bits = [5, 7, 4, 8, 6, 0, 1, 2, 3, 9, 10][self.choices.below(11)];
        let mut shape = Vec::new();
        for _ in 0..self.choices.below(4) {
            let own = self.choices.below(bits + 1);
            shape.push(1 << own);
            bits -= own;
        }
        shape.push(1 << bits);
        shape
    }

    /// Operations until there are enough.
    pub fn steps(&mut self) {
        while self.budget > 0 {
            self.budget -= 1;
            self.step();
            if self.depth > 0 && self.choices.once_in(5) {
                break;
            }
        }
    }

    fn step(&mut self) {
        match self.choices.below(24) {
            0..=3 => self.integers(),
            4 | 5 => self.floats(),
            6 => self.compared(),
            7 => self.chosen(),
            8 | 9 => self.converted(),
            10..=12 => self.rearranged(),
            13 | 14 => self.reduced(),
            15 => self.scanned(),
            16 => self.gathered(),
            17 => self.product(),
            18 => self.loop_(),
            19 => self.branch(),
            20 => self.while_(),
            21 => self.again(),
            22 => self.atomic(),
            _ => self.load(),
        }
    }

    /// Stores some of what is there at the end.
    fn results(&mut self) {
        for n in 0..4 {
            let value = match n {
                0 => self.values.last().cloned(),
                _ => self.pick(|_| true),
            };
            if let Some(value) = value {
                self.store(&value);
            }
        }
    }
}

/// Integers of all sizes: every bit pattern now and then, small ones often.
fn numbers(seed: u64, count: usize) -> Vec<i64> {
    let bytes = tape(seed, count * 8);
    let number = |bytes: &[u8]| {
        let bits = bytes.iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte)) as i64;
        match bits & 3 {
            0 => bits,
            1 => bits >> 48,
            2 => bits >> 60,
            _ => bits >> 32,
        }
    };
    bytes.chunks_exact(8).map(number).collect()
}
