//! Machines described as data: their spaces, roles and semaphores (B82).

use super::block::{BlockSpec, ColumnsSpec};
use super::name::{NameTooLong, OwnName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A machine: its spaces, the roles of its units, and counting semaphores or what blocks of threads have.
///
/// ```
/// use warploom_bufassign::{Access, MachineSpec, Problem, assign, check};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let npu = MachineSpec::new("npu", 8)
///     .space("act", 262_144, 64)?
///     .space("weights", 131_072, 64)?
///     .role("dma_weights", Access::Write, &["weights"], true)?
///     .role("mac_b", Access::Read, &["weights"], false)?;
/// let mut b = Problem::builder_on("layer", npu);
/// let (dma, mac) = (b.partition("dma", 1), b.partition("mac", 1));
/// let body = b.add_loop(100, 2);
/// let copy = b.op("load", body, dma).takes(120).asynchronous().id();
/// let product = b.op("mac", body, mac).at(1, 20).takes(60).id();
/// b.value("w", &[64, 64], "i8").written_by(copy, "dma_weights".parse()?).read_by(product, "mac_b".parse()?);
/// let problem = b.finish();
///
/// let answer = assign(&problem, &problem.options)?;
/// check::check(&problem, &answer)?;
/// let w = answer.record(0).ok_or("one record per value")?;
/// assert_eq!((w.depth, w.space.map(|s| s.to_string())), (2, Some("weights".into())));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineSpec {
    /// Name of the machine, repeated in the answer.
    pub machine: String,
    /// Its memories; where several are legal for a value, the first of them is taken.
    pub spaces: Vec<SpaceSpec>,
    /// How its units touch them. `signal`, an order without a payload, is there on every machine.
    pub roles: Vec<RoleSpec>,
    /// Counting semaphores: two for a ring between partitions, one for a ring within one whose writer signals, and one
    /// for a signal.
    #[serde(default)]
    pub semaphores: u32,
    /// Most `warps` that all partitions may have together; where there is a `block`, its threads say so.
    #[serde(default = "workers")]
    pub workers: u32,
    /// What blocks of threads have, on machines that run them, as GPUs do; then `semaphores` is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockSpec>,
    /// Spaces that roles name and only other machines of the family have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<OwnName>,
}

fn workers() -> u32 {
    32
}

/// A memory of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpaceSpec {
    /// Its name.
    pub name: OwnName,
    /// Its size.
    pub bytes: u64,
    /// Least alignment in bytes, a power of two.
    #[serde(default = "super::one")]
    pub align: u64,
    /// Address of its first byte; by default the next multiple of 65,536 behind the space before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<u64>,
    /// It is addressed by columns of lanes, not by bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<ColumnsSpec>,
}

/// How a unit of a machine touches a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleSpec {
    /// Its name.
    pub role: OwnName,
    /// Whether it reads, writes, or updates.
    pub access: Access,
    /// The spaces that it reaches.
    pub spaces: Vec<OwnName>,
    /// A write that completes later and then signals a semaphore, or a barrier in memory.
    #[serde(default)]
    pub signals: bool,
    /// Least alignment in bytes, a power of two.
    #[serde(default = "super::one")]
    pub align: u64,
    /// A write that completes later and is waited for in groups by who issued it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grouped: bool,
    /// A write whose bytes the barrier that it signals counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
    /// It updates in place, and the unit keeps the order of its own updates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accumulates: bool,
    /// It touches no space, but a descriptor in a slot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub descriptor: bool,
    /// The way that it goes to memory: what is written one way and read the other needs a fence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Proxy>,
}

/// A way to memory that another way does not see without a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Proxy {
    /// Of plain loads and stores.
    Generic,
    /// Of units that run by themselves.
    Async,
}

/// What a role does with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Access {
    /// Reads it.
    Read,
    /// Writes it.
    Write,
    /// Does either.
    Both,
}

impl MachineSpec {
    /// A machine without memories yet.
    pub fn new(machine: &str, semaphores: u32) -> MachineSpec {
        let (spaces, roles) = (Vec::new(), Vec::new());
        MachineSpec {
            machine: machine.to_string(),
            spaces,
            roles,
            semaphores,
            workers: workers(),
            block: None,
            without: Vec::new(),
        }
    }

    /// Adds a memory of so many bytes.
    ///
    /// # Errors
    /// The name is too long.
    pub fn space(mut self, name: &str, bytes: u64, align: u64) -> Result<MachineSpec, NameTooLong> {
        self.spaces.push(SpaceSpec { name: name.parse()?, bytes, align, base: None, columns: None });
        Ok(self)
    }

    /// Adds a role that reaches some memories; one that `signals` completes later, on a semaphore.
    ///
    /// # Errors
    /// A name is too long.
    pub fn role(
        mut self,
        role: &str,
        access: Access,
        spaces: &[&str],
        signals: bool,
    ) -> Result<MachineSpec, NameTooLong> {
        let spaces = spaces.iter().map(|s| s.parse()).collect::<Result<_, _>>()?;
        self.roles.push(RoleSpec {
            role: role.parse()?,
            access,
            spaces,
            signals,
            align: 1,
            grouped: false,
            counted: false,
            accumulates: false,
            descriptor: false,
            proxy: None,
        });
        Ok(self)
    }
}
