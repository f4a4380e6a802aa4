//! Reading a problem from JSON, with the path of what is wrong (B1).

use super::{MachineSpec, Problem, TargetSpec};
use crate::output::AssignError;
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::{Map, Value as Json};

impl Problem {
    /// Reads one JSON object. Unknown fields are ignored; a missing required one is refused with
    /// its path (B1).
    ///
    /// # Errors
    /// `InvalidInput` with the JSON path.
    pub fn from_json(text: &str) -> Result<Problem, AssignError> {
        if text.trim_start().starts_with('[') {
            return Err(AssignError::invalid("problem", "a list, where one object is expected"));
        }
        let mut reader = serde_json::Deserializer::from_str(text);
        let problem: Problem = serde_path_to_error::deserialize(&mut reader).map_err(|e| {
            let (mut path, mut message) = place(&e);
            // A machine was read by itself, and its place in there stands before what is wrong.
            if path == "target"
                && let Some((inner, why)) = message.split_once(IN_MACHINE)
            {
                (path, message) = (format!("target.{inner}"), why.to_string());
            } else if path == "." {
                path = "problem".to_string();
            }
            AssignError::invalid(path, message)
        })?;
        reader.end().map_err(|e| AssignError::invalid("problem", e))?;
        Ok(problem)
    }
}

/// Stands between a place in a machine and what is wrong there.
const IN_MACHINE: &str = ": in the machine: ";

/// The path of what is wrong, that of the missing field where one is missing, and what it is.
fn place(e: &serde_path_to_error::Error<serde_json::Error>) -> (String, String) {
    let (path, message) = (e.path().to_string(), e.inner().to_string());
    match message.strip_prefix("missing field `").and_then(|m| m.split('`').next()) {
        Some(field) if path == "." => (field.to_string(), message),
        Some(field) => (format!("{path}.{field}"), message),
        None => (path, message),
    }
}

impl<'de> Deserialize<'de> for TargetSpec {
    /// A name, an object with a `base`, or a machine with `spaces`; what is wrong in one is said of that one.
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<TargetSpec, D::Error> {
        #[derive(serde::Deserialize)]
        struct Custom {
            base: String,
            #[serde(flatten)]
            overrides: Map<String, Json>,
        }
        match Json::deserialize(reader)? {
            Json::String(name) => Ok(TargetSpec::Named(name)),
            Json::Object(fields) if fields.contains_key("base") => {
                let Custom { base, overrides } =
                    serde_json::from_value(Json::Object(fields)).map_err(Error::custom)?;
                Ok(TargetSpec::Custom { base, overrides })
            }
            Json::Object(fields) => {
                let machine: Result<MachineSpec, _> = serde_path_to_error::deserialize(Json::Object(fields));
                machine.map(TargetSpec::Machine).map_err(|e| {
                    let (at, why) = place(&e);
                    Error::custom(format!("{at}{IN_MACHINE}{why}"))
                })
            }
            _ => Err(Error::custom(
                "a target is the name of a chip, a chip with overrides, or a machine with spaces",
            )),
        }
    }
}
