//! Names that a machine gives to its spaces and roles (B82).

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The name of a space or a role of a machine, of at most 24 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OwnName([u8; OwnName::MOST]);

/// A name that has more bytes than names of machines may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameTooLong(pub(super) String);

impl fmt::Display for NameTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name '{}' has not from 1 to {} bytes", self.0, OwnName::MOST)
    }
}

impl std::error::Error for NameTooLong {}

impl OwnName {
    /// Bytes of the longest name.
    pub const MOST: usize = 24;

    /// The name.
    pub fn as_str(&self) -> &str {
        let end = self.0.iter().position(|&b| b == 0).unwrap_or(OwnName::MOST);
        // The bytes were those of a string.
        std::str::from_utf8(&self.0[..end]).unwrap_or_default()
    }
}

impl std::str::FromStr for OwnName {
    type Err = NameTooLong;

    fn from_str(name: &str) -> Result<OwnName, NameTooLong> {
        let mut bytes = [0; OwnName::MOST];
        match bytes.get_mut(..name.len()) {
            Some(own) if !name.is_empty() && !name.contains('\0') => own.copy_from_slice(name.as_bytes()),
            _ => return Err(NameTooLong(name.to_string())),
        }
        Ok(OwnName(bytes))
    }
}

impl TryFrom<String> for OwnName {
    type Error = NameTooLong;

    fn try_from(name: String) -> Result<OwnName, NameTooLong> {
        name.parse()
    }
}

impl From<OwnName> for String {
    fn from(name: OwnName) -> String {
        name.to_string()
    }
}

impl fmt::Display for OwnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for OwnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl JsonSchema for OwnName {
    fn schema_name() -> Cow<'static, str> {
        "OwnName".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}
