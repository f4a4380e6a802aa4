//! Spare memory: rings deeper than they need to be, where a late copy would make readers wait (B81).
#![allow(clippy::unwrap_used, clippy::panic)]

use warploom_bufassign::check::check;
use warploom_bufassign::*;
use warploom_testing::bufassign::{Choices, Family, assignment_holds, problem_of};

fn worked(fill: bool) -> Problem {
    let mut p = Problem::from_json(include_str!("fixtures/worked.json")).unwrap();
    p.options.fill = fill;
    p
}

/// The copy of 500 cycles has no slack, and two slots let it be issued 100 cycles early: if it takes 1000, its reader
/// waits 400. A third slot lets it be issued 500 early.
#[test]
fn a_slot_more_hides_a_late_copy_b81() {
    let p = worked(true);
    let a = assignment_holds(&p, &mut Choices::seeded(0)).unwrap().unwrap();
    let step = FillStep { region: 0, partition: 0, values: vec![0], bytes: 16384, wait: 400, left: 0 };
    assert_eq!(a.fill, Some(FillPlan { steps: vec![step], ended: FillEnd::NothingHelps }));
    let depths: Vec<u64> = a.records.iter().map(|r| r.depth).collect();
    assert_eq!(depths, [3, 1, 1, 1, 1]);
    assert_eq!(a.smem.used, 4 * 16384 + 6 * 8);
}

#[test]
fn least_depth_is_the_default_b81() {
    assert!(!AssignOptions::default().fill);
    let p = worked(false);
    let a = assign(&p, &p.options).unwrap();
    assert_eq!((a.fill.clone(), a.record(0).unwrap().depth), (None, 2));
}

#[test]
fn without_room_every_ring_has_its_least_depth_b81() {
    let mut p = worked(true);
    p.options.smem_limit = Some(60_000);
    let a = assignment_holds(&p, &mut Choices::seeded(0)).unwrap().unwrap();
    assert_eq!(a.fill, Some(FillPlan { steps: vec![], ended: FillEnd::NoRoom }));
    p.options.fill = false;
    let least = assign(&p, &p.options).unwrap();
    assert_eq!(a.records, least.records);
}

/// A partition that reads is held back by what it reads, and no slot more helps it.
#[test]
fn who_reads_gets_no_slot_b81() {
    let mut p = worked(true);
    p.ops[7].partition = 0;
    let a = assign(&p, &p.options).unwrap();
    assert_eq!(a.fill, Some(FillPlan { steps: vec![], ended: FillEnd::NothingHelps }));
}

/// The problem with every op that only writes in a partition of their own, which copies.
fn fed(mut p: Problem) -> Problem {
    let feeder = p.partitions.iter().map(|x| x.id).max().unwrap_or(0) + 1;
    p.partitions.push(WarpPartition { id: feeder, name: "feed".into(), warps: 1 });
    let waits = |id: u64| {
        let reads = p.values.iter().flat_map(|v| &v.consumers).any(|c| c.op == id);
        reads
            || p.edges.iter().any(|e| e.dst == id)
            || !p.values.iter().any(|v| v.producer.is_some_and(|x| x.op == id))
    };
    let free: Vec<bool> = p.ops.iter().map(|o| !waits(o.id)).collect();
    for (o, _) in p.ops.iter_mut().zip(free).filter(|x| x.1) {
        (o.partition, o.is_async) = (feeder, true);
    }
    p
}

