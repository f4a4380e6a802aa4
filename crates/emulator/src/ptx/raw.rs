//! Statements as written, before names and opcodes are understood.

/// An operand as written (E18).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Raw<'a> {
    /// A register, symbol, special register or `_`.
    Name(&'a str),
    /// An integer, negatives in two's complement.
    Int(u64),
    /// `0f3F800000`.
    F32(u32),
    /// `0d...` or a decimal float.
    F64(u64),
    /// `!%p`.
    Not(&'a str),
    /// `%rd20+2`.
    Plus(&'a str, i64),
    /// `%r1|%p1`.
    Pair(&'a str, &'a str),
    /// `{a, b}`.
    Vector(Vec<Raw<'a>>),
    /// `[base + offset, {coordinates}]`.
    Address(Address<'a>),
    /// `(a, b)`, of calls.
    Group,
}

/// `[base + offset, {coordinates}]`; no base for an absolute address.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Address<'a> {
    pub base: Option<&'a str>,
    pub offset: i64,
    pub coords: Vec<Raw<'a>>,
}

/// An instruction as written.
#[derive(Clone, Debug)]
pub(crate) struct RawInst<'a> {
    pub opcode: &'a str,
    /// Guard predicate and whether it is negated.
    pub guard: Option<(&'a str, bool)>,
    pub operands: Vec<Raw<'a>>,
    pub line: u32,
    /// Index into the entry's source locations plus one; 0 for none.
    pub loc: u32,
    pub scope: u32,
}

/// A variable in some state space.
#[derive(Clone, Debug)]
pub(crate) struct RawVar<'a> {
    pub space: &'a str,
    pub name: &'a str,
    pub align: u64,
    pub size: u64,
    /// `x[]`: as large as the launch says.
    pub dynamic: bool,
    pub init: Vec<u8>,
}

/// A parameter of an entry.
#[derive(Clone, Debug)]
pub(crate) struct RawParam<'a> {
    pub name: &'a str,
    pub ty: &'a str,
    pub align: u64,
    pub size: u64,
    pub array: bool,
}

/// An entry before decoding.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawEntry<'a> {
    pub name: &'a str,
    pub params: Vec<RawParam<'a>>,
    /// `.reqntid`, `.maxnreg`, ... with their numbers.
    pub directives: Vec<(&'a str, Vec<u64>)>,
    pub insts: Vec<RawInst<'a>>,
    pub scopes: Vec<super::scope::Scope<'a>>,
    /// `.local` and `.shared` variables of the body.
    pub vars: Vec<RawVar<'a>>,
    /// `.loc` file, line, column.
    pub locs: Vec<(u32, u32, u32)>,
}

/// A module before decoding.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawModule<'a> {
    pub version: String,
    pub target: &'a str,
    pub entries: Vec<RawEntry<'a>>,
    pub vars: Vec<RawVar<'a>>,
    pub files: Vec<(u32, &'a str)>,
}

/// Bytes of a fundamental type name without its dot.
pub(crate) fn type_bytes(ty: &str) -> Option<u64> {
    Some(match ty {
        "b8" | "u8" | "s8" | "e4m3" | "e5m2" => 1,
        "b16" | "u16" | "s16" | "f16" | "bf16" => 2,
        "b32" | "u32" | "s32" | "f32" | "f16x2" | "bf16x2" | "tf32" => 4,
        "b64" | "u64" | "s64" | "f64" | "f32x2" => 8,
        "b128" => 16,
        _ => return None,
    })
}
