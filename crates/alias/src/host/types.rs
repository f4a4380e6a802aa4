//! Types and attributes of host-level buffers in text (A55, A56).

use crate::text::types::split;

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
                Type::Other(_) if ty.is_buffer() => out.push(path),
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

/// The pairs of an `output_operand_aliases` attribute.
pub(crate) fn pairs(text: &str) -> Vec<Pair> {
    let body = text.trim().trim_start_matches('[').trim_end_matches(']');
    split(body, ',')
        .iter()
        .filter_map(|item| item.split_once('<').map(|(_, t)| t.trim_end_matches('>').to_owned()))
        .map(|item| {
            let mut pair = Pair { output: Vec::new(), operand: 0, path: Vec::new() };
            for field in split(&item, ',') {
                let Some((key, value)) = field.split_once('=') else { continue };
                let list = || {
                    let inner = value.trim().trim_start_matches('[').trim_end_matches(']');
                    inner.split(',').filter_map(|n| n.trim().parse().ok()).collect::<Vec<i64>>()
                };
                match key.trim() {
                    "output_tuple_indices" => pair.output = list(),
                    "operand_tuple_indices" => pair.path = list(),
                    "operand_index" => pair.operand = value.trim().parse().unwrap_or(-1),
                    _ => {}
                }
            }
            pair
        })
        .collect()
}

/// `[0, 1]`
pub(crate) fn path_text(path: &[i64]) -> String {
    format!("[{}]", path.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
}
