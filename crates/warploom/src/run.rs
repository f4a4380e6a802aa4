//! A compiled kernel against its meaning: the PTX on the emulator, the kernel in the reference interpreter, on the
//! same random inputs; every buffer must come out alike.

use std::fmt;

use warploom_chips::Target;
use warploom_codegen::{Metadata, TensorDescriptor};
use warploom_emulator as emulator;
use warploom_emulator::{Device, ElemType, Launch, Policy, Report, TensorMap, TiledMap};
use warploom_ir::interp::float::{Rounding, cast_overflow, encode};
use warploom_ir::interp::{self, Accumulate, Interpreter, Memory, Tensor};
use warploom_ir::{FloatKind, Module, Type, ValueId};

mod argument;
mod assembly;

pub use argument::ArgSpec;

use crate::tolerance;

/// One launch on random data.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The arguments as the user gives them.
    pub args: Vec<ArgSpec>,
    /// Programs in x, y, z.
    pub grid: [u32; 3],
    /// Seed of the data.
    pub seed: u64,
}

/// Why a case could not be run.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The arguments do not fit the kernel.
    Arguments(String),
    /// The interpreter refused.
    Meaning(interp::InterpError),
    /// The emulator refused the PTX or the launch.
    Machine(emulator::EmulatorRefusal),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Arguments(text) => f.write_str(text),
            RunError::Meaning(error) => write!(f, "the interpreter refused: {error}"),
            RunError::Machine(error) => write!(f, "the emulator refused: {error}"),
        }
    }
}

impl std::error::Error for RunError {}

/// One interleaving on the emulator, compared with the interpreter.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What the emulator found.
    pub report: Report,
    /// Largest difference of any buffer, relative to the largest magnitude in it.
    pub relative_error: f64,
    /// Whether every buffer differs by no more than its element type allows, and the types that its elements were rounded
    /// to on the way.
    pub right: bool,
}

impl Outcome {
    /// No finding, and the numbers of the interpreter.
    pub fn passed(&self) -> bool {
        self.report.clean() && self.right
    }
}

/// A case with its data and the result the kernel's meaning gives.
#[derive(Debug)]
pub struct Prepared {
    tensors: Vec<Tensor>,
    expected: Vec<Vec<f64>>,
    /// How far each may be off, relative to the largest magnitude in it.
    tolerances: Vec<f64>,
    args: Vec<(ArgSpec, Type)>,
    grid: [u32; 3],
}

/// The parameters that a user gives: shapes and strides behind descriptors are left out.
fn user_params(module: &Module, entry: &str) -> Option<Vec<ValueId>> {
    let block = module.entry(module.function(entry)?, 0)?;
    let (mut params, mut skip) = (Vec::new(), 0);
    for &value in &module.blocks[block].args {
        if skip > 0 {
            skip -= 1;
            continue;
        }
        if module.ty(value).is_desc() {
            skip = 2 * module.ty(value).shape().len();
        }
        params.push(value);
    }
    Some(params)
}

/// Elements of one argument: its data, the result and the meaning's f64 must fit into memory.
const MOST_ELEMENTS: u64 = 1 << 28;

/// Programs of one launch, and element operations of their meaning: minutes, not days.
const MOST_PROGRAMS: u64 = 1 << 16;
const MOST_WORK: u64 = 1 << 36;

/// Row pitch in elements: TMA wants multiples of 16 bytes (T11).
fn strides(shape: &[u64], bits: u64) -> Vec<u64> {
    let unit = (128 / bits.max(1)).max(1);
    let mut strides = vec![1; shape.len()];
    for d in (1..shape.len()).rev() {
        let inner: u64 = strides[d] * shape[d];
        strides[d - 1] = inner.next_multiple_of(unit);
    }
    strides
}

