//! What kind of refusal or remark a diagnostic is.

/// The kinds of refusal (C91).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Code {
    /// Syntax.
    Parse,
    /// Broken types, structure or dominance.
    Verify,
    /// Unsupported operation.
    Op,
    /// Unsupported type.
    Type,
    /// Unsupported shape.
    Shape,
    /// Unsupported layout of an operand.
    Layout,
    /// Unsupported precision.
    Precision,
    /// A loop that is not pipelined, and why.
    Loop,
    /// A descriptor's box, swizzle or alignment.
    Desc,
    /// Too many bytes or columns, with their owners.
    Capacity,
    /// Too many registers.
    Registers,
    /// The chip lacks a feature.
    Target,
    /// The emitted PTX failed its scan.
    Emit,
    /// `ptxas` refused.
    Assemble,
    /// A checker found one of our own results wrong; nothing was written.
    Internal,
}

impl Code {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Code::Parse => "parse",
            Code::Verify => "verify",
            Code::Op => "op",
            Code::Type => "type",
            Code::Shape => "shape",
            Code::Layout => "layout",
            Code::Precision => "precision",
            Code::Loop => "loop",
            Code::Desc => "desc",
            Code::Capacity => "capacity",
            Code::Registers => "registers",
            Code::Target => "target",
            Code::Emit => "emit",
            Code::Assemble => "assemble",
            Code::Internal => "internal",
        }
    }
}

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// The input is refused.
    Error,
    /// Compiled, but probably not as meant.
    Warning,
    /// Worth knowing.
    Remark,
}

impl Severity {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
        }
    }
}
