//! Host-level buffers: StableHLO's buffer types as storage (part 2).

use crate::error::AliasError;
use crate::text::TextOptions;
use crate::text::drive::Part;
use crate::text::tree::Tree;

/// Whether a part is of StableHLO.
pub(crate) fn is_host(tree: &Tree) -> bool {
    tree.ops.iter().any(|o| o.name.starts_with("stablehlo."))
}

pub(crate) fn lower_part(
    _tree: &Tree,
    _options: &TextOptions,
    _done: &mut Part,
) -> Result<(), Vec<AliasError>> {
    Err(vec![AliasError::new("A55", "StableHLO parts are not lowered by this version")])
}
