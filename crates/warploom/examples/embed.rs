//! Builds a GEMM, compiles it for Hopper and prints the PTX.
use warploom::ir::{FloatKind, Type, build::kernel};
use warploom::{Options, Target};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bf16 = Type::Float(FloatKind::BF16);
    let gemm = kernel("gemm", |f| {
        let a = f.descriptor("a", &[128, 64], &bf16);
        let b = f.descriptor("b", &[256, 64], &bf16);
        let c = f.descriptor("c", &[128, 256], &bf16);
        let k_end = f.argument("K", Type::I32);
        let (row, col) = (f.program_offset(0, 128), f.program_offset(1, 256));
        let (zero, step, acc) = (f.i32(0), f.i32(64), f.zeros(&[128, 256], &Type::F32));
        let [acc] = f.for_loop(zero, k_end, step, [acc], |f, k, [acc]| {
            let x = f.descriptor_load(a, &[row, k]);
            let y = f.descriptor_load(b, &[col, k]);
            let y = f.trans(y, &[1, 0]);
            [f.dot(x, y, acc)]
        });
        let out = f.truncf(acc, &bf16);
        f.descriptor_store(c, &[row, col], out);
    })?;
    let output = warploom::compile(&gemm, &Target::named("sm_90a")?, &Options::default())?;
    print!("{}", output.emitted.ptx);
    Ok(())
}
