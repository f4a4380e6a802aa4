//! A kernel on its way through `warploom compile`: what was asked for, what was made of it, why it was refused.

use clap::ValueEnum;
use serde_json::{Map, Value};
use warploom::{Diagnostic, Module, Options, Resumed, Target, Tuned};

use crate::io::Input;

/// What to write.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// The loop graphs of the pipelined loops, one JSON object per line, for `warploom schedule`; also of kernels that
    /// cannot be compiled yet
    Graph,
    /// The kernel with II, stage, cycle, order and partition of each operation
    Scheduled,
    /// The same with one allocation per pipelined value
    Assigned,
    /// Partitions, rings and handshakes
    Program,
    /// LLVM IR, before LLVM's passes
    Llvm,
    /// PTX
    Ptx,
    /// Machine code, by ptxas
    Cubin,
}

impl Emit {
    /// As the command line names it.
    pub fn name(self) -> &'static str {
        match self {
            Emit::Graph => "graph",
            Emit::Scheduled => "scheduled",
            Emit::Assigned => "assigned",
            Emit::Program => "program",
            Emit::Llvm => "llvm",
            Emit::Ptx => "ptx",
            Emit::Cubin => "cubin",
        }
    }
}

/// A kernel that was read and compiled to program form.
#[cfg_attr(not(feature = "llvm"), expect(dead_code, reason = "only emission and runs need all of it"))]
pub struct Session {
    /// The text.
    pub input: Input,
    /// The chip.
    pub target: Target,
    /// The options.
    pub options: Options,
    /// The module as read.
    pub module: Module,
    /// Everything up to the program.
    pub lowered: Resumed,
    /// What was tried, best first, if the user asked for that.
    pub tuned: Option<Tuned>,
    /// Microseconds by stage.
    pub micros: Map<String, Value>,
}

/// What was made: bytes to write, and fields of the JSON answer.
pub struct Made {
    /// The text or machine code.
    pub bytes: Vec<u8>,
    /// Fields beside it.
    pub fields: Map<String, Value>,
    /// What was noticed on the way from the program.
    pub remarks: Vec<Diagnostic>,
}
