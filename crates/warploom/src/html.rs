//! The report of `warploom explain` as one page that needs nothing else.

use warploom::bufassign::Assignment;
use warploom::bufassign::render;

/// The page: the report as text, the memory map as a drawing.
pub fn page(assignment: Option<&Assignment>, report: &str) -> String {
    let name = escape(assignment.map_or("kernel", |a| a.name.as_str()));
    let map = assignment.map(render::svg).unwrap_or_default();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{name}</title>\n<style>body{{\
         font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}}pre{{background:#f6f8fa;\
         padding:1rem;overflow:auto;font-size:13px;line-height:1.35}}svg{{max-width:100%;height:auto}}</style></head>\n\
         <body><h1>{name}</h1>\n<h2>Memory</h2>\n{map}\n<h2>Decisions</h2>\n<pre>{}</pre>\n</body></html>\n",
        escape(report)
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
