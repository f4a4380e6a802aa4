//! How the operations that carry buffers are written (A56).

use warploom_ir::text::dialect::{Dialect, Format, Infer, Item};

use Item::{Dict, Mark, Offsets, Operand, Rest, Results, Signature, Symbol, TypedRest};

/// Calls, tuples, loops and functions; everything else is kept as it stands.
pub(crate) const STABLEHLO: Dialect = Dialect { format };

const COLON: Item = Mark(":");

fn format(name: &str) -> Option<Format> {
    Some(match name {
        "stablehlo.custom_call" => Format::Items(
            &[Symbol("call_target_name"), Mark("("), Rest(0), Mark(")"), Dict, COLON, Signature],
            Infer::Spelt,
        ),
        "stablehlo.tuple" => Format::Items(&[Rest(0), Dict, COLON, Results], Infer::Spelt),
        "stablehlo.get_tuple_element" => {
            Format::Items(&[Operand(0), Offsets("index"), Dict, COLON, Signature], Infer::Spelt)
        }
        "stablehlo.return" | "func.return" | "return" => Format::Items(&[Dict, TypedRest(0)], Infer::Spelt),
        "stablehlo.while" => Format::CondDo,
        "func.call" | "call" => Format::Items(
            &[Symbol("callee"), Mark("("), Rest(0), Mark(")"), Dict, COLON, Signature],
            Infer::Spelt,
        ),
        "func.func" | "func" => Format::Func,
        _ => return None,
    })
}
