//! Axis analysis: what it says of random index arithmetic holds of the numbers that the interpreter gets (G20).

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use warploom_ir::axis::{Run, facts};
use warploom_ir::build::{Builder, kernel};
use warploom_ir::interp::{Arg, InterpOptions, Interpreter, Memory, Tensor};
use warploom_ir::{Module, Opcode, Type, ValueId, parse};

/// Extents of the tiles, rows and columns.
const SHAPE: [u64; 2] = [16, 32];

/// A tile that was made, and whether its elements are not negative.
type Made = (ValueId, bool);

fn tile_of(f: &mut Builder, scalar: ValueId) -> ValueId {
    f.splat(scalar, &SHAPE)
}

/// Consecutive numbers along a dimension, the same along the other.
fn range(f: &mut Builder, along: usize, start: i32) -> ValueId {
    let range = f.make_range(start, start + SHAPE[along] as i32);
    let stood = f.expand_dims(range, 1 - along);
    f.broadcast(stood, &SHAPE)
}

/// One more tile, as three bytes say.
fn grow(f: &mut Builder, pool: &[Made], products: &mut u32, [what, a, b]: [u8; 3]) -> Made {
    let pick = |n: u8| pool[usize::from(n) % pool.len()];
    let ((x, plus), (y, also)) = (pick(a), pick(b));
    let number = [1, 2, 3, 4, 8, 12, 16, 24, 64][usize::from(b) % 9];
    let constant = |f: &mut Builder, number: i32| {
        let scalar = f.i32(number);
        tile_of(f, scalar)
    };
    match what % 13 {
        0 => (f.addi(x, y), plus && also),
        1 => (f.subi(x, y), false),
        2 if *products > 0 => {
            *products -= 1;
            let by = constant(f, number);
            (f.muli(x, by), plus)
        }
        3 if plus => {
            let by = constant(f, number);
            (f.remsi(x, by), true)
        }
        4 => {
            let by = constant(f, number);
            (f.divsi(x, by), plus)
        }
        5 => {
            let by = constant(f, number - 1);
            (f.andi(x, by), true)
        }
        6 => {
            let by = constant(f, i32::from(b % 4));
            let ty = f.module().ty(x).clone();
            let op = f.emit(Opcode::ShRSI, &[x, by], &[ty]);
            (f.module().ops[op].results[0], plus)
        }
        7 => (f.minsi(x, y), plus && also),
        8 => {
            let mask = f.cmpi(["slt", "sge", "eq", "sgt", "sle"][usize::from(a) % 5], x, y);
            (f.select(mask, x, y), plus && also)
        }
        9 => {
            let turned = f.trans(x, &[1, 0]);
            let wide = f.reshape(turned, &SHAPE);
            (wide, plus)
        }
        10 => {
            let (zero, two, one) = (f.i32(0), f.i32(2), f.i32(1));
            let [sum] = f.for_loop(zero, two, one, [x], |f, _, [sum]| [f.addi(sum, y)]);
            (sum, plus && also)
        }
        11 => {
            let [start, along] = [i32::from(b % 5) * 4, i32::from(a % 2)];
            (range(f, along as usize, start), true)
        }
        _ => {
            let id = f.program_id(0);
            let by = f.i32(number);
            let at = f.muli(id, by);
            (tile_of(f, at), true)
        }
    }
}

/// A kernel that makes tiles and stores each; the tiles, masks last.
fn program(tape: &[[u8; 3]]) -> (Module, Vec<ValueId>) {
    let mut kept = Vec::new();
    let module = kernel("tiles", |f| {
        let mut pool: Vec<Made> = vec![(range(f, 0, 0), true), (range(f, 1, 0), true)];
        let (mut products, mut masks) = (2, Vec::new());
        for &bytes in tape {
            let made = grow(f, &pool, &mut products, bytes);
            pool.push(made);
            let other = pool[usize::from(bytes[2]) % pool.len()].0;
            masks.push(f.cmpi(["slt", "ult", "sge"][usize::from(bytes[1]) % 3], made.0, other));
        }
        for pair in masks.clone().chunks_exact(2) {
            masks.push(f.andi(pair[0], pair[1]));
        }
        let (rows, cols) = (range(f, 0, 0), range(f, 1, 0));
        let width = f.i32(SHAPE[1] as i32);
        let width = tile_of(f, width);
        let rows = f.muli(rows, width);
        let place = f.addi(rows, cols);
        kept = pool.into_iter().map(|(value, _)| value).chain(masks).collect();
        for (n, &value) in kept.iter().enumerate() {
            let pointer = f.pointer(&format!("p{n}"), &Type::I32);
            let base = f.splat(pointer, &SHAPE);
            let to = f.addptr(base, place);
            let ty = f.module().ty(value).with_elem(Type::I32);
            let number = match *f.module().ty(value).elem() == Type::I1 {
                true => {
                    let op = f.emit(Opcode::ExtUI, &[value], &[ty]);
                    f.module().ops[op].results[0]
                }
                false => value,
            };
            f.store(to, number, None);
        }
    })
    .unwrap();
    (module, kept)
}

/// What the last of three programs stores for each tile.
fn numbers(module: &Module, count: usize) -> Vec<Vec<i64>> {
    let mut memory = Memory::new();
    let zeros = Tensor::zeros(Type::I32, &SHAPE).unwrap();
    let buffers: Vec<_> = (0..count).map(|_| memory.upload(&zeros)).collect();
    let args: Vec<Arg> = buffers.iter().map(|&b| Arg::ptr(b)).collect();
    Interpreter::run(module, None, [3, 1, 1], &args, &mut memory, &InterpOptions::default()).unwrap();
    let read = |&b| memory.download(b, &zeros).unwrap().to_f64().iter().map(|&x| x as i64).collect();
    buffers.iter().map(read).collect()
}

