//! The chip of a problem, read afresh (B2, B7).

use crate::input::TargetSpec;
use warploom_chips::Target;

/// The chip, its overrides applied, or what stands for one on a machine given as data.
pub(super) fn target(spec: &TargetSpec) -> Result<Target, String> {
    match spec {
        TargetSpec::Named(n) => Target::named(n).map_err(|e| e.to_string()),
        TargetSpec::Custom { base, overrides } => {
            let base = Target::named(base).map_err(|e| e.to_string())?;
            let mut json = serde_json::to_value(base).map_err(|e| e.to_string())?;
            let over = serde_json::Value::Object(overrides.clone());
            overlay(&mut json, over, 16);
            serde_json::from_value(json).map_err(|e| e.to_string())
        }
        TargetSpec::Machine(spec) => super::description::as_chip(spec),
    }
}

fn overlay(base: &mut serde_json::Value, over: serde_json::Value, fuel: u8) {
    if let (Some(base), serde_json::Value::Object(over), true) = (base.as_object_mut(), &over, fuel > 0) {
        for (key, value) in over {
            overlay(base.entry(key.clone()).or_insert(serde_json::Value::Null), value.clone(), fuel - 1);
        }
    } else {
        *base = over;
    }
}
