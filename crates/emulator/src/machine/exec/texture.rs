//! `tex`, `tld4`, `txq`, `suld`, `sust`, `suq` (E101).

use super::alu::{poison_lanes, poisoned};
use super::flow::Flow;
use super::overlap;
use super::touched::Touched;
use crate::isa::lanes::Lanes;
use crate::isa::op::{Coords, Fetch, Lod, Outside, Src, SurfaceAccess, TextureQuery};
use crate::isa::types::{Ty, low_mask};
use crate::machine::actor::{Actor, actor};
use crate::machine::core::Core;
use crate::machine::sampling::{self, Point};
use crate::machine::warp::Warp;
use crate::number::Rounding;
use crate::number::minifloat::{F16, f16_value};
use crate::race::access::Act;
use crate::texture::{Channel, Texture, TextureKind};

const STALE: (&str, &str) = (
    "a texture or surface is read where this kernel writes: it may give the old bytes",
    "read what another launch wrote, or load it from global memory",
);

/// The texture of a handle; A03 if there is none of that kind.
fn object<'a>(core: &mut Core<'a>, a: &Actor, handle: u64, kind: Option<TextureKind>) -> Option<&'a Texture> {
    let found = core.world.global.store.texture(handle);
    let message = match found {
        None => format!("{handle:#x} is no texture object"),
        // A surface of a cube has its faces as layers.
        Some(t) if kind.is_some_and(|k| k != t.kind && !(k == TextureKind::Planes && t.kind.cubic())) => {
            format!("the texture object is of {:?}, the instruction is for {kind:?}", t.kind)
        }
        Some(_) => return found,
    };
    core.error("A03", a, message, "pass a handle from Device::texture of the right kind");
    None
}

/// Lanes that may go on; U03 is reported for those whose operands are undefined.
fn defined(core: &mut Core<'_>, w: &Warp, sources: &[Src], pc: u32, mask: u32) -> u32 {
    let bad = poison_lanes(sources.iter().fold(0, |p, s| p | w.poison_of(*s))) & mask;
    if bad != 0 {
        poisoned(core, w, pc, bad, "a texture object or coordinate");
    }
    mask & !bad
}

fn values(core: &Core<'_>, w: &Warp, list: &Coords) -> Vec<Lanes> {
    list.iter().map(|s| w.value(core, *s)).collect()
}

fn three(list: &[Lanes], lane: usize) -> [f64; 3] {
    let mut out = [0.0; 3];
    for (o, v) in out.iter_mut().zip(list) {
        *o = f64::from(f32::from_bits(v[lane] as u32));
    }
    out
}

/// A channel of a texel as a number, or the bits of a whole one.
fn channel(t: &Texture, bytes: &[u8]) -> (f64, u32) {
    let bits = bytes.iter().rev().fold(0_u32, |v, b| v << 8 | u32::from(*b));
    let width = 8 * t.channel.bytes() as u32;
    let signed = (bits << (32 - width)).cast_signed() >> (32 - width);
    match t.channel {
        Channel::F16 => (f64::from(f16_value(bits as u16)), 0),
        Channel::F32 => (f64::from(f32::from_bits(bits)), bits),
        c if t.fractions && c.signed() => {
            ((f64::from(signed) / f64::from((1_u32 << (width - 1)) - 1)).max(-1.0), 0)
        }
        _ if t.fractions => (f64::from(bits) / low_mask(width) as f64, 0),
        c if c.signed() => (0.0, signed.cast_unsigned()),
        _ => (0.0, bits),
    }
}

/// The bits that a fetch leaves in a register.
fn result(t: &Texture, ty: Ty, (sum, bits): (f64, u32)) -> u64 {
    let number = t.channel.float() || t.fractions;
    match ty {
        Ty::F16 if number => u64::from(F16.encode(sum, Rounding::Even, false)),
        Ty::F32 if number => u64::from((sum as f32).to_bits()),
        // The bits of the number, where the program takes it for a whole one.
        _ if number => u64::from((sum as f32).to_bits()),
        Ty::F16 => u64::from(bits) & 0xffff,
        _ => u64::from(bits),
    }
}

