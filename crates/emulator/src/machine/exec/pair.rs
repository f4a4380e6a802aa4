//! The CTAs that tcgen05 instructions are of, and what they have allocated (E43).

use crate::machine::core::Core;

/// The CTAs of a cta_group: this one, or the pair it belongs to.
pub(super) fn pair(core: &Core<'_>, cta: u32, group: u8) -> Vec<u32> {
    let peer = cta ^ 1;
    if group == 2 && (peer as usize) < core.ctas.len() { vec![cta & !1, cta | 1] } else { vec![cta] }
}

/// Whether a CTA has allocated a column.
pub(super) fn allocated(core: &Core<'_>, cta: u32, column: u32) -> bool {
    core.ctas.get(cta as usize).is_some_and(|c| c.tmem.allocated(column))
}
