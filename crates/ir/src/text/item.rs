//! What a format is made of.

use super::keywords::Keywords;

/// One piece of a format.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Item {
    /// Operand number n.
    Operand(usize),
    /// All operands from number n on, separated by commas.
    Rest(usize),
    /// `, %x` up to as many times as given: optional operands.
    Optional(usize),
    /// `word %x` for operand number n, or nothing.
    MaybeOperand(&'static str, usize),
    /// `%a, .. : T, ..` for the operands from number n on; nothing when there are none.
    TypedRest(usize),
    /// `: %a, .. : T, ..`, the same with a colon before it.
    ColonTypedRest,
    /// Punctuation.
    Mark(&'static str),
    /// A fixed word.
    Word(&'static str),
    /// A keyword property.
    Keyword(&'static str, &'static Keywords),
    /// `, name = keyword`.
    Named(&'static str, &'static Keywords),
    /// The same, or nothing.
    MaybeNamed(&'static str, &'static Keywords),
    /// A keyword property, or nothing.
    MaybeKeyword(&'static str, &'static Keywords),
    /// A word that stands for a unit property: the word and the property.
    Flag(&'static str, &'static str),
    /// `word<a, b>` for a property `#arith.word<a, b>`: the word and the property.
    Flags(&'static str, &'static str),
    /// A string property.
    Text(&'static str),
    /// A symbol property `@name`.
    Symbol(&'static str),
    /// Words separated by `|`, kept as one keyword property.
    Alternatives(&'static str),
    /// The name that the operation gives itself, `@name`.
    Name,
    /// `name = value, name = value` for properties that are given: a bare word, a number or a list each.
    Params(&'static [&'static str]),
    /// `cacheModifier = word evictionPolicy = word`, either or none, as Triton before 3.9 wrote a cache policy: read, never
    /// written.
    CacheWords,
    /// `[%i]` for operand number n; `, %i` is read too.
    Index(usize),
    /// `[0, 16]` as a property of 32-bit numbers.
    Offsets(&'static str),
    /// `{..}` where it is read but never written.
    EarlyDict,
    /// `{..}` when there are attributes left to write.
    Dict,
    /// `{..}` even when it is empty.
    DictAlways,
    /// `{ operations }`, one block without arguments.
    Region,
    /// The type of operand n.
    Type(usize),
    /// One type for all operands.
    SameType,
    /// The types of all operands, separated by commas.
    Types,
    /// The type of every result, separated by commas.
    Results,
    /// `(operand types) -> result types`.
    Signature,
}

/// Where the types of results come from that the text does not spell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Infer {
    /// Spelt, or there are none.
    Spelt,
    /// The type of operand n.
    Like(usize),
    /// `i1` in the shape of operand 0.
    Truth,
    /// What operand 0 points to.
    Pointee,
    /// The element type of operand 0.
    Element,
    /// One result for each operand, of its type.
    Each,
    /// This many results of the one type that is spelt.
    Times(usize),
    /// This many `i32`.
    I32(usize),
}

/// How an operation is written.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Format {
    /// Item by item.
    Items(&'static [Item], Infer),
    /// The generic form is also the usual one.
    Generic,
    /// `module @n attributes {..} {..}`
    Module,
    /// `tt.func visibility @n(..) -> .. attributes {..} {..}`
    Func,
    /// `scf.for`
    For,
    /// `scf.if`
    If,
    /// `scf.while`
    While,
    /// `cf.br ^bb1(%a : T)`, `cf.cond_br %c, ^bb1(%a : T), ^bb2`
    Branch,
    /// `arith.constant {..} value`
    Constant,
    /// `arith.select`, which leaves the type of a scalar condition out.
    Select,
    /// `tt.make_tensor_descriptor`, two lists of operands and types without their prefixes.
    MakeDescriptor,
    /// `tt.dot_scaled`, with optional scales.
    DotScaled,
    /// `ttg.warp_specialize(%a, ..) default {..} partition0(%x: T, ..) num_warps(4) {..} : (T, ..) -> ()`
    WarpSpecialize,
    /// `stablehlo.while(%x = %a, ..) : T, .. cond {..} do {..}`, the arguments in both regions.
    CondDo,
}