/// Reads a texel: its four channels, of which those that are not there are 0, the last one 1.
fn texel(core: &mut Core<'_>, t: &Texture, at: Option<u64>) -> [(f64, u32); 4] {
    let one = if t.channel == Channel::F32 { 1.0_f32.to_bits() } else { 1 };
    let mut out = [(0.0, 0), (0.0, 0), (0.0, 0), (1.0, one)];
    let mut bytes = [0; 16];
    let (size, each) = (t.texel() as usize, t.channel.bytes() as usize);
    if let (Some(at), Some(to)) = (at, bytes.get_mut(..size)) {
        // The texels were found in a buffer when the object was made.
        let _ = core.world.global.read(at, to);
    }
    for (o, chunk) in out.iter_mut().zip(bytes.chunks(each).take(t.channels as usize)) {
        *o = channel(t, chunk);
    }
    out
}

/// Where a lane's fetch goes.
fn point(f: &Fetch, t: &Texture, coords: &[Lanes], offsets: &[Lanes], lane: usize) -> Point {
    let (layer, rest) = match coords.split_first() {
        Some((first, rest)) if f.kind.layered() => (first[lane].min(u64::from(t.layers) - 1) as u32, rest),
        _ => (0, coords),
    };
    let mut given = three(rest, lane);
    if f.whole {
        for (g, v) in given.iter_mut().zip(rest) {
            *g = f64::from(v[lane] as u32 as i32);
        }
    }
    let mut moved = [0; 3];
    for (o, v) in moved.iter_mut().zip(offsets) {
        *o = i64::from(v[lane] as u32 as i32);
    }
    let (face, coords) = if f.kind.cubic() { sampling::face(given) } else { (0, given) };
    let slice = if f.kind.cubic() { 6 * layer + face } else { layer };
    Point { slice, coords, whole: f.whole, offsets: moved }
}

