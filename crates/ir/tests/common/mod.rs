//! What the tests of this crate share: the kernels of the repository.

use std::path::{Path, PathBuf};

/// The folder `kernels` of the repository.
pub fn kernel_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels")
}

/// Name and text of every `.ttir` file, sorted by name.
pub fn kernels() -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = std::fs::read_dir(kernel_folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "ttir"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    assert!(files.len() > 50, "{} kernels", files.len());
    files.sort();
    files
}
