//! The memory map as an SVG picture.

use super::axis::{axis, caption};
use crate::Assignment;
use crate::output::{MapEntry, Record};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Room for the offsets left of a panel.
const LEFT: u64 = 70;
const WIDE: u64 = 230;
const COLUMN: u64 = LEFT + WIDE + 20;
const TOP: u64 = 34;
const HEIGHT: u64 = 480;
/// Height of a line of text, and the width of a letter.
const LINE: u64 = 12;
const LETTER: u64 = 6;
const COLOURS: [&str; 8] =
    ["#8cb4dc", "#f7b878", "#98cf8e", "#f09a9b", "#d0a8c9", "#a5d6d2", "#f2dc85", "#c4a58f"];

/// Shared memory (and tensor memory, if in use) as an SVG document: offsets upwards, time to the
/// right, one panel per region; a ring is cut into its slots.
pub fn svg(a: &Assignment) -> String {
    let regions: Vec<u64> = a.records.iter().map(|r| r.region).collect::<BTreeSet<_>>().into_iter().collect();
    let spaces = 1 + u64::from(a.tmem.is_some());
    let width = spaces * regions.len().max(1) as u64 * COLUMN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{}\" font-family=\"sans-serif\" font-size=\"11\">\n",
        TOP + HEIGHT + 30
    );
    let mut x = LEFT;
    for &region in &regions {
        panel(&mut out, a, (&a.smem.map, a.smem.used), region, x, "shared memory, bytes");
        x += COLUMN;
        if let Some(t) = &a.tmem {
            panel(&mut out, a, (&t.map, t.used), region, x, "tensor memory, columns");
            x += COLUMN;
        }
    }
    out.push_str("</svg>\n");
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// `v` of `of`, drawn `size` wide.
fn scale(v: u64, size: u64, of: u64) -> u64 {
    (u128::from(v) * u128::from(size) / u128::from(of.max(1))) as u64
}

/// Where a box lies in offsets and time.
struct Place {
    low: u64,
    high: u64,
    from: u64,
    to: u64,
}

struct Panel<'o> {
    out: &'o mut String,
    x: u64,
    used: u64,
    horizon: u64,
    /// Ranges of x and baselines of the labels so far.
    labels: Vec<(u64, u64, u64)>,
    /// Heights at which an offset is written.
    ticks: Vec<u64>,
}

impl Panel<'_> {
    /// Pixels from the top of the picture at an offset.
    fn y(&self, offset: u64) -> u64 {
        TOP + HEIGHT.saturating_sub(scale(offset, HEIGHT, self.used))
    }

    fn draw(&mut self, at: &Place, colour: usize, name: &str) {
        let (left, right) = (scale(at.from, WIDE, self.horizon), scale(at.to, WIDE, self.horizon));
        let (top, bottom) = (self.y(at.high), self.y(at.low));
        let (wide, tall) = ((right - left).max(1), (bottom - top).max(1));
        let _ = writeln!(
            self.out,
            "<rect x=\"{}\" y=\"{top}\" width=\"{wide}\" height=\"{tall}\" fill=\"{}\" stroke=\"#333\"><title>{}: {} to {}</title></rect>",
            self.x + left,
            COLOURS[colour % COLOURS.len()],
            escape(name),
            at.low,
            at.high
        );
        self.tick(at.low);
        // A thin box has its name above it, where there is room.
        let baseline = if tall >= LINE { top + tall / 2 + 4 } else { top.saturating_sub(3) };
        self.label(name, self.x + left + 3, baseline, (wide / LETTER) as usize);
    }

    /// Writes a name of at most so many letters, unless another one is in its way.
    fn label(&mut self, name: &str, x: u64, baseline: u64, letters: usize) {
        let long = name.chars().count() > letters;
        let kept = if long { letters.saturating_sub(1) } else { letters };
        let mut text: String = name.chars().take(kept).collect();
        if kept == 0 || text.is_empty() {
            return;
        }
        if long {
            text.push('\u{2026}');
        }
        let end = x + LETTER * text.chars().count() as u64;
        let clear = |l: &(u64, u64, u64)| l.1 <= x || end <= l.0 || l.2.abs_diff(baseline) >= LINE;
        if self.labels.iter().all(clear) {
            let _ = writeln!(self.out, "<text x=\"{x}\" y=\"{baseline}\">{}</text>", escape(&text));
            self.labels.push((x, end, baseline));
        }
    }

    /// Writes an offset beside the panel, unless another one is in its way.
    fn tick(&mut self, offset: u64) {
        let y = self.y(offset);
        if self.ticks.iter().all(|t| t.abs_diff(y) >= LINE) {
            self.ticks.push(y);
            let _ = writeln!(
                self.out,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#555\">{offset}</text>",
                self.x - 5,
                y + 4
            );
        }
    }
}

fn panel(
    out: &mut String,
    a: &Assignment,
    (map, used): (&[MapEntry], u64),
    region: u64,
    x: u64,
    title: &str,
) {
    let (ii, horizon) = axis(a, region);
    let time = ii.map_or(format!("{horizon} cycles"), |ii| format!("II {ii}"));
    let _ = writeln!(out, "<text x=\"{x}\" y=\"14\">{title}; region {region}, {time}</text>");
    let foot = TOP + HEIGHT + 16;
    let _ = writeln!(out, "<text x=\"{x}\" y=\"{foot}\" fill=\"#555\">cycle 0</text>");
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{foot}\" text-anchor=\"end\" fill=\"#555\">{horizon}</text>",
        x + WIDE
    );
    let mut p = Panel { out, x, used, horizon, labels: Vec::new(), ticks: Vec::new() };
    p.tick(0);
    p.tick(used);
    let whole = |low: u64, bytes: u64| Place { low, high: low + bytes, from: 0, to: horizon };
    for (n, e) in map.iter().enumerate().filter(|(_, e)| e.region.is_none_or(|r| r == region)) {
        let class = a.merge.iter().find(|m| Some(m.class) == e.class);
        let members: Vec<&Record> =
            class.into_iter().flat_map(|m| &m.members).filter_map(|v| a.record(*v)).collect();
        if let Some(ring) = members.iter().find(|r| r.depth > 1) {
            let stride = ring.stride.or(ring.tmem.map(|t| t.stride)).unwrap_or(e.bytes);
            for slot in 0..ring.depth {
                let name = format!("{}, slot {slot}", caption(a, e));
                p.draw(&whole(e.offset + slot * stride, stride), n, &name);
            }
            continue;
        }
        if members.is_empty() {
            p.draw(&whole(e.offset, e.bytes), n, &caption(a, e));
        }
        for r in members {
            let name = if r.name.is_empty() { format!("%{}", r.value) } else { r.name.clone() };
            let start = r.start[0].saturating_mul(ii.unwrap_or(0)).saturating_add(r.start[1]);
            let times: Vec<(u64, u64)> = match ii {
                Some(p) if r.length >= p => vec![(0, p)],
                Some(p) => {
                    let s = start % p.max(1);
                    let over = (s + r.length).saturating_sub(p);
                    if over > 0 { vec![(0, over), (s, p)] } else { vec![(s, s + r.length)] }
                }
                None => vec![(start.min(horizon), start.saturating_add(r.length).min(horizon))],
            };
            for (from, to) in times {
                p.draw(&Place { from, to, ..whole(e.offset, e.bytes) }, n, &name);
            }
        }
    }
}