/// Fills the tensors and computes what the kernel means (with `f32` values held in `f64`).
///
/// # Errors
/// Arguments that do not fit, and what the interpreter refuses.
pub fn prepare(module: &Module, entry: &str, case: &Case) -> Result<Prepared, RunError> {
    let params = user_params(module, entry)
        .ok_or_else(|| RunError::Arguments(format!("the module has no function {entry}")))?;
    if params.len() != case.args.len() {
        let list: Vec<String> = params.iter().map(|&p| module.ty(p).to_string()).collect();
        let (have, want) = (case.args.len(), params.len());
        return Err(RunError::Arguments(format!(
            "{have} arguments for {want} parameters: {}",
            list.join(", ")
        )));
    }
    let (mut tensors, mut memory, mut bound, mut args) = (Vec::new(), Memory::new(), Vec::new(), Vec::new());
    let (func, mut tolerances) = (module.function(entry), Vec::new());
    for (i, (&param, spec)) in params.iter().zip(&case.args).enumerate() {
        let ty = module.ty(param).clone();
        let wrong = || RunError::Arguments(format!("argument {i} is {spec} where the kernel takes {ty}"));
        let (elem, shape) = match (&ty, spec) {
            (Type::TensorDesc { elem, shape }, ArgSpec::Tensor(dims)) if dims.len() == shape.len() => {
                ((**elem).clone(), dims.clone())
            }
            (Type::Ptr { pointee, .. }, ArgSpec::Buffer(count)) => ((**pointee).clone(), vec![*count]),
            (Type::TensorDesc { elem, shape }, ArgSpec::Bits(dims, _)) if dims.len() == shape.len() => {
                ((**elem).clone(), dims.clone())
            }
            (Type::Ptr { pointee, .. }, ArgSpec::Bits(dims, _)) if dims.len() == 1 => {
                ((**pointee).clone(), dims.clone())
            }
            (Type::Ptr { pointee, .. }, ArgSpec::Values(values)) if matches!(**pointee, Type::Int(..)) => {
                ((**pointee).clone(), vec![values.len() as u64])
            }
            (Type::Int(..), ArgSpec::Int(value)) => {
                bound.push(interp::Arg::Int(*value));
                args.push((spec.clone(), ty));
                continue;
            }
            (Type::Float(_), ArgSpec::Float(value)) => {
                bound.push(interp::Arg::Float(*value));
                args.push((spec.clone(), ty));
                continue;
            }
            (Type::Float(_), ArgSpec::Int(value)) => {
                bound.push(interp::Arg::Float(*value as f64));
                args.push((ArgSpec::Float(*value as f64), ty));
                continue;
            }
            _ => return Err(wrong()),
        };
        let count = shape.iter().try_fold(1u64, |n, &extent| n.checked_mul(extent.max(1)));
        if count.is_none_or(|n| n > MOST_ELEMENTS) {
            let text = format!("argument {i} is {spec}: at most {MOST_ELEMENTS} elements can be run");
            return Err(RunError::Arguments(text));
        }
        let bits = u64::from(elem.elem_bits().ok_or_else(wrong)?);
        let fault = |e: interp::Fault| RunError::Arguments(format!("argument {i}: {e}"));
        // Any bits of narrow integers; wider ones may be places, and are zeros.
        let (low, high) = match (&elem, bits) {
            (Type::Int(..), 1..=16) => (0.0, f64::from(1u32 << bits)),
            _ => (-1.0, 1.0),
        };
        let mut tensor = Tensor::with_strides(elem, &shape, &strides(&shape, bits)).map_err(fault)?;
        match spec {
            ArgSpec::Values(values) | ArgSpec::Bits(_, values) => {
                let width = (bits / 8) as usize;
                let each = values.iter().flat_map(|v| v.to_le_bytes().into_iter().take(width));
                let bytes = match spec {
                    ArgSpec::Bits(..) => each.cycle().take(tensor.bytes().len()).collect(),
                    _ => each.collect(),
                };
                tensor = tensor.with_bytes(bytes).ok_or_else(wrong)?;
            }
            _ => tensor.fill_random(case.seed.wrapping_mul(1009).wrapping_add(i as u64), low, high),
        }
        let buffer = memory.upload(&tensor);
        bound.push(if ty.is_desc() { interp::Arg::desc(buffer, &tensor) } else { interp::Arg::ptr(buffer) });
        tensors.push((buffer, tensor));
        tolerances.push(func.map_or(0.0, |func| tolerance::of_param(module, func, param)));
        args.push((spec.clone(), ty));
    }
    let programs = case.grid.iter().try_fold(1u64, |n, &extent| n.checked_mul(extent.into()));
    if programs.is_none_or(|n| n > MOST_PROGRAMS) {
        let [x, y, z] = case.grid;
        let text = format!("a grid of {x}x{y}x{z} programs: at most {MOST_PROGRAMS} can be run");
        return Err(RunError::Arguments(text));
    }
    let full = interp::bind_args(module, Some(entry), &bound).map_err(RunError::Meaning)?;
    let options = interp::InterpOptions::default()
        .accumulate(Accumulate::F64)
        .max_work(MOST_WORK)
        .assembly(std::sync::Arc::new(assembly::OnEmulator));
    Interpreter::run(module, Some(entry), case.grid, &full, &mut memory, &options)
        .map_err(RunError::Meaning)?;
    let lost = || RunError::Arguments("a buffer was lost".into());
    let expected = tensors
        .iter()
        .map(|(buffer, tensor)| Ok(memory.download(*buffer, tensor).ok_or_else(lost)?.to_f64()))
        .collect::<Result<_, RunError>>()?;
    let tensors = tensors.into_iter().map(|(_, tensor)| tensor).collect();
    Ok(Prepared { tensors, expected, tolerances, args, grid: case.grid })
}

