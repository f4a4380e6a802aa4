//! Straight-line code and its answer as plain data (B83).

use crate::materialize::{MemAlloc, MemError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Straight-line code: operations in order, and the tiles that they read and write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StraightLine {
    /// Name of the function, repeated in the answer.
    pub name: String,
    /// Memories in the order of the target.
    pub spaces: Vec<StraightSpace>,
    /// Tiles by name.
    pub tiles: Vec<Tile>,
    /// Operations in program order.
    pub ops: Vec<StraightOp>,
    /// Whether element-wise operations may leave their result in an operand.
    #[serde(default = "yes")]
    pub in_place: bool,
    /// How buffers get addresses.
    #[serde(default)]
    pub place: Placement,
}

fn yes() -> bool {
    true
}

/// How buffers get addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Placement {
    /// One behind the other, as AddAlloc does (B69).
    #[default]
    Sequential,
    /// On common bytes where they are not live at one time.
    Packed,
}

/// A memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StraightSpace {
    /// Its name.
    pub name: String,
    /// Its size; none for a memory whose buffers are declared and not placed, such as DDR (B70).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Alignment of every start address, a power of two.
    #[serde(default = "line")]
    pub align: u64,
    /// Ranges that nobody may use.
    #[serde(default)]
    pub reserved: Vec<ReservedRange>,
}

/// Alignment of PyPTO's spaces.
fn line() -> u64 {
    32
}

/// A range of a memory that nobody may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReservedRange {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
    /// Name for people.
    #[serde(default)]
    pub name: String,
}

/// A tile: a variable with storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tile {
    /// Unique name.
    pub name: String,
    /// Elements, outermost dimension first.
    pub shape: Vec<u64>,
    /// Element type, as in a problem: `f32`, `bf16`, `i8`, ...
    pub element: String,
    /// The memory that it lives in.
    pub space: String,
    /// Its buffer, if the author or an earlier pass chose one: tiles with one number in one space share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<u64>,
    /// It is there before the first operation.
    #[serde(default)]
    pub live_in: bool,
    /// It is read behind the last operation.
    #[serde(default)]
    pub live_out: bool,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StraightOp {
    /// Name for people.
    #[serde(default)]
    pub name: String,
    /// Tiles that it reads.
    #[serde(default)]
    pub reads: Vec<String>,
    /// Tiles that it writes, whole.
    #[serde(default)]
    pub writes: Vec<String>,
    /// Each element of a result depends on the same element of the operands alone, so that it may take its place.
    #[serde(default)]
    pub elementwise: bool,
}

/// Buffers and addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StraightAnswer {
    /// Name of the function.
    pub name: String,
    /// Always true: a failure is another object.
    pub ok: bool,
    /// One allocation per unique buffer, in the order in which they stand at the head of the function (B70).
    #[schemars(with = "Vec<serde_json::Value>")]
    pub allocs: Vec<MemAlloc>,
    /// Buffer and address of every tile, in the order of the input.
    pub tiles: Vec<TilePlace>,
    /// Bytes used of every space.
    pub spaces: Vec<SpaceUse>,
    /// What is written in place.
    pub in_place: Vec<InPlaceUse>,
    /// Two buffers that print alike, and the like.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// Where a tile lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TilePlace {
    /// The tile.
    pub name: String,
    /// Id of its buffer.
    pub buffer: u64,
    /// Its first byte; none in a space without addresses.
    pub addr: Option<u64>,
}

/// What is used of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpaceUse {
    /// The space.
    pub name: String,
    /// End of the last buffer.
    pub used: u64,
    /// Bytes there are; none without addresses.
    pub bytes: Option<u64>,
}

/// A result in the place of an operand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InPlaceUse {
    /// Index of the operation.
    pub op: usize,
    /// The operand.
    pub from: String,
    /// The result.
    pub to: String,
}

/// Why straight-line code has no buffers. Exhaustive: it is the JSON that is printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StraightError {
    /// Always false.
    pub ok: bool,
    /// The rule.
    pub code: String,
    /// JSON path of the field at fault.
    pub path: Option<String>,
    /// What is wrong.
    pub message: String,
    /// Bytes that are needed, and bytes that there are.
    pub need: Option<u64>,
    /// Bytes that there are.
    pub limit: Option<u64>,
}

impl StraightError {
    fn new(code: &str, path: Option<String>, message: String) -> StraightError {
        StraightError { ok: false, code: code.into(), path, message, need: None, limit: None }
    }

    /// Input that makes no sense.
    pub(super) fn invalid(path: impl Into<String>, why: impl std::fmt::Display) -> StraightError {
        let path = path.into();
        StraightError::new("B83", Some(path.clone()), format!("{path}: {why}"))
    }

    /// A space that is too small (B71).
    pub(super) fn capacity(space: &str, need: u64, limit: u64) -> StraightError {
        let message = format!("{space}: {need} bytes of {limit} are needed");
        StraightError { need: Some(need), limit: Some(limit), ..StraightError::new("B71", None, message) }
    }

    pub(super) fn of(error: MemError) -> StraightError {
        match error {
            MemError::Capacity { space, used, limit, .. } => StraightError::capacity(&space, used, limit),
            MemError::BadSpace(why) => StraightError::invalid("spaces", why),
            other => StraightError::new("B68", None, other.to_string()),
        }
    }
}

impl std::fmt::Display for StraightError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)
    }
}

impl std::error::Error for StraightError {}

impl StraightLine {
    /// Reads one JSON object.
    ///
    /// # Errors
    /// What is wrong, with the JSON path.
    pub fn from_json(text: &str) -> Result<StraightLine, StraightError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let code: StraightLine = serde_path_to_error::deserialize(&mut reader).map_err(|e| {
            let path = e.path().to_string();
            StraightError::invalid(if path == "." { "code".into() } else { path }, e.inner())
        })?;
        reader.end().map_err(|e| StraightError::invalid("code", e))?;
        Ok(code)
    }
}
