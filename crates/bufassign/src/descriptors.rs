//! TMA descriptor slots (B45).

use crate::classify;
use crate::model::Model;
use crate::output::{AssignError, Class, DescPlace, DescPlan, ErrorKind};
use crate::plan::Plan;
use std::collections::BTreeMap;

const PHASE: &str = "fails to assign descriptor slot";

/// The slot of each value, and what all of them take.
pub(crate) type Descriptors = (Vec<Option<DescPlace>>, Option<DescPlan>);

/// One slot per distinct root in first-seen order; a device-built one also gets a workspace copy.
pub(crate) fn assign(model: &Model<'_>, plan: &Plan) -> Result<Descriptors, AssignError> {
    let mut places = vec![None; model.values.len()];
    let mut slot_of: BTreeMap<u64, DescPlace> = BTreeMap::new();
    let stride = model.limits.desc_bytes.next_multiple_of(model.limits.desc_align_device.max(1));
    let mut workspace = 0;
    let mut by_id: Vec<usize> = (0..model.values.len()).collect();
    by_id.sort_unstable_by_key(|&v| model.values[v].id);
    for v in by_id {
        let owner = plan.life.owner[v];
        if plan.decisions[plan.life.unit_of[v]].class != Class::Desc {
            continue;
        }
        let root = model.values[owner].src.root.unwrap_or(model.values[owner].id);
        let next = slot_of.len() as u64;
        let place = slot_of.entry(root).or_insert(DescPlace { slot: next, workspace: None });
        if model.values[owner].src.device_built && place.workspace.is_none() {
            place.workspace = Some(workspace);
            workspace += stride;
        }
        if next >= model.limits.desc_slots && place.slot == next {
            let why = format!("{} descriptor slots are taken", model.limits.desc_slots);
            let mut e = classify::fail(model, &plan.life, &[v], v, ErrorKind::Limit, "B45", PHASE, &why);
            (e.need, e.limit) = (Some(next + 1), Some(model.limits.desc_slots));
            return Err(e);
        }
    }
    for (v, place) in places.iter_mut().enumerate() {
        if plan.decisions[plan.life.unit_of[v]].class == Class::Desc {
            let owner = plan.life.owner[v];
            let root = model.values[owner].src.root.unwrap_or(model.values[owner].id);
            *place = slot_of.get(&root).copied();
        }
    }
    let used = slot_of.len() as u64;
    let plan = (used > 0).then_some(DescPlan { limit: model.limits.desc_slots, used, workspace });
    Ok((places, plan))
}
