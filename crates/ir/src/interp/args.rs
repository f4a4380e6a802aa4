//! Arguments of a kernel.

use super::data::{float_kind, int_width, wrap};
use super::descriptor::{Descriptor, Padding};
use super::entry::find_entry;
use super::error::{Fault, InterpError};
use super::float;
use super::memory::{BufferId, Memory};
use super::tensor::Tensor;
use super::value::Value;
use super::{Data, elem_bytes};
use crate::module::Module;
use crate::types::Type;

/// One argument.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Arg {
    /// An integer of any width; it must fit its parameter, signed or unsigned.
    Int(i64),
    /// A floating-point value, rounded to its parameter.
    Float(f64),
    /// The address of a byte of a buffer.
    Ptr {
        /// The buffer.
        buffer: BufferId,
        /// Bytes from its start.
        offset: u64,
    },
    /// A tensor descriptor; block shape and element type come from its parameter.
    Desc {
        /// The buffer.
        buffer: BufferId,
        /// Bytes from its start to element (0, 0, ..).
        offset: u64,
        /// Extents of the tensor in elements, outermost first.
        shape: Vec<u64>,
        /// Strides in elements, outermost first.
        strides: Vec<u64>,
        /// What loads find outside.
        padding: Padding,
    },
}

impl Arg {
    /// A pointer to the start of a buffer.
    pub fn ptr(buffer: BufferId) -> Arg {
        Arg::Ptr { buffer, offset: 0 }
    }

    /// A descriptor, zero-padded, of a tensor uploaded to `buffer`.
    pub fn desc(buffer: BufferId, tensor: &Tensor) -> Arg {
        Arg::Desc {
            buffer,
            offset: 0,
            shape: tensor.shape().to_vec(),
            strides: tensor.strides().to_vec(),
            padding: Padding::Zero,
        }
    }
}

/// The full argument list of a kernel from what its user passes: behind each descriptor its shapes and strides
/// are added (C10). Where the kernel was made for 8.0 and takes a pointer in the place of a descriptor, the
/// pointer, shapes, strides and two flags come in its stead (C17).
///
/// # Errors
/// [`Fault::NoEntry`], and [`Fault::ArgumentCount`] if the list does not have the length of the signature.
pub fn bind_args(module: &Module, entry: Option<&str>, args: &[Arg]) -> Result<Vec<Arg>, InterpError> {
    let params = params(module, entry)?;
    let mut full = Vec::with_capacity(params.len());
    for arg in args {
        let Arg::Desc { buffer, offset, shape, strides, padding } = arg else {
            full.push(arg.clone());
            continue;
        };
        let lists = [shape, strides];
        let dims = || lists.into_iter().flatten().map(|&n| Arg::Int(n as i64));
        match params.get(full.len()) {
            Some(Type::Ptr { .. }) => {
                full.push(Arg::Ptr { buffer: *buffer, offset: *offset });
                full.extend(dims());
                // The flags: padding is NaN; round to tf32 on the way.
                full.extend([Arg::Int((*padding == Padding::Nan).into()), Arg::Int(0)]);
            }
            _ => full.push(arg.clone()),
        }
        full.extend(dims());
    }
    match full.len() == params.len() {
        true => Ok(full),
        false => Err(Fault::ArgumentCount { expected: params.len(), found: full.len() }.into()),
    }
}

fn params(module: &Module, entry: Option<&str>) -> Result<Vec<Type>, InterpError> {
    let block = find_entry(module, entry)?.1;
    Ok(module.blocks[block].args.iter().map(|&v| module.ty(v).clone()).collect())
}

/// The value of an argument for a parameter of type `ty`.
pub(super) fn value(memory: &Memory, index: usize, ty: &Type, arg: &Arg) -> Result<Value, Fault> {
    let misfit = |found: String| Fault::Argument { index, expected: ty.to_string(), found };
    let address = |buffer: BufferId, offset: u64| match memory.bytes(buffer) {
        Some(bytes) if offset <= bytes.len() as u64 => Ok(Memory::address(buffer).wrapping_add(offset)),
        Some(bytes) => Err(misfit(format!("offset {offset} in a buffer of {} bytes", bytes.len()))),
        None => Err(misfit(format!("buffer {} of another memory", buffer.index()))),
    };
    match (arg, ty) {
        (Arg::Int(value), Type::Int(..) | Type::Index) => {
            let bits = int_width(ty)?;
            let fits = (-(1i128 << (bits - 1))..1i128 << bits).contains(&i128::from(*value));
            match fits {
                true => Ok(Data::Int(vec![wrap(*value as u64, bits)]).into()),
                false => Err(misfit(value.to_string())),
            }
        }
        (Arg::Float(value), Type::Float(_)) => {
            Ok(Data::Float(vec![float::round(float_kind(ty)?, *value)]).into())
        }
        (Arg::Ptr { buffer, offset }, Type::Ptr { .. }) => {
            Ok(Data::Int(vec![address(*buffer, *offset)?]).into())
        }
        (Arg::Desc { buffer, offset, shape, strides, padding }, Type::TensorDesc { shape: block, elem }) => {
            if shape.len() != block.len() || strides.len() != block.len() {
                return Err(misfit(format!("a descriptor of rank {}", shape.len())));
            }
            elem_bytes(elem)?;
            let dims = |list: &[u64]| list.iter().map(|&n| i64::try_from(n).ok()).collect::<Option<Vec<_>>>();
            let (Some(shape), Some(strides)) = (dims(shape), dims(strides)) else {
                return Err(misfit("an extent or stride beyond 2^63".into()));
            };
            let base = address(*buffer, *offset)?;
            let descriptor = Descriptor { base, shape, strides, elem: (**elem).clone(), padding: *padding };
            Ok(Value::Desc(descriptor.into()))
        }
        (Arg::Int(value), _) => Err(misfit(format!("the integer {value}"))),
        (Arg::Float(value), _) => Err(misfit(format!("the float {value}"))),
        (Arg::Ptr { .. }, _) => Err(misfit("a pointer".into())),
        (Arg::Desc { .. }, _) => Err(misfit("a descriptor".into())),
    }
}
