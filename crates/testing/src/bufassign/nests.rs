//! Problems with loops in loops (B79).

use super::choices::Choices;
use warploom_bufassign::{
    AccessRole, BufferValue, Consumer, Exit, Inside, Problem, Producer, RegionKind, Repeat, ScheduledOp,
    ScheduledRegion, Space,
};

/// A region made so far: its id, II (0 in a line) and stages.
#[derive(Clone, Copy)]
struct Made {
    id: u64,
    ii: u64,
    stages: u64,
}

/// Puts a nest of two or three levels in place of the regions of a problem: rings of the inner loops, rings of the outer
/// loop that inner loops write or read, and accumulators that they update.
pub(super) fn into_nest(c: &mut Choices<'_>, p: &mut Problem) {
    p.repeat = Repeat::None;
    (p.regions, p.ops, p.values, p.edges) = Default::default();
    let outer = Made { id: 0, ii: 100 + c.below(600), stages: 1 + c.below(3) };
    region(p, outer, None);
    let mut order = 0;
    ops(c, p, outer, &mut order);
    let mut all = vec![outer];
    for _ in 0..1 + c.below(2) {
        let inner = body(c, p, &mut all, outer, &mut order);
        if inner.ii > 0 && c.one_in(4) {
            let mut rank = 100;
            body(c, p, &mut all, inner, &mut rank);
        }
    }
    ops(c, p, outer, &mut order);
    if c.one_in(4) {
        let line = Made { id: all.len() as u64, ii: 0, stages: 1 };
        region(p, line, None);
        ops(c, p, line, &mut 0);
        all.push(line);
    }
    ranks(p);
    for _ in 0..3 + c.below(8) {
        value(c, p, &all);
    }
}

fn region(p: &mut Problem, made: Made, inside: Option<Inside>) {
    let is_loop = made.ii > 0;
    p.regions.push(ScheduledRegion {
        id: made.id,
        kind: if is_loop { RegionKind::Loop } else { RegionKind::Line },
        ii: is_loop.then_some(made.ii),
        stages: is_loop.then_some(made.stages),
        exit: Exit::Counted,
        inside,
    });
}

/// A region in the body of a loop.
fn body(c: &mut Choices<'_>, p: &mut Problem, all: &mut Vec<Made>, outer: Made, order: &mut u64) -> Made {
    let is_line = c.one_in(5);
    let ii = if is_line { 0 } else { 20 + c.below(200) };
    let made = Made { id: all.len() as u64, ii, stages: if is_line { 1 } else { 1 + c.below(3) } };
    let inside = Inside {
        region: outer.id,
        stage: c.below(outer.stages),
        cycle: c.below(outer.ii),
        order: *order,
        latency: 1 + c.below(2 * outer.ii),
    };
    *order += 1;
    region(p, made, Some(inside));
    all.push(made);
    ops(c, p, made, &mut 0);
    made
}

fn ops(c: &mut Choices<'_>, p: &mut Problem, made: Made, order: &mut u64) {
    let partitions = p.partitions.len() as u64;
    for _ in 0..1 + c.below(4) {
        p.ops.push(ScheduledOp {
            id: p.ops.len() as u64,
            name: String::new(),
            region: Some(made.id),
            partition: c.below(partitions),
            stage: if c.one_in(2) { c.below(made.stages) } else { 0 },
            cycle: Some(c.below(if made.ii > 0 { made.ii } else { 300 })),
            order: Some(*order),
            latency: c.below(100),
            is_async: c.one_in(3),
        });
        *order += 1;
    }
}

/// Ranks of each loop's ops and of the regions of its body follow the cycles.
fn ranks(p: &mut Problem) {
    for r in 0..p.regions.len() {
        let id = p.regions[r].id;
        let mut list: Vec<(u64, u64, Result<usize, usize>)> = Vec::new();
        for (k, o) in p.ops.iter().enumerate().filter(|(_, o)| o.region == Some(id)) {
            list.push((o.cycle.unwrap_or(0), o.order.unwrap_or(0), Ok(k)));
        }
        for (k, x) in p.regions.iter().enumerate() {
            if let Some(i) = x.inside.filter(|i| i.region == id) {
                list.push((i.cycle, i.order, Err(k)));
            }
        }
        list.sort_unstable();
        for (rank, (_, _, at)) in (0..).zip(list) {
            match at {
                Ok(op) => p.ops[op].order = Some(rank),
                Err(body) => {
                    if let Some(i) = &mut p.regions[body].inside {
                        i.order = rank;
                    }
                }
            }
        }
    }
}

