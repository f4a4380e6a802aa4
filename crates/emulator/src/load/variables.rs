//! Variables get their addresses and first bytes.

use crate::code::MODULE_BASE;
use crate::error::RefusalReason;
use crate::isa::decode::context::Symbol;
use std::collections::HashMap;
use warploom_ptx::{Initial, Operand, Variable, type_bytes};

/// Bytes of the largest array.
const MAX_ARRAY: u64 = 1 << 28;

/// Shared memory as the declarations fill it.
#[derive(Clone, Default)]
pub(super) struct Shared<'a> {
    pub used: u64,
    /// Arrays as large as the launch says.
    pub dynamic: Vec<&'a str>,
    pub dynamic_align: u64,
}

impl<'a> Shared<'a> {
    pub(super) fn add(&mut self, v: &Variable<'a>, symbols: &mut Symbols<'a>) -> Result<(), RefusalReason> {
        let size = Size::of(v)?;
        if v.dims.contains(&None) {
            self.dynamic.push(v.name);
            self.dynamic_align = self.dynamic_align.max(size.align);
        } else {
            let at = align_up(self.used, size.align);
            symbols.insert(v.name, Symbol::At(at));
            self.used = at + size.bytes;
        }
        Ok(())
    }
}

pub(super) type Symbols<'a> = HashMap<&'a str, Symbol>;

pub(super) fn align_up(x: u64, align: u64) -> u64 {
    x.next_multiple_of(align.max(1))
}

/// Bytes of a variable, of its elements, and its alignment.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub bytes: u64,
    pub align: u64,
    element: u64,
}

impl Size {
    pub(super) fn of(v: &Variable<'_>) -> Result<Size, RefusalReason> {
        let line = v.line.0;
        // Memory that host and device share, `.managed`, is memory of the device here; `.unified` names it to the host.
        if let Some(other) = v.attribute.filter(|a| !a.contains(".managed") && !a.contains(".unified")) {
            let message = format!("attribute {other} of '{}'", v.name);
            return Err(RefusalReason::new("X01", line, message, "use a plain variable"));
        }
        let element = type_bytes(v.ty)
            .ok_or_else(|| RefusalReason::new("X01", line, format!("type {}", v.ty), "use a sized type"))?;
        let whole = element * v.lanes.unwrap_or(1);
        let bytes = v.dims.iter().fold(whole, |n, dim| n.saturating_mul(dim.unwrap_or(1)));
        let align = v.align.unwrap_or(0);
        if bytes > MAX_ARRAY || align > 1 << 20 {
            let message = format!("size or alignment of '{}'", v.name);
            return Err(RefusalReason::new("P01", line, message, "make it sane"));
        }
        Ok(Size { bytes, align: align.max(whole).max(1), element })
    }
}

/// A variable of the module that has an initial value, and where it lies.
pub(super) struct Placed<'t, 'a> {
    variable: &'t Variable<'a>,
    init: &'t Initial<'a>,
    at: usize,
    element: u64,
}

/// Gives a variable of the module its address.
pub(super) fn place<'t, 'a>(
    v: &'t Variable<'a>,
    data: &mut Vec<u8>,
    symbols: &mut Symbols<'a>,
    shared: &mut Shared<'a>,
) -> Result<Option<Placed<'t, 'a>>, RefusalReason> {
    if v.space == ".shared" {
        shared.add(v, symbols)?;
        return Ok(None);
    }
    let size = Size::of(v)?;
    let given = v.init.as_ref().map_or(0, count).saturating_mul(size.element);
    let open = v.dims.contains(&None);
    if given > if open { MAX_ARRAY } else { size.bytes } {
        return Err(RefusalReason::new("P01", v.line.0, "more initialisers than elements", "drop some"));
    }
    let at = align_up(data.len() as u64, size.align);
    let end = at + size.bytes.max(given);
    if end > MAX_ARRAY {
        return Err(RefusalReason::new("X01", v.line.0, "module variables above 256 MiB", "use a buffer"));
    }
    data.resize(end as usize, 0);
    symbols.insert(v.name, Symbol::At(MODULE_BASE + at));
    Ok(v.init.as_ref().map(|init| Placed { variable: v, init, at: at as usize, element: size.element }))
}

/// The elements that an initial value gives.
fn count(init: &Initial<'_>) -> u64 {
    match init {
        Initial::List(list) => list.iter().map(count).sum(),
        _ => 1,
    }
}

impl Placed<'_, '_> {
    /// Writes the initial value, element by element; addresses of variables and functions are known by now.
    pub(super) fn fill(&self, data: &mut [u8], symbols: &Symbols<'_>) -> Result<(), RefusalReason> {
        let mut bytes = Vec::new();
        self.values(self.init, symbols, &mut bytes)?;
        if let Some(to) = data.get_mut(self.at..self.at + bytes.len()) {
            to.copy_from_slice(&bytes);
        }
        Ok(())
    }

    fn values(
        &self,
        init: &Initial<'_>,
        symbols: &Symbols<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), RefusalReason> {
        let value = match init {
            Initial::List(list) => return list.iter().try_for_each(|one| self.values(one, symbols, out)),
            Initial::One(Operand::F64(bits)) if self.element == 4 => {
                u64::from((f64::from_bits(*bits) as f32).to_bits())
            }
            Initial::One(Operand::Int(bits) | Operand::F64(bits)) => *bits,
            Initial::One(Operand::F32(bits)) => u64::from(*bits),
            Initial::One(o) | Initial::Generic(o) => {
                let (name, offset) = match o {
                    Operand::Name(n) => (*n, 0),
                    Operand::Plus(n, k) => (*n, *k),
                    _ => ("", 0),
                };
                let Some(Symbol::At(address)) = symbols.get(name) else {
                    let message =
                        format!("'{}' starts with the address of what is not known", self.variable.name);
                    return Err(RefusalReason::new("X01", self.variable.line.0, message, "declare it first"));
                };
                address.wrapping_add(offset as u64)
            }
            _ => 0,
        };
        out.extend((0..self.element as usize).map(|i| value.to_le_bytes().get(i).copied().unwrap_or(0)));
        Ok(())
    }
}
