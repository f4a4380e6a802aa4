//! What `--arg` and `--buffer` say: buffers with shape, type and contents, tensor maps, numbers.

use std::path::PathBuf;
use std::str::FromStr;

use warploom_emulator::{Arg, Device, ElemType, EmulatorRefusal, Param, TensorMap, TiledMap};
use warploom_ir::diag::Report;
use warploom_ir::interp::Tensor;
use warploom_ir::interp::float::{Rounding, cast_overflow, encode};

use warploom_ir::{FloatKind, Signedness, Type};

use super::npy;
use super::texture::Sampled;
use crate::command::machine;
use crate::io::{Failure, Input, Io};

/// The largest buffer, in bytes.
const LARGEST: u64 = 4 << 30;

/// An argument as it is written.
#[derive(Clone, Debug)]
pub enum Spec {
    /// A new buffer and its address.
    New(Buffer),
    /// The address of a buffer that another flag describes, and an offset in bytes.
    Pointer(String, u64),
    /// A tensor map of a buffer.
    Map { name: String, box_dims: Vec<u32>, swizzle: u32, nan: bool },
    /// The handle of a texture or surface object.
    Texture(Sampled),
    /// A number.
    Number(Arg),
}

/// A buffer: `NAME:TYPE:SHAPE[:FILL]`.
#[derive(Clone, Debug)]
pub struct Buffer {
    name: String,
    elem: Type,
    shape: Vec<u64>,
    fill: Fill,
}

#[derive(Clone, Debug)]
enum Fill {
    Random,
    Zero,
    Iota,
    File(PathBuf),
}

/// An element type by name.
fn elem(name: &str) -> Option<Type> {
    use Signedness::{Signed, Unsigned};
    Some(match name {
        "f64" | "fp64" => Type::Float(FloatKind::F64),
        "f32" | "fp32" | "tf32" => Type::Float(FloatKind::F32),
        "f16" | "fp16" => Type::Float(FloatKind::F16),
        "bf16" => Type::Float(FloatKind::BF16),
        "e4m3" | "fp8e4nv" => Type::Float(FloatKind::F8E4M3FN),
        "e5m2" | "fp8e5" => Type::Float(FloatKind::F8E5M2),
        "i8" | "s8" => Type::Int(8, Signed),
        "i16" | "s16" => Type::Int(16, Signed),
        "i32" | "s32" => Type::Int(32, Signed),
        "i64" | "s64" => Type::Int(64, Signed),
        "u8" | "b8" => Type::Int(8, Unsigned),
        "u16" | "b16" => Type::Int(16, Unsigned),
        "u32" | "b32" => Type::Int(32, Unsigned),
        "u64" | "b64" => Type::Int(64, Unsigned),
        _ => return None,
    })
}

const TYPES: &str = "f64 f32 f16 bf16 e4m3 e5m2 i8 i16 i32 i64 u8 u16 u32 u64";

fn extents<T: FromStr>(text: &str) -> Result<Vec<T>, String> {
    text.split('x').map(|n| n.parse().map_err(|_| format!("`{n}` is no extent"))).collect()
}

impl FromStr for Buffer {
    type Err = String;

    fn from_str(text: &str) -> Result<Buffer, String> {
        let mut parts = text.splitn(4, ':');
        let mut next =
            |what| parts.next().ok_or_else(|| format!("{what} is missing in NAME:TYPE:SHAPE[:FILL]"));
        let (name, ty, shape) = (next("the name")?, next("the type")?, next("the shape")?);
        let fill = match parts.next().unwrap_or("zero") {
            "rand" => Fill::Random,
            "zero" => Fill::Zero,
            "iota" => Fill::Iota,
            file => Fill::File(file.into()),
        };
        let elem = elem(ty).ok_or_else(|| format!("`{ty}` is no element type: use one of {TYPES}"))?;
        let shape: Vec<u64> = extents(shape)?;
        let size = u64::from(elem.elem_bits().unwrap_or(8)) / 8;
        let bytes = shape.iter().try_fold(size, |p, n| p.checked_mul(*n)).unwrap_or(u64::MAX);
        if bytes == 0 || bytes > LARGEST {
            return Err(format!("{name} would have {bytes} bytes: between 1 and 4 GiB are possible"));
        }
        Ok(Buffer { name: name.to_owned(), elem, shape, fill })
    }
}

