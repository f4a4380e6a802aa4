//! Generators of problems that make sense, up to the limits of the format (B76). Behind the
//! `fuzzing` feature; fuzz targets and property tests share them.

use crate::input::*;
use crate::output::ErrorKind;
use crate::pack::{
    CsvProblem, PackItem, PackOptions, PackOutcome, PackProblem, Segment, Span, check_pack, pack,
};
use crate::replay;
use crate::{assign, assign_json, check};

/// A deterministic source of choices: bytes first, then a generator seeded by them.
pub struct Choices<'a> {
    bytes: &'a [u8],
    state: u64,
}

impl<'a> Choices<'a> {
    /// Choices from fuzzer input.
    pub fn new(bytes: &'a [u8]) -> Choices<'a> {
        let state = bytes
            .iter()
            .fold(0x9E37_79B9_7F4A_7C15u64, |s, &b| (s ^ u64::from(b)).wrapping_mul(0x100_0000_01B3));
        Choices { bytes, state: state | 1 }
    }

    /// Choices from a number alone.
    pub fn seeded(seed: u64) -> Choices<'static> {
        Choices { bytes: &[], state: (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1 }
    }

    /// A number below `n` (0 for n = 0).
    pub fn below(&mut self, n: u64) -> u64 {
        if let [a, b, rest @ ..] = self.bytes {
            self.bytes = rest;
            return u64::from(u16::from_le_bytes([*a, *b])).checked_rem(n).unwrap_or(0);
        }
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11).checked_rem(n).unwrap_or(0)
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, of: &[T], default: T) -> T {
        let k = self.below(of.len() as u64) as usize;
        of.get(k).copied().unwrap_or(default)
    }
}

/// The law of the fuzz target `assign`: text is refused or assigned without a panic; a generated
/// problem is refused without an internal error, or its answer passes checker and replay (B75, B76).
///
/// # Errors
/// The law that was broken.
pub fn assign_bytes(data: &[u8]) -> Result<(), String> {
    if let [b'{', ..] = data {
        // Text of a corpus; everything else makes a problem.
        return match assign_json(&String::from_utf8_lossy(data)) {
            Err(e) if e.kind == ErrorKind::Internal => Err(e.to_string()),
            _ => Ok(()),
        };
    }
    let mut choices = Choices::new(data);
    let p = problem(&mut choices);
    match assign(&p, &p.options) {
        Err(e) if e.kind == ErrorKind::Internal => Err(e.to_string()),
        Err(_) => Ok(()),
        Ok(a) => {
            check::check(&p, &a).map_err(|v| format!("{v:?}"))?;
            replay::steady(&p, &a)?;
            replay::every_timing(&p, &a)?;
            replay::delayed(&p, &a, 1 + choices.below(6), &mut choices)
        }
    }
}

/// The law of the fuzz target `pack`: every outcome of text or of a generated problem passes the
/// packing checker, and is the same when asked again (B64).
///
/// # Errors
/// The law that was broken.
pub fn pack_bytes(data: &[u8]) -> Result<(), String> {
    let options = PackOptions { node_budget: 20_000, ..PackOptions::default() };
    let p = if let [b'i' | b's' | b'l', ..] = data {
        match CsvProblem::parse(&String::from_utf8_lossy(data), Some(1 << 20)) {
            Ok(csv) => csv.problem,
            Err(_) => return Ok(()),
        }
    } else {
        packing(&mut Choices::new(data))
    };
    let outcome = pack(&p, &options);
    if let PackOutcome::Invalid(e) = &outcome {
        return if p.validate().is_err() { Ok(()) } else { Err(e.to_string()) };
    }
    check_pack(&p, &outcome).map_err(|v| format!("{v:?}"))?;
    if outcome == pack(&p, &options) { Ok(()) } else { Err("two answers to one problem".into()) }
}

