//! What the emulator refuses, as a Python exception.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;
use warploom::emulator::EmulatorRefusal;

create_exception!(
    warploom._native,
    Refused,
    PyValueError,
    "A refusal; its argument is a JSON list of diagnostics."
);

/// A refusal of the emulator: code, line of the PTX, message, remedy of each reason.
pub fn by_emulator(refusal: &EmulatorRefusal) -> PyErr {
    Refused::new_err(json!(refusal.diagnostics).to_string())
}

/// A refusal for one reason outside the PTX.
pub fn because(message: impl Into<String>, remedy: &str) -> PyErr {
    let reason = json!([{"code": "L01", "line": 0, "message": message.into(), "remedy": remedy}]);
    Refused::new_err(reason.to_string())
}
