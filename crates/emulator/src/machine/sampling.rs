//! Which texels a fetch reads, and how much each counts, by the CUDA programming guide's chapter on texture fetching
//! and the PTX ISA's chapter on texture instructions (E101).

use crate::texture::{Addressing, Filter, Texture};
use smallvec::SmallVec;

/// A texel and its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tap {
    /// Its address; none where zero stands.
    pub at: Option<u64>,
    pub weight: f64,
}

pub(crate) type Taps = SmallVec<[Tap; 8]>;

/// Where a fetch goes: the layer or face, and coordinates as the instruction gives them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub slice: u32,
    pub coords: [f64; 3],
    /// Coordinates are whole numbers of texels.
    pub whole: bool,
    pub offsets: [i64; 3],
}

/// A place along an axis, if there is a texel, and its weight.
type Along = SmallVec<[(Option<u32>, f64); 2]>;

/// The texel that stands at index `i` of an axis.
fn inside(t: &Texture, axis: usize, i: i64, size: u32, whole_line: bool) -> Option<u32> {
    let n = i64::from(size);
    if (0..n).contains(&i) {
        return Some(i as u32);
    }
    let addressing = t.addressing.get(axis).copied().unwrap_or(Addressing::Clamp);
    let clamped = Some(i.clamp(0, n - 1) as u32);
    match addressing {
        _ if whole_line => None,
        Addressing::Border => None,
        Addressing::Clamp => clamped,
        Addressing::Wrap | Addressing::Mirror if !t.normalized => clamped,
        Addressing::Wrap => Some(i.rem_euclid(n) as u32),
        Addressing::Mirror => {
            let m = i.rem_euclid(2 * n);
            Some(m.min(2 * n - 1 - m) as u32)
        }
    }
}

fn along(t: &Texture, p: &Point, axis: usize, size: u32, linear: bool) -> Along {
    let given = p.coords.get(axis).copied().unwrap_or(0.0);
    let offset = p.offsets.get(axis).copied().unwrap_or(0);
    let x = if t.normalized && !p.whole { given * f64::from(size) } else { given };
    // Lines are fetched by whole numbers from linear memory, outside of which zero stands.
    let at = |i: i64| inside(t, axis, i.saturating_add(offset), size, p.whole && t.kind.rank() == 1);
    if !linear || p.whole {
        return smallvec::smallvec![(at(x.floor() as i64), 1.0)];
    }
    let low = (x - 0.5).floor();
    // Nine bits, of which eight are behind the point.
    let share = ((x - 0.5 - low) * 256.0).round() / 256.0;
    smallvec::smallvec![(at(low as i64), 1.0 - share), (at((low as i64).saturating_add(1)), share)]
}

/// The texels of one level, along x first.
pub(crate) fn level(t: &Texture, level: u32, p: &Point, linear: bool) -> Taps {
    let extent = t.level_extent(level);
    let axes: SmallVec<[Along; 3]> = (0..3)
        .map(|i| match extent.get(i) {
            Some(size) if i < t.kind.rank() => along(t, p, i, *size, linear),
            _ => smallvec::smallvec![(Some(0), 1.0)],
        })
        .collect();
    let mut taps = Taps::new();
    if let [xs, ys, zs] = axes.as_slice() {
        for (z, wz) in zs {
            for (y, wy) in ys {
                for (x, wx) in xs {
                    let at = match (x, y, z) {
                        (Some(x), Some(y), Some(z)) => {
                            Some(t.address(level, p.slice + z, *y, u64::from(*x) * t.texel()))
                        }
                        _ => None,
                    };
                    taps.push(Tap { at, weight: wx * wy * wz });
                }
            }
        }
    }
    taps
}

/// The texels of a fetch at a level of detail.
pub(crate) fn taps(t: &Texture, p: &Point, lod: f64) -> Taps {
    let linear = t.filter == Filter::Linear;
    let most = f64::from(t.levels - 1);
    // NaN is level 0.
    let lod = lod.max(0.0).min(most);
    if t.mip_filter == Filter::Point {
        return level(t, (lod + 0.5).floor().min(most) as u32, p, linear);
    }
    let share = ((lod - lod.floor()) * 256.0).round() / 256.0;
    let low = lod.floor() as u32;
    let mut out = level(t, low, p, linear);
    out.iter_mut().for_each(|tap| tap.weight *= 1.0 - share);
    if share > 0.0 {
        let upper = level(t, low + 1, p, linear);
        out.extend(upper.into_iter().map(|tap| Tap { weight: tap.weight * share, ..tap }));
    }
    out
}

/// The level of detail of changes of the coordinates from pixel to pixel.
pub(crate) fn detail(t: &Texture, changes: [[f64; 3]; 2]) -> f64 {
    let length = |d: &[f64; 3]| {
        let texels = d.iter().zip(t.extent).take(t.kind.rank());
        texels
            .map(|(d, e)| (d * if t.normalized || t.kind.cubic() { f64::from(e) } else { 1.0 }).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    changes.iter().map(length).fold(0.0, f64::max).log2()
}

/// The face of a cube that a direction meets.
fn face_of([x, y, z]: [f64; 3]) -> u32 {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    if ax >= ay && ax >= az {
        u32::from(x < 0.0)
    } else if ay >= az {
        2 + u32::from(y < 0.0)
    } else {
        4 + u32::from(z < 0.0)
    }
}

/// A vector as a face sees it: towards it, and along it.
fn seen_from(face: u32, [x, y, z]: [f64; 3]) -> [f64; 3] {
    match face {
        0 => [x, -z, -y],
        1 => [-x, z, -y],
        2 => [y, x, z],
        3 => [-y, x, -z],
        4 => [z, x, -y],
        _ => [-z, -x, -y],
    }
}

/// The face of a cube that a direction meets, and where, from 0 to 1.
pub(crate) fn face(direction: [f64; 3]) -> (u32, [f64; 3]) {
    let face = face_of(direction);
    let [m, s, t] = seen_from(face, direction);
    (face, [(s / m + 1.0) / 2.0, (t / m + 1.0) / 2.0, 0.0])
}

/// How that place moves with the direction.
pub(crate) fn face_change(direction: [f64; 3], change: [f64; 3]) -> [f64; 3] {
    let face = face_of(direction);
    let ([m, s, t], [dm, ds, dt]) = (seen_from(face, direction), seen_from(face, change));
    [(ds * m - s * dm) / (2.0 * m * m), (dt * m - t * dm) / (2.0 * m * m), 0.0]
}
