//! Tiles in registers as linear maps: which element each register of each lane of the partition holds (G2).

use warploom_ir::diag::Code;
use warploom_ir::{Type, ValueId};
use warploom_layout::{Dim, Layout, LayoutError};

use super::Lower;
use super::value::{Bound, Coord, Coords, Form};
use crate::error::{Refusal, Result, internal, refuse};
use crate::family::Family;

/// Bits of the number of a lane.
const LANE: u32 = 5;

impl Lower<'_, '_> {
    /// (register, lane, warp) onto the place in the tile; registers in the order of [`Lower::places`].
    pub(super) fn map_of(&self, value: ValueId, family: Family, form: Form) -> Result<Layout> {
        match form {
            Form::Linear(number) => Ok(self.distributed(number)?.map.clone()),
            _ => self.map_of_places(self.module.ty(value), &self.places(value, family, form)?),
        }
    }

    /// The same for registers at these places of a tile.
    pub(super) fn map_of_places(&self, ty: &Type, places: &[Coords]) -> Result<Layout> {
        let (registers, warps) = (places.len() as u64, self.place.warps);
        if !registers.is_power_of_two() || !warps.is_power_of_two() {
            let text = format!("{ty} in {registers} registers of {warps} warps");
            return Err(refuse(Code::Layout, text).rule("G2").note("needs", "powers of two").into());
        }
        let at = |register: u64, thread: u64| number_of(&places[register as usize], thread);
        let bits = |count: u64| (0..count.trailing_zeros()).map(|bit| 1u64 << bit);
        let own = bits(registers).map(|register| at(register, 0)).collect::<Result<Vec<_>>>()?;
        let threads = bits(32 * warps).map(|thread| at(0, thread)).collect::<Result<Vec<_>>>()?;
        let own: Vec<&[_]> = own.iter().map(Vec::as_slice).collect();
        let threads: Vec<&[_]> = threads.iter().map(Vec::as_slice).collect();
        let (lanes, warps) = threads.split_at(LANE as usize);
        let extents = ty.shape().iter().enumerate();
        let extents: Vec<(Dim, u64)> = extents.map(|(n, &extent)| (Dim::Axis(n as u8), extent)).collect();
        let inputs = [(Dim::Register, own.as_slice()), (Dim::Lane, lanes), (Dim::Warp, warps)];
        let layout = Layout::new(&inputs, &extents).map_err(|error| unknown(ty, &error))?;
        // The families count their elements by arithmetic of their own.
        for register in 0..registers {
            let mut wanted = at(register, 0)?;
            wanted.retain(|&(dim, _)| layout.output_size(dim) > 1);
            let found = layout.apply(&[(Dim::Register, register)]).map_err(|error| unknown(ty, &error))?;
            if found != wanted {
                return Err(internal(format!("register {register} of {ty} holds {wanted:?}, not {found:?}")));
            }
        }
        Ok(layout)
    }

    /// The form that a tile has in registers already, or that it gets.
    pub(super) fn form_now(&self, value: ValueId, family: Family) -> Result<Form> {
        match self.bound.get(&value) {
            Some(Bound::Fragment(fragment)) => Ok(fragment.form),
            Some(Bound::Lazy(_)) if self.natural.contains_key(&value) => Ok(self.natural[&value]),
            _ => self.form(value, family),
        }
    }
}

/// A tile that has no linear map.
pub(super) fn unknown(ty: &Type, error: &LayoutError) -> Refusal {
    refuse(Code::Layout, format!("{ty} has no layout: {error}")).rule("G2").into()
}

/// A place as a thread of the partition sees it.
fn number_of(place: &Coords, thread: u64) -> Result<Vec<(Dim, u64)>> {
    let number = |coord: &Coord| -> Result<u64> {
        let base = coord.base.of(thread).ok_or_else(|| internal("a register at no fixed place"))?;
        Ok(base + u64::from(coord.offset))
    };
    place.iter().enumerate().map(|(n, coord)| Ok((Dim::Axis(n as u8), number(coord)?))).collect()
}
