//! The memory map as an SVG picture.

use super::{axis, caption};
use crate::Assignment;
use crate::output::MapEntry;
use std::collections::BTreeSet;
use std::fmt::Write;

const LEFT: u64 = 80;
const COLUMN: u64 = 260;
const HEIGHT: u64 = 480;
const COLOURS: [&str; 8] =
    ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#76b7b2", "#edc948", "#9c755f"];

/// Shared memory (and tensor memory, if in use) as an SVG document: offsets upwards, time to the
/// right, one panel per region.
pub fn svg(a: &Assignment) -> String {
    let regions: Vec<u64> = a.records.iter().map(|r| r.region).collect::<BTreeSet<_>>().into_iter().collect();
    let spaces = 1 + u64::from(a.tmem.is_some());
    let width = LEFT + spaces * regions.len().max(1) as u64 * COLUMN + 20;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{}\" font-family=\"sans-serif\" font-size=\"11\">\n",
        HEIGHT + 60
    );
    let mut x = LEFT;
    for &region in &regions {
        panel(&mut out, a, &a.smem.map, a.smem.used, region, x, "shared memory, bytes");
        x += COLUMN;
        if let Some(t) = &a.tmem {
            panel(&mut out, a, &t.map, t.used, region, x, "tensor memory, columns");
            x += COLUMN;
        }
    }
    out.push_str("</svg>\n");
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn panel(out: &mut String, a: &Assignment, map: &[MapEntry], used: u64, region: u64, x: u64, title: &str) {
    let (ii, horizon) = axis(a, region);
    let time = ii.map_or(format!("{horizon} cycles"), |ii| format!("II {ii}"));
    let _ = writeln!(out, "<text x=\"{x}\" y=\"16\">{title}; region {region}, {time}</text>");
    let scale =
        |v: u64, size: u64, of: u64| (u128::from(v) * u128::from(size) / u128::from(of.max(1))) as u64;
    let wide = COLUMN - 30;
    let mut rect = |e: &MapEntry, n: usize, from: u64, to: u64| {
        let (left, right) = (scale(from, wide, horizon), scale(to, wide, horizon));
        let (low, high) = (scale(e.offset, HEIGHT, used), scale(e.offset + e.bytes, HEIGHT, used));
        let _ = writeln!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#333\"><title>{} at {}, {}</title></rect>",
            x + left,
            30 + HEIGHT.saturating_sub(high),
            (right - left).max(1),
            (high - low).max(1),
            COLOURS[n % COLOURS.len()],
            escape(&caption(a, e)),
            e.offset,
            e.bytes
        );
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\">{}</text>",
            x + left + 3,
            30 + HEIGHT.saturating_sub((low + high) / 2),
            escape(&caption(a, e))
        );
    };
    for (n, e) in map.iter().enumerate().filter(|(_, e)| e.region.is_none_or(|r| r == region)) {
        let class = a.merge.iter().find(|m| Some(m.class) == e.class);
        let members: Vec<_> =
            class.into_iter().flat_map(|m| &m.members).filter_map(|v| a.record(*v)).collect();
        if members.is_empty() || members.iter().any(|r| r.depth > 1) {
            rect(e, n, 0, horizon);
            continue;
        }
        for r in members {
            let start = r.start[0].saturating_mul(ii.unwrap_or(0)).saturating_add(r.start[1]);
            match ii {
                Some(p) if r.length < p => {
                    let s = start % p.max(1);
                    rect(e, n, s, (s + r.length).min(p));
                    if s + r.length > p {
                        rect(e, n, 0, s + r.length - p);
                    }
                }
                Some(p) => rect(e, n, 0, p),
                None => rect(e, n, start, (start + r.length).min(horizon)),
            }
        }
    }
}
