//! Floating-point constants: bit patterns of every format, and their decimal text as MLIR prints it.

use half::{bf16, f16};

use crate::types::FloatKind;

impl FloatKind {
    /// The bit pattern of a number, rounded to nearest even. Overflow gives infinity, and NaN for
    /// `f8E4M3FN`, which has no infinity.
    pub fn encode(self, x: f64) -> u64 {
        match self {
            FloatKind::F64 => x.to_bits(),
            FloatKind::F32 => u64::from((x as f32).to_bits()),
            FloatKind::F16 => u64::from(f16::from_f64(x).to_bits()),
            FloatKind::BF16 => u64::from(bf16::from_f64(x).to_bits()),
            FloatKind::F8E4M3FN => encode8(x, 3, 7, 0x7F, 0x7F),
            FloatKind::F8E5M2 => encode8(x, 2, 15, 0x7C, 0x7E),
        }
    }

    /// The number that a bit pattern stands for; every format fits into `f64` exactly.
    pub fn decode(self, bits: u64) -> f64 {
        match self {
            FloatKind::F64 => f64::from_bits(bits),
            FloatKind::F32 => f64::from(f32::from_bits(bits as u32)),
            FloatKind::F16 => f16::from_bits(bits as u16).to_f64(),
            FloatKind::BF16 => bf16::from_bits(bits as u16).to_f64(),
            FloatKind::F8E4M3FN if bits & 0x7F == 0x7F => f64::NAN,
            FloatKind::F8E4M3FN => decode8(bits, 3, 7),
            FloatKind::F8E5M2 => match bits & 0x7F {
                0x7C if bits & 0x80 == 0 => f64::INFINITY,
                0x7C => f64::NEG_INFINITY,
                0x7D..=0x7F => f64::NAN,
                _ => decode8(bits, 2, 15),
            },
        }
    }

    /// Significant bits, the hidden one included.
    fn precision(self) -> usize {
        match self {
            FloatKind::F8E4M3FN => 4,
            FloatKind::F8E5M2 => 3,
            FloatKind::F16 => 11,
            FloatKind::BF16 => 8,
            FloatKind::F32 => 24,
            FloatKind::F64 => 53,
        }
    }

    /// The constant as MLIR writes it: six digits with an exponent where that is exact, else all digits
    /// that are needed, else the bit pattern in hexadecimal.
    pub fn text(self, bits: u64) -> String {
        let x = self.decode(bits);
        if x.is_finite() {
            let short = scientific(x);
            if self.reads(&short, bits) {
                return short;
            }
            let long = shortest(x, 2 + self.precision() * 59 / 196);
            if long.contains('.') && self.reads(&long, bits) {
                return long;
            }
        }
        format!("0x{bits:0width$X}", width = self.bits() as usize / 4)
    }

    fn reads(self, text: &str, bits: u64) -> bool {
        match self {
            FloatKind::F32 => text.parse::<f32>().is_ok_and(|x| u64::from(x.to_bits()) == bits),
            _ => text.parse::<f64>().is_ok_and(|x| self.encode(x) == bits),
        }
    }
}

fn encode8(x: f64, mantissa: i32, bias: i32, overflow: u64, nan: u64) -> u64 {
    let sign = if x.is_sign_negative() { 0x80 } else { 0 };
    if x.is_nan() {
        return sign | nan;
    }
    let abs = x.abs();
    if abs >= 1.0e6 {
        return sign | overflow;
    }
    // The exponent of x, but not below that of the smallest normal number.
    let exponent = ((abs.to_bits() >> 52) as i32 - 1023).max(1 - bias);
    let steps = (abs * 2f64.powi(mantissa - exponent)).round_ties_even() as u64;
    let code = (((exponent + bias - 1) as u64) << mantissa) + steps;
    sign | code.min(overflow)
}

fn decode8(bits: u64, mantissa: i32, bias: i32) -> f64 {
    let sign = if bits & 0x80 != 0 { -1.0 } else { 1.0 };
    let exponent = ((bits & 0x7F) >> mantissa) as i32;
    let fraction = (bits & ((1 << mantissa) - 1)) as f64;
    let hidden = if exponent == 0 { 0.0 } else { 2f64.powi(mantissa) };
    sign * (hidden + fraction) * 2f64.powi(exponent.max(1) - bias - mantissa)
}

