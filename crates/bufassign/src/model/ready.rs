//! Data is ready when a use issues (B4).

use super::cycles::zero_distance_cycles;
use super::types::{Model, is_accumulation};
use crate::output::AssignError;

/// Refuses a use that issues before its data is ready.
///
/// Two cases are left to others: ops that need their own result in the same iteration, which is
/// phase 1's `CyclicChain` (B15), and an accumulator that the same partition's tensor core updates in
/// place, whose updates the hardware keeps in order.
pub(super) fn check(model: &Model<'_>) -> Result<(), AssignError> {
    let cyclic = zero_distance_cycles(model);
    for v in &model.values {
        let Some((p, role)) = v.producer else { continue };
        let Some(from) = model.ops[p].at else { continue };
        for (i, u) in v.uses.iter().enumerate() {
            let Some(to) = model.ops[u.op].at else { continue };
            if to.region != from.region || (cyclic[p] && cyclic[u.op]) {
                continue;
            }
            if is_accumulation(model, p, role, u) {
                continue;
            }
            let issues = to.t + u.distance * model.regions[to.region].ii;
            let ready = from.t + model.ops[p].latency;
            if issues < ready {
                return Err(AssignError::invalid(
                    format!("values[id={}].consumers[{i}]", v.id),
                    format!(
                        "op {} issues at {issues}, before the data is ready at {ready}",
                        model.ops[u.op].id
                    ),
                ));
            }
        }
    }
    Ok(())
}
