//! Good plans with one thing changed: the checker must catch each (G12). The rate is printed and is 100 %.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use warploom_layout::fragment::wgmma;
use warploom_layout::{
    Access, Conversion, Dim, Images, Layout, Plan, Prices, Scope, Transfer, TransferKind, blocked, check,
    convert,
};

/// An image, as numbers of outputs.
type Image = Vec<(Dim, u64)>;

/// The same with bit `flip` of one output of one image changed.
fn bent(layout: &Layout, input: Dim, bit: usize, (output, flip): (Dim, u64)) -> Layout {
    let images = |dim: Dim, size: u64| {
        let image = |n: u32| {
            let parts = layout.outputs().into_iter().map(|(out, _)| {
                let changed = dim == input && n as usize == bit && out == output;
                (out, layout.image(dim, n, out) ^ if changed { flip } else { 0 })
            });
            parts.collect::<Vec<_>>()
        };
        (0..size.ilog2()).map(image).collect::<Vec<_>>()
    };
    let all: Vec<(Dim, Vec<Image>)> =
        layout.inputs().into_iter().map(|(dim, size)| (dim, images(dim, size))).collect();
    let slices: Vec<Vec<&[(Dim, u64)]>> =
        all.iter().map(|(_, images)| images.iter().map(Vec::as_slice).collect()).collect();
    let inputs: Vec<(Dim, Images)> =
        all.iter().zip(&slices).map(|((dim, _), list)| (*dim, list.as_slice())).collect();
    Layout::new(&inputs, &layout.outputs()).unwrap()
}

/// Every layout that differs in one bit of one image.
fn all_bent(layout: &Layout) -> Vec<Layout> {
    let mut all = Vec::new();
    for (input, size) in layout.inputs() {
        for bit in 0..size.ilog2() as usize {
            for (output, range) in layout.outputs() {
                all.extend((0..range.ilog2()).map(|n| bent(layout, input, bit, (output, 1 << n))));
            }
        }
    }
    all
}

