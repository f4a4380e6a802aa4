//! What a tensor copy carries with it (E31-E33).

use crate::isa::op::CopyWay;
use crate::machine::tensormap::MapView;

/// One tensor copy.
#[derive(Clone, Debug)]
pub(crate) struct TensorWork {
    pub way: CopyWay,
    pub map: MapView,
    /// Where it is in global memory, if it is there.
    pub map_at: Option<u64>,
    /// Element coordinates, innermost first.
    pub coords: [i64; 5],
    /// Rows of dimension 1, for gather and scatter.
    pub rows: Option<[i64; 4]>,
    /// CTAs that take part, and the offset in their shared memory.
    pub ctas: Vec<u32>,
    pub shared: u64,
    /// Offset of the mbarrier, and its CTA if it is not the receiving one.
    pub mbar: Option<(u64, Option<u32>)>,
    pub data: Vec<u8>,
}

/// A run of bytes of the box: linear offset, and the global address of the part inside the tensor.
pub(crate) struct Row {
    pub linear: u64,
    /// Offset in the run, address and length of what lies inside the tensor, in bytes of global memory.
    pub inside: Option<(u64, u64, u64)>,
}

impl TensorWork {
    /// The rows of the box along dimension 0; element steps make rows of single elements.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let m = &self.map;
        let e = m.elem.bytes();
        let counts = if self.rows.is_some() { [m.counts[0], 4, 1, 1, 1] } else { m.counts };
        let outer: u64 = counts.iter().skip(1).product();
        let (per_row, runs) = if m.steps[0] == 1 { (counts[0], 1) } else { (1, counts[0]) };
        let mut out = Vec::new();
        for o in 0..outer {
            let mut rest = o;
            let mut base = Some(m.addr);
            for d in 1..5 {
                let (count, step) =
                    (counts.get(d).copied().unwrap_or(1), m.steps.get(d).copied().unwrap_or(1));
                let i = rest % count.max(1);
                rest /= count.max(1);
                let start = self.coords.get(d).copied().unwrap_or(0);
                let at = match self.rows {
                    Some(rows) if d == 1 => rows.get(i as usize).copied().unwrap_or(-1),
                    _ => start + (i * step) as i64,
                };
                let extent = m.dims.get(d).copied().unwrap_or(1);
                let stride = m.strides.get(d).copied().unwrap_or(0);
                let inside = d >= m.rank || (at >= 0 && (at as u64) < extent);
                base = base.filter(|_| inside).map(|b| b + if d < m.rank { at as u64 * stride } else { 0 });
            }
            for r in 0..runs {
                let first = self.coords[0] + (r * m.steps[0]) as i64;
                let low = first.clamp(0, m.dims[0] as i64);
                let high = (first + per_row as i64).clamp(0, m.dims[0] as i64);
                let inside = base
                    .filter(|_| high > low)
                    .map(|b| ((low - first) as u64 * e, b + low as u64 * e, (high - low) as u64 * e));
                out.push(Row { linear: (o * counts[0] + r) * m.elem.bytes_shared(), inside });
            }
        }
        out
    }

    /// Bytes that go through shared memory.
    pub(crate) fn bytes(&self) -> u64 {
        if self.rows.is_some() { self.map.inner_bytes() * 4 } else { self.map.box_bytes() }
    }

    /// Bytes that the barrier is told of: what is left free is not among them.
    pub(crate) fn bytes_told(&self) -> u64 {
        self.bytes() / self.map.elem.bytes_shared() * self.map.elem.bytes()
    }
}
