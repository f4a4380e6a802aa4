//! How the operations of A16 and the memory descriptors around them are written.

use warploom_ir::text::dialect::{Dialect, Format, Infer, Item};

use Item::{Dict, EarlyDict, Index, Mark, Offsets, Operand, Params, Rest, Results, Signature, Type};

/// `tlx`, the part of `ttg` and `ttng` that carries buffers on, and `warploom.view`.
pub(crate) const TLX: Dialect = Dialect { format };

const COLON: Item = Mark(":");
const ARROW: Item = Mark("->");
/// `%a {..} : T -> U`
const VIEW: Format = Format::Items(&[Operand(0), Dict, COLON, Type(0), ARROW, Results], Infer::Spelt);

fn format(name: &str) -> Option<Format> {
    Some(match name {
        "tlx.storage_alias_spec" | "tlx.shared_buffer_def" => {
            Format::Items(&[Params(&["storage", "size"]), Dict, COLON, Results], Infer::Spelt)
        }
        "tlx.reuse_group" => Format::Items(
            &[Mark("("), Rest(0), Mark(")"), Params(&["group_kind", "group_size"]), Dict, COLON, Signature],
            Infer::Spelt,
        ),
        "tlx.set_buffer_overlap" => {
            Format::Items(&[Mark("("), Rest(0), Mark(")"), EarlyDict, COLON, Signature, Dict], Infer::Spelt)
        }
        "ttg.local_alloc" | "ttng.tmem_alloc" => {
            Format::Items(&[Rest(0), Dict, COLON, Signature], Infer::Spelt)
        }
        "ttg.memdesc_index" => {
            Format::Items(&[Operand(0), Index(1), Dict, COLON, Type(0), ARROW, Results], Infer::Spelt)
        }
        "ttg.memdesc_subslice" => Format::Items(
            &[Operand(0), Offsets("offsets"), Dict, COLON, Type(0), ARROW, Results],
            Infer::Spelt,
        ),
        "warploom.view" => Format::Items(
            &[Operand(0), Params(&["base", "strides", "radices"]), Dict, COLON, Type(0), ARROW, Results],
            Infer::Spelt,
        ),
        "tlx.storage_alias_local_alloc"
        | "tlx.shared_buffer_local_alloc"
        | "tlx.local_alias"
        | "ttg.memdesc_reinterpret"
        | "ttg.memdesc_trans"
        | "ttng.tmem_subslice" => VIEW,
        "ttg.warp_specialize" => Format::WarpSpecialize,
        _ => return None,
    })
}

/// Operations that the lowering takes out (L14); first the one that gives a name, then its deprecated one (A3).
pub(crate) const SPECS: [&str; 4] =
    ["tlx.storage_alias_spec", "tlx.storage_alias_local_alloc", "tlx.reuse_group", "tlx.set_buffer_overlap"];

/// The name that replaced a deprecated one (A3).
pub(crate) fn current_name(name: &str) -> Option<&'static str> {
    match name {
        "tlx.shared_buffer_def" => Some("tlx.storage_alias_spec"),
        "tlx.shared_buffer_local_alloc" => Some("tlx.storage_alias_local_alloc"),
        _ => None,
    }
}
