//! Pictures of a schedule: what they must contain, and that odd names do not break them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use warploom_sched::{LoopGraph, ScheduleOptions, render, schedule, validate};

fn sample() -> (LoopGraph, warploom_sched::Answer) {
    let mut g = LoopGraph::new("a<b & \"c\"");
    g.add_resource("U", 1).add_resource("V", 2);
    let x = g.add_node("x", 2, &[("U", 0, 3), ("V", 0, 5)]);
    let y = g.add_node("y<", 4, &[("U", 1, 2)]);
    g.add_edge(x, y, 2, 0).add_edge(y, x, 7, 2);
    g.add_value(x, 64, "smem", &[(y, 0, 4)]);
    let answer = schedule(&validate(&g).unwrap(), &ScheduleOptions::default()).unwrap();
    (g, answer)
}

#[test]
fn gantt_shows_every_unit() {
    let (g, a) = sample();
    let text = render::gantt(&g, &a);
    assert_eq!(a.ii, 5);
    // U: 3 cycles of A, 2 of B; V: one unit all the time.
    let u = text.lines().find(|l| l.starts_with("U ")).unwrap();
    assert_eq!((u.matches('A').count(), u.matches('B').count(), u.matches('.').count()), (3, 2, 0), "{text}");
    let v: Vec<&str> = text.lines().filter(|l| l.starts_with("V.")).collect();
    assert_eq!(v.len(), 2);
    assert_eq!(v[0].matches('A').count(), 5, "{text}");
    assert!(render::gantt_width(&g, &a, 0).contains("U "));
}

#[test]
fn explanation_names_what_is_critical() {
    let (g, a) = sample();
    let text = render::explain(&g, &a);
    assert!(text.contains("critical resource: U, held 5 cycles on 1 units"), "{text}");
    assert!(text.contains("ratio 9/2"), "{text}");
    assert!(text.contains("To lower the II to 4"), "{text}");
}

#[test]
fn trace_is_json_and_svg_is_escaped() {
    let (g, a) = sample();
    let trace: serde_json::Value = serde_json::from_str(&render::chrome_trace(&g, &a)).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    // Per iteration two operations and three uses.
    assert_eq!(events.iter().filter(|e| e["ph"] == "X").count(), 6 * 5);
    let picture = render::svg(&g, &a);
    assert!(picture.contains("a&lt;b &amp; &quot;c&quot;") && !picture.contains("y<"));
}

/// The figure of docs/scheduling.md is what the tool draws.
#[test]
fn the_figure_in_the_docs_is_up_to_date() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let text = std::fs::read_to_string(fixtures.join("attention.json")).unwrap();
    let graph = warploom_sched::read_graph(&text).unwrap();
    let answer = schedule(&validate(&graph).unwrap(), &ScheduleOptions::default()).unwrap();
    let figure = std::fs::read_to_string(fixtures.join("attention.svg")).unwrap();
    assert!(render::svg(&graph, &answer) == figure, "draw it again with the command in docs/scheduling.md");
}
