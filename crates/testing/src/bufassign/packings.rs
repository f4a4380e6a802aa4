//! Packing problems (B76).

use super::choices::Choices;
use warploom_bufassign::pack::{LiveSpan, PackItem, PackProblem, TimeSegment};

/// A packing problem of GPU size: lines and circles, alignments, separations.
pub fn packing(c: &mut Choices<'_>) -> PackProblem {
    let mut p = PackProblem {
        segments: vec![
            TimeSegment::Linear,
            TimeSegment::Circular(1 + c.below(300) as i64),
            TimeSegment::Circular(400),
        ],
        ..PackProblem::default()
    };
    for _ in 0..1 + c.below(30) {
        let live = vec![LiveSpan {
            segment: c.below(3) as usize,
            start: c.below(400) as i64,
            len: 1 + c.below(300) as i64,
            window: None,
        }];
        let align = c.pick(&[1u64, 16, 128, 1024], 1);
        p.items.push(PackItem { size: 128 * c.below(513), align, fixed: None, live });
    }
    let n = p.items.len() as u64;
    if c.one_in(4) && n > 1 {
        let a = c.below(n) as usize;
        p.separations.push((a, (a + 1) % n as usize));
    }
    if c.one_in(4) {
        p.reserved.push((128 * c.below(64), 1024));
    }
    if c.one_in(2) {
        p.capacity = Some(1 + 128 * c.below(4096));
    }
    p
}
