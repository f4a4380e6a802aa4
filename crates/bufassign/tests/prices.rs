//! Sharing is priced: waits only where nothing fits without, as few as may be (B80).
#![allow(clippy::unwrap_used, clippy::panic)]

use warploom_bufassign::check::check_with;
use warploom_bufassign::{AssignOptions, Assignment, Problem, Sharing, alternatives, assign};
use warploom_testing::bufassign::{Choices, Family, problem_of};

/// Inserted waits of an answer, as edges between values of different classes or rings.
fn waits(a: &Assignment) -> usize {
    a.merge.iter().flat_map(|m| &m.edges).filter(|e| !e.implied && e.from != e.to).count()
}

/// Values of one loop that go from one partition to another, so that nothing orders one's read before another's write:
/// of `n`, each of 4 KiB, no two live at once.
fn stream(n: u64) -> Problem {
    let mut b = Problem::builder("stream", "sm_90a");
    let (from, to) = (b.partition("from", 1), b.partition("to", 1));
    let body = b.add_loop(100 * n, 1);
    for k in 0..n {
        let write = b.op("write", body, from).at(0, 100 * k).takes(10).id();
        let read = b.op("read", body, to).at(0, 100 * k + 50).takes(10).id();
        b.value("x", &[64, 32], "f16")
            .written_by(write, warploom_bufassign::AccessRole::SharedWrite)
            .read_by(read, warploom_bufassign::AccessRole::SharedRead);
    }
    b.finish()
}

/// As many classes are merged as the limit asks, and no more.
#[test]
fn no_more_waits_than_the_limit_asks_b80() {
    let mut waits_at = Vec::new();
    for room in (1..=6).rev() {
        let mut p = stream(6);
        // Beside the data stand two mbarriers a value.
        p.options.smem_limit = Some(4096 * room + 6 * 16);
        let a = assign(&p, &p.options).unwrap();
        assert!(a.smem.used <= 4096 * room + 6 * 16, "{room}");
        waits_at.push(waits(&a));
    }
    assert_eq!(waits_at[0], 0);
    assert!(waits_at.is_sorted(), "{waits_at:?}");
}

#[test]
fn alternatives_are_ranked_and_hold_b80() {
    let p = stream(5);
    let found = alternatives(&p, &p.options, 100, None).unwrap();
    let steps: Vec<(u64, u64)> = found.iter().map(|a| (a.price.waits, a.price.smem)).collect();
    assert!(found.len() >= 5 && steps.is_sorted() && steps[0].0 == 0, "{steps:?}");
    assert!(steps.windows(2).all(|w| w[0].1 > w[1].1), "more waits for fewer bytes: {steps:?}");
    for a in &found {
        let options = AssignOptions::default().sharing(a.sharing);
        check_with(&p, &options, &a.assignment).unwrap();
    }
    assert_eq!(alternatives(&p, &p.options, 2, None).unwrap(), found[..2]);
}

/// The answer is never dearer than an alternative, and waits for nothing where one waits for nothing.
#[test]
fn the_answer_is_the_cheapest_b80() {
    let mut problems: Vec<Problem> = Vec::new();
    for n in 2..7 {
        problems.extend((1..n).map(|room| {
            let mut p = stream(n);
            p.options.smem_limit = Some(4096 * room + 16 * n);
            p
        }));
    }
    for seed in 0..60 {
        let mut p = problem_of(Family::Partitions, &mut Choices::seeded(seed));
        p.options.sharing = Sharing::WhenNeeded;
        let Ok(all) = assign(&p, &p.options.clone().smem_limit(None)) else { continue };
        // Less than there is: something must give.
        p.options.smem_limit = Some(all.smem.used - 1);
        problems.push(p);
    }
    let (mut seen, mut waited) = (0, 0);
    for p in problems {
        let (Ok(a), Ok(others)) = (assign(&p, &p.options), alternatives(&p, &p.options, 50, None)) else {
            continue;
        };
        seen += 1;
        waited += u32::from(waits(&a) > 0);
        let best = &others[0];
        assert_eq!((best.price.waits > 0, best.assignment.smem.used), (waits(&a) > 0, a.smem.used));
        assert!(others.iter().all(|o| o.price >= best.price));
    }
    println!("{seen} problems, {waited} with waits");
    assert!(seen > 14 && waited > 10, "{seen} {waited}");
}
