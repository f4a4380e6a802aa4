//! The assembly formats that the [table](crate::table) names, and the format of every operation.
//!
//! A format is a list of [`Item`]s that the parser reads and the printer writes in order, after MLIR's
//! declarative formats. Operations with regions or with a format of their own name a routine instead.

pub(crate) use super::item::{Format, Infer, Item};
use super::keywords::{self as kw, Keywords};
use crate::opcode::Opcode;

use Infer::{Each, Element, I32, Like, Pointee, Spelt, Times, Truth};
use Item::{
    Alternatives, CacheWords, ColonTypedRest, Dict, DictAlways, Flag, Flags, Keyword, Mark, MaybeKeyword,
    MaybeNamed, MaybeOperand, Name, Named, Operand, Optional, Region, Rest, Results, SameType, Signature,
    Symbol, Text, Type, TypedRest, Types, Word,
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
const REARRANGE: Format = Format::Items(&[Operand(0), Dict, COLON, Type(0), ARROW, Results], Spelt);
const HISTOGRAM: Format =
    Format::Items(&[Operand(0), Optional(1), Dict, COLON, Type(0), ARROW, Results], Spelt);
const JOIN: Format =
    Format::Items(&[Operand(0), COMMA, Operand(1), Dict, COLON, SameType, ARROW, Results], Spelt);
const YIELD: Format = Format::Items(&[Dict, TypedRest(0)], Spelt);
const YIELD_VALUES: Format = YIELD;
const CLAUSE_RETURN: Format = Format::Items(&[Rest(0), Dict, COLON, Types], Spelt);
const PROGRAM_AXIS: Format = Format::Items(&[Keyword("axis", &kw::AXIS), Dict, COLON, Results], Spelt);
const RING: Format =
    Format::Items(&[Symbol("pipeline"), OPEN, Operand(0), COMMA, Operand(1), CLOSE, Dict], Spelt);
const TMA: Format = Format::Items(
    &[Symbol("pipeline"), OPEN, Operand(0), CLOSE, Dict, Operand(1), OPEN, Rest(2), CLOSE, COLON, Type(1)],
    Spelt,
);

const MODULE: Format = Format::Module;
const CMP_I: Format = Format::Items(
    &[Keyword("predicate", &kw::CMPI), COMMA, Operand(0), COMMA, Operand(1), Dict, COLON, SameType],
    Truth,
);
const CMP_F: Format = Format::Items(
    &[Keyword("predicate", &kw::CMPF), COMMA, Operand(0), COMMA, Operand(1), FAST, Dict, COLON, SameType],
    Truth,
);
const SELECT: Format = Format::Select;
const CONSTANT: Format = Format::Constant;
const TRUNC_I: Format =
    Format::Items(&[Operand(0), OVERFLOW, Dict, COLON, Type(0), Word("to"), Results], Spelt);
const TRUNC_F: Format = Format::Items(
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
);
const FMA: Format =
    Format::Items(&[Operand(0), COMMA, Operand(1), COMMA, Operand(2), FAST, Dict, COLON, SameType], Like(0));
const FOR: Format = Format::For;
const IF: Format = Format::If;
const WHILE: Format = Format::While;
const BRANCH: Format = Format::Branch;
const CONDITION: Format = Format::Items(&[Mark("("), Operand(0), Mark(")"), Dict, TypedRest(1)], Spelt);
const FUNC: Format = Format::Func;
const CALL: Format =
    Format::Items(&[Symbol("callee"), Mark("("), Rest(0), Mark(")"), Dict, COLON, Signature], Spelt);
const MAKE_RANGE: Format = Format::Items(&[Dict, COLON, Results], Spelt);
const RESHAPE: Format = Format::Items(
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
);
const SPLIT: Format = Format::Items(&[Operand(0), Dict, COLON, Type(0), ARROW, Results], Times(2));
const UNSPLAT: Format = Format::Items(&[Operand(0), Dict, COLON, Type(0)], Element);
const FP_TO_FP: Format = Format::Items(
    &[Operand(0), Dict, MaybeNamed("rounding", &kw::ROUNDING), COLON, Type(0), ARROW, Results],
    Spelt,
);
const ADD_PTR: Format =
    Format::Items(&[Operand(0), COMMA, Operand(1), Dict, COLON, Type(0), COMMA, Type(1)], Like(0));
const LOAD: Format = Format::Items(&[Operand(0), Optional(2), CacheWords, Dict, COLON, Type(0)], Pointee);
const STORE: Format =
    Format::Items(&[Operand(0), COMMA, Operand(1), Optional(1), CacheWords, Dict, COLON, Type(0)], Spelt);
const MAKE_DESCRIPTOR: Format = Format::MakeDescriptor;
const DESCRIPTOR_LOAD: Format = Format::Items(
    &[Operand(0), OPEN, Rest(1), CLOSE, CacheWords, Dict, COLON, Type(0), ARROW, Results],
    Spelt,
);
const DESCRIPTOR_STORE: Format = Format::Items(
    &[Operand(0), OPEN, Rest(2), CLOSE, COMMA, Operand(1), Dict, COLON, Type(0), COMMA, Type(1)],
    Spelt,
);
const DESCRIPTOR_REDUCE: Format = Format::Items(
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
);
const DESCRIPTOR_GATHER: Format =
    Format::Items(&[Operand(0), OPEN, Operand(1), COMMA, Operand(2), CLOSE, Dict, COLON, Signature], Spelt);
const DESCRIPTOR_SCATTER: Format = Format::Items(
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
);
const DOT: Format = Format::Items(
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
);
const DOT_SCALED: Format = Format::DotScaled;
const GENERIC: Format = Format::Generic;
const GATHER: Format = Format::Items(&[Operand(0), OPEN, Operand(1), CLOSE, Dict, COLON, Signature], Spelt);
const ATOMIC_RMW: Format = Format::Items(
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
);
const ATOMIC_CAS: Format = Format::Items(
    &[Keyword("sem", &kw::SEM), COMMA, Keyword("scope", &kw::SCOPE), COMMA, Rest(0), Dict, COLON, Signature],
    Spelt,
);
const ATOMIC_LOAD: Format = ATOMIC_CAS;
const ATOMIC_STORE: Format = Format::Items(
    &[
        Keyword("sem", &kw::SEM),
        COMMA,
        Keyword("scope", &kw::SCOPE),
        COMMA,
        Operand(0),
        COMMA,
        Operand(1),
        Optional(1),
        Dict,
        COLON,
        Type(0),
    ],
    Spelt,
);
const ATOMIC_POLL: Format = Format::Items(
    &[
        Keyword("sem", &kw::SEM),
        COMMA,
        Keyword("scope", &kw::SCOPE),
        COMMA,
        Operand(0),
        COMMA,
        Operand(1),
        MaybeOperand("timeout", 2),
        Dict,
        COLON,
        Type(0),
        COMMA,
        Type(1),
        ARROW,
        Results,
    ],
    Spelt,
);
const CLAMP_F: Format = Format::Items(
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
);
const EXTERN_ELEMENTWISE: Format = Format::Items(&[Rest(0), Dict, COLON, Signature], Spelt);
const ELEMENTWISE_INLINE_ASM: Format =
    Format::Items(&[Text("asm_string"), Dict, TypedRest(0), ARROW, Results], Spelt);
const ASSERT: Format = Format::Items(&[Operand(0), COMMA, Text("message"), Dict, COLON, Type(0)], Spelt);
const PRINT: Format = Format::Items(&[Text("prefix"), Dict, ColonTypedRest], Spelt);
const TTG_BARRIER: Format = Format::Items(&[Alternatives("addrSpace"), Dict], Spelt);
const ASSUME: Format = Format::Items(&[Operand(0), Dict, COLON, Type(0)], Spelt);
const PLAIN: Format = Format::Items(&[Dict], Spelt);
const DECLARATION: Format = Format::Items(&[Name, DictAlways], Spelt);
const PARTITION: Format = Format::Items(&[Name, DictAlways, Region], Spelt);
const ELECT: Format = Format::Items(&[Region, Dict], Spelt);
const ADVANCE: Format = Format::Items(&[Symbol("pipeline"), OPEN, Rest(0), CLOSE, Dict], I32(2));
const SLOT: Format = Format::Items(&[Symbol("pipeline"), OPEN, Rest(0), CLOSE, Dict, COLON, Results], Spelt);
const MMA: Format = Format::Items(
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
);
const TILE_STORE: Format = Format::Items(
    &[Operand(0), COMMA, Symbol("pipeline"), OPEN, Operand(1), CLOSE, Dict, COLON, Type(0)],
    Spelt,
);
const MMA_WAIT: Format = Format::Items(&[Rest(0), Dict, COLON, Types], Each);
const BARRIER_SYNC: Format = Format::Items(&[Symbol("barrier"), Dict], Spelt);
const TURN: Format = Format::Items(&[Symbol("turns"), Dict], Spelt);
const ASYNC_COPY: Format = Format::Items(
    &[Symbol("pipeline"), OPEN, Operand(0), CLOSE, Dict, Operand(1), Optional(2), COLON, Type(1)],
    Spelt,
);

macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident $name:literal [$($in:tt)*] [$($out:tt)*] $regions:literal
        $format:ident $module:ident::$verifier:ident $category:ident $effect:ident $cost:ident $lowered:ident,)*) => {
        /// The format of an operation. Unknown ones have the generic form.
        pub(crate) fn format(op: Opcode) -> Format {
            match op {
                $(Opcode::$variant => $format,)*
                Opcode::Other(_) => GENERIC,
            }
        }
    };
}

crate::table::operations!(formats);

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
