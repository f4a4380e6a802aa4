//! What a kernel prints: C's formats, with arguments packed as the ABI of `vprintf` has them (E98).

use std::iter::Peekable;
use std::str::Chars;

/// A conversion: `%-08.3lld`.
#[derive(Default)]
struct Conversion {
    left: bool,
    plus: bool,
    space: bool,
    zero: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    /// A number of 64 bits.
    long: bool,
}

/// Where arguments come from.
pub(crate) trait Arguments {
    /// The argument so many bytes behind the first, of so many bytes.
    fn number(&mut self, at: u64, bytes: u64) -> u64;
    /// The string at an address.
    fn text(&mut self, at: u64) -> String;
}

/// The next argument of so many bytes, behind those taken.
fn take(from: &mut dyn Arguments, taken: &mut u64, bytes: u64) -> u64 {
    let at = taken.next_multiple_of(bytes);
    *taken = at + bytes;
    from.number(at, bytes)
}

/// `*` or digits: a width or precision.
fn digits(rest: &mut Peekable<Chars<'_>>, from: &mut dyn Arguments, taken: &mut u64) -> usize {
    if rest.next_if_eq(&'*').is_some() {
        return (take(from, taken, 4) as u32 as i32).unsigned_abs().min(1 << 12) as usize;
    }
    let mut n = 0;
    while let Some(d) = rest.next_if(char::is_ascii_digit) {
        n = (n * 10 + d as usize - '0' as usize).min(1 << 12);
    }
    n
}

/// The text of a format, and how many arguments it took, or 2^32-1 for a conversion that there is not.
pub(crate) fn format(format: &str, from: &mut dyn Arguments) -> (String, u64) {
    let (mut out, mut taken, mut count) = (String::new(), 0_u64, 0);
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut v = Conversion::default();
        while let Some(flag) = rest.next_if(|c| "-+ 0#".contains(*c)) {
            match flag {
                '-' => v.left = true,
                '+' => v.plus = true,
                ' ' => v.space = true,
                '0' => v.zero = true,
                _ => v.alternate = true,
            }
        }
        v.width = digits(&mut rest, from, &mut taken);
        if rest.next_if_eq(&'.').is_some() {
            v.precision = Some(digits(&mut rest, from, &mut taken));
        }
        let mut longs = 0;
        while let Some(size) = rest.next_if(|c| "hljztL".contains(*c)) {
            longs += u32::from(size != 'h');
        }
        v.long = longs > 0;
        let size = if v.long { 8 } else { 4 };
        let body = match rest.next() {
            Some('%') => {
                out.push('%');
                continue;
            }
            Some('d' | 'i') => {
                let x = take(from, &mut taken, size);
                let x = if v.long { x as i64 } else { i64::from(x as u32 as i32) };
                v.signed(x < 0, v.digits(x.unsigned_abs().to_string()))
            }
            Some('u') => v.digits(take(from, &mut taken, size).to_string()),
            Some('x') => v.prefixed("0x", format!("{:x}", take(from, &mut taken, size))),
            Some('X') => v.prefixed("0X", format!("{:X}", take(from, &mut taken, size))),
            Some('o') => v.prefixed("0", format!("{:o}", take(from, &mut taken, size))),
            Some('c') => char::from(take(from, &mut taken, 4) as u8).to_string(),
            Some('p') => format!("0x{:x}", take(from, &mut taken, 8)),
            Some('s') => {
                let at = take(from, &mut taken, 8);
                let s = from.text(at);
                v.precision.map_or(s.clone(), |n| s.chars().take(n).collect())
            }
            Some(c @ ('f' | 'F' | 'e' | 'E' | 'g' | 'G')) => {
                let x = f64::from_bits(take(from, &mut taken, 8));
                v.signed(x.is_sign_negative() && !x.is_nan(), v.real(c, x.abs()))
            }
            _ => return (out, 0xffff_ffff),
        };
        count += 1;
        v.pad(&body, &mut out);
    }
    (out, count)
}

impl Conversion {
    fn digits(&self, digits: String) -> String {
        let least = self.precision.unwrap_or(1);
        format!("{}{digits}", "0".repeat(least.saturating_sub(digits.len())))
    }

    fn prefixed(&self, prefix: &str, digits: String) -> String {
        let zero = digits == "0";
        let digits = self.digits(digits);
        if self.alternate && !zero { format!("{prefix}{digits}") } else { digits }
    }

