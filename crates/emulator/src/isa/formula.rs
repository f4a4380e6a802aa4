//! Instructions that are seldom met, as a function that is made when they are decoded.

use super::lanes::Lanes;
use std::fmt;
use std::sync::Arc;

type Function = dyn Fn(&[Lanes], &mut Lanes) + Send + Sync;

/// From the bits of the operands, in order, to those of the result.
#[derive(Clone)]
pub(crate) struct Formula(Arc<Function>);

impl Formula {
    /// A function of all lanes at once, which may not fail on any bits.
    pub(crate) fn wide(f: impl Fn(&[Lanes], &mut Lanes) + Send + Sync + 'static) -> Formula {
        Formula(Arc::new(f))
    }

    /// A function of three operands in one lane. Those that are not there are zero.
    pub(crate) fn new(f: impl Fn(u64, u64, u64) -> u64 + Send + Sync + 'static) -> Formula {
        Formula::wide(move |operands, out| {
            let at = |i: usize, l: usize| operands.get(i).map_or(0, |v| v[l]);
            for (l, d) in out.iter_mut().enumerate() {
                *d = f(at(0, l), at(1, l), at(2, l));
            }
        })
    }

    pub(crate) fn apply(&self, operands: &[Lanes], out: &mut Lanes) {
        (self.0)(operands, out);
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Formula")
    }
}
