//! Prints the generated kernel of a seed, with the arguments that `warploom run` takes: `kernel tiles 7`, `kernel looped 7`.

use warploom_testing::ir::tape;
use warploom_testing::pipeline::TileKernel;

fn main() {
    let mut args = std::env::args().skip(1);
    let make = match args.next().as_deref() {
        Some("tiles") => TileKernel::from_bytes,
        Some("looped") => TileKernel::looped,
        Some("piped") => TileKernel::piped,
        _ => return eprintln!("usage: kernel tiles|looped|piped SEED"),
    };
    let Some(seed) = args.next().and_then(|seed| seed.parse().ok()) else { return eprintln!("no seed") };
    println!("{}", make(&tape(seed, 400)));
}
