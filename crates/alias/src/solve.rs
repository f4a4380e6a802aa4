//! The steps from a module to its layout.

use crate::arrange::arrange;
use crate::capacity::capacity;
use crate::error::{AliasError, AliasErrors, AliasSeverity};
use crate::infer::trees;
use crate::layout::{AliasLayout, AliasOptions};
use crate::model::{AliasModule, LeafId};

impl AliasModule {
    /// Sizes, offsets and index maps of all specs. Pure and deterministic; never panics.
    ///
    /// # Errors
    /// Every violated rule of A13 and A22 to A51, in order of step and declaration.
    pub fn layout(&self, options: &AliasOptions) -> Result<AliasLayout, AliasErrors> {
        let mut errors = Vec::new();
        let mut notes = Vec::new();
        for note in self.notes() {
            match options.deny_legacy_reuse {
                true => {
                    errors.push(AliasError { severity: AliasSeverity::Error, code: "A43", ..note.clone() })
                }
                false => notes.push(note.clone()),
            }
        }
        let mut by_spec: Vec<Vec<LeafId>> = vec![Vec::new(); self.specs().count()];
        for (id, leaf) in self.leaves() {
            if let Some(list) = leaf.spec().and_then(|s| by_spec.get_mut(s.index())) {
                list.push(id);
            }
        }
        let schemes = trees(self, options, &mut errors);
        let mut storages = Vec::new();
        for ((spec, _), (leaves, trees)) in self.specs().zip(by_spec.iter().zip(&schemes)) {
            if leaves.is_empty() {
                notes.push(
                    AliasError::warning(
                        "A14",
                        "storage_alias_spec has no referencing storage_alias_local_alloc operations",
                    )
                    .at(self.spec(spec).at)
                    .help("allocate from it, or remove it"),
                );
                continue;
            }
            match arrange(self, spec, leaves, trees, options, &mut notes) {
                Ok(storage) => storages.push(storage),
                Err(list) => errors.extend(list),
            }
        }
        let layout = AliasLayout { storages, notes };
        if errors.is_empty() && !options.compat {
            errors.extend(capacity(self, &layout, &options.limits));
        }
        // Sizes come before offsets, offsets before slots, as TLX's steps do.
        errors.sort_by_key(|e| match e.code {
            "A34" => 2,
            "A13" | "A30" => 1,
            _ => 0,
        });
        match errors.is_empty() {
            true => Ok(layout),
            false => Err(AliasErrors(errors)),
        }
    }
}
