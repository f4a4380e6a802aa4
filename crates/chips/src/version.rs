//! Versions of the PTX language.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A version of the PTX language, as in `.version 8.6`; written `"8.6"` in data files.
///
/// ```
/// use warploom_chips::PtxVersion;
/// let version: PtxVersion = "8.6".parse().unwrap();
/// assert!(version <= PtxVersion::LLVM_22_LAST);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PtxVersion {
    /// The part before the dot.
    pub major: u32,
    /// The part after the dot.
    pub minor: u32,
}

impl PtxVersion {
    /// The newest version LLVM 22 writes (T4).
    pub const LLVM_22_LAST: PtxVersion = PtxVersion { major: 9, minor: 0 };
    /// The newest version ptxas 13.5 reads (T4).
    pub const PTXAS_13_5_LAST: PtxVersion = PtxVersion { major: 9, minor: 5 };
}

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The text was not `major.minor`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a PTX version; expected MAJOR.MINOR, as in 8.6")]
#[non_exhaustive]
pub struct PtxVersionError(String);

impl FromStr for PtxVersion {
    type Err = PtxVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once('.').and_then(|(major, minor)| {
            Some(PtxVersion { major: major.parse().ok()?, minor: minor.parse().ok()? })
        });
        parsed.ok_or_else(|| PtxVersionError(text.to_owned()))
    }
}

impl TryFrom<String> for PtxVersion {
    type Error = PtxVersionError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<PtxVersion> for String {
    fn from(version: PtxVersion) -> String {
        version.to_string()
    }
}