/// `tex` and `tld4`.
pub(crate) fn fetch(core: &mut Core<'_>, w: &mut Warp, f: &Fetch, pc: u32, mask: u32) -> Flow {
    let (changes, level) = match &f.lod {
        Lod::Base => ([Coords::new(), Coords::new()], None),
        Lod::Level(s) => ([Coords::new(), Coords::new()], Some(*s)),
        Lod::Gradient(x, y) => ([x.clone(), y.clone()], None),
    };
    let mut sources = vec![f.handle];
    let rest = f.coords.iter().chain(&f.offsets).chain(changes.iter().flatten()).chain(level.iter());
    sources.extend(rest);
    let lanes = defined(core, w, &sources, pc, mask);
    let handles = w.value(core, f.handle);
    let (coords, offsets) = (values(core, w, &f.coords), values(core, w, &f.offsets));
    let level = level.map(|s| w.value(core, s));
    let changes = changes.map(|c| values(core, w, &c));
    let a = actor(w, pc, mask);
    let mut out = [[0_u64; 32]; 4];
    let mut touched: Vec<(Touched, u64)> = Vec::new();
    for lane in (0..32_u32).filter(|l| lanes >> l & 1 == 1) {
        let l = lane as usize;
        let one = Actor { lanes: 1 << lane, ..a.clone() };
        let Some(t) = object(core, &one, handles[l], Some(f.kind)) else { continue };
        let p = point(f, t, &coords, &offsets, l);
        let lod = match (&f.lod, &level) {
            (Lod::Level(_), Some(v)) if f.whole => f64::from(v[l] as u32 as i32),
            (Lod::Level(_), Some(v)) => f64::from(f32::from_bits(v[l] as u32)),
            (Lod::Gradient(..), _) => {
                let mut given = [three(&changes[0], l), three(&changes[1], l)];
                if f.kind.cubic() {
                    let direction = three(coords.get(usize::from(f.kind.layered())..).unwrap_or_default(), l);
                    given = given.map(|change| sampling::face_change(direction, change));
                }
                sampling::detail(t, given)
            }
            _ => 0.0,
        };
        let taps = match f.gather {
            Some(_) => sampling::level(t, 0, &p, true),
            None => sampling::taps(t, &p, lod),
        };
        let texels: Vec<_> = taps.iter().map(|tap| texel(core, t, tap.at)).collect();
        for (i, tap) in taps.iter().enumerate().filter_map(|(i, tap)| tap.at.map(|at| (i, at))) {
            touched.resize_with(touched.len().max(i + 1), Default::default);
            if let Some((list, size)) = touched.get_mut(i) {
                list.global.push((lane, tap));
                *size = t.texel();
            }
        }
        for (d, to) in out.iter_mut().enumerate() {
            to[l] = match f.gather {
                // Counter-clockwise from the lower left: (0, 1), (1, 1), (1, 0), (0, 0).
                Some(c) => {
                    let texel = [2, 3, 1, 0].get(d).and_then(|i| texels.get(*i));
                    texel.and_then(|x| x.get(usize::from(c))).map_or(0, |x| result(t, f.ty, *x))
                }
                None => {
                    let each = taps.iter().zip(&texels).filter_map(|(tap, x)| Some((tap.weight, x.get(d)?)));
                    let sum = each.fold((0.0, 0), |s, (weight, x)| (s.0 + weight * x.0, x.1));
                    result(t, f.ty, sum)
                }
            };
        }
    }
    for (v, d) in out.iter().zip(&f.dsts) {
        if let Some(d) = d {
            w.put(*d, v, (0, true), mask);
        }
    }
    if let Some(p) = f.resident {
        w.set_pred(p, u32::MAX, 0, mask);
    }
    for (list, size) in touched {
        if core.race {
            core.touch_constant(&list.global, size, &a, STALE);
        }
        list.record(core, size, &a, Act::Read);
    }
    Flow::Next
}

/// `txq` and `suq`.
pub(crate) fn query(
    core: &mut Core<'_>,
    w: &mut Warp,
    (d, handle, level, ask): (u32, Src, Option<Src>, TextureQuery),
    pc: u32,
    mask: u32,
) -> Flow {
    let lanes = defined(core, w, &[handle], pc, mask);
    let handles = w.value(core, handle);
    let levels = level.map_or([0; 32], |s| w.value(core, s));
    let mut out = [0; 32];
    for lane in (0..32_u32).filter(|l| lanes >> l & 1 == 1) {
        let l = lane as usize;
        let one = actor(w, pc, 1 << lane);
        let Some(t) = object(core, &one, handles[l], None) else { continue };
        let extent = t.level_extent(u32::try_from(levels[l]).unwrap_or(u32::MAX));
        out[l] = u64::from(match ask {
            TextureQuery::Extent(i) => extent.get(usize::from(i)).copied().unwrap_or(1),
            TextureQuery::Layers => t.layers,
            TextureQuery::Levels => t.levels,
            TextureQuery::Normalized => u32::from(t.normalized),
        });
    }
    w.put(d, &out, (0, false), mask);
    Flow::Next
}

/// The address of a lane's access to a surface; `None` where it goes nowhere.
fn place(
    core: &mut Core<'_>,
    s: &SurfaceAccess,
    t: &Texture,
    at: &[i64],
    size: u64,
    a: &Actor,
) -> Option<u64> {
    let faces = if t.kind.cubic() { 6 } else { 1 };
    let (layer, rest) = match at.split_first() {
        Some((first, rest)) if s.kind.layered() => (Some(*first), rest),
        _ => (None, at),
    };
    let row = i64::from(t.extent[0]) * t.texel() as i64;
    let [_, height, depth] = t.extent.map(i64::from);
    let get = |i: usize| if i < s.kind.rank() { rest.get(i).copied().unwrap_or(0) } else { 0 };
    let slice = (layer.unwrap_or(get(2)), layer.map_or(depth, |_| i64::from(t.layers) * faces));
    let bounds = [(get(0), row - size as i64), (get(1), height - 1), (slice.0, slice.1 - 1)];
    let fits = bounds.iter().all(|(x, most)| (0..=*most).contains(x));
    if !fits && s.outside == Outside::Trap {
        let message = format!("coordinates {at:?} are outside of the surface");
        core.error("A01", a, message, "mend the coordinates; the first one counts bytes");
    }
    if !fits && (s.outside != Outside::Clamp || bounds[0].1 < 0) {
        return None;
    }
    let [x, y, z] = bounds.map(|(x, most)| x.clamp(0, most.max(0)));
    Some(t.address(0, z as u32, y as u32, x as u64))
}

