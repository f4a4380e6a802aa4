//! The assembly format of every known operation: one line each.
//!
//! A format is a list of [`Item`]s that the parser reads and the printer writes in order, after MLIR's
//! declarative formats. Operations with regions or with a format of their own name a routine instead.

pub(crate) use super::item::{Format, Infer, Item};
use super::keywords::{self as kw, Keywords};
use crate::opcode::Opcode;

use Infer::{Each, Element, I32, Like, Pointee, Spelt, Times, Truth};
use Item::{
    Alternatives, ColonTypedRest, Dict, DictAlways, Flag, Flags, Keyword, Mark, MaybeKeyword, MaybeNamed,
    Name, Named, Operand, Optional, Region, Rest, Results, SameType, Signature, Symbol, Text, Type,
    TypedRest, Types, Word,
};

const COMMA: Item = Mark(",");
const COLON: Item = Mark(":");
const ARROW: Item = Mark("->");
const OPEN: Item = Mark("[");
const CLOSE: Item = Mark("]");
const FAST: Item = Flags("fastmath", "fastmath");
const OVERFLOW: Item = Flags("overflow", "overflowFlags");

const UNARY: Format = Format::Items(&[Operand(0), Dict, COLON, SameType], Like(0));
const UNARY_FAST: Format = Format::Items(&[Operand(0), FAST, Dict, COLON, SameType], Like(0));
const BINARY: Format = Format::Items(&[Operand(0), COMMA, Operand(1), Dict, COLON, SameType], Like(0));
const BINARY_FAST: Format =
    Format::Items(&[Operand(0), COMMA, Operand(1), FAST, Dict, COLON, SameType], Like(0));
const BINARY_OVERFLOW: Format =
    Format::Items(&[Operand(0), COMMA, Operand(1), OVERFLOW, Dict, COLON, SameType], Like(0));
const BINARY_EXACT: Format =
    Format::Items(&[Operand(0), COMMA, Operand(1), Flag("exact", "isExact"), Dict, COLON, SameType], Like(0));
const CONVERT: Format = Format::Items(&[Operand(0), Dict, COLON, Type(0), Word("to"), Results], Spelt);
const CONVERT_FAST: Format =
    Format::Items(&[Operand(0), FAST, Dict, COLON, Type(0), Word("to"), Results], Spelt);
const CONVERT_NON_NEGATIVE: Format =
    Format::Items(&[Operand(0), Flag("nneg", "nonNeg"), Dict, COLON, Type(0), Word("to"), Results], Spelt);
const RESHAPE: Format = Format::Items(&[Operand(0), Dict, COLON, Type(0), ARROW, Results], Spelt);
const JOIN: Format =
    Format::Items(&[Operand(0), COMMA, Operand(1), Dict, COLON, SameType, ARROW, Results], Spelt);
const YIELD: Format = Format::Items(&[Dict, TypedRest(0)], Spelt);
const CLAUSE_RETURN: Format = Format::Items(&[Rest(0), Dict, COLON, Types], Spelt);
const PROGRAM_AXIS: Format = Format::Items(&[Keyword("axis", &kw::AXIS), Dict, COLON, Results], Spelt);
const RING: Format =
    Format::Items(&[Symbol("pipeline"), OPEN, Operand(0), COMMA, Operand(1), CLOSE, Dict], Spelt);
const TMA: Format = Format::Items(
    &[Symbol("pipeline"), OPEN, Operand(0), CLOSE, Dict, Operand(1), OPEN, Rest(2), CLOSE, COLON, Type(1)],
    Spelt,
);

