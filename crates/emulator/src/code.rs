//! A kernel as the machine runs it.

use crate::isa::op::Inst;

/// Where `.global` and `.const` variables of a module are placed.
pub(crate) const MODULE_BASE: u64 = 0x00f0_0000_0000;

/// Where functions are, for those who take their addresses: a multiple of 16 bytes behind this.
pub(crate) const FUNCTION_BASE: u64 = 0x00e0_0000_0000;

/// Where kernels are, for those who launch them: a multiple of 16 bytes behind this.
pub(crate) const KERNEL_BASE: u64 = 0x00e4_0000_0000;

/// Handles of texture objects: a multiple of 16 bytes behind this.
pub(crate) const TEXTURE_BASE: u64 = 0x00e8_0000_0000;

/// A device function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub name: String,
    /// Its first instruction.
    pub first: u32,
    /// Bytes of its frame, with parameters and results.
    pub frame: u32,
    /// Offset in the frame and bytes of each parameter, and of each result.
    pub parameters: Vec<(u32, u32)>,
    pub results: Vec<(u32, u32)>,
    /// Its registers and predicates.
    pub registers: std::ops::Range<u32>,
    pub predicates: std::ops::Range<u32>,
    /// It may be called again before it returns.
    pub recursive: bool,
    /// Its number in the module, of which its address is made.
    pub number: u32,
}

/// Where the driver keeps the barriers of cooperative launches, zero before the launch.
pub(crate) const GRID_BASE: u64 = 0x00f9_0000_0000;

/// Bytes of shared memory that are kept for cooperative groups, where a kernel asks for them.
const RESERVED: u64 = 1024;

/// The decoded body of an entry.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub insts: Vec<Inst>,
    /// Width of each general register in bits.
    pub widths: Vec<u8>,
    pub names: Vec<String>,
    pub preds: usize,
    pub predicate_names: Vec<String>,
    pub opcodes: Vec<String>,
    /// `.loc` places as file name, line, column.
    pub locs: Vec<(String, u32, u32)>,
    /// Bytes of static shared memory; the dynamic part begins at the next multiple of 1024.
    pub static_shared: u64,
    pub dynamic_base: u64,
    /// Bytes of the kernel's frame in local memory.
    pub local: u64,
    /// Functions that it may call.
    pub functions: Vec<Function>,
    pub param_bytes: u64,
    /// Registers that each instruction reads or, if true, writes.
    pub uses: Vec<Vec<(u32, bool)>>,
    pub uses_wgmma: bool,
    /// Global atomics or ordered accesses: CTAs see each other, so they are resident together.
    pub shares_global: bool,
    /// It asks for the shared memory that is kept for cooperative groups, and for the barrier of the grid.
    pub reserves: bool,
    pub grid_barrier: bool,
    /// It takes memory from the heap.
    pub allocates: bool,
    /// Bytes of parameters of all kernels of the module, by number, where this one launches some.
    pub kernels: Vec<u64>,
}

impl Code {
    /// The `.loc` place of an instruction by its number, from 1: file, line, column.
    pub(crate) fn place(&self, loc: u32) -> Option<&(String, u32, u32)> {
        self.locs.get((loc as usize).checked_sub(1)?)
    }

    /// The same as text.
    pub(crate) fn source(&self, loc: u32) -> Option<String> {
        self.place(loc).map(|(file, line, column)| format!("{file}:{line}:{column}"))
    }

    /// Bytes of shared memory of a CTA that is launched with so many dynamic ones.
    pub(crate) fn shared_bytes(&self, dynamic: u32) -> u64 {
        (self.dynamic_base + u64::from(dynamic)).max(self.static_shared)
    }

    /// What is kept for cooperative groups behind them; nothing where the kernel does not ask for it.
    pub(crate) fn reserved_shared(&self, dynamic: u32) -> std::ops::Range<u64> {
        let own = self.shared_bytes(dynamic);
        if !self.reserves {
            return own..own;
        }
        let start = own.next_multiple_of(16);
        start..start + RESERVED
    }
}
