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
            let mut path = e.path().to_string();
            let message = e.inner().to_string();
            if let Some(field) = message.strip_prefix("missing field `").and_then(|m| m.split('`').next()) {
                path = if path == "." { field.to_string() } else { format!("{path}.{field}") };
            } else if path == "." {
                path = "problem".to_string();
            }
            AssignError::invalid(path, message)
        })?;
        reader.end().map_err(|e| AssignError::invalid("problem", e))?;
        Ok(problem)
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
                    let at = e.path().to_string();
                    Error::custom(format!("target{}{at}: {}", if at == "." { "" } else { "." }, e.inner()))
                })
            }
            _ => Err(Error::custom(
                "a target is the name of a chip, a chip with overrides, or a machine with spaces",
            )),
        }
    }
}
