//! A module as written: what the reader makes and the printer takes. Slices borrow the text.

/// A line of the text, from 1. It is a place, not content: two lines always compare equal, so that trees of texts
/// that differ in layout alone are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line(pub u32);

impl PartialEq for Line {
    fn eq(&self, _: &Line) -> bool {
        true
    }
}

impl Eq for Line {}

/// A PTX module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module<'a> {
    /// `.version` as written, e.g. `8.6`; empty if there is none.
    pub version: &'a str,
    /// `.target`: the chip, then options such as `debug`; empty if there is none.
    pub target: Vec<&'a str>,
    /// `.address_size` in bits.
    pub address_size: Option<u64>,
    /// Everything else, in order.
    pub items: Vec<Item<'a>>,
}

/// Something at the top level of a module.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Item<'a> {
    /// `.file 1 "name"`; `stamp` is what follows the name: time and size.
    File {
        /// The number that `.loc` names.
        number: u64,
        /// The inside of the quotes.
        name: &'a str,
        /// Time stamp and size, where they are given.
        stamp: Option<(u64, u64)>,
    },
    /// A variable of the module.
    Variable(Variable<'a>),
    /// A kernel or a device function.
    Function(Function<'a>),
    /// `.section name { ... }`, with everything between its name and the last brace as written.
    Section {
        /// With its dot, e.g. `.debug_info`.
        name: &'a str,
        /// From `{` to `}`.
        body: &'a str,
    },
    /// A directive of one line that is kept as written, e.g. `.pragma "nounroll";`.
    Other(&'a str),
}

/// A kernel or a device function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function<'a> {
    /// `.entry` rather than `.func`.
    pub kernel: bool,
    /// `.visible`, `.extern`, `.weak`, `.common`, as written.
    pub linkage: Vec<&'a str>,
    /// What a device function returns.
    pub returns: Vec<Parameter<'a>>,
    /// Its name.
    pub name: &'a str,
    /// Its parameters in order.
    pub parameters: Vec<Parameter<'a>>,
    /// `.reqntid`, `.maxnreg` and the like.
    pub tuning: Vec<Tuning<'a>>,
    /// The statements between the braces; `None` for a declaration.
    pub body: Option<Vec<Statement<'a>>>,
    /// Where it begins.
    pub line: Line,
}

/// A directive between the parameters of a function and its body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tuning<'a> {
    /// With its dot, e.g. `.reqntid`.
    pub name: &'a str,
    /// `128, 1, 1`
    pub numbers: Vec<u64>,
    /// The insides of strings, of `.pragma`.
    pub texts: Vec<&'a str>,
}

/// A parameter of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameter<'a> {
    /// `.param` or `.reg`.
    pub space: &'a str,
    /// `.align`, in bytes.
    pub align: Option<u64>,
    /// The type with its dot, e.g. `.u64`.
    pub ty: &'a str,
    /// `.ptr` with what it says about the pointer.
    pub pointer: Option<Pointer<'a>>,
    /// Its name.
    pub name: &'a str,
    /// Elements of each dimension; `None` for `[]`.
    pub dims: Vec<Option<u64>>,
    /// Where it stands.
    pub line: Line,
}

/// `.ptr .global .align 16`: what a parameter points to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pointer<'a> {
    /// The state space with its dot.
    pub space: Option<&'a str>,
    /// Alignment of what is pointed to, in bytes.
    pub align: Option<u64>,
}

/// A variable of a state space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variable<'a> {
    /// `.visible`, `.extern`, `.weak`, `.common`, as written.
    pub linkage: Vec<&'a str>,
    /// With its dot: `.global`, `.shared`, `.const`, `.local`, `.param`.
    pub space: &'a str,
    /// What stands in the parentheses of `.attribute`.
    pub attribute: Option<&'a str>,
    /// `.align`, in bytes.
    pub align: Option<u64>,
    /// `.v2`, `.v4`: lanes of a vector.
    pub lanes: Option<u64>,
    /// The type with its dot, e.g. `.b8`.
    pub ty: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Elements of each dimension; `None` for `[]`.
    pub dims: Vec<Option<u64>>,
    /// What stands behind `=`.
    pub init: Option<Initial<'a>>,
    /// Where it stands.
    pub line: Line,
}