/// `suld.b` and `sust.b`.
pub(crate) fn surface(core: &mut Core<'_>, w: &mut Warp, s: &SurfaceAccess, pc: u32, mask: u32) -> Flow {
    let mut sources = vec![s.handle];
    sources.extend(&s.coords);
    let lanes = defined(core, w, &sources, pc, mask);
    let (handles, coords) = (w.value(core, s.handle), values(core, w, &s.coords));
    let stored: Vec<Lanes> = s.srcs.iter().map(|v| w.value(core, *v)).collect();
    let undefined = poison_lanes(s.srcs.iter().fold(0, |p, v| p | w.poison_of(*v))) & lanes;
    if undefined != 0 {
        poisoned(core, w, pc, undefined, "a value stored to a surface");
    }
    let each = s.ty.bytes() as usize;
    let size = each * (s.dsts.len() + s.srcs.len());
    let a = actor(w, pc, mask);
    let mut out = [[0_u64; 32]; 4];
    let (mut touched, mut same) = (Touched::default(), true);
    for lane in (0..32_u32).filter(|l| lanes >> l & 1 == 1) {
        let l = lane as usize;
        let one = Actor { lanes: 1 << lane, ..a.clone() };
        let Some(t) = object(core, &one, handles[l], Some(s.kind)) else { continue };
        let at: Vec<i64> = coords.iter().map(|v| i64::from(v[l] as u32 as i32)).collect();
        if at.get(usize::from(s.kind.layered())).is_some_and(|x| x % size as i64 != 0) {
            core.error(
                "A02",
                &one,
                "access to a surface that is not aligned",
                "align the first coordinate, in bytes",
            );
            continue;
        }
        let Some(at) = place(core, s, t, &at, size as u64, &one) else { continue };
        let mut bytes = [0_u8; 32];
        let Some(buf) = bytes.get_mut(..size) else { continue };
        let _ = core.world.global.read(at, buf);
        if s.srcs.is_empty() {
            for (v, chunk) in out.iter_mut().zip(buf.chunks(each)) {
                v[l] = chunk.iter().rev().fold(0, |x, b| x << 8 | u64::from(*b));
            }
        } else {
            let mut new = [0_u8; 32];
            for (chunk, v) in new.chunks_mut(each).zip(&stored) {
                chunk.iter_mut().zip(v[l].to_le_bytes()).for_each(|(to, b)| *to = b);
            }
            same &= new == bytes;
            let _ = core.world.global.write(at, new.get(..size).unwrap_or_default());
        }
        touched.global.push((lane, at));
    }
    for (v, d) in out.iter().zip(&s.dsts) {
        if let Some(d) = d {
            w.put(*d, v, (0, true), mask);
        }
    }
    if s.srcs.is_empty() {
        if core.race {
            core.touch_constant(&touched.global, size as u64, &a, STALE);
        }
        touched.record(core, size as u64, &a, Act::Read);
    } else {
        core.progress += u64::from(!same);
        if core.race {
            overlap::check(core, &touched, &stored, s.ty.bits(), size as u64, &a);
        }
        touched.record(core, size as u64, &Actor { same, ..a }, Act::Write);
    }
    Flow::Next
}
