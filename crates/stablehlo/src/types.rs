//! Types and attributes of host-level buffers in text (A55, A56).

use warploom_alias::Elem;
use warploom_alias::text::split_list as split;
use warploom_ir::Attr;

/// A type as a tree: a tuple, or anything else as text without blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Tuple(Vec<Type>),
    Other(String),
}

/// Tuples may be nested this deep.
const MAX_DEPTH: usize = 64;

impl Type {
    /// Reads a type; deeper tuples than 64 stay text.
    pub(crate) fn parse(text: &str) -> Type {
        Type::at_depth(text.trim(), 0)
    }

    fn at_depth(text: &str, depth: usize) -> Type {
        match text.strip_prefix("tuple<").and_then(|t| t.strip_suffix('>')) {
            Some("") => Type::Tuple(Vec::new()),
            Some(inner) if depth < MAX_DEPTH => {
                Type::Tuple(split(inner, ',').iter().map(|t| Type::at_depth(t, depth + 1)).collect())
            }
            _ => Type::Other(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        }
    }

    /// The type as text.
    pub(crate) fn print(&self) -> String {
        match self {
            Type::Other(text) => text.clone(),
            Type::Tuple(parts) => {
                format!("tuple<{}>", parts.iter().map(Type::print).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Whether it is a buffer.
    pub(crate) fn is_buffer(&self) -> bool {
        matches!(self, Type::Other(t) if t.starts_with("memref<"))
    }

    /// Whether it is a tensor.
    pub(crate) fn is_tensor(&self) -> bool {
        matches!(self, Type::Other(t) if t.starts_with("tensor<"))
    }

    /// The part at an index path.
    pub(crate) fn part(&self, path: &[i64]) -> Option<&Type> {
        path.iter().try_fold(self, |ty, n| match ty {
            Type::Tuple(parts) => parts.get(usize::try_from(*n).ok()?),
            Type::Other(_) => None,
        })
    }

    /// Every buffer of it, with its path.
    pub(crate) fn buffers(&self) -> Vec<Vec<i64>> {
        self.paths(&Type::is_buffer)
    }

    /// Every buffer and tensor of it, with its path.
    pub(crate) fn leaves(&self) -> Vec<Vec<i64>> {
        self.paths(&|ty| ty.is_buffer() || ty.is_tensor())
    }

    fn paths(&self, wanted: &dyn Fn(&Type) -> bool) -> Vec<Vec<i64>> {
        let mut out = Vec::new();
        let mut work = vec![(self, Vec::new())];
        while let Some((ty, path)) = work.pop() {
            match ty {
                Type::Tuple(parts) => {
                    for (n, part) in parts.iter().enumerate().rev() {
                        let mut path = path.clone();
                        path.push(n as i64);
                        work.push((part, path));
                    }
                }
                Type::Other(_) if wanted(ty) => out.push(path),
                Type::Other(_) => {}
            }
        }
        out
    }

    /// Dimensions (`None` for `?`) and element type of a buffer or tensor.
    pub(crate) fn shape(&self) -> Option<(Vec<Option<u64>>, &str)> {
        let Type::Other(text) = self else { return None };
        let body =
            text.strip_prefix("memref<").or_else(|| text.strip_prefix("tensor<"))?.strip_suffix('>')?;
        let mut dims = Vec::new();
        let mut rest = body;
        while let Some((dim, after)) = rest.split_once('x') {
            match dim.trim() {
                "?" => dims.push(None),
                d if !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()) => {
                    dims.push(Some(d.parse().ok()?))
                }
                _ => break,
            }
            rest = after;
        }
        Some((dims, rest))
    }

    /// Shape compatible (`?` with anything) and of equal element type.
    pub(crate) fn compatible(&self, other: &Type) -> bool {
        match (self.shape(), other.shape()) {
            (Some((a, e)), Some((b, f))) => {
                e == f
                    && a.len() == b.len()
                    && a.iter().zip(&b).all(|(x, y)| x.is_none() || y.is_none() || x == y)
            }
            _ => false,
        }
    }
}

/// One `#stablehlo.output_operand_alias<..>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) output: Vec<i64>,
    pub(crate) operand: i64,
    pub(crate) path: Vec<i64>,
}

/// The pairs of an `output_operand_aliases` attribute; the item that is none.
pub(crate) fn pairs(items: &[Attr]) -> Result<Vec<Pair>, String> {
    let text = |item: &Attr| item.as_str().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
    items.iter().map(text).map(|item| pair(&item).ok_or(item)).collect()
}

/// `#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, operand_tuple_indices = []>`
fn pair(item: &str) -> Option<Pair> {
    let fields = item.strip_prefix("#stablehlo.output_operand_alias")?.trim_start();
    let fields = fields.strip_prefix('<')?.strip_suffix('>')?;
    let (mut output, mut operand, mut path) = (None, None, None);
    for field in split(fields, ',').iter().filter(|f| !f.is_empty()) {
        let (key, value) = field.split_once('=')?;
        let list = || {
            let inner = value.trim().strip_prefix('[')?.strip_suffix(']')?;
            let items = inner.split(',').map(str::trim).filter(|n| !n.is_empty());
            items.map(|n| n.parse().ok()).collect::<Option<Vec<i64>>>()
        };
        match key.trim() {
            "output_tuple_indices" => output = Some(list()?),
            "operand_tuple_indices" => path = Some(list()?),
            "operand_index" => operand = Some(value.split(':').next()?.trim().parse().ok()?),
            _ => return None,
        }
    }
    // An empty list of indices may be left out, as its printer does.
    Some(Pair { output: output.unwrap_or_default(), operand: operand?, path: path.unwrap_or_default() })
}

/// `[0, 1]`
pub(crate) fn path_text(path: &[i64]) -> String {
    format!("[{}]", path.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
}

/// The width of a host-level element type.
pub(crate) fn elem_of(name: &str) -> Option<Elem> {
    if let Some(inner) = name.strip_prefix("complex<").and_then(|t| t.strip_suffix('>')) {
        return Elem::from_name(inner).map(|e| Elem::int(e.bits().saturating_mul(2)));
    }
    if let Some(inner) = name.strip_prefix("!quant.uniform<") {
        return Elem::from_name(inner.split([':', '<']).next()?);
    }
    Elem::from_name(name)
}

/// Whether an element type may be in a buffer (A55).
pub(crate) fn is_elem(name: &str) -> bool {
    name != "index" && !name.starts_with("!tt.") && elem_of(name).is_some()
}

pub(crate) fn bytes_of(ty: &Type) -> Option<u64> {
    let (dims, elem) = ty.shape()?;
    let bits = u64::from(elem_of(elem)?.bits());
    let elements = dims.iter().try_fold(1u64, |p, d| p.checked_mul((*d)?))?;
    elements.checked_mul(bits).map(|b| b.div_ceil(8)).filter(|b| *b <= i64::MAX as u64)
}
