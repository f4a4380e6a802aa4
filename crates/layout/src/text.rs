//! The text form: printed canonically, read in any order of inputs and outputs.
//!
//! ```text
//! (register: 1@dim1, 8@dim0; lane: 2@dim1, 4@dim1, 1@dim0, 2@dim0, 4@dim0) -> (dim0: 16, dim1: 8)
//! ```
//!
//! Each input lists the images of its bits, lowest first: `number@output`, several joined by `^`, or `0`. Each output
//! has its size.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::dim::Dim;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;

impl FromStr for Dim {
    type Err = LayoutError;

    fn from_str(text: &str) -> Result<Dim> {
        Dim::named(text).ok_or_else(|| LayoutError::Name { name: text.to_owned() })
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("(")?;
        for (at, (dim, _)) in self.inputs.iter().enumerate() {
            write!(f, "{}{dim}: ", if at == 0 { "" } else { "; " })?;
            for (bit, &image) in self.images_of(dim).iter().enumerate() {
                f.write_str(if bit == 0 { "" } else { ", " })?;
                self.write_image(f, image)?;
            }
        }
        f.write_str(") -> (")?;
        for (at, (dim, bits)) in self.outputs.iter().enumerate() {
            write!(f, "{}{dim}: {}", if at == 0 { "" } else { ", " }, 1u64 << bits)?;
        }
        f.write_str(")")
    }
}

impl Layout {
    fn write_image(&self, f: &mut fmt::Formatter, image: u64) -> fmt::Result {
        if image == 0 {
            return f.write_str("0");
        }
        let parts = self.outputs.parts(image).into_iter().filter(|&(_, value)| value != 0);
        for (at, (dim, value)) in parts.enumerate() {
            write!(f, "{}{value}@{dim}", if at == 0 { "" } else { "^" })?;
        }
        Ok(())
    }
}

impl FromStr for Layout {
    type Err = LayoutError;

    fn from_str(text: &str) -> Result<Layout> {
        let mut reader = Reader { text, at: 0 };
        reader.expect("(")?;
        let mut inputs: Vec<(Dim, Vec<Image>)> = Vec::new();
        while !reader.take(")") {
            if !inputs.is_empty() {
                reader.expect(";")?;
            }
            let dim = reader.dim()?;
            reader.expect(":")?;
            let mut images = vec![reader.image()?];
            while reader.take(",") {
                images.push(reader.image()?);
            }
            inputs.push((dim, images));
        }
        reader.expect("->")?;
        reader.expect("(")?;
        let mut outputs: Vec<(Dim, u64)> = Vec::new();
        while !reader.take(")") {
            if !outputs.is_empty() {
                reader.expect(",")?;
            }
            let dim = reader.dim()?;
            if outputs.iter().any(|&(other, _)| other == dim) {
                return Err(LayoutError::Shape { what: format!("{dim} is an output twice") });
            }
            reader.expect(":")?;
            outputs.push((dim, reader.number()?));
        }
        if !reader.rest().is_empty() {
            return Err(reader.wants("the end"));
        }
        let slices: Vec<Vec<_>> =
            inputs.iter().map(|(_, images)| images.iter().map(Vec::as_slice).collect()).collect();
        let inputs: Vec<_> =
            inputs.iter().zip(&slices).map(|((dim, _), list)| (*dim, list.as_slice())).collect();
        Layout::new(&inputs, &outputs)
    }
}

/// An image, as numbers of outputs.
type Image = Vec<(Dim, u64)>;

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&mut self) -> &'t str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    fn wants(&self, expected: &'static str) -> LayoutError {
        LayoutError::Text { at: self.at, expected }
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &'static str) -> Result<()> {
        if self.take(token) { Ok(()) } else { Err(self.wants(token)) }
    }

    fn word(&mut self, part_of: fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !part_of(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn dim(&mut self) -> Result<Dim> {
        match self.word(|c| c.is_ascii_alphanumeric()) {
            "" => Err(self.wants("a name")),
            name => name.parse(),
        }
    }

    fn number(&mut self) -> Result<u64> {
        self.word(|c| c.is_ascii_digit()).parse().map_err(|_| self.wants("a number"))
    }

    fn image(&mut self) -> Result<Image> {
        let mut parts = Vec::new();
        loop {
            let value = self.number()?;
            if parts.is_empty() && value == 0 && !self.take("@") {
                return Ok(parts);
            }
            if value != 0 {
                self.expect("@")?;
            }
            parts.push((self.dim()?, value));
            if !self.take("^") {
                return Ok(parts);
            }
        }
    }
}

impl Serialize for Layout {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Layout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Layout, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
