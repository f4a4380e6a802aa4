//! PTX modules, read and decoded once (E71, E81).

use crate::code::Code;
use crate::error::EmulatorRefusal;
use std::sync::Arc;

/// A PTX module.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Module {
    /// `.version` as written.
    pub version: String,
    /// First name of `.target`, e.g. `sm_90a`.
    pub target: String,
    pub(crate) entries: Vec<Entry>,
    /// Initial bytes of `.global` and `.const` variables.
    pub(crate) data: Arc<Vec<u8>>,
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Param {
    /// Its name in the text.
    pub name: String,
    /// The fundamental type, e.g. `u32`; `b8` for byte arrays.
    pub ty: String,
    /// Bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// FindingPlace in the parameter space, in bytes.
    pub offset: u64,
    /// Whether it is an array, such as a tensor map of 128 bytes.
    pub array: bool,
}

/// A kernel of a module.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// The kernel's name.
    pub name: String,
    /// Its parameters in order.
    pub params: Vec<Param>,
    /// `.reqntid`, if any.
    pub required_threads: Option<[u32; 3]>,
    /// `.maxntid`, if any.
    pub max_threads: Option<[u32; 3]>,
    /// `.maxnreg`, if any.
    pub max_registers: Option<u32>,
    /// `.minnctapersm`, if any.
    pub min_ctas: Option<u32>,
    /// `.reqnctapercluster`, if any.
    pub cluster: Option<[u32; 3]>,
    pub(crate) code: Result<Arc<Code>, EmulatorRefusal>,
}

impl Module {
    /// The kernels in the order of the text.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// A kernel by name.
    ///
    /// # Errors
    /// Names the kernels that exist.
    pub fn entry(&self, name: &str) -> Result<&Entry, EmulatorRefusal> {
        self.entries.iter().find(|e| e.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.entries.iter().map(|e| e.name.as_str()).collect();
            EmulatorRefusal::one(
                "L01",
                0,
                format!("no entry '{name}'"),
                format!("the module has: {}", known.join(", ")),
            )
        })
    }
}

impl Module {
    /// The module with other code for an entry.
    pub(crate) fn with(&self, entry: &str, code: Arc<Code>) -> Module {
        let mut module = self.clone();
        let found = module.entries.iter_mut().find(|e| e.name == entry);
        if let Some(found) = found {
            found.code = Ok(code);
        }
        module
    }
}

impl Entry {
    /// The reasons why the machine cannot run this kernel, if there are any.
    pub fn refusal(&self) -> Option<&EmulatorRefusal> {
        self.code.as_ref().err()
    }

    /// Number of decoded instructions, 0 if refused.
    pub fn instructions(&self) -> usize {
        self.code.as_ref().map_or(0, |c| c.insts.len())
    }

    /// Bytes of static shared memory that the text declares.
    pub fn static_shared(&self) -> u64 {
        self.code.as_ref().map_or(0, |c| c.static_shared)
    }
}
