//! Widths of element types.

/// Bits of an element type by name, or `None` if the name is not one.
///
/// Understands the plain names (`f16`, `bf16`, `tf32`, `i8`, `u4`, `s32`, `b1`), MLIR's small
/// floats (`f8E4M3FN`, `f6E3M2FN`, `f4E2M1FN`) and PTX's (`e4m3`, `e3m2`, `e2m1`). tf32 occupies
/// 32 bits in memory.
pub fn element_bits(name: &str) -> Option<u64> {
    match name {
        "e4m3" | "e5m2" | "ue8m0" => return Some(8),
        "e2m3" | "e3m2" => return Some(6),
        "e2m1" => return Some(4),
        "tf32" | "index" => return Some(if name == "tf32" { 32 } else { 64 }),
        _ => {}
    }
    let digits_at = name.find(|c: char| c.is_ascii_digit())?;
    let (prefix, rest) = name.split_at(digits_at);
    let digits_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, suffix) = rest.split_at(digits_end);
    let bits: u64 = digits.parse().ok()?;
    let known = match (prefix, suffix.is_empty()) {
        ("f" | "fp", true) => matches!(bits, 4 | 6 | 8 | 16 | 32 | 64),
        ("bf", true) => bits == 16,
        ("i" | "s" | "u" | "si" | "ui" | "int" | "uint", true) => {
            matches!(bits, 1 | 2 | 4 | 8 | 16 | 32 | 64)
        }
        ("b", true) => matches!(bits, 1 | 4 | 8 | 16 | 32 | 64 | 128),
        ("f", false) => matches!(bits, 4 | 6 | 8) && suffix.starts_with('E'),
        _ => false,
    };
    known.then_some(bits)
}

#[cfg(test)]
mod tests {
    use super::element_bits;

    #[test]
    fn widths() {
        for (name, bits) in [
            ("f16", 16),
            ("bf16", 16),
            ("tf32", 32),
            ("f8E4M3FN", 8),
            ("f4E2M1FN", 4),
            ("e3m2", 6),
            ("i1", 1),
            ("u8", 8),
            ("fp4", 4),
        ] {
            assert_eq!(element_bits(name), Some(bits), "{name}");
        }
        for name in ["", "f", "f17", "bf8", "x16", "16", "f16E", "f99999999999999999999999"] {
            assert_eq!(element_bits(name), None, "{name}");
        }
    }
}
