//! Sorts as Triton's standard library writes them: a tile of [2, 2, ..] whose elements meet along one dimension after the
//! other. Reshapes only rename places, so that a meeting takes one shuffle for a register at most (G5, G15, G16).
#![cfg(feature = "llvm")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "tests may fail")]

use std::fmt::Write as _;

use warploom::run::{ArgSpec, Case, policies, prepare};
use warploom::{Options, Output, Target};
use warploom_emulator as emulator;
use warploom_ir::interp::{self, Interpreter, Memory, Tensor};
use warploom_ir::{Module, Type};

/// A sort of each row of `2^rows x 2^cols` elements.
#[derive(Clone, Copy, Debug)]
struct Sort {
    rows: usize,
    cols: usize,
    bits: u16,
}

/// A tile of these extents.
fn tile(shape: &[u64], elem: &str) -> String {
    format!("tensor<{}{elem}>", shape.iter().map(|n| format!("{n}x")).collect::<String>())
}

impl Sort {
    fn rank(self) -> usize {
        self.rows + self.cols
    }

    /// How often elements meet.
    fn meetings(self) -> usize {
        self.cols * (self.cols + 1) / 2
    }

    /// Ascending rows, by the bitonic sort of Triton's library.
    fn text(self) -> String {
        let (n, rank, elem) = (1u64 << self.rank(), self.rank(), format!("i{}", self.bits));
        let cube = vec![2; rank];
        let (flat, whole) = (tile(&[n], &elem), tile(&cube, &elem));
        let (places, truth) = (tile(&[n], &format!("!tt.ptr<{elem}>")), tile(&cube, "i1"));
        let mut text = format!(
            "module {{
  tt.func public @k(%x: !tt.ptr<{elem}> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<{elem}> {{tt.divisibility = 16 : i32}}) {{
    %i = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>
    %two = tt.make_range {{end = 2 : i32, start = 0 : i32}} : tensor<2xi32>
    %from = tt.splat %x : !tt.ptr<{elem}> -> {places}
    %at = tt.addptr %from, %i : {places}, tensor<{n}xi32>
    %loaded = tt.load %at : {places}
    %h = tt.reshape %loaded : {flat} -> {whole}
"
        );
        // Which of the two halves along a dimension an element is in.
        for axis in 0..rank {
            let mut thin = vec![1; rank];
            thin[axis] = 2;
            let (number, thin) = (tile(&thin, "i32"), tile(&thin, "i1"));
            write!(
                text,
                "    %n{axis} = tt.reshape %two : tensor<2xi32> -> {number}
    %z{axis} = arith.constant dense<0> : {number}
    %t{axis} = arith.cmpi ne, %n{axis}, %z{axis} : {number}
    %b{axis} = tt.broadcast %t{axis} : {thin} -> {truth}
"
            )
            .unwrap();
        }
        let (mut last, mut step) = ("h".to_owned(), 0);
        for stage in 1..=self.cols {
            for inner in (0..stage).rev() {
                let axis = rank - 1 - inner;
                let mut one = cube.clone();
                one[axis] = 1;
                let (less, one) = (tile(&cube[1..], &elem), tile(&one, &elem));
                // The last stage sorts all one way, the others every other block the other way.
                let turned = match stage < self.cols {
                    true => format!("arith.xori %b{axis}, %b{} : {truth}", rank - 1 - stage),
                    false => format!("arith.ori %b{axis}, %b{axis} : {truth}"),
                };
                write!(
                    text,
                    "    %s{step} = \"tt.reduce\"(%{last}) <{{axis = {axis} : i32}}> ({{
    ^bb0(%p: {elem}, %q: {elem}):
      %r = arith.xori %p, %q : {elem}
      tt.reduce.return %r : {elem}
    }}) : ({whole}) -> {less}
    %e{step} = tt.expand_dims %s{step} {{axis = {axis} : i32}} : {less} -> {one}
    %w{step} = tt.broadcast %e{step} : {one} -> {whole}
    %o{step} = arith.xori %{last}, %w{step} : {whole}
    %g{step} = arith.cmpi sgt, %{last}, %o{step} : {whole}
    %f{step} = {turned}
    %m{step} = arith.xori %g{step}, %f{step} : {truth}
    %h{step} = arith.select %m{step}, %o{step}, %{last} : {truth}, {whole}
"
                )
                .unwrap();
                last = format!("h{step}");
                step += 1;
            }
        }
        write!(
            text,
            "    %sorted = tt.reshape %{last} : {whole} -> {flat}
    %to = tt.splat %y : !tt.ptr<{elem}> -> {places}
    %there = tt.addptr %to, %i : {places}, tensor<{n}xi32>
    tt.store %there, %sorted : {places}
    tt.return
  }}
}}
"
        )
        .unwrap();
        text
    }
}