/// The tensor map that the host makes for one descriptor record (C13).
fn tensor_map(record: &TensorDescriptor, addr: u64, tensor: &Tensor) -> Result<TensorMap, RunError> {
    let size = u64::from(record.elem_size);
    let elem = u8::try_from(record.elem_type).ok().and_then(ElemType::from_code);
    let reversed = |list: &[u64]| list.iter().rev().copied().collect::<Vec<_>>();
    let outer = tensor.strides().split_last().map_or(&[][..], |(_, outer)| outer);
    TensorMap::tiled(&TiledMap {
        elem: elem.ok_or_else(|| RunError::Arguments(format!("element code {}", record.elem_type)))?,
        addr,
        dims: reversed(tensor.shape()),
        strides: reversed(outer).iter().map(|s| s * size).collect(),
        box_dims: record.block_size.iter().rev().copied().collect(),
        elem_strides: Vec::new(),
        swizzle: [0, 32, 64, 128].get(record.swizzle as usize).copied().unwrap_or(u32::MAX),
        nan_fill: false,
    })
    .map_err(RunError::Machine)
}

/// What is passed in place of a tensor map where the launch record has none: pointer, extents, strides, two flags (C17).
fn without_map(address: u64, tensor: &Tensor) -> Vec<emulator::Arg> {
    let wide = |list: &[u64]| list.iter().map(|&n| emulator::Arg::I64(n as i64)).collect::<Vec<_>>();
    let mut args = vec![emulator::Arg::Ptr(address)];
    args.extend(wide(tensor.shape()));
    args.extend(wide(tensor.strides()));
    args.extend([emulator::Arg::U8(0), emulator::Arg::U8(0)]);
    args
}

