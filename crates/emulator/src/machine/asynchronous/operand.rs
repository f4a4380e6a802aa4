//! Reads matrix operands from shared memory (E39, E40).

use crate::machine::actor::Actor;
use crate::machine::core::Core;
use crate::machine::operations::Wanted;
use crate::race::access::Act;
use std::rc::Rc;

/// Reads an operand: its numbers, zeros where it is not all in shared memory, which is reported.
pub(crate) fn read(core: &mut Core<'_>, actor: &Actor, wanted: Wanted) -> Rc<Vec<f64>> {
    let mut operand = core.operands.take(&wanted);
    let size = core.cta(wanted.cta).map_or(0, |c| c.shared.len() as u64);
    if !core.shared_bounds(wanted.cta, operand.furthest(size), 16, actor) {
        return Rc::new(vec![0.0; (wanted.rows * wanted.k) as usize]);
    }
    if let Some(cta) = core.cta(wanted.cta) {
        operand.refresh(&cta.shared);
    }
    core.touch_operand(wanted.cta, &operand.touched, actor, Act::Read);
    let values = Rc::clone(&operand.values);
    core.operands.keep(operand);
    values
}
