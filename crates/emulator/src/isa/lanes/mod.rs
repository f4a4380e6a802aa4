//! Functions over the 32 lanes of a warp at once.
//!
//! A register is 32 values of 64 bits, zero-extended from its width. Every function works on all
//! lanes; the machine keeps the results of the active ones. So no function may fail on any input.

pub(crate) mod carry;
pub(crate) mod compare;
pub(crate) mod directed;
pub(crate) mod double;
pub(crate) mod float;
pub(crate) mod half;
pub(crate) mod integer;
pub(crate) mod old;

/// One register: a value per lane.
pub(crate) type Lanes = [u64; 32];
/// One input.
pub(crate) type F1 = fn(&Lanes, &mut Lanes);
/// Two inputs.
pub(crate) type F2 = fn(&Lanes, &Lanes, &mut Lanes);
/// Three inputs.
pub(crate) type F3 = fn(&Lanes, &Lanes, &Lanes, &mut Lanes);
/// Two inputs to a mask of lanes.
pub(crate) type Compare = fn(&Lanes, &Lanes) -> u32;
/// Three inputs and a carry per lane, to a result and a carry per lane.
pub(crate) type Carry = fn(&Lanes, &Lanes, &Lanes, u32, &mut Lanes) -> u32;

/// `lanes!(|a, b| expression)`: the expression on the raw bits of every lane.
macro_rules! lanes {
    (|$a:ident| $e:expr) => {{
        fn f(x: &$crate::isa::lanes::Lanes, d: &mut $crate::isa::lanes::Lanes) {
            for i in 0..32 {
                let $a = x[i];
                d[i] = $e;
            }
        }
        f as $crate::isa::lanes::F1
    }};
    (|$a:ident, $b:ident| $e:expr) => {{
        fn f(
            x: &$crate::isa::lanes::Lanes,
            y: &$crate::isa::lanes::Lanes,
            d: &mut $crate::isa::lanes::Lanes,
        ) {
            for i in 0..32 {
                let ($a, $b) = (x[i], y[i]);
                d[i] = $e;
            }
        }
        f as $crate::isa::lanes::F2
    }};
    (|$a:ident, $b:ident, $c:ident| $e:expr) => {{
        fn f(
            x: &$crate::isa::lanes::Lanes,
            y: &$crate::isa::lanes::Lanes,
            z: &$crate::isa::lanes::Lanes,
            d: &mut $crate::isa::lanes::Lanes,
        ) {
            for i in 0..32 {
                let ($a, $b, $c) = (x[i], y[i], z[i]);
                d[i] = $e;
            }
        }
        f as $crate::isa::lanes::F3
    }};
}

/// `int!(i32 as u32, |a, b| expression)`: on values of the first type, stored as the second.
macro_rules! int {
    ($t:ty as $u:ty, |$a:ident| $e:expr) => {
        $crate::isa::lanes::lanes!(|x| {
            let $a = x as $t;
            ($e) as $u as u64
        })
    };
    ($t:ty as $u:ty, |$a:ident, $b:ident| $e:expr) => {
        $crate::isa::lanes::lanes!(|x, y| {
            let ($a, $b) = (x as $t, y as $t);
            ($e) as $u as u64
        })
    };
    ($t:ty as $u:ty, |$a:ident, $b:ident, $c:ident| $e:expr) => {
        $crate::isa::lanes::lanes!(|x, y, z| {
            let ($a, $b, $c) = (x as $t, y as $t, z as $t);
            ($e) as $u as u64
        })
    };
}

/// `real!(|a, b| expression)`: on f32 values.
macro_rules! real {
    (|$a:ident| $e:expr) => {
        $crate::isa::lanes::lanes!(|x| {
            let $a = f32::from_bits(x as u32);
            u64::from(f32::to_bits($e))
        })
    };
    (|$a:ident, $b:ident| $e:expr) => {
        $crate::isa::lanes::lanes!(|x, y| {
            let ($a, $b) = (f32::from_bits(x as u32), f32::from_bits(y as u32));
            u64::from(f32::to_bits($e))
        })
    };
    (|$a:ident, $b:ident, $c:ident| $e:expr) => {
        $crate::isa::lanes::lanes!(|x, y, z| {
            let ($a, $b, $c) = (f32::from_bits(x as u32), f32::from_bits(y as u32), f32::from_bits(z as u32));
            u64::from(f32::to_bits($e))
        })
    };
}

pub(crate) use {int, lanes, real};