fn compiled(text: &str, chip: &str) -> (Module, Output, Target) {
    let target = Target::named(chip).unwrap();
    let module = warploom::read(text).unwrap_or_else(|found| panic!("{}", found[0]));
    let output = warploom::compile(&module, &target, &Options::default());
    let output = output.unwrap_or_else(|refused| panic!("{}", refused[0]));
    (module, output, target)
}

fn count(output: &Output, name: &str) -> usize {
    output.emitted.ptx.matches(name).count()
}

#[test]
fn elements_meet_by_one_shuffle_at_most() {
    let sorts =
        [(0, 7, 32), (2, 5, 32), (5, 2, 32), (0, 10, 32), (4, 6, 16), (3, 6, 64), (1, 8, 32), (7, 4, 16)];
    for ((rows, cols, bits), chip) in
        sorts.into_iter().zip(["sm_80", "sm_90a", "sm_100a", "sm_120a"].iter().cycle())
    {
        let sort = Sort { rows, cols, bits };
        let (module, output, target) = compiled(&sort.text(), chip);
        let metadata = &output.emitted.metadata;
        let elements = 1u64 << sort.rank();
        let args = vec![ArgSpec::Buffer(elements), ArgSpec::Buffer(elements)];
        let case = Case { args, grid: [1; 3], seed: elements };
        let prepared = prepare(&module, &metadata.name, &case).unwrap();
        let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
        for policy in policies(1) {
            let options = emulator::RunOptions::default().policy(policy);
            let outcome = prepared.run(&ptx, metadata, &target, &options).unwrap();
            assert!(outcome.passed(), "{sort:?} on {chip}: {}", outcome.report);
        }
        let threads = 32 * u64::from(metadata.num_warps);
        let words = elements.div_ceil(threads) * u64::from(bits).div_ceil(32);
        let most = words as usize * (sort.meetings() + 4);
        let found = count(&output, "shfl.sync");
        assert!(found <= most, "{sort:?} on {chip}: {found} shuffles for {most} at most");
    }
}

/// Shuffles and barriers of the kernels of the repository: a stage of a sort takes none where its elements lie in one lane.
#[test]
fn sorts_of_the_library_take_few_shuffles() {
    for (name, shuffles, barriers) in [("sort_rows", 65, 4), ("sort_blocks", 380, 24), ("route", 85, 0)] {
        let path = format!("{}/../../kernels/{name}.ttir", env!("CARGO_MANIFEST_DIR"));
        let (_, output, _) = compiled(&std::fs::read_to_string(path).unwrap(), "sm_90a");
        let found = [count(&output, "shfl.sync"), count(&output, "barrier.cta") + count(&output, "bar.sync")];
        assert!(found[0] <= shuffles && found[1] <= barriers, "{name}: {found:?}");
    }
}

/// What the interpreter says, which the machine is compared with, are sorted rows.
#[test]
fn rows_come_out_sorted() {
    let sort = Sort { rows: 2, cols: 5, bits: 32 };
    let module = warploom::read(&sort.text()).unwrap();
    let mut memory = Memory::new();
    let mut x = Tensor::with_strides(Type::I32, &[128], &[1]).unwrap();
    x.fill_random(7, -1.0, 1.0);
    let buffers = [memory.upload(&x), memory.upload(&x)];
    let args = buffers.map(interp::Arg::ptr);
    let full = interp::bind_args(&module, Some("k"), &args).unwrap();
    let options = interp::InterpOptions::default();
    Interpreter::run(&module, Some("k"), [1; 3], &full, &mut memory, &options).unwrap();
    let mut expected = x.to_f64();
    expected.chunks_mut(32).for_each(|row| row.sort_by(f64::total_cmp));
    assert_eq!(memory.download(buffers[1], &x).unwrap().to_f64(), expected);
}