/// An initial value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Initial<'a> {
    /// A number, or the address of a symbol.
    One(Operand<'a>),
    /// `generic(symbol)`: the generic address of a symbol.
    Generic(Operand<'a>),
    /// `{a, b}`
    List(Vec<Initial<'a>>),
}

/// A statement of a body.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Statement<'a> {
    /// `{`
    Open,
    /// `}`
    Close,
    /// `$L__BB0_1:`
    Label(&'a str, Line),
    /// `.reg .b32 %r<304>, x;`
    Registers(Registers<'a>),
    /// `.local`, `.shared` or `.param` variables of the body.
    Variable(Variable<'a>),
    /// `.loc`
    Location(Location<'a>),
    /// `name: .branchtargets a, b;` and `name: .calltargets f, g;`
    Targets {
        /// The name before the colon.
        label: &'a str,
        /// The directive with its dot.
        kind: &'a str,
        /// What it lists.
        names: Vec<&'a str>,
        /// Where it stands.
        line: Line,
    },
    /// `name: .callprototype ...;`
    Prototype {
        /// The name before the colon.
        label: &'a str,
        /// What stands between the directive and the semicolon.
        text: &'a str,
    },
    /// A directive that is kept as written, without its semicolon, e.g. `.pragma "nounroll"`.
    Other(&'a str),
    /// An instruction.
    Instruction(Instruction<'a>),
}

/// `.reg .b32 %r<304>, x;`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Registers<'a> {
    /// The type with its dot.
    pub ty: &'a str,
    /// Names; with a number, a bank of so many: `%r0` to `%r303`.
    pub names: Vec<(&'a str, Option<u64>)>,
    /// Where they stand.
    pub line: Line,
}

/// `.loc 1 21 14, function_name $f, inlined_at 1 30 9`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Location<'a> {
    /// Number of a `.file`.
    pub file: u64,
    /// Line of that file.
    pub line: u64,
    /// Column of that line.
    pub column: u64,
    /// What follows the column, as written.
    pub rest: &'a str,
}

/// An instruction as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instruction<'a> {
    /// `@%p1`, `@!%p1`.
    pub guard: Option<Guard<'a>>,
    /// The name with all its modifiers.
    pub opcode: &'a str,
    /// Operands in order.
    pub operands: Vec<Operand<'a>>,
    /// Where it stands.
    pub line: Line,
}

/// The predicate that an instruction runs under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard<'a> {
    /// The predicate register.
    pub name: &'a str,
    /// `@!`
    pub negated: bool,
}

/// An operand as written (E18).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Operand<'a> {
    /// A register, symbol, special register, label or `_`.
    Name(&'a str),
    /// An integer, negatives in two's complement.
    Int(u64),
    /// The bits of `0f3F800000`.
    F32(u32),
    /// The bits of `0d...` or of a decimal float.
    F64(u64),
    /// `!%p`
    Not(&'a str),
    /// `-%r3`, of `vmad`.
    Minus(&'a str),
    /// `%rd20+2`
    Plus(&'a str, i64),
    /// `%r1|%p1`
    Pair(&'a str, &'a str),
    /// `{a, b}`
    Vector(Vec<Operand<'a>>),
    /// `{a, b}|%p1`, of textures: whether the texels are there.
    VectorPair(Vec<Operand<'a>>, &'a str),
    /// `[base+offset, {coordinates}]`
    Address(Address<'a>),
    /// `(a, b)`, of calls.
    Group(Vec<Operand<'a>>),
}

/// `[base+offset, {coordinates}]`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Address<'a> {
    /// A register or symbol; `None` for an absolute address.
    pub base: Option<&'a str>,
    /// Bytes.
    pub offset: i64,
    /// The second name of a texture access.
    pub sampler: Option<&'a str>,
    /// Coordinates of a tensor or texture.
    pub coords: Vec<Operand<'a>>,
}

impl<'a> Module<'a> {
    /// The kernels and device functions, in order.
    pub fn functions(&self) -> impl Iterator<Item = &Function<'a>> {
        self.items.iter().filter_map(|item| match item {
            Item::Function(function) => Some(function),
            _ => None,
        })
    }
}

impl<'a> Instruction<'a> {
    /// Every register, symbol and label in the operands, in order, repeated as often as it stands there; the guard
    /// is not among them.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.operands.iter().flat_map(Operand::names)
    }
}

impl<'a> Operand<'a> {
    /// Every name in the operand, in order.
    pub fn names(&self) -> Vec<&'a str> {
        let mut out = Vec::new();
        self.collect(&mut out);
        out
    }

    fn collect(&self, out: &mut Vec<&'a str>) {
        match self {
            Operand::Name(n) | Operand::Not(n) | Operand::Minus(n) | Operand::Plus(n, _) => out.push(n),
            Operand::Pair(a, b) => out.extend([a, b]),
            Operand::Vector(list) | Operand::Group(list) => list.iter().for_each(|o| o.collect(out)),
            Operand::VectorPair(list, p) => {
                list.iter().for_each(|o| o.collect(out));
                out.push(p);
            }
            Operand::Address(a) => {
                out.extend(a.base);
                out.extend(a.sampler);
                a.coords.iter().for_each(|o| o.collect(out));
            }
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) => {}
        }
    }
}
