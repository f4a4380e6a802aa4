//! `tex:NAME:2d[:linear][:wrap]..`: a texture or surface object of a buffer.

use warploom_emulator::{Addressing, Channel, Filter, Texture, TextureKind};
use warploom_ir::diag::Report;
use warploom_ir::interp::Tensor;
use warploom_ir::{FloatKind, Signedness, Type};

use crate::io::Failure;

/// A texture as it is written.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The buffer with its texels.
    pub name: String,
    kind: TextureKind,
    filter: Filter,
    addressing: Addressing,
    normalized: bool,
    fractions: bool,
}

impl std::str::FromStr for Sampled {
    type Err = String;

    fn from_str(text: &str) -> Result<Sampled, String> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default().to_owned();
        let kind = parts.next().and_then(TextureKind::named);
        let kind =
            kind.ok_or("a texture needs its kind, 1d 2d 3d a1d a2d cube or acube: tex:NAME:2d:linear")?;
        let mut out = Sampled {
            name,
            kind,
            filter: Filter::Point,
            addressing: Addressing::Clamp,
            normalized: matches!(kind, TextureKind::Cube | TextureKind::Cubes),
            fractions: false,
        };
        for part in parts {
            match part {
                "point" => out.filter = Filter::Point,
                "linear" => out.filter = Filter::Linear,
                "clamp" => out.addressing = Addressing::Clamp,
                "border" => out.addressing = Addressing::Border,
                "wrap" => out.addressing = Addressing::Wrap,
                "mirror" => out.addressing = Addressing::Mirror,
                "normalized" => out.normalized = true,
                "fractions" => out.fractions = true,
                _ => {
                    return Err(format!(
                        "`{part}` is none of point, linear, clamp, border, wrap, mirror, normalized, fractions"
                    ));
                }
            }
        }
        Ok(out)
    }
}

impl Sampled {
    /// The object of a buffer that lies at an address. The extents of the buffer are those of the texture, outermost first: layers, cubes or faces,
    /// depth, height, width, and the channels of a texel where there is one more.
    pub fn object(&self, address: u64, buffer: &Tensor) -> Result<Texture, Failure> {
        let channel = match buffer.elem() {
            Type::Float(FloatKind::F32) => Channel::F32,
            Type::Float(FloatKind::F16) => Channel::F16,
            Type::Int(32, Signedness::Unsigned) => Channel::U32,
            Type::Int(32, _) => Channel::S32,
            Type::Int(16, Signedness::Unsigned) => Channel::U16,
            Type::Int(16, _) => Channel::S16,
            Type::Int(8, Signedness::Unsigned) => Channel::U8,
            Type::Int(8, _) => Channel::S8,
            other => {
                return Err(
                    self.refused(format!("texels of {other}"), "f32, f16, or integers of 8, 16 and 32 bits")
                );
            }
        };
        let shape = buffer.shape();
        let wanted = match self.kind {
            TextureKind::Line => 1,
            TextureKind::Plane | TextureKind::Lines => 2,
            _ => 3,
        };
        let (extents, channels) = match shape.split_last() {
            Some((channels, rest)) if rest.len() == wanted => (rest, *channels),
            _ => (shape, 1),
        };
        let small = |e: &u64| u32::try_from(*e).unwrap_or(u32::MAX);
        let mut inner = extents.iter().rev().map(small);
        if extents.len() != wanted {
            let message = format!("a buffer of {} extents", shape.len());
            return Err(
                self.refused(message, &format!("{wanted} extents, or one more for the channels of a texel"))
            );
        }
        let mut next = || inner.next().unwrap_or(1);
        let width = next();
        let height = if matches!(self.kind, TextureKind::Line | TextureKind::Lines) { 1 } else { next() };
        let outer = next();
        let (depth, layers) = match self.kind {
            TextureKind::Volume => (outer, 1),
            TextureKind::Cube | TextureKind::Cubes
                if outer % 6 > 0 || self.kind == TextureKind::Cube && outer != 6 =>
            {
                return Err(self.refused(format!("{outer} faces"), "six for each cube"));
            }
            TextureKind::Cube | TextureKind::Cubes => (1, outer / 6),
            _ => (1, outer),
        };
        Ok(Texture {
            layers,
            addressing: [self.addressing; 3],
            filter: self.filter,
            normalized: self.normalized,
            fractions: self.fractions,
            ..Texture::of(self.kind, address, channel, small(&channels), [width, height, depth])
        })
    }

    fn refused(&self, message: String, remedy: &str) -> Failure {
        let report = Report::error("usage", format!("texture {}: {message}", self.name));
        Failure::usage(report.note("instead", remedy))
    }
}
