//! Reading a problem from JSON, with the path of what is wrong (B1).

use super::Problem;
use crate::output::AssignError;

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