/// Decimal digits of a finite number, the first one before the point, and its exponent. At most `limit`
/// digits, rounded half up as LLVM does, without trailing zeros; `0` is one digit.
fn digits(x: f64, limit: usize) -> (Vec<u8>, i32) {
    // 766 digits behind the first write any f64 exactly.
    let text = format!("{:.770e}", x.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mut exponent: i32 = exponent.parse().unwrap_or(0);
    let mut out: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
    if out.len() > limit {
        let up = out.get(limit).is_some_and(|&d| d >= 5);
        out.truncate(limit);
        if up {
            match out.iter().rposition(|&d| d != 9) {
                Some(at) => {
                    out.truncate(at + 1);
                    if let Some(last) = out.last_mut() {
                        *last += 1;
                    }
                }
                None => {
                    out = vec![1];
                    exponent += 1;
                }
            }
        }
    }
    while out.len() > 1 && out.last() == Some(&0) {
        out.pop();
    }
    (out, exponent)
}

fn push_digits(out: &mut String, digits: &[u8]) {
    out.extend(digits.iter().map(|&d| char::from(b'0' + d)));
}

/// `-1.500000e+00`: six digits, at least two of the exponent.
fn scientific(x: f64) -> String {
    let (digits, exponent) = digits(x, 6);
    let mut out = String::from(if x.is_sign_negative() { "-" } else { "" });
    push_digits(&mut out, &digits[..1]);
    out.push('.');
    push_digits(&mut out, &digits[1..]);
    out.extend(std::iter::repeat_n('0', 7 - digits.len()));
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{out}e{sign}{:02}", exponent.unsigned_abs())
}

/// As many digits as tell the number from its neighbours, in plain notation near 1.
fn shortest(x: f64, limit: usize) -> String {
    let (digits, exponent) = digits(x, limit);
    let mut out = String::from(if x.is_sign_negative() { "-" } else { "" });
    // The power of ten of the last digit.
    let last = exponent - (digits.len() as i32 - 1);
    let plain = if last >= 0 {
        last <= 3 && digits.len() as i32 + last <= limit as i32
    } else {
        exponent >= 0 || -exponent <= 3
    };
    if !plain {
        push_digits(&mut out, &digits[..1]);
        out.push('.');
        match digits.len() {
            1 => out.push('0'),
            _ => push_digits(&mut out, &digits[1..]),
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{out}E{sign}{}", exponent.unsigned_abs());
    }
    if exponent < 0 {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', (-exponent - 1) as usize));
        push_digits(&mut out, &digits);
    } else if last >= 0 {
        push_digits(&mut out, &digits);
        out.extend(std::iter::repeat_n('0', last as usize));
    } else {
        let whole = exponent as usize + 1;
        push_digits(&mut out, &digits[..whole]);
        out.push('.');
        push_digits(&mut out, &digits[whole..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_that_of_mlir() {
        // Written by Triton 3.9.0 (LLVM's APFloat) for these constants.
        let table = [
            (FloatKind::F32, 0.0, "0.000000e+00"),
            (FloatKind::F64, -0.0, "-0.000000e+00"),
            (FloatKind::F32, 0.1, "1.000000e-01"),
            (FloatKind::F32, 16777217.0, "0x4B800000"),
            (FloatKind::BF16, 1.015625, "1.015630e+00"),
            (FloatKind::F8E4M3FN, 0.3, "3.125000e-01"),
            (FloatKind::F32, 1.0e30, "1.000000e+30"),
            (FloatKind::F32, 1.17549435E-38, "1.17549435E-38"),
            (FloatKind::F64, std::f64::consts::PI, "3.1415926535897931"),
            (FloatKind::F64, 123456.7, "123456.7"),
            (FloatKind::F16, 65504.0, "6.550400e+04"),
            (FloatKind::F16, 1.0e-7, "1.192090e-07"),
            (FloatKind::F32, 0.693147182, "0.693147182"),
            (FloatKind::F32, f64::NEG_INFINITY, "0xFF800000"),
            (FloatKind::BF16, f64::NEG_INFINITY, "0xFF80"),
        ];
        for (kind, x, text) in table {
            assert_eq!(kind.text(kind.encode(x)), text, "{x} as {kind:?}");
        }
    }

    #[test]
    fn eight_and_sixteen_bit_patterns_survive_encode_and_text() {
        for kind in [FloatKind::F8E4M3FN, FloatKind::F8E5M2, FloatKind::F16, FloatKind::BF16] {
            for bits in 0..1u64 << kind.bits() {
                let x = kind.decode(bits);
                if x.is_nan() {
                    assert!(kind.decode(kind.encode(x)).is_nan());
                    assert!(kind.text(bits).starts_with("0x"));
                } else {
                    assert_eq!(kind.encode(x), bits, "{kind:?} {bits:#x}");
                    // Ten thousand texts are enough of the 16-bit formats.
                    if kind.bits() == 8 || bits % 13 == 0 {
                        let text = kind.text(bits);
                        let back = text.parse::<f64>().map_or(bits, |x| kind.encode(x));
                        assert_eq!(back, bits, "{kind:?} {bits:#x} {text}");
                    }
                }
            }
        }
    }

    #[test]
    fn eight_bit_rounding_is_to_nearest_even_with_the_overflow_of_each_format() {
        let e4m3 = |x| FloatKind::F8E4M3FN.decode(FloatKind::F8E4M3FN.encode(x));
        let e5m2 = |x| FloatKind::F8E5M2.decode(FloatKind::F8E5M2.encode(x));
        assert_eq!(e4m3(17.0), 16.0);
        assert_eq!(e4m3(19.0), 20.0);
        assert_eq!(e4m3(464.0), 448.0);
        assert!(e4m3(465.0).is_nan());
        assert!(e4m3(f64::INFINITY).is_nan());
        assert_eq!(e4m3(2f64.powi(-10)), 0.0);
        assert_eq!(e4m3(1.5 * 2f64.powi(-9)), 2f64.powi(-8));
        assert_eq!(e5m2(61439.0), 57344.0);
        assert_eq!(e5m2(61440.0), f64::INFINITY);
        assert_eq!(e5m2(-1.0e9), f64::NEG_INFINITY);
    }
}
