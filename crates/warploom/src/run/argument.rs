//! The arguments of a launch, as users write them.

use std::fmt;
use std::str::FromStr;

/// What a user passes for one argument of a kernel, in order; shapes and strides of descriptors are added (C10).
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum ArgSpec {
    /// A tensor of this shape behind a descriptor, filled at random; integers of more than 16 bits, which may be places, with
    /// zeros.
    Tensor(Vec<u64>),
    /// A buffer of so many elements behind a pointer, filled in the same way.
    Buffer(u64),
    /// A buffer of these integers behind a pointer.
    Values(Vec<i64>),
    /// A tensor behind a descriptor, or a buffer behind a pointer, whose elements have these bits again and again.
    Bits(Vec<u64>, Vec<i64>),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
}

impl FromStr for ArgSpec {
    type Err = String;

    /// `300x512` is a tensor, `512x` one of one dimension, `[1024]` a buffer, each with `=1,2,3` of elements with these bits again
    /// and again, `0,70,270` a buffer of these integers (`70,` of one), anything else a number.
    fn from_str(text: &str) -> Result<ArgSpec, String> {
        let integer = |t: &str| t.parse::<i64>().map_err(|_| format!("`{t}` is no integer"));
        if let Some((place, bits)) = text.split_once('=') {
            let bits = bits.split(',').map(integer).collect::<Result<_, _>>()?;
            return match place.parse()? {
                ArgSpec::Tensor(extents) => Ok(ArgSpec::Bits(extents, bits)),
                ArgSpec::Buffer(count) => Ok(ArgSpec::Bits(vec![count], bits)),
                _ => Err(format!("`{place}` is none of 300x512, [1024]")),
            };
        }
        let extent = |t: &str| t.parse::<u64>().map_err(|_| format!("`{t}` is no extent"));
        if let Some(count) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            return Ok(ArgSpec::Buffer(extent(count)?));
        }
        if text.contains('x') {
            let extents = text.strip_suffix('x').unwrap_or(text);
            return extents.split('x').map(extent).collect::<Result<_, _>>().map(ArgSpec::Tensor);
        }
        if text.contains(',') {
            let values = text.strip_suffix(',').unwrap_or(text);
            return values.split(',').map(integer).collect::<Result<_, _>>().map(ArgSpec::Values);
        }
        if let Ok(value) = text.parse() {
            return Ok(ArgSpec::Int(value));
        }
        let number =
            text.parse().map_err(|_| format!("`{text}` is none of 300x512, [1024], 0,70,270, 512, 0.5"))?;
        Ok(ArgSpec::Float(number))
    }
}

impl fmt::Display for ArgSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgSpec::Tensor(_) => f.write_str("a tensor"),
            ArgSpec::Buffer(_) => f.write_str("a buffer"),
            ArgSpec::Values(_) => f.write_str("a buffer of integers"),
            ArgSpec::Bits(..) => f.write_str("a tensor or buffer of given bits"),
            ArgSpec::Int(value) => write!(f, "the number {value}"),
            ArgSpec::Float(value) => write!(f, "the number {value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ArgSpec;

    #[test]
    fn arguments_are_read_as_users_write_them() {
        let read = |text: &str| text.parse::<ArgSpec>();
        assert_eq!(read("300x512"), Ok(ArgSpec::Tensor(vec![300, 512])));
        assert_eq!(read("512x"), Ok(ArgSpec::Tensor(vec![512])));
        assert_eq!(read("[1024]"), Ok(ArgSpec::Buffer(1024)));
        assert_eq!(read("0,-70,270"), Ok(ArgSpec::Values(vec![0, -70, 270])));
        assert_eq!(read("70,"), Ok(ArgSpec::Values(vec![70])));
        assert_eq!(read("-3"), Ok(ArgSpec::Int(-3)));
        assert_eq!(read("2x512=1,-2"), Ok(ArgSpec::Bits(vec![2, 512], vec![1, -2])));
        assert_eq!(read("[16]=1"), Ok(ArgSpec::Bits(vec![16], vec![1])));
        assert_eq!(read("0.5"), Ok(ArgSpec::Float(0.5)));
        for wrong in [
            "",
            "x",
            "3xx4",
            "[",
            "[a]",
            "1,,2",
            "1,b",
            "many",
            "99999999999999999999x2",
            "3=1",
            "[3]=",
            "2x2=a",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
