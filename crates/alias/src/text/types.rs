//! Types and encodings in text (A17, A18).

use warploom_ir::Type;

use super::part::TextPart;
use crate::error::{AliasError, Result};
use crate::types::{CtaMode, Elem, Encoding, Storage, TensorEncoding};

/// `!ttg.memdesc<2x64x64xf32, #shared, #smem, mutable, 2x64x64>`, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemDesc {
    pub(crate) dims: Vec<u64>,
    pub(crate) elem: String,
    /// Encoding, memory space, and whatever follows, as written.
    pub(crate) encoding: String,
    pub(crate) space: String,
    pub(crate) rest: Vec<String>,
}

impl MemDesc {
    /// The descriptor that a type is; `None` for others, and for those that do not read.
    pub(crate) fn of(ty: &Type) -> Option<MemDesc> {
        match ty {
            Type::Opaque(text) => MemDesc::parse(text).ok().flatten(),
            _ => None,
        }
    }

    /// Takes a type apart; `None` if it is no memory descriptor.
    ///
    /// # Errors
    /// A17 for a dimension that is not static or not a number.
    pub(crate) fn parse(ty: &str) -> Result<Option<MemDesc>> {
        let Some(body) = ty.strip_prefix("!ttg.memdesc<").and_then(|t| t.strip_suffix('>')) else {
            return Ok(None);
        };
        let mut parts = split_list(body, ',').into_iter();
        let shape = parts.next().unwrap_or_default();
        let mut dims = Vec::new();
        let mut rest = shape;
        while let Some((dim, after)) = rest.split_once('x') {
            if dim == "?" {
                return Err(AliasError::new("A17", format!("{ty} has a dynamic dimension"))
                    .help("storage needs every dimension at compile time"));
            }
            if dim.is_empty() || !dim.bytes().all(|b| b.is_ascii_digit()) {
                break;
            }
            let n = dim.parse::<u64>().ok().filter(|n| *n <= i64::MAX as u64);
            dims.push(
                n.ok_or_else(|| AliasError::new("A7", format!("dimension {dim} does not fit 64 bits")))?,
            );
            rest = after;
        }
        let mut text = || parts.next().unwrap_or_default();
        let (encoding, space) = (text().to_owned(), text().to_owned());
        let after = parts.map(str::to_owned).collect();
        Ok(Some(MemDesc { dims, elem: rest.to_owned(), encoding, space, rest: after }))
    }

    /// The type as text.
    pub(crate) fn print(&self) -> Type {
        let dims: String = self.dims.iter().map(|d| format!("{d}x")).collect();
        let mut out = format!("!ttg.memdesc<{dims}{}, {}, {}", self.elem, self.encoding, self.space);
        for part in &self.rest {
            out.push_str(", ");
            out.push_str(part);
        }
        out.push('>');
        Type::Opaque(out)
    }

    /// The memory it lies in.
    pub(crate) fn storage(&self, part: &TextPart) -> Option<Storage> {
        match part.resolve(&self.space).as_str() {
            "#ttg.shared_memory" => Some(Storage::Smem),
            "#ttng.tensor_memory" => Some(Storage::Tmem),
            _ => None,
        }
    }
}

/// Parts of a text between separators outside of brackets, trimmed.
pub fn split_list(text: &str, by: char) -> Vec<&str> {
    let mut open = 0usize;
    let parts = text.split(|c: char| {
        match c {
            '(' | '[' | '{' | '<' => open += 1,
            ')' | ']' | '}' | '>' => open = open.saturating_sub(1),
            _ => {}
        }
        c == by && open == 0
    });
    parts.map(str::trim).collect()
}

/// `name = value` pairs inside of an attribute's angle brackets.
fn params(text: &str) -> Vec<(String, String)> {
    let inner = text.split_once('<').map_or("", |(_, t)| t.trim().trim_end_matches('>'));
    let inner = inner.trim().trim_start_matches('{').trim_end_matches('}');
    split_list(inner, ',')
        .into_iter()
        .filter_map(|p| p.split_once('=').map(|(a, b)| (a.trim().to_owned(), b.trim().to_owned())))
        .collect()
}

/// What an encoding, or the alias of one, says about size and alignment.
pub(crate) fn encoding(part: &TextPart, text: &str) -> Result<Encoding> {
    let body = part.resolve(text);
    let params = params(&body);
    let get = |name: &str| params.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
    let number = |name: &str, default: u32| match get(name) {
        None => Ok(default),
        Some(v) => v
            .split(':')
            .next()
            .unwrap_or("")
            .trim()
            .parse::<u32>()
            .map_err(|_| AliasError::new("A18", format!("{name} of {body} is not a number"))),
    };
    let name = body.split('<').next().unwrap_or("").trim();
    Ok(match name {
        "#ttg.swizzled_shared" => Encoding::Swizzled,
        "#ttg.padded_shared" => Encoding::Padded,
        "#ttg.nvmma_shared" => {
            let swizzle = number("swizzlingByteWidth", 0)?;
            if !matches!(swizzle, 0 | 32 | 64 | 128) {
                let message = format!("swizzlingByteWidth is 0, 32, 64 or 128, not {swizzle}");
                return Err(AliasError::new("A18", message));
            }
            Encoding::Nvmma { swizzle, fp4_padded: get("fp4Padded") == Some("true") }
        }
        "#ttng.tensor_memory_scales_encoding" => Encoding::TensorScales,
        "#tlx.dummy_tmem_layout" => Encoding::TensorDummy,
        "#ttng.tensor_memory_encoding" => {
            let mut e = TensorEncoding::new(number("blockM", 128)?, number("blockN", 0)?);
            e.col_stride = number("colStride", 1)?;
            e.two_ctas = get("twoCTAs") == Some("true");
            e.fp4_padded = get("fp4Padded") == Some("true");
            e.mode = match get("ctaMode") {
                Some("twocta_lhs") => CtaMode::Lhs,
                Some("twocta_rhs") => CtaMode::Rhs,
                _ => CtaMode::Default,
            };
            e.split = cga_split(get("CGALayout").unwrap_or(""));
            Encoding::Tensor(e)
        }
        _ => Encoding::Other(body.clone()),
    })
}

/// `[[1, 0], [0, 1]]`: each basis vector halves the dimension that it moves along.
fn cga_split(text: &str) -> [u32; 2] {
    let mut out = [1u32; 2];
    for vector in text.split('[').filter(|v| v.contains(|c: char| c.is_ascii_digit())) {
        let numbers = vector.split(']').next().unwrap_or("").split(',');
        for (dim, n) in out.iter_mut().zip(numbers) {
            if n.trim().parse::<u32>().is_ok_and(|n| n != 0) {
                *dim = dim.saturating_mul(2);
            }
        }
    }
    out
}

/// The element type of a descriptor.
pub(crate) fn elem(name: &str) -> Result<Elem> {
    Elem::from_name(name).ok_or_else(|| {
        AliasError::new("A17", format!("'{name}' is not an element type of a buffer"))
            .help("use an integer, a float or !tt.ptr<..>")
    })
}
