//! What holds at the start of each block, on whatever way control came there.

use std::collections::BTreeSet;

use warploom_ptx::{Flow, Instruction, Operand};

/// What may hold at a place.
pub(super) trait State: Clone {
    /// Adds what may hold on another way; whether that was new.
    fn join(&mut self, other: &Self) -> bool;
}

/// The state at the start of each block that is reached. `step` goes over one instruction, given by its index.
pub(super) fn forward<S: State>(flow: &Flow, start: S, step: impl Fn(&mut S, usize)) -> Vec<Option<S>> {
    let mut entry: Vec<Option<S>> = vec![None; flow.blocks().len()];
    let Some(first) = entry.first_mut() else { return entry };
    *first = Some(start);
    let mut work = BTreeSet::from([0]);
    while let Some(block) = work.pop_first() {
        let Some(mut state) = entry[block].clone() else { continue };
        flow.blocks()[block].instructions.clone().for_each(|i| step(&mut state, i));
        for next in flow.next(block) {
            let changed = match &mut entry[next] {
                Some(old) => old.join(&state),
                fresh => {
                    *fresh = Some(state.clone());
                    true
                }
            };
            if changed {
                work.insert(next);
            }
        }
    }
    entry
}

/// The registers that an operand names; special ones too.
pub(super) fn registers<'a>(operand: &Operand<'a>) -> impl Iterator<Item = &'a str> {
    operand.names().into_iter().filter(|name| name.starts_with('%'))
}

/// Whether control ends here whatever the guards.
pub(super) fn ends(instruction: &Instruction<'_>) -> bool {
    instruction.guard.is_none() && matches!(instruction.opcode, "ret" | "exit" | "trap")
}