/// A problem for `assign`: mostly well-formed, with rings, signals, views, accumulators, several
/// regions, pipes and both spaces.
pub fn problem(c: &mut Choices<'_>) -> Problem {
    let blackwell = c.one_in(2);
    let target = if blackwell { "sm_100a" } else { "sm_90a" };
    let warps = [1u32, 4, 4, 8];
    let agents: Vec<Agent> = (0..1 + c.below(3))
        .map(|id| Agent { id, name: format!("agent {id}"), warps: c.pick(&warps, 4) })
        .collect();
    let mut p = Problem {
        name: "generated".into(),
        target: TargetSpec::Named(target.into()),
        repeat: c.pick(&[Repeat::None, Repeat::None, Repeat::Drained, Repeat::Overlapped], Repeat::None),
        options: Options::default(),
        agents,
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
    let regions = 1 + c.below(3);
    for id in 0..regions {
        region(c, &mut p, id);
    }
    p
}

/// One region with its ops, and values between them.
fn region(c: &mut Choices<'_>, p: &mut Problem, id: u64) {
    let is_loop = id == 0 || c.one_in(2);
    let (ii, stages) = if is_loop { (1 + c.below(400), 1 + c.below(4)) } else { (1000, 1) };
    let exit = if c.one_in(5) { Exit::Early } else { Exit::Counted };
    let kind = if is_loop { RegionKind::Loop } else { RegionKind::Line };
    let (some_ii, some_stages) = if is_loop { (Some(ii), Some(stages)) } else { (None, None) };
    p.regions.push(Region { id, kind, ii: some_ii, stages: some_stages, exit });
    let first = p.ops.len();
    let agents = p.agents.len() as u64;
    // One agent: ops in the order of their cycles, so that values are short and can share.
    let narrow = p.agents.len() == 1 && is_loop;
    let total = if narrow { 8 + c.below(24) } else { 2 + c.below(14) };
    for k in 0..total {
        p.ops.push(Op {
            id: p.ops.len() as u64,
            name: String::new(),
            region: Some(id),
            agent: c.below(agents),
            stage: if c.one_in(if narrow { 12 } else { 3 }) { c.below(stages) } else { 0 },
            cycle: Some(if narrow { k * ii / total } else { c.below(ii) }),
            order: None,
            latency: {
                let most = if narrow { ii / total } else { c.pick(&[20u64, 20, 60, 600], 20) };
                c.below(most)
            },
            is_async: c.one_in(3),
        });
    }
    let mut by_cycle: Vec<usize> = (first..p.ops.len()).collect();
    by_cycle.sort_by_key(|&k| (p.ops[k].cycle, k));
    for (rank, k) in by_cycle.into_iter().enumerate() {
        p.ops[k].order = Some(rank as u64);
    }
    for _ in 0..1 + c.below(10) {
        value(c, p, first, if is_loop { ii } else { 0 });
    }
}

const ELEMENTS: &[&str] = &["f16", "f16", "f16", "f32", "f8E4M3FN", "f4E2M1FN"];

/// A value from some op of the region to later ones.
fn value(c: &mut Choices<'_>, p: &mut Problem, first: usize, ii: u64) {
    let count = (p.ops.len() - first) as u64;
    let from = first + c.below(count) as usize;
    let time = |o: &Op| o.stage * ii + o.cycle.unwrap_or(0);
    let ready = time(&p.ops[from]) + p.ops[from].latency;
    let id = p.values.len() as u64;
    let kinds: &[(Role, Role)] = &[
        (Role::TmaLoad, Role::WgmmaB),
        (Role::RegWrite, Role::RegRead),
        (Role::RegWrite, Role::TmaStore),
        (Role::CpAsync, Role::SharedRead),
        (Role::SharedWrite, Role::SharedRead),
        (Role::Signal, Role::Signal),
        (Role::TmaLoad, Role::Tcgen05B),
        (Role::RegWrite, Role::Tcgen05A),
        (Role::Tcgen05D, Role::Tcgen05Ld),
        (Role::Tcgen05D, Role::RegRead),
    ];
    // One agent: many short values of one shape, so that sharing has something to do.
    let narrow = p.agents.len() == 1;
    let blackwell = matches!(&p.target, TargetSpec::Named(n) if n == "sm_100a");
    let kinds = kinds.get(..if blackwell { kinds.len() } else { 6 }).unwrap_or(kinds);
    let (write, read) = if narrow || c.one_in(2) {
        (Role::RegWrite, Role::RegRead)
    } else {
        c.pick(kinds, (Role::RegWrite, Role::RegRead))
    };
    let mut consumers = Vec::new();
    let mut init = false;
    for _ in 0..1 + c.below(3) {
        let near = (from - first) as u64 + c.below(4);
        let to = first + if narrow || c.one_in(2) { near.min(count - 1) } else { c.below(count) } as usize;
        // The least distance at which the data is ready, if any.
        let gap = ready.saturating_sub(time(&p.ops[to]));
        let distance = if gap == 0 {
            0
        } else if ii == 0 {
            continue;
        } else {
            gap.div_ceil(ii)
        };
        let distance = distance + u64::from(ii > 0 && c.one_in(6));
        if distance > 8 || time(&p.ops[to]) + p.ops[to].latency + distance * ii <= time(&p.ops[from]) {
            continue;
        }
        init |= distance > 0;
        consumers.push(Consumer { op: p.ops[to].id, role: read, distance: distance as i64, in_place: false });
    }
    if consumers.is_empty() {
        return;
    }
    // Now and then an accumulator: the op updates its own earlier result in place (B19).
    let accumulates = write == Role::Tcgen05D && ii > 0 && c.one_in(2);
    if accumulates {
        init = true;
        let (op, role) = (p.ops[from].id, Role::Tcgen05D);
        consumers.push(Consumer { op, role, distance: 1, in_place: true });
    }
    let signal = write == Role::Signal;
    let rows = if narrow { 64 } else { c.pick(&[64u64, 64, 64, 128], 64) };
    let columns = if narrow { 16 } else { c.pick(&[16u64, 16, 32, 64], 16) };
    let swizzle = if read == Role::WgmmaB { c.pick(&[0u64, 32, 64, 128], 0) } else { 0 };
    let pipe = (c.one_in(8) && write == Role::TmaLoad).then_some(900 + p.regions.len() as u64);
    let root = if c.one_in(60) { p.values.last().and_then(|v| v.root).unwrap_or(id) } else { id };
    p.values.push(Value {
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
        live_out: c.one_in(if accumulates { 2 } else { 16 }),
        live_in: c.one_in(20),
        warp_local: c.one_in(6),
        pipe: pipe.filter(|_| root == id),
        ..Value::default()
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

/// A packing problem of GPU size: lines and circles, alignments, separations.
pub fn packing(c: &mut Choices<'_>) -> PackProblem {
    let mut p = PackProblem {
        segments: vec![Segment::Linear, Segment::Circular(1 + c.below(300) as i64), Segment::Circular(400)],
        ..PackProblem::default()
    };
    for _ in 0..1 + c.below(30) {
        let live = vec![Span {
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
