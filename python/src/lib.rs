//! The native half of the Python package `warploom`: texts, bytes and JSON in and out, no files, no processes. What
//! Python sees of it stands in `python/warploom`.

mod launch;
mod refused;

use pyo3::prelude::*;

/// As in the command: the emulator takes a fifth less time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What `python/warploom` calls.
#[pymodule]
mod _native {
    use pyo3::prelude::*;
    use pyo3::types::PyBytes;
    use warploom::cli;

    #[pymodule_export]
    use crate::launch::{Module, launch, tensor_map};
    #[pymodule_export]
    use crate::refused::Refused;

    /// The version of the package, the library and the command.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Runs the `warploom` command on the streams of the process and returns its exit status.
    #[pyfunction]
    fn command(py: Python<'_>, line: Vec<String>) -> u8 {
        py.detach(|| cli::main(line.into_iter().map(Into::into)))
    }

    /// Runs a command line, without the command's name, in memory: exit status, output, diagnostics as JSON.
    #[pyfunction]
    fn answer(py: Python<'_>, line: Vec<String>, input: Vec<u8>) -> (u8, Bound<'_, PyBytes>, String) {
        let answer = py.detach(|| cli::answer(line, input));
        let diagnostics = serde_json::Value::Array(answer.diagnostics).to_string();
        (answer.status, PyBytes::new(py, &answer.output), diagnostics)
    }
}