type Named = (&'static str, Plan);

fn moved(from: &Conversion) -> Vec<Named> {
    let Plan::Moves(plan) = &from.plan else { return Vec::new() };
    all_bent(&plan.source)
        .into_iter()
        .map(|source| {
            let mut plan = plan.clone();
            plan.source = source;
            ("source", Plan::Moves(plan))
        })
        .collect()
}

fn shuffled(from: &Conversion) -> Vec<Named> {
    let Plan::Shuffles(good) = &from.plan else { return Vec::new() };
    let mut all = Vec::new();
    let mut change = |name, act: &dyn Fn(&mut warploom_layout::Shuffles)| {
        let mut plan = good.clone();
        act(&mut plan);
        all.push((name, Plan::Shuffles(plan)));
    };
    for layout in all_bent(&good.send) {
        change("send", &|plan| plan.send = layout.clone());
    }
    for layout in all_bent(&good.from) {
        change("from", &|plan| plan.from = layout.clone());
    }
    for layout in all_bent(&good.into) {
        change("into", &|plan| plan.into = layout.clone());
    }
    for layout in all_bent(&good.copies) {
        change("copies", &|plan| plan.copies = layout.clone());
    }
    for i in 0..good.rounds.len() {
        change("round left out", &|plan| _ = plan.rounds.remove(i));
        change("round twice", &|plan| plan.rounds.push(good.rounds[i]));
        change("round's send", &|plan| plan.rounds[i].send ^= 1);
        change("round's from", &|plan| plan.rounds[i].from ^= 1);
        change("round's into", &|plan| plan.rounds[i].into ^= 1);
        change("round at home", &|plan| plan.rounds[i].home ^= true);
        change("register beyond", &|plan| plan.rounds[i].send ^= 1 << 20);
        change("lane beyond", &|plan| plan.rounds[i].from ^= 32);
    }
    for i in 0..good.pack.len() {
        change("pack left out", &|plan| _ = plan.pack.remove(i));
        change("pack's send", &|plan| plan.pack[i].send ^= 1);
        change("pack's into", &|plan| plan.pack[i].into ^= 1);
    }
    change("pack too wide", &|plan| plan.pack.extend([warploom_layout::Packed { send: 0, into: 0 }; 3]));
    all
}

/// What one side can get wrong: the transfer's name and the broken transfer.
fn transferred(good: &Transfer) -> Vec<(&'static str, Transfer)> {
    let mut all = Vec::new();
    let mut change = |name, act: &dyn Fn(&mut Transfer)| {
        let mut transfer = good.clone();
        act(&mut transfer);
        all.push((name, transfer));
    };
    for layout in all_bent(&good.to) {
        change("map", &|transfer| transfer.to = layout.clone());
    }
    let edit = |access: &Access, vector: bool, act: &dyn Fn(&mut Vec<u64>)| {
        let mut access = access.clone();
        act(if vector { &mut access.vector } else { &mut access.repeats });
        access
    };
    for (vector, masks) in [(true, &good.access.vector), (false, &good.access.repeats)] {
        for i in 0..masks.len() {
            change("mask left out", &|t| t.access = edit(&t.access, vector, &|list| _ = list.remove(i)));
            change("mask", &|t| t.access = edit(&t.access, vector, &|list| list[i] = 0));
            change("register beyond", &|t| t.access = edit(&t.access, vector, &|list| list[i] ^= 1 << 20));
        }
    }
    change("too wide", &|t| t.access.vector.extend([1 << 20; 5]));
    match good.kind {
        TransferKind::Pieces => {
            change("kind", &|t| t.kind = TransferKind::Matrices { count: 1, trans: false });
        }
        TransferKind::Matrices { count, trans } => {
            change("kind", &|t| t.kind = TransferKind::Pieces);
            change("trans", &|t| t.kind = TransferKind::Matrices { count, trans: !trans });
            change("count", &|t| t.kind = TransferKind::Matrices { count: 3, trans });
            change("fewer at once", &|t| t.kind = TransferKind::Matrices { count: count / 2, trans });
        }
    }
    change("idle lanes", &|t| t.idle.push((Dim::Lane, 2)));
    change("idle warps", &|t| t.idle.push((Dim::Warp, 1)));
    if !good.idle.is_empty() {
        change("copies act", &|t| t.idle.clear());
    }
    all
}

fn exchanged(from: &Conversion) -> Vec<Named> {
    let Plan::Exchange(good) = &from.plan else { return Vec::new() };
    let mut all = Vec::new();
    for (name, store) in transferred(&good.store) {
        all.push((name, Plan::Exchange(warploom_layout::Exchange { store, ..good.clone() })));
    }
    for (name, load) in transferred(&good.load) {
        all.push((name, Plan::Exchange(warploom_layout::Exchange { load, ..good.clone() })));
    }
    all.push(("bytes", Plan::Exchange(warploom_layout::Exchange { bytes: good.bytes / 2, ..good.clone() })));
    if good.scope == Scope::Warps {
        all.push(("scope", Plan::Exchange(warploom_layout::Exchange { scope: Scope::Warp, ..good.clone() })));
    }
    all
}

fn counted(good: &Conversion) -> Vec<(&'static str, Conversion)> {
    let mut all = Vec::new();
    let mut more = |name, act: &dyn Fn(&mut Conversion)| {
        let mut conversion = good.clone();
        act(&mut conversion);
        all.push((name, conversion));
    };
    more("shuffles", &|c| c.counts.shuffles += 1);
    more("stores", &|c| c.counts.stores += 1);
    more("wavefronts of stores", &|c| c.counts.store_wavefronts += 1);
    more("loads", &|c| c.counts.loads += 1);
    more("wavefronts of loads", &|c| c.counts.load_wavefronts += 1);
    more("scratch", &|c| c.counts.bytes += 1);
    more("barriers", &|c| c.counts.barriers += 1);
    more("another plan", &|c| c.plan = Plan::Nothing);
    all
}

#[test]
fn every_broken_plan_is_caught_g12() {
    let read = |text: &str| text.parse::<Layout>().unwrap();
    let accumulator = wgmma::accumulator(64).unwrap();
    let rows = blocked(&[64, 64], &[1, 0], 8, 4).unwrap();
    let columns = blocked(&[64, 64], &[0, 1], 8, 4).unwrap();
    let halves = wgmma::a(8).unwrap();
    let cases: [(&str, Layout, Layout, u64); 7] = [
        (
            "moves",
            read("(register: 1@dim0, 2@dim0; lane: 4@dim0) -> (dim0: 8)"),
            read("(register: 2@dim0, 1@dim0; lane: 4@dim0) -> (dim0: 8)"),
            32,
        ),
        ("shuffles", wgmma::accumulator(32).unwrap(), halves, 8),
        (
            "shuffles",
            read("(register: 1@dim0, 4@dim0; lane: 2@dim0) -> (dim0: 8)"),
            read("(register: 2@dim0, 4@dim0; lane: 1@dim0) -> (dim0: 8)"),
            32,
        ),
        ("exchange", accumulator.clone(), rows.clone(), 16),
        ("exchange", columns.clone(), accumulator, 16),
        ("exchange", rows, columns.clone(), 32),
        // Lanes with copies store once.
        (
            "exchange",
            read("(lane: 1@dim0, 2@dim0, 4@dim0, 8@dim0, 0; warp: 16@dim0) -> (dim0: 32)"),
            read("(lane: 16@dim0, 1@dim0, 2@dim0, 4@dim0, 8@dim0; warp: 0) -> (dim0: 32)"),
            32,
        ),
    ];
    let (mut tried, mut missed) = (0, Vec::new());
    for (name, from, to, bits) in &cases {
        let good = convert(from, to, *bits, &Prices::default()).unwrap();
        assert_eq!(good.plan.name(), *name, "{from} to {to}");
        check::conversion(from, to, *bits, &good).unwrap();
        let plans = [moved(&good), shuffled(&good), exchanged(&good)].into_iter().flatten();
        let mutants = plans.map(|(name, plan)| (name, Conversion { plan, counts: good.counts }));
        for (mutation, broken) in mutants.chain(counted(&good)) {
            tried += 1;
            match check::conversion(from, to, *bits, &broken) {
                Ok(()) => missed.push(format!("{name}: {mutation}: {:?}", broken.plan)),
                Err(violation) => assert_eq!(violation.rule(), "G12"),
            }
        }
    }
    println!("{} of {tried} broken plans caught", tried - missed.len());
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
    assert!(tried > 500, "{tried}");
}
