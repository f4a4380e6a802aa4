//! Time per layout, operation and plan: `cargo bench -p warploom-layout`.

use std::hint::black_box;
use std::time::Instant;

use warploom_layout::fragment::{descriptor, tma, wgmma};
use warploom_layout::{Dim, Layout, LayoutError, Prices, Swizzle, TileOp, blocked, convert, reduction};

/// The least of several means, in nanoseconds.
fn time<T>(name: &str, mut run: impl FnMut() -> Result<T, LayoutError>) -> Result<(), LayoutError> {
    const RUNS: u32 = 2000;
    let mut least = f64::INFINITY;
    for _ in 0..7 {
        let start = Instant::now();
        for _ in 0..RUNS {
            black_box(run()?);
        }
        least = least.min(start.elapsed().as_nanos() as f64 / f64::from(RUNS));
    }
    println!("{name:50} {least:9.0} ns");
    Ok(())
}

fn main() -> Result<(), LayoutError> {
    let accumulator = wgmma::accumulator(128)?;
    let rows = blocked(&[64, 128], &[1, 0], 8, 4)?;
    let columns = blocked(&[64, 128], &[0, 1], 8, 4)?;
    let turn = TileOp::Trans { shape: vec![64, 128], order: vec![1, 0] };
    let box_of_tma = tma::shared(&[128, 64], 16, Swizzle::B128)?;
    let operand = wgmma::a(8)?.times(&Layout::of(&[(Dim::Register, Dim::Axis(1), 4)])?)?;
    let prices = Prices::default();

    time("a fragment of wgmma, 64 x 128", || wgmma::accumulator(128))?;
    time("a blocked layout, 64 x 128", || blocked(&[64, 128], &[1, 0], 8, 4))?;
    time("its inverse", || Ok(rows.inverse()))?;
    time("one layout then another's inverse", || accumulator.then(&rows.inverse()))?;
    time("a transposition, forward", || turn.forward(&accumulator))?;
    time("the descriptor of a box of TMA", || Ok(descriptor::recognise(&box_of_tma, 16)))?;
    time("the steps of a reduction", || reduction(&accumulator, Dim::Axis(0)))?;
    time("conversion: nothing", || convert(&accumulator, &accumulator, 16, &prices))?;
    time("conversion: accumulator to operand of 8 bits", || convert(&accumulator, &operand, 8, &prices))?;
    time("conversion: accumulator to rows", || convert(&accumulator, &rows, 16, &prices))?;
    time("conversion: rows to columns", || convert(&rows, &columns, 32, &prices))
}
