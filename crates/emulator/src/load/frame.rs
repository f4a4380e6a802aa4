//! The frame of a function: local variables, parameters and results of calls (E98).

use super::variables::{Shared, Size, Symbols, align_up};
use crate::error::RefusalReason;
use crate::isa::decode::context::Symbol;
use warploom_ptx::{Parameter, type_bytes};

/// Bytes of the largest parameter.
const MAX_PARAMETER: u64 = 1 << 15;

/// Bytes and alignment of a parameter.
pub(super) fn parameter(p: &Parameter<'_>) -> Result<(u64, u64), RefusalReason> {
    let line = p.line.0;
    let element = type_bytes(p.ty).ok_or_else(|| {
        RefusalReason::new("X01", line, format!("parameter type {}", p.ty), "use a type of .b8 to .b64")
    })?;
    let size = p.dims.iter().fold(element, |n, dim| n.saturating_mul(dim.unwrap_or(1)));
    let align = p.align.unwrap_or(0);
    if size > MAX_PARAMETER || align > 1 << 12 {
        let message = format!("size of parameter '{}'", p.name);
        return Err(RefusalReason::new("P01", line, message, "pass a pointer to so much data"));
    }
    Ok((size, align.max(element)))
}

/// A frame as declarations fill it.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub bytes: u64,
}

impl Frame {
    fn add(&mut self, bytes: u64, align: u64) -> u32 {
        let at = align_up(self.bytes, align);
        self.bytes = at + bytes;
        at as u32
    }

    /// Parameters or results of a function: offset and bytes of each.
    pub(super) fn parameters<'a>(
        &mut self,
        list: &[Parameter<'a>],
        symbols: &mut Symbols<'a>,
    ) -> Result<Vec<(u32, u32)>, RefusalReason> {
        let mut out = Vec::new();
        for p in list {
            if p.space == ".reg" {
                let message = format!("parameter '{}' is a register", p.name);
                return Err(RefusalReason::new("X01", p.line.0, message, "use .param, as the ABI has it"));
            }
            let (bytes, align) = parameter(p)?;
            let at = self.add(bytes, align);
            symbols.insert(p.name, Symbol::Frame(at));
            out.push((at, bytes as u32));
        }
        Ok(out)
    }

    /// The variables of a body. Parameters of calls have the same names in every call: they share their place.
    pub(super) fn variables<'a>(
        &mut self,
        text: &warploom_ptx::Code<'_, 'a>,
        symbols: &mut Symbols<'a>,
        shared: &mut Shared<'a>,
    ) -> Result<(), RefusalReason> {
        let mut passed: Vec<(&'a str, u64, u64)> = Vec::new();
        for v in text.variables() {
            match v.space {
                ".local" => {
                    let size = Size::of(v)?;
                    symbols.insert(v.name, Symbol::Frame(self.add(size.bytes, size.align)));
                }
                ".shared" => shared.add(v, symbols)?,
                ".param" => {
                    let size = Size::of(v)?;
                    match passed.iter_mut().find(|p| p.0 == v.name) {
                        Some(p) => (p.1, p.2) = (p.1.max(size.bytes), p.2.max(size.align)),
                        None => passed.push((v.name, size.bytes, size.align)),
                    }
                }
                space => {
                    let message = format!("a {space} variable in a body");
                    return Err(RefusalReason::new("X01", v.line.0, message, "declare it in the module"));
                }
            }
        }
        for (name, bytes, align) in passed {
            symbols.insert(name, Symbol::Frame(self.add(bytes, align)));
        }
        Ok(())
    }
}