/// Whether a list of neighbours is what is said of it.
fn holds(line: &[i64], run: Run) -> Result<(), String> {
    let size = |n: u64| (n as usize).min(line.len());
    for group in line.chunks(size(run.consecutive)) {
        if group.windows(2).any(|w| w[1] != w[0].wrapping_add(1)) {
            return Err(format!("{group:?} are not consecutive"));
        }
        if group[0] % run.multiple as i64 != 0 {
            return Err(format!("{} is no multiple of {}", group[0], run.multiple));
        }
    }
    let unequal = line.chunks(size(run.equal)).find(|group| group.windows(2).any(|w| w[0] != w[1]));
    unequal.map_or(Ok(()), |group| Err(format!("{group:?} are not equal")))
}

/// Whether of each group of truth values the true ones come first.
fn leads(line: &[i64], run: Run) -> bool {
    let size = (run.leading() as usize).min(line.len());
    line.chunks(size).all(|group| group.windows(2).all(|w| w[0] >= w[1]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_of_a_tile_holds(tape in proptest::collection::vec(any::<[u8; 3]>(), 1..14)) {
        let (module, kept) = program(&tape);
        let func = module.functions().next().unwrap();
        let known = facts(&module, func);
        let [rows, cols] = SHAPE.map(|n| n as usize);
        for (&value, tile) in kept.iter().zip(numbers(&module, kept.len())) {
            let down: Vec<Vec<i64>> = (0..cols).map(|c| (0..rows).map(|r| tile[r * cols + c]).collect()).collect();
            let along: Vec<Vec<i64>> = tile.chunks(cols).map(<[i64]>::to_vec).collect();
            for (dim, lines) in [down, along].into_iter().enumerate() {
                let run = known.along(&module, value, dim);
                for line in lines {
                    let truth = *module.ty(value).elem() == Type::I1;
                    let found = if truth { Ok(()) } else { holds(&line, run) };
                    prop_assert!(found.is_ok() && (!truth || leads(&line, run)), "{found:?} {run:?} {line:?}\n{}", warploom_ir::print(&module));
                }
            }
        }
    }
}

/// The runs along the only dimension of the value named in a text of one function.
fn run_of(args: &str, ops: &str, ty: &str) -> Run {
    let text = format!(
        "module {{\n  tt.func public @f({args}) {{\n{ops}\n    %kept = tt.bitcast %v : {ty} -> {ty}\n    tt.return\n  }}\n}}\n"
    );
    let module = parse(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let func = module.functions().next().unwrap();
    let body = module.entry(func, 0).unwrap();
    let kept =
        module.blocks[body].ops.iter().copied().find(|&op| module.ops[op].opcode == Opcode::Bitcast).unwrap();
    facts(&module, func).along(&module, module.ops[kept].operands[0], 0)
}

const RANGE: &str = "%r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>\n\
    %id = tt.get_program_id x : i32\n%c128 = arith.constant 128 : i32\n%at = arith.muli %id, %c128 : i32\n\
    %s = tt.splat %at : i32 -> tensor<128xi32>\n%x = arith.addi %s, %r : tensor<128xi32>\n";

#[test]
fn a_remainder_keeps_what_its_divisor_allows() {
    for (stated, consecutive) in [(16, 16), (12, 4), (1, 1), (256, 128)] {
        let args = format!("%n: i32 {{tt.divisibility = {stated} : i32}}");
        let ops = format!(
            "{RANGE}%d = tt.splat %n : i32 -> tensor<128xi32>\n%v = arith.remsi %x, %d : tensor<128xi32>"
        );
        assert_eq!(run_of(&args, &ops, "tensor<128xi32>").consecutive, consecutive, "{stated}");
    }
}

#[test]
fn hints_are_taken_at_their_word() {
    let said = "{tt.contiguity = dense<32> : tensor<1xi32>, tt.divisibility = dense<8> : tensor<1xi32>}";
    let ops = format!(
        "{RANGE}%d = tt.splat %n : i32 -> tensor<128xi32>\n%v = arith.remsi %x, %d {said} : tensor<128xi32>"
    );
    let run = run_of("%n: i32", &ops, "tensor<128xi32>");
    assert_eq!((run.consecutive, run.multiple), (32, 8));
    let ops = format!(
        "{RANGE}%v = arith.xori %x, %r {{tt.constancy = dense<4> : tensor<1xi32>}} : tensor<128xi32>"
    );
    assert_eq!(run_of("", &ops, "tensor<128xi32>").equal, 4);
}

#[test]
fn pointers_that_a_loop_moves_keep_their_alignment() {
    for (step, multiple) in [(8, 16), (4, 8), (3, 2)] {
        let ops = format!(
            "{RANGE}%lo = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n%hi = arith.constant 9 : i32\n\
             %by = arith.constant dense<{step}> : tensor<128xi32>\n\
             %b = tt.splat %p : !tt.ptr<f16> -> tensor<128x!tt.ptr<f16>>\n\
             %q = tt.addptr %b, %x : tensor<128x!tt.ptr<f16>>, tensor<128xi32>\n\
             %v = scf.for %i = %lo to %hi step %one iter_args(%t = %q) -> (tensor<128x!tt.ptr<f16>>)  : i32 {{\n\
             %u = tt.addptr %t, %by : tensor<128x!tt.ptr<f16>>, tensor<128xi32>\n\
             scf.yield %u : tensor<128x!tt.ptr<f16>>\n}}"
        );
        let run = run_of("%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}", &ops, "tensor<128x!tt.ptr<f16>>");
        assert_eq!((run.consecutive, run.multiple), (128, multiple), "{step}");
    }
}
