//! Chains of tile operations of every rank and size, made at random, compiled, run on the emulator and compared with the
//! interpreter: elements come to the lanes that want them whatever the shapes are (G12, G15, G16).
#![cfg(feature = "llvm")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "tests may fail")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below.max(1)
    }
}

/// A kernel while it is written: the tile that the chain has come to.
struct Chain {
    dice: Dice,
    text: String,
    names: u32,
    value: String,
    shape: Vec<u64>,
}

fn tile(shape: &[u64], elem: &str) -> String {
    format!("tensor<{}{elem}>", shape.iter().map(|n| format!("{n}x")).collect::<String>())
}

impl Chain {
    /// Writes `%name = what`.
    fn put(&mut self, what: &str) -> String {
        self.names += 1;
        let name = format!("%v{}", self.names);
        writeln!(self.text, "    {name} = {what}").unwrap();
        name
    }

    /// Pointers to the elements of a tile that lies row by row behind an argument.
    fn pointers(&mut self, arg: &str, shape: &[u64]) -> String {
        let n: u64 = shape.iter().product();
        let (numbers, pointers) = (tile(shape, "i32"), tile(shape, "!tt.ptr<i32>"));
        let range =
            self.put(&format!("tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>"));
        let range = self.put(&format!("tt.reshape {range} : tensor<{n}xi32> -> {numbers}"));
        let base = self.put(&format!("tt.splat {arg} : !tt.ptr<i32> -> {pointers}"));
        self.put(&format!("tt.addptr {base}, {range} : {pointers}, {numbers}"))
    }

    fn load(&mut self, shape: &[u64]) -> String {
        let from = self.pointers("%p", shape);
        self.put(&format!("tt.load {from} : {}", tile(shape, "!tt.ptr<i32>")))
    }

    fn store(&mut self) {
        let shape = self.shape.clone();
        let to = self.pointers("%q", &shape);
        writeln!(self.text, "    tt.store {to}, {} : {}", self.value, tile(&shape, "!tt.ptr<i32>")).unwrap();
    }

    /// The chain goes on with an operation on its tile, which becomes one of this shape.
    fn go(&mut self, what: &str, shape: Vec<u64>) {
        self.value = self.put(what);
        self.shape = shape;
    }

    fn own(&self) -> String {
        tile(&self.shape, "i32")
    }

    /// One of any shape with as many elements.
    fn same_size(&mut self) -> Vec<u64> {
        let mut bits = self.shape.iter().product::<u64>().trailing_zeros();
        let mut shape = Vec::new();
        for _ in 0..self.dice.roll(4) {
            let own = self.dice.roll(u64::from(bits) + 1) as u32;
            shape.push(1 << own);
            bits -= own;
        }
        shape.push(1 << bits);
        shape
    }

    fn fold(&mut self, scans: bool) {
        let axis = self.dice.roll(self.shape.len() as u64) as usize;
        let mut shape = self.shape.clone();
        let (name, more) = match (scans, self.dice.roll(2)) {
            (false, _) => ("reduce", String::new()),
            (true, 0) => ("scan", ", reverse = false".to_owned()),
            (true, _) => ("scan", ", reverse = true".to_owned()),
        };
        if !scans {
            shape.remove(axis);
        }
        let with = ["arith.addi", "arith.maxsi", "arith.xori"][self.dice.roll(3) as usize];
        let result = if shape.is_empty() { "i32".to_owned() } else { tile(&shape, "i32") };
        let what = format!(
            "\"tt.{name}\"({}) <{{axis = {axis} : i32{more}}}> ({{\n    ^bb0(%x: i32, %y: i32):\n      %z = {with} %x, %y : \
             i32\n      tt.{name}.return %z : i32\n    }}) : ({}) -> {result}",
            self.value,
            self.own()
        );
        if shape.is_empty() {
            let scalar = self.put(&what);
            self.go(&format!("tt.splat {scalar} : i32 -> tensor<4xi32>"), vec![4]);
        } else {
            self.go(&what, shape);
        }
    }

