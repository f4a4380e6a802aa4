//! Problems for `assign` that make sense, up to the limits of the format (B76).

use super::choices::Choices;
use super::families::{Family, Leaning};
use super::machines::on_machine;
use super::nests::into_nest;
use warploom_bufassign::{
    AccessRole, AssignOptions, BufferValue, Consumer, Exit, Problem, Producer, RegionKind, Repeat, Reserved,
    ScheduledOp, ScheduledRegion, Sharing, Space, TargetSpec, WarpPartition,
};

/// A problem for `assign`: mostly well-formed, with rings, signals, views, accumulators, several
/// regions, pipes and both spaces.
pub fn problem(c: &mut Choices<'_>) -> Problem {
    problem_of(Family::Mixed, c)
}

/// A problem of a family.
pub fn problem_of(family: Family, c: &mut Choices<'_>) -> Problem {
    let lean = Leaning::of(family, c);
    let target = if lean.blackwell { "sm_100a" } else { "sm_90a" };
    let warps = [1u32, 4, 4, 8];
    let partitions: Vec<WarpPartition> = (0..lean.partitions)
        .map(|id| WarpPartition { id, name: format!("partition {id}"), warps: c.pick(&warps, 4) })
        .collect();
    let mut p = Problem {
        name: "generated".into(),
        target: TargetSpec::Named(target.into()),
        repeat: c.pick(&[Repeat::None, Repeat::None, Repeat::Drained, Repeat::Overlapped], Repeat::None),
        options: AssignOptions::default(),
        partitions,
        regions: Vec::new(),
        ops: Vec::new(),
        values: Vec::new(),
        layouts: Vec::new(),
        edges: Vec::new(),
        reserved: Vec::new(),
    };
    p.options.sharing =
        c.pick(&[Sharing::WhenNeeded, Sharing::Always, Sharing::Implied, Sharing::Off], Sharing::WhenNeeded);
    p.options.node_budget = 20_000;
    if c.one_in(3) {
        p.options.smem_limit = Some(1024 * (4 + c.below(200)));
    }
    if c.one_in(6) {
        p.reserved.push(Reserved {
            space: Space::Smem,
            offset: 512 * c.below(8),
            bytes: 512,
            name: "held".into(),
        });
    }
    if family == Family::Nests {
        into_nest(c, &mut p);
        return p;
    }
    let regions = 1 + c.below(3);
    for id in 0..regions {
        region(c, &mut p, id, &lean);
    }
    if family == Family::Machine {
        on_machine(c, &mut p);
    }
    p
}

/// One region with its ops, and values between them.
fn region(c: &mut Choices<'_>, p: &mut Problem, id: u64, lean: &Leaning) {
    let is_loop = id == 0 || c.one_in(2);
    let (ii, stages) = if is_loop { (1 + c.below(400), 1 + c.below(4)) } else { (1000, 1) };
    let exit = if c.one_in(5) { Exit::Early } else { Exit::Counted };
    let kind = if is_loop { RegionKind::Loop } else { RegionKind::Line };
    let (some_ii, some_stages) = if is_loop { (Some(ii), Some(stages)) } else { (None, None) };
    p.regions.push(ScheduledRegion { id, kind, ii: some_ii, stages: some_stages, exit, inside: None });
    let first = p.ops.len();
    let partitions = p.partitions.len() as u64;
    // One partition: ops in the order of their cycles, so that values are short and can share.
    let narrow = p.partitions.len() == 1 && is_loop;
    let total = if narrow { 8 + c.below(24) } else { 2 + c.below(14) };
    for k in 0..total {
        p.ops.push(ScheduledOp {
            id: p.ops.len() as u64,
            name: String::new(),
            region: Some(id),
            partition: c.below(partitions),
            stage: match () {
                () if lean.tails && c.one_in(2) => stages - 1,
                () if c.one_in(if narrow { 12 } else { 3 }) => c.below(stages),
                () => 0,
            },
            cycle: Some(if narrow { k * ii / total } else { c.below(ii) }),
            order: None,
            latency: {
                let most = if narrow { ii / total } else { c.pick(&[20u64, 20, 60, 600], 20) };
                c.below(most)
            },
            is_async: c.one_in(if lean.tails { 2 } else { 3 }),
        });
    }
    let mut by_cycle: Vec<usize> = (first..p.ops.len()).collect();
    by_cycle.sort_by_key(|&k| (p.ops[k].cycle, k));
    for (rank, k) in by_cycle.into_iter().enumerate() {
        p.ops[k].order = Some(rank as u64);
    }
    for _ in 0..1 + c.below(10) {
        value(c, p, first, if is_loop { ii } else { 0 }, lean);
    }
}

const ELEMENTS: &[&str] = &["f16", "f16", "f16", "f32", "f8E4M3FN", "f4E2M1FN"];

