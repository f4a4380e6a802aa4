//! Broken answers are caught, each by the rule that owns what is broken (B77). Prints the table.

#![allow(clippy::unwrap_used, clippy::panic)]

use warploom_bufassign::check::check;
use warploom_bufassign::*;

fn worked() -> Problem {
    Problem::from_json(include_str!("fixtures/worked.json")).unwrap()
}

/// A Blackwell loop: two operand rings on one pipe, an accumulator, 64-row tiles in tensor memory.
fn blackwell() -> Problem {
    Problem::from_json(include_str!("fixtures/blackwell.json")).unwrap()
}

/// Two rings that only a joint ring of three slots can share (B50).
fn joint() -> Problem {
    Problem::from_json(include_str!("fixtures/joint.json")).unwrap()
}

type Break = Box<dyn Fn(&mut Assignment)>;

fn rec(a: &mut Assignment, v: u64) -> &mut Record {
    a.records.iter_mut().find(|r| r.value == v).unwrap()
}

fn on(v: u64, f: impl Fn(&mut Record) + 'static) -> Break {
    Box::new(move |a| f(rec(a, v)))
}

#[test]
fn every_mutation_is_caught() {
    let table: Vec<(&str, Problem, Vec<&str>, Break)> = vec![
        ("depth - 1", worked(), vec!["B17"], on(0, |r| r.depth -= 1)),
        ("start at data-ready", worked(), vec!["B16"], on(0, |r| r.start = [1, 100])),
        ("end one cycle early", worked(), vec!["B16"], on(0, |r| r.end[1] -= 1)),
        ("pipe members of unequal depth", blackwell(), vec!["B21"], on(0, |r| r.depth += 1)),
        (
            "two offsets swapped",
            worked(),
            vec!["B51", "B12"],
            Box::new(|a| {
                let (x, y) = (rec(a, 0).offset, rec(a, 1).offset);
                rec(a, 0).offset = y;
                rec(a, 1).offset = x;
            }),
        ),
        (
            "map entry removed",
            worked(),
            vec!["B12"],
            Box::new(|a| {
                a.smem.map.remove(0);
            }),
        ),
        (
            "record dropped",
            worked(),
            vec!["B10"],
            Box::new(|a| {
                a.records.remove(2);
            }),
        ),
        (
            "record doubled",
            worked(),
            vec!["B10"],
            Box::new(|a| {
                let r = a.records[2].clone();
                a.records.insert(2, r);
            }),
        ),
        ("parent not a root", worked(), vec!["B11"], on(2, |r| r.parent = 2)),
        ("offset + 8", worked(), vec!["B37"], on(4, |r| r.offset = Some(8))),
        ("alignment halved", worked(), vec!["B37"], on(0, |r| r.align = Some(512))),
        ("empty mbarriers moved", worked(), vec!["B39"], on(0, |r| r.empty = r.empty.map(|e| e + 8))),
        ("tx_bytes - 16", worked(), vec!["B39"], on(0, |r| r.tx_bytes = Some(16368))),
        ("stride unpadded", worked(), vec!["B38"], on(0, |r| r.stride = Some(16376))),
        ("data over mbarriers", worked(), vec!["B39"], on(1, |r| r.offset = Some(34816))),
        ("tx_bytes + 16", worked(), vec!["B39"], on(0, |r| r.tx_bytes = Some(16400))),
        ("offset past the capacity", worked(), vec!["B40"], on(4, |r| r.offset = Some(231424))),
        ("class flipped", worked(), vec!["B34"], on(0, |r| r.class = Class::Tmem)),
        ("16384-byte two-way value in TMEM", blackwell(), vec!["B35"], on(5, |r| r.class = Class::Tmem)),
        ("signal value given bytes", worked(), vec!["B35"], on(3, |r| r.bytes = Some(16))),
        (
            "TMEM column past the end",
            blackwell(),
            vec!["B44"],
            on(2, |r| {
                let t = r.tmem.as_mut().unwrap();
                t.column = 512 - t.columns + 32;
            }),
        ),
        (
            "allocation of 96 columns",
            blackwell(),
            vec!["B44"],
            Box::new(|a| a.tmem.as_mut().unwrap().allocated = 96),
        ),
        (
            "two tiles on one lane set",
            blackwell(),
            vec!["B43", "B51"],
            Box::new(|a| {
                let t = rec(a, 3).tmem;
                rec(a, 4).tmem = t;
            }),
        ),
        ("barrier id 0", worked(), vec!["B28"], on(1, |r| r.barrier.as_mut().unwrap().id = Some(0))),
        ("barrier id 16", worked(), vec!["B28"], on(1, |r| r.barrier.as_mut().unwrap().id = Some(16))),
        (
            "two unordered values on one slot",
            worked(),
            vec!["B30"],
            Box::new(|a| {
                let b = rec(a, 2).barrier.unwrap();
                let t = rec(a, 3).barrier.as_mut().unwrap();
                (t.slot, t.id) = (b.slot, b.id);
            }),
        ),
        ("threads halved", worked(), vec!["B31"], on(3, |r| r.barrier.as_mut().unwrap().threads /= 2)),
        (
            "arrive for sync",
            worked(),
            vec!["B31"],
            on(3, |r| r.barrier.as_mut().unwrap().mode = BarrierMode::Arrive),
        ),
        ("handshake order for named", worked(), vec!["B27"], on(1, |r| r.handshake = Handshake::Order)),
        (
            "overlapping pair united",
            worked(),
            vec!["B50"],
            Box::new(|a| {
                a.merge[0].members = vec![0, 1, 2];
                a.merge.remove(1);
                for v in [1, 2] {
                    rec(a, v).parent = 0;
                    (rec(a, v).offset, rec(a, v).depth, rec(a, v).slot_shift) = (Some(0), 2, Some(0));
                }
                rec(a, 0).slot_shift = Some(0);
            }),
        ),
        ("rotation + 1", joint(), vec!["B50"], on(1, |r| r.slot_shift = r.slot_shift.map(|s| (s + 1) % 3))),
        (
            "merge that enlarges",
            joint(),
            vec!["B52"],
            Box::new(|a| {
                a.merge[0].depth = 4;
                for v in [0, 1] {
                    rec(a, v).depth = 4;
                }
            }),
        ),
        (
            "live-out shared",
            worked(),
            vec!["B49"],
            Box::new(|a| {
                a.merge[1].members.push(4);
                a.merge.remove(2);
                rec(a, 4).parent = 1;
            }),
        ),
        (
            "needed edge dropped",
            worked(),
            vec!["B51"],
            Box::new(|a| {
                a.merge[1].edges.remove(0);
            }),
        ),
        (
            "implied set true",
            joint(),
            vec!["B51"],
            Box::new(|a| {
                for e in &mut a.merge[0].edges {
                    e.implied = true;
                }
            }),
        ),
        (
            "edge reversed",
            worked(),
            vec!["B51", "B25"],
            Box::new(|a| {
                let e = &mut a.merge[1].edges[0];
                (e.from, e.to) = (e.to, e.from);
            }),
        ),
        ("drain dropped", worked(), vec!["B55"], Box::new(|a| a.drains.clear())),
        (
            "optimal on a loose peak",
            worked(),
            vec!["B58"],
            Box::new(|a| {
                for v in [1, 2] {
                    rec(a, v).offset = Some(49152);
                }
                let e = a.smem.map.iter_mut().find(|e| e.class == Some(1)).unwrap();
                e.offset = 49152;
                (a.smem.used, a.smem.optimal) = (65568, true);
            }),
        ),
        ("emittable set false", worked(), vec!["B28"], Box::new(|a| a.emittable = false)),
        ("proxy fence dropped", worked(), vec!["B10"], on(1, |r| r.proxy_fence = false)),
        (
            "last slot lost",
            joint(),
            vec!["B22"],
            on(0, |r| r.last_slot = Some(LastSlot { add: 0, modulo: 3 })),
        ),
    ];
    let mut missed = Vec::new();
    for (name, p, rules, break_it) in &table {
        let good = assign(p, &p.options).unwrap_or_else(|e| panic!("{name}: {e}"));
        check(p, &good).unwrap();
        let mut bad = good.clone();
        break_it(&mut bad);
        assert_ne!(good, bad, "{name} changed nothing");
        let found: Vec<&str> = check(p, &bad).err().into_iter().flatten().map(|v| v.rule).collect();
        let hit = rules.iter().any(|r| found.contains(r));
        println!("{:<36} expected {:<10} found {found:?}", name, rules.join("/"));
        if !hit {
            missed.push(*name);
        }
    }
    println!("caught {} of {}", table.len() - missed.len(), table.len());
    assert!(missed.is_empty(), "missed: {missed:?}");
}

#[test]
fn preset_slot_without_id_is_not_emittable() {
    let mut p = worked();
    p.options.preset = Some(Preset::Tileiras);
    let mut a = assign(&p, &p.options).unwrap();
    assert!(a.emittable);
    a.emittable = false;
    assert!(check(&p, &a).is_err());
}

#[test]
fn a_value_that_must_be_alone_shares_with_none_b49() {
    let shared = assign(&joint(), &joint().options).unwrap();
    assert_eq!(shared.merge.len(), 1, "both values in one class");
    let mut p = joint();
    p.values[1].alone = true;
    let apart = assign(&p, &p.options).unwrap();
    check(&p, &apart).unwrap();
    assert_eq!(apart.merge.len(), 2);
    let found = check(&p, &shared).unwrap_err();
    assert!(found.iter().any(|v| v.rule == "B49" && v.message.contains("may not share")), "{found:?}");
}
