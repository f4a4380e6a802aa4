//! What the tests of this crate share: the kernels that lie beside the project, if they do.

use std::path::{Path, PathBuf};

/// The folder `data/kernels` of the reference material beside the workspace.
pub fn kernel_folder() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    let folder = root.join("../shared/data/kernels");
    folder.is_dir().then_some(folder)
}

/// Name and text of every `.ttir` file, sorted by name; none, with a word about it, when they are absent.
pub fn kernels() -> Vec<(String, String)> {
    let Some(folder) = kernel_folder() else {
        println!("skipped: the kernels of the reference folder are not here");
        return Vec::new();
    };
    let mut files: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "ttir"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    files.sort();
    files
}
