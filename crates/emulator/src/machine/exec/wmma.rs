//! `wmma`: fragments of matrices between memory and registers, and their products (E101).

use super::alu::{poison_lanes, poisoned};
use super::flow::Flow;
use super::matrix::sum_bits;
use super::memory::{aligned, checked_addresses, place};
use super::touched::Touched;
use super::{order, overlap};
use crate::isa::lanes::Lanes;
use crate::isa::op::{AccTy, Fragment, FragmentMove, Src, WmmaProduct, WmmaTy};
use crate::isa::types::low_mask;
use crate::machine::actor::{Actor, actor};
use crate::machine::asynchronous::products::{element, multiply};
use crate::machine::core::{Core, Spot};
use crate::machine::warp::Warp;
use crate::number::minifloat::f16_value;
use crate::race::access::Act;

/// Bytes that addresses and strides are multiples of, where a row or column has so many.
const ALIGN: u64 = 16;

/// Where each lane's elements lie: the matrix, by lane 0, and bytes between rows or columns.
fn base(core: &mut Core<'_>, w: &Warp, m: &FragmentMove, pc: u32, mask: u32) -> Option<(u64, u64)> {
    let (addrs, lanes) = checked_addresses(core, w, m.addr, pc, mask);
    if lanes != mask {
        return None;
    }
    let a = actor(w, pc, mask);
    let packed = if m.by_column { m.fragment.rows } else { m.fragment.columns };
    let strides = m.stride.map_or([u64::from(packed); 32], |s| w.value(core, s));
    let lane = mask.trailing_zeros() as usize;
    let differ = |v: &Lanes| (0..32).any(|l| mask >> l & 1 == 1 && v[l] != v[lane]);
    if differ(&addrs) || differ(&strides) {
        let message = "the lanes of a warp give wmma different addresses or strides";
        core.error("W03", &a, message, "give the same ones in all lanes");
        return None;
    }
    let (at, stride) = (addrs[lane], strides[lane] * u64::from(m.fragment.bits) / 8);
    let align = ALIGN.min(u64::from(packed * m.fragment.bits) / 8);
    let fits =
        aligned(core, &a, at, align, "matrix") && aligned(core, &a, stride, align, "stride of a matrix");
    fits.then_some((at, stride))
}

/// The address of an element.
fn address(m: &FragmentMove, (base, stride): (u64, u64), lane: u32, e: u32) -> u64 {
    let (row, column) = m.fragment.place(lane, e);
    let (line, along) = if m.by_column { (column, row) } else { (row, column) };
    base + u64::from(line) * stride + u64::from(along) * u64::from(m.fragment.bits) / 8
}

/// Elements that are moved at once, and their bytes.
fn unit(f: &Fragment) -> (u32, u64) {
    let elements = if f.bits < 8 { 32 / f.bits } else { 1 };
    (elements, u64::from(elements * f.bits / 8))
}

/// Register and bit at which an element is held.
fn slot(f: &Fragment, e: u32) -> (usize, u32) {
    let per = (32 / f.bits).max(1);
    ((e / per) as usize, e % per * f.bits)
}

/// `wmma.load`.
pub(crate) fn load(core: &mut Core<'_>, w: &mut Warp, m: &FragmentMove, pc: u32, mask: u32) -> Flow {
    let f = &m.fragment;
    let mut out = vec![[0_u64; 32]; m.dsts.len()];
    let (mut poison, a) = (false, actor(w, pc, mask));
    if let Some(at) = base(core, w, m, pc, mask) {
        let (step, bytes) = unit(f);
        for e in (0..f.elements()).step_by(step as usize) {
            let mut touched = Touched::default();
            for lane in 0..32 {
                let one = Actor { lanes: 1 << lane, ..a.clone() };
                let addr = address(m, at, lane, e);
                let Some(spot) = place(core, w, &one, m.space, addr, bytes) else { continue };
                let mut raw = [0; 8];
                let Some(buf) = raw.get_mut(..bytes as usize) else { continue };
                match spot {
                    Spot::Global(g) => {
                        let _ = core.world.global.read(g, buf);
                        touched.global.push((lane, g));
                    }
                    Spot::Shared(c, at) => {
                        let from = at as usize..(at + bytes) as usize;
                        if let Some(s) = core.ctas.get(c as usize).and_then(|c| c.shared.get(from)) {
                            buf.copy_from_slice(s);
                        }
                        poison |= core.holds_poison(c, at, bytes);
                        touched.add_shared(c, lane, at);
                    }
                    _ => {
                        core.error("A03", &one, "wmma.load from local memory or parameters", "copy it first")
                    }
                }
                let (reg, shift) = slot(f, e);
                if let Some(v) = out.get_mut(reg) {
                    v[lane as usize] |= u64::from_le_bytes(raw) << shift;
                }
            }
            if core.race {
                touched.record(core, bytes, &a, Act::Read);
            }
        }
    }
    // Operands of f16 have more registers than elements for some shapes: the others are copies.
    let own = ((f.elements() * f.bits).div_ceil(f.bits.max(32)) as usize).max(1);
    for (i, d) in m.dsts.iter().enumerate() {
        if let (Some(d), Some(v)) = (d, out.get(i % own)) {
            w.put(*d, v, (if poison { u64::MAX } else { 0 }, true), mask);
        }
    }
    Flow::Next
}

