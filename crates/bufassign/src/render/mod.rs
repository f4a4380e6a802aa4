//! Pictures of an assignment for people: memory map and barrier chart, as text and as SVG.

mod axis;
mod barriers;
mod memory;
mod svg;

pub use barriers::barriers;
pub use memory::memory_map;
pub use svg::svg;