/// Regions around an op, the outermost first.
fn around(p: &Problem, op: &ScheduledOp) -> Vec<u64> {
    let parent = |r: &u64| p.regions.iter().find(|x| x.id == *r).and_then(|x| x.inside).map(|i| i.region);
    let mut all: Vec<u64> = std::iter::successors(op.region, parent).collect();
    all.reverse();
    all
}

/// When an op issues and for how long it lasts, as a loop sees it.
fn seen(p: &Problem, op: &ScheduledOp, from: Option<u64>) -> (u64, u64) {
    let chain = around(p, op);
    let at = from.and_then(|f| chain.iter().position(|r| *r == f)).unwrap_or(0);
    let ii = p.regions.iter().find(|r| Some(r.id) == chain.get(at).copied()).and_then(|r| r.ii).unwrap_or(0);
    let inside = chain.get(at + 1).and_then(|b| p.regions.iter().find(|r| r.id == *b)?.inside);
    match inside {
        Some(i) => (i.stage * ii + i.cycle, i.latency),
        None => (op.stage * ii + op.cycle.unwrap_or(0), op.latency),
    }
}

fn value(c: &mut Choices<'_>, p: &mut Problem, all: &[Made]) {
    let pick = |c: &mut Choices<'_>, p: &Problem| p.ops[c.below(p.ops.len() as u64) as usize].clone();
    let writer = pick(c, p);
    let id = p.values.len() as u64;
    let tensor = p.target == warploom_bufassign::TargetSpec::Named("sm_100a".into());
    let mut consumers: Vec<Consumer> = Vec::new();
    let mut init = false;
    // All ops of a value are in one loop, and it is the innermost one for most.
    let near = c.one_in(2);
    let mut readers: Vec<ScheduledOp> =
        (0..if near { 9 } else { 1 + c.below(2) }).map(|_| pick(c, p)).collect();
    readers.retain(|r| !near || r.region == writer.region);
    let mut home = around(p, &writer);
    for r in &readers {
        let chain = around(p, r);
        let same = home.iter().zip(&chain).take_while(|(x, y)| x == y).count();
        home.truncate(same);
    }
    let level = home.last().copied();
    // What the region of the writer reads of a value for the loop around it is another value.
    let body = |o: &ScheduledOp| around(p, o).get(home.len().max(1)).copied();
    readers.retain(|r| body(r).is_none() || body(r) != body(&writer));
    // What an inner loop updates in place and reads in every iteration has mostly nothing that orders the two.
    let accumulates = tensor && c.one_in(3) && (level != writer.region || c.one_in(4));
    let copies = !accumulates && c.one_in(3);
    let (write, read) = match () {
        () if accumulates => (AccessRole::Tcgen05D, AccessRole::Tcgen05Ld),
        () if copies => (AccessRole::TmaLoad, AccessRole::SharedRead),
        () => (AccessRole::RegWrite, AccessRole::RegRead),
    };
    let ii = all.iter().find(|m| Some(m.id) == level).map_or(0, |m| m.ii);
    let (from, lasts) = seen(p, &writer, level);
    for r in readers {
        let (to, takes) = seen(p, &r, level);
        let gap = (from + lasts).saturating_sub(to);
        let distance = match () {
            () if gap == 0 => 0,
            () if ii == 0 || level.is_none() => continue,
            () => gap.div_ceil(ii),
        };
        if distance > 3 || to + takes + distance * ii <= from || distance > 0 && home.len() > 1 {
            continue;
        }
        init |= distance > 0;
        consumers.push(Consumer { op: r.id, role: read, distance: distance as i64, in_place: false });
    }
    if consumers.is_empty() {
        return;
    }
    if accumulates {
        let updates = Consumer { op: writer.id, role: AccessRole::Tcgen05D, distance: 1, in_place: true };
        // Without iterations there are no updates.
        if all.iter().any(|m| Some(m.id) == writer.region && m.ii > 0) {
            init = true;
            consumers.push(updates);
        }
    }
    p.values.push(BufferValue {
        id,
        name: format!("v{id}"),
        root: Some(id),
        shape: vec![64, c.pick(&[16, 32, 64], 16)],
        element: Some("f16".into()),
        align: 1,
        space: (!accumulates).then_some(Space::Smem),
        producer: Some(Producer { op: writer.id, role: write }),
        consumers,
        init,
        live_out: home.len() == 1 && c.one_in(12),
        warp_local: c.one_in(6),
        ..BufferValue::default()
    });
}
