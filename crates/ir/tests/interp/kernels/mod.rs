//! The kernels of the repository, against naive products, soft-maxes and norms in `f64`.

mod attention;
mod gemm;
mod others;
mod rows;

use std::path::Path;

use warploom_ir::Module;
use warploom_ir::Type;
use warploom_ir::interp::{Accumulate, Arg, InterpOptions, Interpreter, Memory, Tensor, bind_args};

pub const BOTH: [Accumulate; 2] = [Accumulate::F32, Accumulate::F64];

/// The kernel of this name.
pub fn kernel(name: &str) -> Module {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels").join(format!("{name}.ttir"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    warploom_ir::text::parse(&text).unwrap()
}

/// Memory and arguments of one launch.
#[derive(Default)]
pub struct Launch {
    pub memory: Memory,
    args: Vec<Arg>,
    tensors: Vec<Option<Tensor>>,
}

impl Launch {
    pub fn new() -> Launch {
        Launch::default()
    }

    /// Passes a tensor through a descriptor.
    pub fn desc(mut self, tensor: &Tensor) -> Launch {
        let id = self.memory.upload(tensor);
        self.args.push(Arg::desc(id, tensor));
        self.tensors.push(Some(tensor.clone()));
        self
    }

    /// Passes a tensor through a pointer.
    pub fn ptr(mut self, tensor: &Tensor) -> Launch {
        let id = self.memory.upload(tensor);
        self.args.push(Arg::ptr(id));
        self.tensors.push(Some(tensor.clone()));
        self
    }

    pub fn int(mut self, value: u64) -> Launch {
        self.args.push(Arg::Int(value as i64));
        self.tensors.push(None);
        self
    }

    pub fn float(mut self, value: f64) -> Launch {
        self.args.push(Arg::Float(value));
        self.tensors.push(None);
        self
    }

    /// Runs a kernel and returns the tensor that argument `out` (of those passed) became.
    pub fn run(mut self, module: &Module, grid: [u64; 3], accumulate: Accumulate, out: usize) -> Tensor {
        self.go(module, grid, accumulate);
        self.tensor(out)
    }

    /// Runs a kernel.
    pub fn go(&mut self, module: &Module, grid: [u64; 3], accumulate: Accumulate) {
        let args = bind_args(module, None, &self.args).unwrap();
        let options = InterpOptions::default().accumulate(accumulate);
        let grid = grid.map(|n| n as u32);
        Interpreter::run(module, None, grid, &args, &mut self.memory, &options).unwrap();
    }

    /// What a tensor argument holds now.
    pub fn tensor(&self, index: usize) -> Tensor {
        match (&self.args[index], &self.tensors[index]) {
            (Arg::Desc { buffer, .. } | Arg::Ptr { buffer, .. }, Some(like)) => {
                self.memory.download(*buffer, like).unwrap()
            }
            other => panic!("argument {index} is {other:?}"),
        }
    }
}

/// Fails unless each element is the expected one rounded to the tensor's type, give or take `slack`.
pub fn assert_rounded(name: &str, found: &Tensor, expected: &[f64], slack: f64) {
    let half_unit = match found.elem() {
        Type::Float(kind) => match kind.bits() {
            16 if kind.name() == "bf16" => 2f64.powi(-8),
            16 => 2f64.powi(-11),
            _ => 2f64.powi(-24),
        },
        _ => 0.0,
    };
    let values = found.to_f64();
    assert_eq!(values.len(), expected.len(), "{name}");
    for (p, (found, expected)) in values.iter().zip(expected).enumerate() {
        let bound = half_unit * expected.abs() + slack;
        assert!(
            (found - expected).abs() <= bound,
            "{name}: element {p} is {found}, not {expected} +- {bound}"
        );
    }
    // An output of zeros would pass the above if the reference were zeros too.
    assert!(expected.iter().any(|x| x.abs() > 0.01), "{name}: a reference of zeros");
}

/// `a b` in `f64` of [m, k] and [n, k].
pub fn product(a: &[f64], b: &[f64], k: usize) -> Vec<f64> {
    let rows = |v: &[f64]| v.chunks_exact(k).map(<[f64]>::to_vec).collect::<Vec<_>>();
    let (a, b) = (rows(a), rows(b));
    a.iter().flat_map(|x| b.iter().map(move |y| x.iter().zip(y).map(|(x, y)| x * y).sum())).collect()
}

/// The transpose of [rows, columns].
pub fn transposed(v: &[f64], columns: usize) -> Vec<f64> {
    (0..columns).flat_map(|j| v.iter().skip(j).step_by(columns)).copied().collect()
}