impl Prepared {
    /// Runs the PTX once under a policy.
    ///
    /// # Errors
    /// PTX or a launch that the emulator refuses.
    pub fn run(
        &self,
        ptx: &emulator::Module,
        metadata: &Metadata,
        target: &Target,
        options: &emulator::RunOptions,
    ) -> Result<Outcome, RunError> {
        let mut device = Device::new(target);
        let (mut args, mut addresses) = (Vec::new(), Vec::new());
        let (mut tensors, mut records) = (self.tensors.iter(), metadata.tensordesc_meta.iter());
        let missing = || RunError::Arguments("the launch record lacks a descriptor".into());
        for (i, (spec, ty)) in self.args.iter().enumerate() {
            match (spec, ty) {
                (ArgSpec::Tensor(_) | ArgSpec::Buffer(_) | ArgSpec::Values(_) | ArgSpec::Bits(..), _) => {
                    let tensor = tensors.next().ok_or_else(missing)?;
                    let address = device
                        .alloc_from(tensor.bytes(), &format!("argument {i}"))
                        .map_err(RunError::Machine)?;
                    addresses.push(address);
                    if !ty.is_desc() {
                        args.push(emulator::Arg::Ptr(address));
                        continue;
                    }
                    match metadata.tensordesc_meta.is_empty() {
                        true => args.extend(without_map(address, tensor)),
                        false => {
                            let record = records.next().ok_or_else(missing)?;
                            args.push((&tensor_map(record, address, tensor)?).into());
                        }
                    }
                    args.extend(tensor.shape().iter().map(|&n| emulator::Arg::I32(n as i32)));
                    args.extend(tensor.strides().iter().map(|&n| emulator::Arg::I64(n as i64)));
                }
                (ArgSpec::Int(v), Type::Int(64, _)) => args.push(emulator::Arg::I64(*v)),
                (ArgSpec::Int(v), Type::Int(16, _)) => args.push(emulator::Arg::U16(*v as u16)),
                (ArgSpec::Int(v), Type::Int(1 | 8, _)) => args.push(emulator::Arg::U8(*v as u8)),
                (ArgSpec::Int(v), _) => args.push(emulator::Arg::I32(*v as i32)),
                (ArgSpec::Float(v), Type::Float(FloatKind::F64)) => args.push(emulator::Arg::F64(*v)),
                (ArgSpec::Float(v), Type::Float(kind @ (FloatKind::F16 | FloatKind::BF16))) => {
                    let overflow = cast_overflow(*kind);
                    args.push(emulator::Arg::U16(encode(*kind, *v, Rounding::NearestEven, overflow) as u16));
                }
                (ArgSpec::Float(v), _) => args.push(emulator::Arg::F32(*v as f32)),
            }
        }
        let ctas = self.grid.iter().try_fold(metadata.global_scratch_size, |n, &e| n.checked_mul(e.into()));
        let scratch = match ctas {
            Some(0) => 0,
            Some(bytes) => device.alloc(bytes, "scratch").map_err(RunError::Machine)?,
            None => return Err(RunError::Arguments("a grid with more scratch memory than there is".into())),
        };
        args.extend([emulator::Arg::U64(scratch), emulator::Arg::U64(0)]);
        let entry = ptx.entry(&metadata.name).map_err(RunError::Machine)?;
        let smem = metadata.shared as u32;
        let launch = Launch { grid: self.grid, smem, args, ..Launch::of(entry) };
        let report = device.run(ptx, &launch, options).map_err(RunError::Machine)?;
        let (mut relative_error, mut right) = (0.0f64, true);
        let outputs = self.tensors.iter().zip(&self.expected).zip(&addresses).zip(&self.tolerances);
        // A tensor without elements has nothing that could be wrong.
        for (((tensor, expected), &address), &most) in
            outputs.filter(|(((tensor, _), _), _)| !tensor.is_empty())
        {
            let bytes = device.read(address).map_err(RunError::Machine)?;
            let found = bytes.get(..tensor.bytes().len()).and_then(|b| tensor.with_bytes(b.to_vec()));
            let error = found.and_then(|found| found.compare(expected)).map_or(f64::INFINITY, |d| d.max_rel);
            right &= error <= most;
            relative_error = relative_error.max(error);
        }
        Ok(Outcome { report, relative_error, right })
    }
}

/// The interleavings of a run: operations at once, as late as possible, then seeded random orders (E9).
pub fn policies(seeds: u64) -> impl Iterator<Item = Policy> {
    [Policy::Eager, Policy::Lazy].into_iter().chain((0..seeds).map(Policy::Random))
}