    fn step(&mut self) {
        let (value, own, shape) = (self.value.clone(), self.own(), self.shape.clone());
        let elements: u64 = shape.iter().product();
        match self.dice.roll(11) {
            0 => {
                let to = self.same_size();
                self.go(&format!("tt.reshape {value} : {own} -> {}", tile(&to, "i32")), to);
            }
            1 => {
                let mut order: Vec<usize> = (0..shape.len()).collect();
                order.rotate_left(self.dice.roll(shape.len() as u64) as usize);
                let to: Vec<u64> = order.iter().map(|&d| shape[d]).collect();
                let list: Vec<String> = order.iter().map(usize::to_string).collect();
                let list = list.join(", ");
                let what = format!(
                    "tt.trans {value} {{order = array<i32: {list}>}} : {own} -> {}",
                    tile(&to, "i32")
                );
                self.go(&what, to);
            }
            2 => self.fold(false),
            3 => self.fold(true),
            4 if elements <= 1024 && shape.len() < 5 => {
                let other = self.put(&format!("arith.muli {value}, {value} : {own}"));
                let to = [shape.as_slice(), &[2]].concat();
                self.go(&format!("tt.join {value}, {other} : {own} -> {}", tile(&to, "i32")), to);
            }
            5 if shape.len() > 1 && shape.last() == Some(&2) => {
                let to = shape[..shape.len() - 1].to_vec();
                let half = tile(&to, "i32");
                self.names += 1;
                let n = self.names;
                writeln!(self.text, "    %l{n}, %r{n} = tt.split {value} : {own} -> {half}").unwrap();
                self.go(&format!("arith.subi %l{n}, %r{n} : {half}"), to);
            }
            6 if shape.len() < 4 && elements <= 512 => {
                let axis = self.dice.roll(shape.len() as u64 + 1) as usize;
                let (mut one, mut many) = (shape.clone(), shape.clone());
                one.insert(axis, 1);
                many.insert(axis, 4);
                let (one, wide) = (tile(&one, "i32"), tile(&many, "i32"));
                let thin =
                    self.put(&format!("tt.expand_dims {value} {{axis = {axis} : i32}} : {own} -> {one}"));
                let wider = self.put(&format!("tt.broadcast {thin} : {one} -> {wide}"));
                let loaded = self.load(&many);
                self.go(&format!("arith.addi {wider}, {loaded} : {wide}"), many);
            }
            7 if shape.len() == 1 && elements <= 1024 => {
                let to = vec![2 * shape[0]];
                let other = self.put(&format!("arith.addi {value}, {value} : {own}"));
                self.go(&format!("tt.cat {value}, {other} : {own} -> {}", tile(&to, "i32")), to);
            }
            8 => {
                let axis = self.dice.roll(shape.len() as u64) as usize;
                let last = self.put(&format!("arith.constant dense<{}> : {own}", shape[axis] - 1));
                let index = self.put(&format!("arith.andi {value}, {last} : {own}"));
                let what =
                    format!("tt.gather {value}[{index}] {{axis = {axis} : i32}} : ({own}, {own}) -> {own}");
                self.go(&what, shape);
            }
            9 => self.store(),
            _ => {
                let what = format!(
                    "scf.for %i = %c0 to %n step %c1 iter_args(%it = {value}) -> ({own}) : i32 {{\n      %k = tt.splat %i : \
                     i32 -> {own}\n      %next = arith.addi %it, %k : {own}\n      scf.yield %next : {own}\n    }}"
                );
                self.go(&what, shape);
            }
        }
    }
}

fn kernel(seed: u64) -> String {
    let mut dice = Dice(seed);
    let shape: Vec<u64> = (0..1 + dice.roll(3)).map(|_| 1 << dice.roll(5)).collect();
    let mut chain = Chain { dice, text: String::new(), names: 0, value: String::new(), shape: shape.clone() };
    chain.value = chain.load(&shape);
    for _ in 0..1 + chain.dice.roll(5) {
        chain.step();
    }
    chain.store();
    format!(
        "module {{\n  tt.func public @k(%p: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %q: !tt.ptr<i32>, %n: i32) {{\n    \
         %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n{}    tt.return\n  }}\n}}\n",
        chain.text
    )
}

/// What the command says of a kernel, if anything is wrong.
fn run(text: &str, chip: &str) -> Result<(), String> {
    let args =
        ["run", "-", "--target", chip, "--interleavings", "1", "--arg=[16384]", "--arg=[16384]", "--arg=3"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_warploom"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    match out.status.success() {
        true => Ok(()),
        false => {
            Err(String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr))
        }
    }
}

#[test]
fn chains_of_any_shape_run_right_or_are_refused_with_a_reason() {
    let mut refused = Vec::new();
    for seed in 0..90 {
        let chip = ["sm_80", "sm_90a", "sm_100a"][seed as usize % 3];
        let text = kernel(seed);
        if let Err(found) = run(&text, chip) {
            let reason = found.lines().next().unwrap_or_default().to_owned();
            let known = ["error[layout]", "error[shape]", "error[op]", "error[capacity]"]
                .iter()
                .any(|e| reason.starts_with(e));
            assert!(known, "seed {seed} on {chip}: {found}\n{text}");
            refused.push(format!("{seed}: {reason}"));
        }
    }
    assert!(refused.len() < 9, "{refused:#?}");
}
