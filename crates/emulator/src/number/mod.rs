//! Number formats and rounding (E55, E56).

pub(crate) mod exact;
pub(crate) mod float;
pub(crate) mod minifloat;

/// How a conversion rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// To nearest, ties to even (`.rn`, `.rni`).
    Even,
    /// To nearest, ties away from zero (`.rna`).
    Away,
    /// Towards zero (`.rz`, `.rzi`).
    Zero,
    /// Down (`.rm`, `.rmi`).
    Down,
    /// Up (`.rp`, `.rpi`).
    Up,
}

impl Rounding {
    /// Rounds to a whole number.
    pub(crate) fn whole(self, x: f64) -> f64 {
        match self {
            Rounding::Even => x.round_ties_even(),
            Rounding::Away => x.round(),
            Rounding::Zero => x.trunc(),
            Rounding::Down => x.floor(),
            Rounding::Up => x.ceil(),
        }
    }
}