/// `wmma.store`.
pub(crate) fn store(core: &mut Core<'_>, w: &mut Warp, m: &FragmentMove, pc: u32, mask: u32) -> Flow {
    let f = &m.fragment;
    let values: Vec<Lanes> = m.srcs.iter().map(|s| w.value(core, *s)).collect();
    let Some(at) = base(core, w, m, pc, mask) else { return Flow::Next };
    let a = actor(w, pc, mask);
    let bytes = u64::from(f.bits / 8);
    for e in 0..f.elements() {
        let (reg, shift) = slot(f, e);
        let undefined = m.srcs.get(reg).map_or(0, |s| poison_lanes(w.poison_of(*s)));
        let (mut touched, mut same, mut reported) = (Touched::default(), true, false);
        let (mut holes, mut moved) = (Vec::new(), [0; 32]);
        for lane in 0..32 {
            let one = Actor { lanes: 1 << lane, ..a.clone() };
            let addr = address(m, at, lane, e);
            let Some(spot) = place(core, w, &one, m.space, addr, bytes) else { continue };
            let value = values.get(reg).map_or(0, |v| v[lane as usize]) >> shift & low_mask(f.bits);
            moved[lane as usize] = value;
            let raw = value.to_le_bytes();
            let Some(new) = raw.get(..bytes as usize) else { continue };
            let unknown = undefined >> lane & 1 == 1;
            match spot {
                Spot::Global(g) => {
                    if unknown && !reported {
                        poisoned(core, w, pc, undefined, "a value stored to global memory");
                        reported = true;
                    }
                    let mut old = [0; 8];
                    if let Some(old) = old.get_mut(..bytes as usize) {
                        let _ = core.world.global.read(g, old);
                        same &= old == new;
                    }
                    let _ = core.world.global.write(g, new);
                    touched.global.push((lane, g));
                }
                Spot::Shared(c, at) => {
                    let to = at as usize..(at + bytes) as usize;
                    if let Some(to) = core.cta(c).and_then(|c| c.shared.get_mut(to)) {
                        same &= to == new;
                        to.copy_from_slice(new);
                    }
                    touched.add_shared(c, lane, at);
                    if unknown {
                        holes.push((c, at));
                    }
                }
                _ => core.error("A03", &one, "wmma.store to local memory or parameters", "copy it behind"),
            }
        }
        core.progress += u64::from(!same);
        if core.race {
            order::overwrite(core, &touched);
            overlap::check(core, &touched, &[moved], f.bits, bytes, &a);
            touched.record(core, bytes, &Actor { same, ..a.clone() }, Act::Write);
            holes.into_iter().for_each(|(c, at)| core.poison_shared(c, at, bytes));
        }
    }
    Flow::Next
}

/// The numbers of a matrix.
fn numbers(core: &Core<'_>, w: &Warp, f: &Fragment, regs: &[Src], read: impl Fn(u64) -> f64) -> Vec<f64> {
    let mut out = vec![0.0; (f.rows * f.columns) as usize];
    let values: Vec<Lanes> = regs.iter().map(|s| w.value(core, *s)).collect();
    for e in 0..f.elements() {
        let (reg, shift) = slot(f, e);
        for lane in 0..32 {
            let (row, column) = f.place(lane, e);
            let bits = values.get(reg).map_or(0, |v| v[lane as usize]) >> shift & low_mask(f.bits);
            if let Some(d) = out.get_mut((row * f.columns + column) as usize) {
                *d = read(bits);
            }
        }
    }
    out
}

fn operand(ty: WmmaTy, bits: u64) -> f64 {
    match ty {
        WmmaTy::Plain(t) => element(t, bits),
        WmmaTy::S4 => f64::from(((bits as u8) << 4).cast_signed() >> 4),
        WmmaTy::U4 | WmmaTy::B1 => bits as f64,
    }
}

fn addend(ty: AccTy, bits: u64) -> f64 {
    match ty {
        AccTy::F16 => f64::from(f16_value(bits as u16)),
        AccTy::F32 => f64::from(f32::from_bits(bits as u32)),
        AccTy::S32 => f64::from(bits as u32 as i32),
        AccTy::F64 => f64::from_bits(bits),
    }
}

/// `wmma.mma`: exact products, sums in f64, one rounding (E57).
pub(crate) fn product(core: &mut Core<'_>, w: &mut Warp, p: &WmmaProduct, mask: u32) -> Flow {
    let [fa, fb, fc, fd] = p.fragments();
    let a = numbers(core, w, &fa, &p.a, |bits| operand(p.a_ty, bits));
    let b = numbers(core, w, &fb, &p.b, |bits| operand(p.b_ty, bits));
    let mut sum = numbers(core, w, &fc, &p.c, |bits| addend(p.c_ty, bits));
    let (n, k) = (p.n as usize, p.k as usize);
    if p.differ {
        // One of the two is set: a (1 - b) + (1 - a) b.
        let other = |list: &[f64]| list.iter().map(|x| 1.0 - x).collect::<Vec<f64>>();
        multiply(&mut sum, &a, &other(&b), n, k);
        multiply(&mut sum, &other(&a), &b, n, k);
    } else {
        multiply(&mut sum, &a, &b, n, k);
    }
    let all: Vec<Src> = p.a.iter().chain(&p.b).chain(&p.c).copied().collect();
    let (poison, taint) = w.meta(&all);
    let poison = if poison_lanes(poison) & mask != 0 { u64::MAX } else { 0 };
    let mut out = vec![[0_u64; 32]; p.d.len()];
    for e in 0..fd.elements() {
        let (reg, shift) = slot(&fd, e);
        for lane in 0..32 {
            let (row, column) = fd.place(lane, e);
            let number = sum.get((row * fd.columns + column) as usize).copied().unwrap_or(0.0);
            if let Some(v) = out.get_mut(reg) {
                v[lane as usize] |= sum_bits(p.d_ty, number, p.saturate) << shift;
            }
        }
    }
    for (v, d) in out.iter().zip(&p.d) {
        if let Some(d) = d {
            w.put(*d, v, (poison, taint), mask);
        }
    }
    Flow::Next
}
