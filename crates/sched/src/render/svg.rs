//! The modulo reservation table as a picture.

use super::gantt::in_turn;
use crate::model::answer::Answer;
use crate::model::graph::LoopGraph;
use std::fmt::Write;

const WIDTH: f64 = 960.0;
const ROW: f64 = 26.0;
const LABEL: f64 = 110.0;
/// At most so many units are drawn per resource.
const MOST_UNITS: usize = 16;

/// The modulo reservation table of a schedule as an SVG picture: one row per unit, time folded modulo II,
/// colours by stage. A use that wraps goes on at the left.
pub fn svg(graph: &LoopGraph, answer: &Answer) -> String {
    let graph = &*graph.bound_by(&answer.bindings);
    let rows: usize = graph.resources.iter().map(|r| units(r.count)).sum();
    let height = ROW * (rows as f64 + 2.5);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        WIDTH + LABEL + 20.0,
        escape(&graph.name)
    );
    let _ = writeln!(
        text,
        "<text x=\"4\" y=\"16\">{}: II {}, length {}, {} stages</text>",
        escape(&graph.name),
        answer.ii,
        answer.length,
        answer.stages
    );
    let mut y = ROW;
    for (r, resource) in graph.resources.iter().enumerate() {
        draw_resource(graph, answer, r, y, &mut text);
        y += ROW * units(resource.count) as f64;
    }
    let _ = writeln!(text, "<text x=\"{LABEL}\" y=\"{}\">0</text>", y + 16.0);
    let _ = writeln!(
        text,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
        LABEL + WIDTH,
        y + 16.0,
        answer.ii
    );
    text.push_str("</svg>\n");
    text
}

fn units(count: u64) -> usize {
    usize::try_from(count).unwrap_or(MOST_UNITS).clamp(1, MOST_UNITS)
}

fn draw_resource(graph: &LoopGraph, answer: &Answer, r: usize, top: f64, text: &mut String) {
    let Some(resource) = graph.resources.get(r) else { return };
    let ii = answer.ii.max(1);
    let count = units(resource.count);
    let _ = writeln!(text, "<text x=\"4\" y=\"{}\">{}</text>", top + 17.0, escape(&resource.name));
    let height = ROW * count as f64;
    let _ = writeln!(
        text,
        "<rect x=\"{LABEL}\" y=\"{top}\" width=\"{WIDTH}\" height=\"{height}\" fill=\"none\" stroke=\"#888\"/>"
    );
    if resource.interleaved {
        let taken = in_turn(graph, resource, ii);
        let _ = writeln!(text, "<text x=\"{}\" y=\"{}\">{taken}</text>", LABEL + 4.0, top + 17.0);
        return;
    }
    let mut held: Vec<Vec<(i64, i64)>> = vec![Vec::new(); count];
    for v in &answer.nodes {
        let Some(node) = graph.nodes.get(v.id) else { continue };
        for u in node.uses.iter().filter(|u| u.resource == resource.name && u.duration > 0) {
            let from = v.time.saturating_add_unsigned(u.start).rem_euclid(ii);
            let length = i64::try_from(u.duration).unwrap_or(i64::MAX).min(ii);
            let parts = [(from, (from + length).min(ii)), (0, from + length - ii)];
            for (start, end) in parts.into_iter().filter(|(start, end)| end > start) {
                let free = held.iter().position(|h| h.iter().all(|&(s, e)| end <= s || start >= e));
                let unit = free.unwrap_or(count - 1);
                if let Some(h) = held.get_mut(unit) {
                    h.push((start, end));
                }
                let x = LABEL + WIDTH * start as f64 / ii as f64;
                let width = WIDTH * (end - start) as f64 / ii as f64;
                let y = top + ROW * unit as f64;
                let hue = (v.stage.rem_euclid(9)) * 40;
                let _ = writeln!(
                    text,
                    "<g><title>{} (node {}, stage {}, cycle {})</title><rect x=\"{x:.2}\" y=\"{}\" width=\"{width:.2}\" \
                     height=\"{}\" fill=\"hsl({hue},60%,75%)\" stroke=\"#333\"/><text x=\"{:.2}\" y=\"{}\">{}</text></g>",
                    escape(&node.name),
                    v.id,
                    v.stage,
                    v.cycle,
                    y + 2.0,
                    ROW - 4.0,
                    x + 3.0,
                    y + 17.0,
                    escape(&fitting(&node.name, width))
                );
            }
        }
    }
}

/// As much of a name as fits.
fn fitting(name: &str, width: f64) -> String {
    name.chars().take((width / 7.0) as usize).collect()
}

fn escape(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            c if c.is_control() => " ".to_owned(),
            c => c.to_string(),
        })
        .collect()
}