fn number(kind: &str, text: &str) -> Option<Result<Arg, String>> {
    fn parse<T: FromStr>(kind: &str, text: &str) -> Result<T, String> {
        text.parse().map_err(|_| format!("`{text}` is no {kind}"))
    }
    let short = |k: FloatKind| {
        parse::<f64>(kind, text)
            .map(|v| Arg::U16(encode(k, v, Rounding::NearestEven, cast_overflow(k)) as u16))
    };
    Some(match kind {
        "i8" => parse::<i8>(kind, text).map(|v| Arg::U8(v as u8)),
        "u8" => parse(kind, text).map(Arg::U8),
        "i16" => parse::<i16>(kind, text).map(|v| Arg::U16(v as u16)),
        "u16" => parse(kind, text).map(Arg::U16),
        "i32" => parse(kind, text).map(Arg::I32),
        "u32" => parse(kind, text).map(Arg::U32),
        "i64" => parse(kind, text).map(Arg::I64),
        "u64" => parse(kind, text).map(Arg::U64),
        "f16" => short(FloatKind::F16),
        "bf16" => short(FloatKind::BF16),
        "f32" => parse(kind, text).map(Arg::F32),
        "f64" => parse(kind, text).map(Arg::F64),
        _ => return None,
    })
}

fn map(text: &str) -> Result<Spec, String> {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default().to_owned();
    let (mut box_dims, mut swizzle, mut nan) = (Vec::new(), 0, false);
    for part in parts {
        match part.split_once('=') {
            Some(("box", list)) => box_dims = extents(list)?,
            Some(("swizzle", n)) => swizzle = n.parse().map_err(|_| format!("`{n}` is no swizzle"))?,
            Some(("fill", "nan")) => nan = true,
            Some(("fill", "zero")) => nan = false,
            _ => return Err(format!("`{part}` is none of box=64x128, swizzle=128, fill=nan")),
        }
    }
    if box_dims.is_empty() {
        return Err("a tensor map needs its box: tmap:NAME:box=64x128:swizzle=128".into());
    }
    Ok(Spec::Map { name, box_dims, swizzle, nan })
}

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Spec, String> {
        let (kind, rest) = text.split_once(':').ok_or_else(|| {
            format!(
                "`{text}` is none of ptr:NAME:bf16:512x512:rand, tmap:NAME:box=64x128:swizzle=128, i32:512"
            )
        })?;
        match kind {
            "tmap" => map(rest),
            "tex" => rest.parse().map(Spec::Texture),
            "ptr" if !rest.contains(':') => {
                let (name, offset) = rest.split_once('+').unwrap_or((rest, "0"));
                let offset = offset.parse().map_err(|_| format!("`{offset}` is no offset in bytes"))?;
                Ok(Spec::Pointer(name.to_owned(), offset))
            }
            "ptr" => rest.parse().map(Spec::New),
            _ => match number(kind, rest) {
                Some(arg) => arg.map(Spec::Number),
                None => {
                    Err(format!("`{kind}` is none of ptr, tmap, tex, i8..i64, u8..u64, f16, bf16, f32, f64"))
                }
            },
        }
    }
}

/// A buffer of the device with its name, shape and type.
pub struct Named {
    /// As the flag says.
    pub name: String,
    /// Where it lies.
    pub address: u64,
    /// Shape, type and first contents.
    pub tensor: Tensor,
}

fn contents(io: &Io, buffer: &Buffer, seed: u64) -> Result<Tensor, Failure> {
    let refused = |why: String| Failure::plain(Report::error("arg", format!("{}: {why}", buffer.name)));
    let mut tensor =
        Tensor::zeros(buffer.elem.clone(), &buffer.shape).map_err(|fault| refused(fault.to_string()))?;
    match &buffer.fill {
        Fill::Zero => {}
        Fill::Iota => tensor.fill(|i| i as f64),
        Fill::File(path) => return npy::load(io, path, &tensor),
        Fill::Random => match buffer.elem {
            Type::Int(_, Signedness::Unsigned) => tensor.fill_random(seed, 0.0, 100.0),
            Type::Int(..) => tensor.fill_random(seed, -100.0, 100.0),
            _ => tensor.fill_random(seed, -1.0, 1.0),
        },
    }
    Ok(tensor)
}