/// The format of a known operation. Unknown ones have the generic form.
pub(crate) fn format(op: Opcode) -> Format {
    use Opcode as O;
    match op {
        O::Module => Format::Module,
        O::AddI | O::SubI | O::MulI | O::ShLI => BINARY_OVERFLOW,
        O::DivSI | O::DivUI | O::ShRSI | O::ShRUI => BINARY_EXACT,
        O::RemSI | O::RemUI | O::AndI | O::OrI | O::XOrI => BINARY,
        O::MinSI | O::MaxSI | O::MinUI | O::MaxUI => BINARY,
        O::AddF | O::SubF | O::MulF | O::DivF | O::RemF => BINARY_FAST,
        O::MaxNumF | O::MinNumF | O::MaximumF | O::MinimumF => BINARY_FAST,
        O::NegF => UNARY_FAST,
        O::CmpI => Format::Items(
            &[Keyword("predicate", &kw::CMPI), COMMA, Operand(0), COMMA, Operand(1), Dict, COLON, SameType],
            Truth,
        ),
        O::CmpF => Format::Items(
            &[
                Keyword("predicate", &kw::CMPF),
                COMMA,
                Operand(0),
                COMMA,
                Operand(1),
                FAST,
                Dict,
                COLON,
                SameType,
            ],
            Truth,
        ),
        O::Select => Format::Select,
        O::Constant => Format::Constant,
        O::ExtSI | O::SIToFP | O::FPToSI | O::FPToUI | O::ArithBitcast | O::IndexCast => CONVERT,
        O::ExtUI | O::UIToFP => CONVERT_NON_NEGATIVE,
        O::TruncI => Format::Items(&[Operand(0), OVERFLOW, Dict, COLON, Type(0), Word("to"), Results], Spelt),
        O::ExtF => CONVERT_FAST,
        O::TruncF => Format::Items(
            &[
                Operand(0),
                MaybeKeyword("roundingmode", &kw::ROUNDING_MODE),
                FAST,
                Dict,
                COLON,
                Type(0),
                Word("to"),
                Results,
            ],
            Spelt,
        ),
        O::Exp | O::Exp2 | O::Log | O::Log2 | O::Sqrt | O::Rsqrt | O::Sin | O::Cos | O::Tanh | O::Erf => {
            UNARY_FAST
        }
        O::AbsF | O::Floor | O::Ceil => UNARY_FAST,
        O::AbsI => UNARY,
        O::Fma => Format::Items(
            &[Operand(0), COMMA, Operand(1), COMMA, Operand(2), FAST, Dict, COLON, SameType],
            Like(0),
        ),
        O::For => Format::For,
        O::If => Format::If,
        O::While => Format::While,
        O::Condition => Format::Items(&[Mark("("), Operand(0), Mark(")"), Dict, TypedRest(1)], Spelt),
        O::Yield | O::Return => YIELD,
        O::Func => Format::Func,
        O::Call => {
            Format::Items(&[Symbol("callee"), Mark("("), Rest(0), Mark(")"), Dict, COLON, Signature], Spelt)
        }
        O::GetProgramId | O::GetNumPrograms => PROGRAM_AXIS,
        O::MakeRange => Format::Items(&[Dict, COLON, Results], Spelt),
        O::Splat | O::Broadcast | O::ExpandDims | O::Trans | O::Histogram => RESHAPE,
        O::Bitcast | O::IntToPtr | O::PtrToInt => RESHAPE,
        O::Reshape => Format::Items(
            &[
                Operand(0),
                Flag("allow_reorder", "allow_reorder"),
                Flag("efficient_layout", "efficient_layout"),
                Dict,
                COLON,
                Type(0),
                ARROW,
                Results,
            ],
            Spelt,
        ),
        O::Cat | O::Join => JOIN,
        O::Split => Format::Items(&[Operand(0), Dict, COLON, Type(0), ARROW, Results], Times(2)),
        O::Unsplat => Format::Items(&[Operand(0), Dict, COLON, Type(0)], Element),
        O::FpToFp => Format::Items(
            &[Operand(0), Dict, MaybeNamed("rounding", &kw::ROUNDING), COLON, Type(0), ARROW, Results],
            Spelt,
        ),
        O::AddPtr => {
            Format::Items(&[Operand(0), COMMA, Operand(1), Dict, COLON, Type(0), COMMA, Type(1)], Like(0))
        }
        O::Load => Format::Items(&[Operand(0), Optional(2), Dict, COLON, Type(0)], Pointee),
        O::Store => Format::Items(&[Operand(0), COMMA, Operand(1), Optional(1), Dict, COLON, Type(0)], Spelt),
        O::MakeTensorDescriptor => Format::MakeDescriptor,
        O::DescriptorLoad => {
            Format::Items(&[Operand(0), OPEN, Rest(1), CLOSE, Dict, COLON, Type(0), ARROW, Results], Spelt)
        }
        O::DescriptorStore => Format::Items(
            &[Operand(0), OPEN, Rest(2), CLOSE, COMMA, Operand(1), Dict, COLON, Type(0), COMMA, Type(1)],
            Spelt,
        ),
        O::DescriptorReduce => Format::Items(
            &[
                Keyword("kind", &kw::REDUCE_KIND),
                COMMA,
                Operand(0),
                OPEN,
                Rest(2),
                CLOSE,
                COMMA,
                Operand(1),
                Dict,
                COLON,
                Type(0),
                COMMA,
                Type(1),
            ],
            Spelt,
        ),
        O::DescriptorGather => Format::Items(
            &[Operand(0), OPEN, Operand(1), COMMA, Operand(2), CLOSE, Dict, COLON, Signature],
            Spelt,
        ),
        O::DescriptorScatter => Format::Items(
            &[
                Operand(0),
                OPEN,
                Operand(1),
                COMMA,
                Operand(2),
                CLOSE,
                COMMA,
                Operand(3),
                Dict,
                COLON,
                Type(0),
                COMMA,
                Type(1),
                COMMA,
                Type(2),
                COMMA,
                Type(3),
            ],
            Spelt,
        ),
        O::Dot => Format::Items(
            &[
                Operand(0),
                COMMA,
                Operand(1),
                COMMA,
                Operand(2),
                MaybeNamed("inputPrecision", &kw::INPUT_PRECISION),
                Dict,
                COLON,
                Type(0),
                Mark("*"),
                Type(1),
                ARROW,
                Results,
            ],
            Spelt,
        ),
        O::DotScaled => Format::DotScaled,
        O::Reduce | O::Scan => Format::Generic,
        O::ReduceReturn | O::ScanReturn => CLAUSE_RETURN,
        O::Gather => Format::Items(&[Operand(0), OPEN, Operand(1), CLOSE, Dict, COLON, Signature], Spelt),
        O::AtomicRmw => Format::Items(
            &[
                Keyword("atomic_rmw_op", &kw::RMW),
                COMMA,
                Keyword("sem", &kw::SEM),
                COMMA,
                Keyword("scope", &kw::SCOPE),
                COMMA,
                Rest(0),
                Dict,
                COLON,
                Signature,
            ],
            Spelt,
        ),
        O::AtomicCas => Format::Items(
            &[
                Keyword("sem", &kw::SEM),
                COMMA,
                Keyword("scope", &kw::SCOPE),
                COMMA,
                Rest(0),
                Dict,
                COLON,
                Signature,
            ],
            Spelt,
        ),
        O::ClampF => Format::Items(
            &[
                Operand(0),
                COMMA,
                Operand(1),
                COMMA,
                Operand(2),
                Named("propagateNan", &kw::PROPAGATE_NAN),
                Dict,
                COLON,
                SameType,
            ],
            Like(0),
        ),
        O::PreciseSqrt => UNARY,
        O::PreciseDivF | O::MulHiUI => BINARY,
        O::ExternElementwise => Format::Items(&[Rest(0), Dict, COLON, Signature], Spelt),
        O::ElementwiseInlineAsm => {
            Format::Items(&[Text("asm_string"), Dict, TypedRest(0), ARROW, Results], Spelt)
        }
        O::Assert => Format::Items(&[Operand(0), COMMA, Text("message"), Dict, COLON, Type(0)], Spelt),
        O::Print => Format::Items(&[Text("prefix"), Dict, ColonTypedRest], Spelt),
        O::TtgBarrier => Format::Items(&[Alternatives("addrSpace"), Dict], Spelt),
        O::Assume => Format::Items(&[Operand(0), Dict, COLON, Type(0)], Spelt),

        O::Alloc | O::StoreCommit | O::StoreWait | O::ProxyFence => Format::Items(&[Dict], Spelt),
        O::Pipeline | O::NamedBarrier => Format::Items(&[Name, DictAlways], Spelt),
        O::Agent => Format::Items(&[Name, DictAlways, Region], Spelt),
        O::Elect => Format::Items(&[Region, Dict], Spelt),
        O::ProducerAcquire | O::ProducerCommit | O::ConsumerWait | O::ConsumerRelease => RING,
        O::Advance => {
            Format::Items(&[Symbol("pipeline"), OPEN, Operand(0), COMMA, Operand(1), CLOSE, Dict], I32(2))
        }
        O::TmaLoad | O::TmaStore => TMA,
        O::Slot => Format::Items(&[Symbol("pipeline"), OPEN, Rest(0), CLOSE, Dict, COLON, Results], Spelt),
        O::Mma => Format::Items(
            &[
                Symbol("pipeline"),
                OPEN,
                Operand(0),
                CLOSE,
                Dict,
                Operand(1),
                COMMA,
                Operand(2),
                COMMA,
                Operand(3),
                MaybeNamed("inputPrecision", &kw::INPUT_PRECISION),
                COLON,
                Type(1),
                Mark("*"),
                Type(2),
            ],
            Spelt,
        ),
        O::TileStore => Format::Items(
            &[Operand(0), COMMA, Symbol("pipeline"), OPEN, Operand(1), CLOSE, Dict, COLON, Type(0)],
            Spelt,
        ),
        O::MmaWait => Format::Items(&[Rest(0), Dict, COLON, Types], Each),
        O::BarrierSync => Format::Items(&[Symbol("barrier"), Dict], Spelt),
        O::AsyncCopy => Format::Items(
            &[Symbol("pipeline"), OPEN, Operand(0), CLOSE, Dict, Operand(1), Optional(2), COLON, Type(1)],
            Spelt,
        ),
        O::AsyncCommit | O::AsyncWait => Format::Items(&[Dict], Spelt),
        O::Other(_) => Format::Generic,
    }
}

/// The keywords of an enumerated property of an operation.
pub(crate) fn enumeration(op: Opcode, property: &str) -> Option<&'static Keywords> {
    match format(op) {
        Format::Items(items, _) => items.iter().find_map(|item| match item {
            Keyword(name, words)
            | Named(name, words)
            | MaybeNamed(name, words)
            | MaybeKeyword(name, words) => (*name == property).then_some(*words),
            _ => None,
        }),
        Format::DotScaled if property.ends_with("_elem_type") => Some(&kw::SCALE_TYPE),
        _ => None,
    }
}
