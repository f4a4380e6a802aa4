//! Arrays in files: NumPy's `.npy` (versions 1 to 3, little endian, C order), or raw bytes under any other name.

use std::path::Path;

use warploom_ir::diag::Report;
use warploom_ir::interp::Tensor;
use warploom_ir::{FloatKind, Signedness, Type};

use crate::io::{Failure, Input, Io};

const MAGIC: &[u8] = b"\x93NUMPY";

fn refused(path: &Path, why: impl std::fmt::Display) -> Failure {
    Failure::refused(&[Report::error("npy", why.to_string())], &Input::named(path.display().to_string()))
}

/// The value of `'key':` in the header, up to a comma outside of parentheses or the end.
fn field<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = header.find(&format!("'{key}'"))? + key.len() + 2;
    let rest = header.get(at..)?.trim_start().strip_prefix(':')?.trim_start();
    let end = if rest.starts_with('(') { rest.find(')')? + 1 } else { rest.find([',', '}'])? };
    rest.get(..end).map(str::trim)
}

/// One element of a file as a number.
type Reader = fn(&[u8]) -> f64;

/// Element size and reader of a NumPy type such as `<f4`.
fn reader(descr: &str) -> Option<(usize, Reader)> {
    fn bits(b: &[u8]) -> u64 {
        b.iter().rev().fold(0, |v, x| v << 8 | u64::from(*x))
    }
    fn signed(b: &[u8]) -> f64 {
        let shift = 64 - 8 * b.len() as u32;
        ((bits(b) << shift) as i64 >> shift) as f64
    }
    let unsigned: fn(&[u8]) -> f64 = |b| bits(b) as f64;
    Some(match descr.trim_matches('\'').trim_start_matches(['<', '|', '=']) {
        "f2" => (2, |b| warploom_ir::interp::float::decode(FloatKind::F16, bits(b))),
        "f4" => (4, |b| f64::from(f32::from_bits(bits(b) as u32))),
        "f8" => (8, |b| f64::from_bits(bits(b))),
        "i1" => (1, signed),
        "i2" => (2, signed),
        "i4" => (4, signed),
        "i8" => (8, signed),
        "u1" | "b1" => (1, unsigned),
        "u2" => (2, unsigned),
        "u4" => (4, unsigned),
        "u8" => (8, unsigned),
        _ => return None,
    })
}

/// The NumPy type of an element type; formats that NumPy lacks are stored as integers of their bits.
fn descr(elem: &Type) -> &'static str {
    match elem {
        Type::Float(FloatKind::F64) => "<f8",
        Type::Float(FloatKind::F32) => "<f4",
        Type::Float(FloatKind::F16) => "<f2",
        Type::Float(FloatKind::BF16) => "<u2",
        Type::Int(64, Signedness::Unsigned) => "<u8",
        Type::Int(64, _) => "<i8",
        Type::Int(32, Signedness::Unsigned) => "<u4",
        Type::Int(32, _) => "<i4",
        Type::Int(16, Signedness::Unsigned) => "<u2",
        Type::Int(16, _) => "<i2",
        Type::Int(_, Signedness::Unsigned) | Type::Float(_) => "|u1",
        _ => "|i1",
    }
}

/// The tensor with the contents of a file: `.npy` of the same type bit by bit, of another type by value.
pub fn load(io: &Io, path: &Path, tensor: &Tensor) -> Result<Tensor, Failure> {
    let (_, bytes) = io.read_bytes(path)?;
    if !bytes.starts_with(MAGIC) {
        let (have, want) = (bytes.len(), tensor.bytes().len());
        return tensor.with_bytes(bytes).ok_or_else(|| {
            refused(path, format!("{have} bytes of raw data where the shape and type ask for {want}"))
        });
    }
    let damaged = || refused(path, "a damaged .npy header");
    let wide = bytes.get(6).is_some_and(|v| *v >= 2);
    let length = bytes.get(8..if wide { 12 } else { 10 }).ok_or_else(damaged)?;
    let start = 8 + length.len();
    let length = length.iter().rev().fold(0_usize, |v, b| v << 8 | usize::from(*b));
    let header = start.checked_add(length).and_then(|end| bytes.get(start..end)).ok_or_else(damaged)?;
    let header = String::from_utf8_lossy(header);
    let data = bytes.get(start + length..).unwrap_or_default();
    let found = field(&header, "descr").ok_or_else(damaged)?;
    if field(&header, "fortran_order") == Some("True") {
        return Err(refused(path, "Fortran order: store it with numpy.ascontiguousarray"));
    }
    let shape: Vec<u64> = field(&header, "shape")
        .ok_or_else(damaged)?
        .trim_matches(['(', ')'])
        .split(',')
        .filter_map(|n| n.trim().parse().ok())
        .collect();
    if shape.iter().try_fold(1_u64, |p, n| p.checked_mul(*n)) != Some(tensor.len() as u64) {
        return Err(refused(path, format!("shape {shape:?} where {:?} is asked for", tensor.shape())));
    }
    let same = found.trim_matches('\'') == descr(tensor.elem());
    if same || (found.contains('V') && data.len() == tensor.bytes().len()) {
        return tensor.with_bytes(data.to_vec()).ok_or_else(damaged);
    }
    let (size, read) =
        reader(found).ok_or_else(|| refused(path, format!("elements of type {found} are not read")))?;
    let values: Vec<f64> = data.chunks_exact(size).map(read).collect();
    if values.len() != tensor.len() {
        return Err(damaged());
    }
    let mut tensor = tensor.clone();
    tensor.fill(|i| values.get(i).copied().unwrap_or(0.0));
    Ok(tensor)
}

/// Writes a tensor: `.npy` by its name, raw bytes under any other.
pub fn save(io: &Io, path: &Path, tensor: &Tensor) -> Result<(), Failure> {
    if path.extension().is_none_or(|e| e != "npy") {
        return io.write(Some(path), tensor.bytes());
    }
    let shape: String = tensor.shape().iter().map(|n| format!("{n},")).collect();
    let mut header =
        format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({shape}), }}", descr(tensor.elem()));
    // Data begin at a multiple of 64 bytes, behind a newline.
    let padding = 64 - (10 + header.len() + 1) % 64;
    header += &" ".repeat(padding);
    header.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(tensor.bytes());
    io.write(Some(path), &bytes)
}