/// Makes the buffers of a launch; the seed and the place of a buffer decide its random contents.
pub fn buffers(
    io: &Io,
    device: &mut Device,
    declared: &[Buffer],
    args: &[Spec],
    seed: u64,
) -> Result<Vec<Named>, Failure> {
    let mut out: Vec<Named> = Vec::new();
    let new = args.iter().filter_map(|a| if let Spec::New(b) = a { Some(b) } else { None });
    for (i, buffer) in declared.iter().chain(new).enumerate() {
        if out.iter().any(|n| n.name == buffer.name) {
            let report = Report::error("usage", format!("two buffers are called {}", buffer.name));
            return Err(Failure::usage(report.note("instead", "a name of its own for each")));
        }
        let tensor = contents(io, buffer, seed.wrapping_mul(1009).wrapping_add(i as u64))?;
        let address =
            device.alloc_from(tensor.bytes(), &buffer.name).map_err(|e| unheld(&e, &buffer.name))?;
        out.push(Named { name: buffer.name.clone(), address, tensor });
    }
    Ok(out)
}

/// The buffer of a name.
pub fn find<'a>(buffers: &'a [Named], name: &str) -> Result<&'a Named, Failure> {
    buffers.iter().find(|b| b.name == name).ok_or_else(|| {
        let known: Vec<&str> = buffers.iter().map(|b| b.name.as_str()).collect();
        let report = Report::error("usage", format!("no buffer is called {name}"));
        let remedy = match known.is_empty() {
            true => "describe it: --buffer NAME:TYPE:SHAPE".to_owned(),
            false => format!("one of these: {}", known.join(", ")),
        };
        Failure::usage(report.note("instead", remedy))
    })
}

fn tensor_map(buffer: &Named, box_dims: &[u32], swizzle: u32, nan_fill: bool) -> Result<TensorMap, Failure> {
    let elem = match buffer.tensor.elem() {
        Type::Float(FloatKind::F64) => ElemType::F64,
        Type::Float(FloatKind::F32) => ElemType::F32,
        Type::Float(FloatKind::F16) => ElemType::F16,
        Type::Float(FloatKind::BF16) => ElemType::BF16,
        Type::Int(64, Signedness::Unsigned) => ElemType::U64,
        Type::Int(64, _) => ElemType::S64,
        Type::Int(32, Signedness::Unsigned) => ElemType::U32,
        Type::Int(32, _) => ElemType::S32,
        Type::Int(16, _) => ElemType::U16,
        _ => ElemType::U8,
    };
    let innermost_first = |list: &[u64]| list.iter().rev().copied().collect::<Vec<u64>>();
    let outer = buffer.tensor.strides().split_last().map_or(&[][..], |(_, outer)| outer);
    TensorMap::tiled(&TiledMap {
        elem,
        addr: buffer.address,
        dims: innermost_first(buffer.tensor.shape()),
        strides: innermost_first(outer).iter().map(|s| s * elem.bytes()).collect(),
        box_dims: box_dims.to_vec(),
        elem_strides: Vec::new(),
        swizzle,
        nan_fill,
    })
    .map_err(|e| unheld(&e, &buffer.name))
}

/// A buffer, or a tensor map of it, that the machine does not hold.
pub fn unheld(refusal: &EmulatorRefusal, buffer: &str) -> Failure {
    let mut reports = machine::reports(refusal, "");
    reports.iter_mut().for_each(|r| r.notes.insert(0, ("buffer".to_owned(), buffer.to_owned())));
    Failure::refused(&reports, &Input::default())
}

/// The arguments of a launch. A map goes by value into a parameter of 128 bytes, and into memory behind a pointer.
pub fn arguments(
    device: &mut Device,
    buffers: &[Named],
    args: &[Spec],
    params: &[Param],
) -> Result<Vec<Arg>, Failure> {
    let mut out = Vec::new();
    for (i, spec) in args.iter().enumerate() {
        out.push(match spec {
            Spec::Number(arg) => arg.clone(),
            Spec::Texture(t) => {
                let buffer = find(buffers, &t.name)?;
                let texture = t.object(buffer.address, &buffer.tensor)?;
                Arg::U64(device.texture(&texture).map_err(|e| unheld(&e, &t.name))?)
            }
            Spec::New(buffer) => Arg::Ptr(find(buffers, &buffer.name)?.address),
            Spec::Pointer(name, offset) => Arg::Ptr(find(buffers, name)?.address.wrapping_add(*offset)),
            Spec::Map { name, box_dims, swizzle, nan } => {
                let map = tensor_map(find(buffers, name)?, box_dims, *swizzle, *nan)?;
                if params.get(i).is_some_and(|p| p.size == 8) {
                    let named = format!("tensor map of {name}");
                    let placed = device.alloc_from(map.bytes(), &named);
                    Arg::Ptr(placed.map_err(|e| unheld(&e, name))?)
                } else {
                    (&map).into()
                }
            }
        });
    }
    Ok(out)
}
