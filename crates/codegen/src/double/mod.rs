//! Functions of f64 from the mathematics alone (C68): programs of single steps, each rounded by itself.
//!
//! They serve `math` and the functions of libdevice where the user names no libdevice; functions of f32 that have no form of
//! their own go through them too. A result that is not subnormal is less than one unit in the last place wrong; tests measure how
//! far, against arithmetic of twice the precision.
//!
//! To add one: write it in arithmetic on [`Real`], give it a row in the table, and its bound and ends to the tests.

mod coefficients;
mod error_function;
mod exponential;
mod inverse;
mod logarithm;
mod operators;
mod pair;
mod root;
mod step;
mod term;
mod trigonometry;

pub(crate) use step::{Binary, Id, Step, Unary};
use term::{Program, Real};

/// A function of this many operands.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    One(for<'p> fn(Real<'p>) -> Real<'p>),
    Two(for<'p> fn(Real<'p>, Real<'p>) -> Real<'p>),
}

use Form::{One, Two};

/// Every function by its name in libdevice, without `__nv_`.
const FUNCTIONS: [(&str, Form); 26] = [
    ("acos", One(inverse::acos)),
    ("acosh", One(logarithm::acosh)),
    ("asin", One(inverse::asin)),
    ("asinh", One(logarithm::asinh)),
    ("atan", One(inverse::atan)),
    ("atan2", Two(inverse::atan2)),
    ("atanh", One(logarithm::atanh)),
    ("cbrt", One(root::cbrt)),
    ("cos", One(trigonometry::cos)),
    ("cosh", One(exponential::cosh)),
    ("erf", One(error_function::erf)),
    ("exp", One(exponential::exp)),
    ("exp10", One(exponential::exp10)),
    ("exp2", One(exponential::exp2)),
    ("expm1", One(exponential::expm1)),
    ("hypot", Two(root::hypot)),
    ("log", One(logarithm::log)),
    ("log10", One(logarithm::log10)),
    ("log1p", One(logarithm::log1p)),
    ("log2", One(logarithm::log2)),
    ("pow", Two(logarithm::pow)),
    ("rsqrt", One(root::rsqrt)),
    ("sin", One(trigonometry::sin)),
    ("sinh", One(exponential::sinh)),
    ("tan", One(trigonometry::tan)),
    ("tanh", One(exponential::tanh)),
];

/// A function as steps.
pub(crate) struct Function {
    /// The steps in order.
    pub steps: Vec<Step>,
    /// The step that computes the result.
    pub result: Id,
}

/// The function of this name and number of operands, if there is one.
pub(crate) fn form(name: &str, operands: usize) -> Option<Form> {
    let of = |form: &Form| match form {
        One(_) => operands == 1,
        Two(_) => operands == 2,
    };
    FUNCTIONS.iter().find(|(known, form)| *known == name && of(form)).map(|(_, form)| *form)
}

impl Form {
    /// Records the steps.
    pub fn function(self) -> Function {
        let program = Program::default();
        let result = match self {
            One(f) => f(program.argument(0)),
            Two(f) => f(program.argument(0), program.argument(1)),
        };
        let result = result.id();
        Function { steps: program.steps(), result }
    }
}