    fn signed(&self, negative: bool, digits: String) -> String {
        let sign = match (negative, self.plus, self.space) {
            (true, _, _) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        };
        format!("{sign}{digits}")
    }

    fn real(&self, kind: char, x: f64) -> String {
        let precision = self.precision.unwrap_or(6);
        let text = match kind {
            _ if x.is_nan() => "nan".to_string(),
            _ if x.is_infinite() => "inf".to_string(),
            'f' | 'F' => format!("{x:.precision$}"),
            'e' | 'E' => exponent(x, precision),
            _ => self.general(x, precision.max(1)),
        };
        if kind.is_ascii_uppercase() { text.to_uppercase() } else { text }
    }

    /// `%g`: the shorter of the two, without zeros at the end.
    fn general(&self, x: f64, precision: usize) -> String {
        let written = exponent(x, precision - 1);
        let power: i32 = written.split_once('e').and_then(|(_, p)| p.parse().ok()).unwrap_or(0);
        let fixed = power >= -4 && power < precision as i32;
        let text = if fixed {
            let places = (precision as i32 - 1 - power).max(0) as usize;
            format!("{x:.places$}")
        } else {
            written
        };
        if self.alternate {
            return text;
        }
        let (digits, power) =
            text.split_once('e').map_or((text.as_str(), String::new()), |(d, p)| (d, format!("e{p}")));
        let digits =
            if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
        format!("{digits}{power}")
    }

    fn pad(&self, body: &str, out: &mut String) {
        let missing = self.width.saturating_sub(body.chars().count());
        let number = body.trim_start_matches(['-', '+', ' ']);
        if self.left {
            out.push_str(body);
            out.push_str(&" ".repeat(missing));
        } else if self.zero && number.starts_with(|c: char| c.is_ascii_digit()) {
            out.push_str(body.strip_suffix(number).unwrap_or(""));
            out.push_str(&"0".repeat(missing));
            out.push_str(number);
        } else {
            out.push_str(&" ".repeat(missing));
            out.push_str(body);
        }
    }
}

/// C writes at least two digits of an exponent, and its sign.
fn exponent(x: f64, precision: usize) -> String {
    let text = format!("{x:.precision$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, power) = power.strip_prefix('-').map_or(('+', power), |p| ('-', p));
    format!("{digits}e{sign}{power:0>2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Listed<'a>(std::slice::Iter<'a, (u64, u64)>);

    impl Arguments for Listed<'_> {
        fn number(&mut self, _: u64, bytes: u64) -> u64 {
            let (value, size) = self.0.next().copied().unwrap_or((0, bytes));
            assert_eq!(size, bytes);
            value
        }

        fn text(&mut self, _: u64) -> String {
            "text".to_string()
        }
    }

    /// Format, arguments with their bytes, text.
    type Case<'a> = (&'a str, &'a [(u64, u64)], &'a str);

    /// Expected texts are those of C's printf.
    #[test]
    fn formats_as_c_does() {
        let half = 0.5_f64.to_bits();
        let cases: &[Case<'_>] = &[
            ("x=%d y=%u\n", &[(0xffff_fffb, 4), (7, 4)], "x=-5 y=7\n"),
            (
                "%lld|%5d|%-5d|%05d",
                &[(u64::MAX, 8), (42, 4), (42, 4), (0xffff_ffd6, 4)],
                "-1|   42|42   |-0042",
            ),
            ("%x %#X %o %c%%", &[(255, 4), (255, 4), (8, 4), (65, 4)], "ff 0XFF 10 A%"),
            (
                "%f %.2f %e",
                &[(half, 8), (2.675_f64.to_bits(), 8), (12345.678_f64.to_bits(), 8)],
                "0.500000 2.67 1.234568e+04",
            ),
            ("%g %g %g", &[(half, 8), (1e-10_f64.to_bits(), 8), (1e20_f64.to_bits(), 8)], "0.5 1e-10 1e+20"),
            ("%+d % d %*d", &[(1, 4), (1, 4), (4, 4), (9, 4)], "+1  1    9"),
            ("%.3d %p %s", &[(7, 4), (0x10, 8), (1, 8)], "007 0x10 text"),
        ];
        for (form, values, want) in cases {
            let (got, _) = format(form, &mut Listed(values.iter()));
            assert_eq!(got, *want, "{form}");
        }
        assert_eq!(format("%q", &mut Listed([].iter())).1, 0xffff_ffff);
    }
}
