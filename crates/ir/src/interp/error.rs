//! Why an interpretation stopped.

use std::fmt;

use crate::diag::{Code, Diagnostic};
use crate::entity::OpId;
use crate::loc::Loc;
use crate::module::Module;

/// What went wrong, without the place.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// The operation, or this use of it, has no meaning here. The text names it.
    Unsupported(String),
    /// The module breaks a rule that the verifier checks; run [`crate::verify`] for the whole list.
    Malformed(String),
    /// An address that is not inside any buffer.
    OutOfBounds {
        /// First byte.
        address: u64,
        /// Bytes wanted.
        bytes: u64,
        /// The buffer it starts in or just misses, and its size in bytes, if there is one.
        nearest: Option<(usize, u64)>,
    },
    /// An element number of `tt.gather` or a value of `tt.histogram` that is not in `0..extent`.
    Index {
        /// The number.
        index: i64,
        /// How many there are.
        extent: u64,
    },
    /// A zero divisor of an integer division or remainder.
    DivisionByZero,
    /// A loop step that is not positive (C7).
    LoopStep(i128),
    /// [`crate::interp::InterpOptions::max_work`] element operations are used up.
    WorkLimit(u64),
    /// The tiles of one program need more than [`crate::interp::InterpOptions::max_tile_bytes`].
    TileLimit(u64),
    /// Calls and regions nested deeper than this.
    DepthLimit(usize),
    /// The module has no function of this name (`None`: no public function).
    NoEntry(Option<String>),
    /// The number of arguments differs from the number of parameters.
    ArgumentCount {
        /// Parameters of the function.
        expected: usize,
        /// Arguments given.
        found: usize,
    },
    /// An argument does not fit its parameter.
    Argument {
        /// Position, from 0.
        index: usize,
        /// Type of the parameter.
        expected: String,
        /// What was given.
        found: String,
    },
    /// A `tt.assert` that does not hold, with its message.
    Assertion(String),
    /// An `llvm.intr.assume` that does not hold.
    Assumption,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Unsupported(what) => write!(f, "the interpreter does not support {what}"),
            Fault::Malformed(what) => write!(f, "malformed: {what}"),
            Fault::OutOfBounds { address, bytes, nearest: Some((buffer, size)) } => {
                write!(f, "{bytes} bytes at {address:#x} are outside buffer {buffer} of {size} bytes")
            }
            Fault::OutOfBounds { address, bytes, nearest: None } => {
                write!(f, "{bytes} bytes at {address:#x} are in no buffer")
            }
            Fault::Index { index, extent } => write!(f, "index {index} is not in 0..{extent}"),
            Fault::DivisionByZero => f.write_str("integer division by zero"),
            Fault::LoopStep(step) => write!(f, "loop step {step} is not positive"),
            Fault::WorkLimit(limit) => write!(f, "more than {limit} element operations"),
            Fault::TileLimit(limit) => write!(f, "the tiles of one program need more than {limit} bytes"),
            Fault::DepthLimit(limit) => write!(f, "calls and regions nested deeper than {limit}"),
            Fault::NoEntry(Some(name)) => write!(f, "no function @{name}"),
            Fault::NoEntry(None) => f.write_str("no public function"),
            Fault::ArgumentCount { expected, found } => {
                write!(f, "{found} arguments for {expected} parameters")
            }
            Fault::Argument { index, expected, found } => {
                write!(f, "argument {index}: {found} does not fit {expected}")
            }
            Fault::Assertion(message) => write!(f, "assertion failed: {message}"),
            Fault::Assumption => f.write_str("an assumption of the kernel does not hold"),
        }
    }
}

impl std::error::Error for Fault {}

impl Fault {
    /// The kind of refusal (C91), the broken rule if one is numbered, and a remedy.
    fn class(&self) -> (Code, Option<&'static str>, &'static str) {
        match self {
            Fault::Unsupported(_) => {
                (Code::Op, Some("C3"), "another operation with this meaning: this one has no reference")
            }
            Fault::Malformed(_) => (Code::Verify, None, "verify the module before it is run"),
            Fault::OutOfBounds { .. } => (Code::Shape, None, "mask the access, or make the buffer larger"),
            Fault::Index { .. } => (Code::Shape, None, "pass indices inside the tile"),
            Fault::DivisionByZero => (Code::Shape, None, "pass arguments for which the divisor is not zero"),
            Fault::LoopStep(_) => (Code::Loop, Some("C7"), "give the loop a positive step"),
            Fault::WorkLimit(_) => {
                (Code::Capacity, None, "raise InterpOptions::max_work, or shrink the problem")
            }
            Fault::TileLimit(_) => (Code::Capacity, None, "raise InterpOptions::max_tile_bytes"),
            Fault::DepthLimit(_) => (Code::Capacity, None, "unnest the kernel; recursion is not supported"),
            Fault::NoEntry(_) => (Code::Verify, None, "name a function of the module"),
            Fault::ArgumentCount { .. } | Fault::Argument { .. } => (
                Code::Type,
                Some("C10"),
                "behind a descriptor come its shapes and strides; bind_args adds them",
            ),
            Fault::Assertion(_) | Fault::Assumption => {
                (Code::Shape, None, "pass arguments that keep what the kernel asks for")
            }
        }
    }
}

/// The operation at which an interpretation stopped.
#[derive(Clone, PartialEq, Debug)]
pub struct FaultPlace {
    /// The operation.
    pub op: OpId,
    /// Its name.
    pub op_name: String,
    /// Byte offset in the text that was read.
    pub offset: Option<u32>,
    /// The program that ran it: its `x`, `y`, `z` in the grid.
    pub program: [u32; 3],
}

/// Why an interpretation stopped, and where.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct InterpError {
    /// What went wrong.
    pub fault: Fault,
    /// Where; `None` when no operation ran yet.
    pub place: Option<Box<FaultPlace>>,
}

impl From<Fault> for InterpError {
    fn from(fault: Fault) -> InterpError {
        InterpError { fault, place: None }
    }
}

impl InterpError {
    /// The same as a diagnostic, with the kernel's own source location if the module carries it.
    pub fn diagnostic(&self, module: &Module) -> Diagnostic {
        let (code, rule, remedy) = self.fault.class();
        let mut diagnostic = Diagnostic::error(code, self.fault.to_string());
        diagnostic.rule = rule;
        if let Some(place) = &self.place {
            let loc = module.ops.get(place.op).map(|op| module.resolve_loc(op.loc));
            if let Some(Loc::File { file, line, column }) = loc {
                diagnostic.source = Some(format!("{file}:{line}:{column}"));
            }
            let [x, y, z] = place.program;
            diagnostic.op = Some(place.op_name.clone());
            diagnostic = diagnostic.at(place.offset).note("program", format!("({x}, {y}, {z})"));
        }
        diagnostic.note("instead", remedy)
    }
}

impl fmt::Display for InterpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => {
                let [x, y, z] = place.program;
                write!(f, "{}: {} (program {x}, {y}, {z})", place.op_name, self.fault)
            }
            None => write!(f, "{}", self.fault),
        }
    }
}

impl std::error::Error for InterpError {}