/// A value from some op of the region to later ones.
fn value(c: &mut Choices<'_>, p: &mut Problem, first: usize, ii: u64, lean: &Leaning) {
    let count = (p.ops.len() - first) as u64;
    let late = lean.tails && c.one_in(2);
    let mut from = first + c.below(count) as usize;
    for _ in 0..if late { 3 } else { 0 } {
        let other = first + c.below(count) as usize;
        from = if p.ops[other].stage > p.ops[from].stage { other } else { from };
    }
    let time = |o: &ScheduledOp| o.stage * ii + o.cycle.unwrap_or(0);
    let ready = time(&p.ops[from]) + p.ops[from].latency;
    let id = p.values.len() as u64;
    let kinds: &[(AccessRole, AccessRole)] = &[
        (AccessRole::TmaLoad, AccessRole::WgmmaB),
        (AccessRole::RegWrite, AccessRole::RegRead),
        (AccessRole::RegWrite, AccessRole::TmaStore),
        (AccessRole::CpAsync, AccessRole::SharedRead),
        (AccessRole::SharedWrite, AccessRole::SharedRead),
        (AccessRole::Signal, AccessRole::Signal),
        (AccessRole::TmaLoad, AccessRole::Tcgen05B),
        (AccessRole::RegWrite, AccessRole::Tcgen05A),
        (AccessRole::Tcgen05D, AccessRole::Tcgen05Ld),
        (AccessRole::Tcgen05D, AccessRole::RegRead),
    ];
    // One partition: many short values of one shape, so that sharing has something to do.
    let narrow = p.partitions.len() == 1;
    let kinds = kinds.get(..if lean.blackwell { kinds.len() } else { 6 }).unwrap_or(kinds);
    let (write, read) = if lean.accumulators == 1 && c.one_in(5) {
        (AccessRole::Tcgen05D, AccessRole::Tcgen05Ld)
    } else if narrow || c.one_in(2) {
        (AccessRole::RegWrite, AccessRole::RegRead)
    } else {
        c.pick(kinds, (AccessRole::RegWrite, AccessRole::RegRead))
    };
    let mut consumers = Vec::new();
    let mut init = false;
    for _ in 0..if late { 1 } else { 1 + c.below(3) } {
        let near = (from - first) as u64 + c.below(4);
        let to = first + if narrow || c.one_in(2) { near.min(count - 1) } else { c.below(count) } as usize;
        let early = first + c.below(count) as usize;
        let to = if late && p.ops[early].stage < p.ops[to].stage { early } else { to };
        // The least distance at which the data is ready, if any.
        let gap = ready.saturating_sub(time(&p.ops[to]));
        let distance = if gap == 0 {
            0
        } else if ii == 0 {
            continue;
        } else {
            gap.div_ceil(ii)
        };
        let further = if late || lean.tails && c.one_in(2) { 1 + c.below(3) } else { u64::from(c.one_in(6)) };
        let distance = distance + if ii > 0 { further + lean.distance } else { 0 };
        if distance > 8 || time(&p.ops[to]) + p.ops[to].latency + distance * ii <= time(&p.ops[from]) {
            continue;
        }
        init |= distance > 0;
        consumers.push(Consumer { op: p.ops[to].id, role: read, distance: distance as i64, in_place: false });
    }
    if consumers.is_empty() {
        return;
    }
    // Versions that nobody in the loop reads: what comes behind it takes the last one.
    let accumulator = lean.accumulators == 1 && write == AccessRole::Tcgen05D && !c.one_in(8);
    let unread = ii > 0 && (lean.tails && c.one_in(4) || accumulator);
    if unread {
        (init, consumers) = (false, Vec::new());
    }
    // Now and then an accumulator: the op updates its own earlier result in place (B19).
    let accumulates = write == AccessRole::Tcgen05D && ii > 0 && c.one_in(lean.accumulators);
    if accumulates {
        init = true;
        let (op, role) = (p.ops[from].id, AccessRole::Tcgen05D);
        consumers.push(Consumer { op, role, distance: 1, in_place: true });
    }
    let signal = write == AccessRole::Signal;
    let rows = if narrow { 64 } else { c.pick(&[64u64, 64, 64, 128], 64) };
    let columns = if narrow { 16 } else { c.pick(&[16u64, 16, 32, 64], 16) };
    let swizzle = if read == AccessRole::WgmmaB { c.pick(&[0u64, 32, 64, 128], 0) } else { 0 };
    let pipe = (c.one_in(8) && write == AccessRole::TmaLoad).then_some(900 + p.regions.len() as u64);
    let root = if c.one_in(lean.roots) { p.values.last().and_then(|v| v.root).unwrap_or(id) } else { id };
    p.values.push(BufferValue {
        id,
        name: format!("v{id}"),
        root: Some(root),
        shape: if signal { Vec::new() } else { vec![rows, columns] },
        element: (!signal).then(|| if narrow { "f16" } else { c.pick(ELEMENTS, "f16") }.to_string()),
        swizzle,
        align: 1,
        producer: Some(Producer { op: p.ops[from].id, role: write }),
        consumers,
        init,
        live_out: unread || c.one_in(if accumulates || lean.tails { 2 } else { 16 }),
        live_in: c.one_in(20),
        warp_local: c.one_in(6),
        pipe: pipe.filter(|_| root == id),
        ..BufferValue::default()
    });
    if !signal && c.one_in(8) {
        let mut view = p.values[p.values.len() - 1].clone();
        view.id += 1;
        (view.root, view.view_of, view.producer, view.pipe) = (None, Some(id), None, None);
        view.shape = vec![rows / 2, columns];
        view.byte_offset = 16 * c.below(2);
        (view.live_in, view.live_out) = (false, false);
        p.values.push(view);
    }
}
