//! What the video instructions compute: on a part of each operand, or on all its parts side by side.

/// A part of an operand: its first bit and its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub first: u32,
    pub bits: u32,
}

/// All of a register.
pub(crate) const WHOLE: Part = Part { first: 0, bits: 32 };

impl Part {
    fn ones(self) -> u32 {
        u32::MAX >> (32 - self.bits.clamp(1, 32))
    }

    /// The part of a word, extended by its sign or by zeros.
    fn of(self, word: u64, signed: bool) -> i64 {
        extend((word as u32) >> self.first & self.ones(), self.bits, signed)
    }

    /// A word whose part is replaced.
    fn put(self, value: i64, word: u32) -> u32 {
        let mask = self.ones() << self.first;
        (value as u32) << self.first & mask | word & !mask
    }
}

fn extend(v: u32, bits: u32, signed: bool) -> i64 {
    let negative = signed && v >> (bits - 1) & 1 == 1;
    i64::from(v) - if negative { 1_i64 << bits } else { 0 }
}

/// The range of a number of so many bits.
fn clamp(v: i64, bits: u32, signed: bool) -> i64 {
    if signed { v.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { v.clamp(0, (1 << bits) - 1) }
}

/// What is done with two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Add,
    Sub,
    Average,
    Distance,
    Min,
    Max,
    /// Shifts, by at most 32 or modulo 32.
    Shl {
        wrap: bool,
    },
    Shr {
        wrap: bool,
    },
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Action {
    fn apply(self, a: i64, b: i64) -> i64 {
        let by = |wrap| if wrap { b & 31 } else { b.clamp(0, 32) };
        match self {
            Action::Add => a + b,
            Action::Sub => a - b,
            Action::Average if a + b >= 0 => (a + b + 1) >> 1,
            Action::Average => (a + b) >> 1,
            Action::Distance => (a - b).abs(),
            Action::Min => a.min(b),
            Action::Max => a.max(b),
            // At most 33 bits by at most 32.
            Action::Shl { wrap } => a.wrapping_shl(by(wrap) as u32),
            Action::Shr { wrap } => a >> by(wrap),
            Action::Eq => i64::from(a == b),
            Action::Ne => i64::from(a != b),
            Action::Lt => i64::from(a < b),
            Action::Le => i64::from(a <= b),
            Action::Gt => i64::from(a > b),
            Action::Ge => i64::from(a >= b),
        }
    }
}

/// What is done with the result and the third operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Second {
    None,
    Add,
    Min,
    Max,
    /// The result replaces a part of the third operand.
    Merge(Part),
}

/// `vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax`, `vshl`, `vshr`, `vset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scalar {
    pub action: Action,
    pub parts: [Part; 2],
    pub signed: [bool; 2],
    pub to_signed: bool,
    pub saturates: bool,
    pub second: Second,
}

impl Scalar {
    pub(crate) fn apply(&self, a: u64, b: u64, c: u64) -> u64 {
        let [x, y] = self.parts;
        let mut v = self.action.apply(x.of(a, self.signed[0]), y.of(b, self.signed[1]));
        if self.saturates {
            let part = if let Second::Merge(part) = self.second { part } else { WHOLE };
            v = clamp(v, part.bits, self.to_signed);
        }
        // The second operation is one on words of the type of the result.
        let words = (extend(v as u32, 32, self.to_signed), WHOLE.of(c, self.to_signed));
        let word = match self.second {
            Second::None => v as u32,
            Second::Add => (v as u32).wrapping_add(c as u32),
            Second::Min => words.0.min(words.1) as u32,
            Second::Max => words.0.max(words.1) as u32,
            Second::Merge(part) => part.put(v, c as u32),
        };
        u64::from(word)
    }
}

/// `vmad`: a product and a sum, one of which may be negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MultiplyAdd {
    pub parts: [Part; 2],
    pub signed: [bool; 2],
    pub negates_product: bool,
    pub negates_sum: bool,
    pub plus_one: bool,
    pub saturates: bool,
    /// How far the result is shifted to the right.
    pub scale: u32,
}

impl MultiplyAdd {
    pub(crate) fn apply(&self, a: u64, b: u64, c: u64) -> u64 {
        let [x, y] = self.parts;
        let product = i128::from(x.of(a, self.signed[0])) * i128::from(y.of(b, self.signed[1]));
        // The sum has the sign of the product, and the result that of both.
        let middle = self.signed[0] || self.signed[1] || self.negates_product;
        let end = middle || self.negates_sum;
        let sum = i128::from(WHOLE.of(c, middle));
        let product = if self.negates_product { -product } else { product };
        let sum = if self.negates_sum { -sum } else { sum };
        let v = (product + sum + i128::from(self.plus_one)) >> self.scale;
        let v = match (self.saturates, end) {
            (false, _) => v as u32,
            (true, true) => v.clamp(i128::from(i32::MIN), i128::from(i32::MAX)) as u32,
            (true, false) => v.clamp(0, i128::from(u32::MAX)) as u32,
        };
        u64::from(v)
    }
}

/// `vadd2`, `vadd4` and their like: halves or bytes of both operands, picked, computed side by side, and merged with the
/// third operand or added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parallel {
    pub action: Action,
    /// Bits of a part: 8 or 16.
    pub bits: u32,
    /// Which part of the second operand and the first, put together, each place takes: the lowest first.
    pub picks: [[u8; 4]; 2],
    pub signed: [bool; 2],
    pub to_signed: bool,
    pub saturates: bool,
    pub adds: bool,
    /// Places whose result counts.
    pub mask: u8,
}

impl Parallel {
    pub(crate) fn apply(&self, a: u64, b: u64, c: u64) -> u64 {
        let both = (b & 0xffff_ffff) << 32 | a & 0xffff_ffff;
        let pick = |operand: usize, i: usize| {
            let at = u32::from(self.picks[operand][i & 3]) * self.bits;
            let v = (both >> (at & 63)) as u32 & (u32::MAX >> (32 - self.bits));
            extend(v, self.bits, self.signed[operand])
        };
        let mut word = c as u32;
        for i in (0..(32 / self.bits) as usize).filter(|i| self.mask >> i & 1 == 1) {
            let v = self.action.apply(pick(0, i), pick(1, i));
            let v = if self.saturates { clamp(v, self.bits, self.to_signed) } else { v };
            if self.adds {
                word = word.wrapping_add(v as u32);
            } else {
                word = Part { first: self.bits * i as u32, bits: self.bits }.put(v, word);
            }
        }
        u64::from(word)
    }
}
