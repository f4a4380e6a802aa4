//! Host-level buffers: StableHLO's buffer types, read and verified (A55 to A57).
//!
//! What is read is printed back. Linearity, storage classes and copies (A59 to A69) are not decided here yet:
//! the text of a part that verifies is returned unchanged, without `warploom.storage`.

mod types;
mod verify;

use crate::error::AliasError;
use crate::text::drive::Part;
use crate::text::form::read_generic;
use crate::text::print::{Names, print};
use crate::text::tree::Tree;
use crate::text::{Emit, TextOptions};

/// Whether a part is of StableHLO.
pub(crate) fn is_host(tree: &Tree) -> bool {
    tree.ops.iter().any(|o| o.name.starts_with("stablehlo."))
}

/// Verifies a part and prints it back.
pub(crate) fn lower_part(tree: &Tree, options: &TextOptions, done: &mut Part) -> Result<(), Vec<AliasError>> {
    let mut forms = tree.clone();
    read_generic(&mut forms).map_err(|e| vec![e])?;
    let errors = verify::verify(&forms);
    if !errors.is_empty() {
        return Err(errors);
    }
    if options.emit == Emit::Mlir && options.no_lower {
        done.text = print(tree, Names::Kept);
        return Ok(());
    }
    Err(vec![
        AliasError::new("A65", "storage of StableHLO buffers is not assigned by this version")
            .help("--no-lower verifies and prints back"),
    ])
}