/// Generated problems: what is filled passes the checker, the replays and every timing; nothing gets shallower, and
/// nothing pays for it with a wait.
#[test]
fn generated_problems_hold_b81() {
    println!("{:<16}{:>9}{:>9}{:>9}{:>9}", "", "accepted", "filled", "helped", "no room");
    let (mut helped, mut tight) = (0, 0);
    for family in Family::ALL {
        let mut count = [0; 4];
        for seed in 0..120 {
            let mut p = fed(problem_of(family, &mut Choices::seeded(seed)));
            let Ok(least) = assign(&p, &p.options) else { continue };
            if seed % 3 == 0 && family != Family::Machine {
                p.options.smem_limit = Some(least.smem.used + 4096);
            }
            p.options.fill = true;
            let answer = assignment_holds(&p, &mut Choices::seeded(seed));
            let a = answer.unwrap_or_else(|e| panic!("{family:?}, seed {seed}: {e}")).unwrap();
            let fill = a.fill.as_ref().unwrap();
            count[0] += 1;
            count[1] += u32::from(!fill.steps.is_empty());
            count[2] += u32::from(fill.ended == FillEnd::NothingHelps && !fill.steps.is_empty());
            count[3] += u32::from(fill.ended == FillEnd::NoRoom);
            let waits = |a: &Assignment| a.merge.iter().flat_map(|m| &m.edges).filter(|e| !e.implied).count();
            assert!(waits(&a) <= waits(&least), "{family:?}, seed {seed}");
            for r in &a.records {
                let spare = fill.steps.iter().filter(|s| s.values.contains(&r.value)).count() as u64;
                let before = least.record(r.value).unwrap();
                let joint = before.slot_shift.is_some() || r.slot_shift.is_some();
                assert!(
                    joint || r.byte_offset.is_some() || r.depth == before.depth + spare,
                    "{family:?} {seed}"
                );
            }
        }
        println!("{:<16}{:>9}{:>9}{:>9}{:>9}", format!("{family:?}"), count[0], count[1], count[2], count[3]);
        helped += count[2];
        tight += count[3];
    }
    assert!(helped > 30 && tight > 5, "{helped} {tight}");
}

/// Broken answers are caught by the rule that owns what is broken.
#[test]
fn mutations_are_caught_b81() {
    let p = worked(true);
    let good = assign(&p, &p.options).unwrap();
    type Break<'a> = (&'a str, &'a str, &'a dyn Fn(&mut Assignment));
    let step = |a: &mut Assignment, f: &dyn Fn(&mut FillStep)| f(&mut a.fill.as_mut().unwrap().steps[0]);
    let table: &[Break<'_>] = &[
        ("nothing said of it", "B81", &|a| a.fill = None),
        ("a step left out", "B81", &|a| a.fill.as_mut().unwrap().steps.clear()),
        ("a step twice", "B81", &|a| {
            let s = a.fill.as_ref().unwrap().steps[0].clone();
            a.fill.as_mut().unwrap().steps.push(s);
        }),
        ("a slot too few", "B17", &|a| a.records[0].depth = 2),
        ("a slot too many", "B17", &|a| a.records[0].depth = 4),
        ("another wait", "B81", &|a| step(a, &|s| s.wait -= 1)),
        ("another rest", "B81", &|a| step(a, &|s| s.left += 1)),
        ("other bytes", "B81", &|a| step(a, &|s| s.bytes *= 2)),
        ("another partition", "B81", &|a| step(a, &|s| s.partition = 1)),
        ("another loop", "B81", &|a| step(a, &|s| s.region = 1)),
        ("one value more", "B81", &|a| step(a, &|s| s.values.push(1))),
        ("another end", "B81", &|a| a.fill.as_mut().unwrap().ended = FillEnd::NoRoom),
        ("too few steps to end", "B81", &|a| a.fill.as_mut().unwrap().ended = FillEnd::Steps),
        ("a deep ring that shares", "B81", &|a| {
            a.merge[0].members.push(1);
            a.merge[1].members.remove(0);
            a.merge[1].class = 2;
            a.records[1].parent = 0;
        }),
    ];
    for (name, rule, break_it) in table {
        let mut bad = good.clone();
        break_it(&mut bad);
        assert_ne!(good, bad, "{name} changed nothing");
        let found: Vec<&str> = check(&p, &bad).err().into_iter().flatten().map(|v| v.rule).collect();
        assert!(found.contains(rule), "{name}: expected {rule}, found {found:?}");
    }
    println!("caught {} of {}", table.len(), table.len());
    // What was not asked for is not taken.
    let plain = worked(false);
    let found: Vec<&str> = check(&plain, &good).err().into_iter().flatten().map(|v| v.rule).collect();
    assert!(found.contains(&"B81"), "{found:?}");
}
