#![allow(clippy::all, dead_code)]
#[path = "../benches/pack/clock.rs"] mod clock;
#[path = "../benches/pack/plants.rs"] mod plants;
use plants::Plant;
use warploom_bufassign::pack::*;
use warploom_testing::bufassign::Choices;
use std::collections::HashSet;

struct P { n: usize, cap: i64, size: Vec<i64>, secs: Vec<Vec<u32>>, mem: Vec<Vec<u32>>, slack: Vec<i64>, near: Vec<Vec<u32>> }
fn prep(p: &PackProblem, turn: i64) -> P {
    let n = p.items.len();
    let g = p.items.iter().map(|i| i.align).max().unwrap() as i64;
    let cap = p.capacity.unwrap() as i64 / g;
    let size: Vec<i64> = p.items.iter().map(|i| ((i.size as i64) + g - 1) / g).collect();
    let period = match p.segments[0] { TimeSegment::Circular(p) => p, _ => 0 };
    let mut cuts: Vec<i64> = vec![];
    let spans: Vec<Vec<(i64, i64)>> = p.items.iter().map(|i| { let l = i.live[0];
        if period == 0 { vec![(l.start, l.start + l.len)] } else { let a = (l.start - turn).rem_euclid(period); if a + l.len <= period { vec![(a, a + l.len)] } else { vec![(0, a + l.len - period), (a, period)] } } }).collect();
    for s in spans.iter().flatten() { cuts.push(s.0); cuts.push(s.1); }
    cuts.sort(); cuts.dedup();
    let m = cuts.len() - 1;
    let mut mem: Vec<Vec<u32>> = vec![vec![]; m];
    for k in 0..n { for &(a, b) in &spans[k] { for s in cuts.partition_point(|&c| c < a)..cuts.partition_point(|&c| c < b) { mem[s].push(k as u32) } } }
    // drop dominated sections (subset of a neighbour)
    let mut keep: Vec<Vec<u32>> = vec![];
    for s in 0..m { let sub = |a: &Vec<u32>, b: &Vec<u32>| a.iter().all(|x| b.contains(x));
        if mem[s].is_empty() { continue }
        if keep.last().is_some_and(|l| sub(&mem[s], l)) { continue }
        while keep.last().is_some_and(|l| sub(l, &mem[s])) { keep.pop(); }
        keep.push(mem[s].clone()); }
    let mem = keep; let m = mem.len();
    let mut secs = vec![vec![]; n];
    for s in 0..m { for &k in &mem[s] { secs[k as usize].push(s as u32) } }
    let slack = mem.iter().map(|l| cap - l.iter().map(|&k| size[k as usize]).sum::<i64>()).collect();
    let near = (0..n).map(|k| { let mut l: Vec<u32> = secs[k].iter().flat_map(|&s| mem[s as usize].iter().copied()).filter(|&j| j as usize != k).collect(); l.sort(); l.dedup(); l }).collect();
    P { n, cap, size, secs, mem, slack, near }
}
#[derive(Clone)]
struct St { y: Vec<i64>, waste: Vec<i64>, score: f64 }
struct Rng(u64);
impl Rng { fn next(&mut self) -> u64 { self.0 ^= self.0 << 13; self.0 ^= self.0 >> 7; self.0 ^= self.0 << 17; self.0 } }

/// largest subset sum <= gap
fn fill(sums: &[i64], gap: i64) -> i64 { let i = sums.partition_point(|&x| x <= gap); sums[i - 1] }


fn sums_of(mut pend: Vec<i64>, maxm: usize) -> (Vec<i64>, i64, bool) {
    pend.sort_unstable();
    let least = pend.first().copied().unwrap_or(i64::MAX);
    if pend.len() > maxm { return (vec![0], least, true) }
    let mut l = vec![0i64];
    for x in pend { let more: Vec<i64> = l.iter().map(|y| y + x).collect(); l.extend(more); l.sort_unstable(); l.dedup(); }
    (l, least, false)
}
fn beam(p: &P, width: usize, back: bool, r: &mut Rng, stop: &dyn Fn() -> bool, noise: f64, children: &mut u64, maxm: usize, v: bool) -> Option<Vec<i64>> {
    let m = p.mem.len();
    let start = |k: usize| if back { m - 1 - *p.secs[k].last().unwrap() as usize } else { p.secs[k][0] as usize };
    let mut order: Vec<usize> = (0..p.n).collect();
    order.sort_by_key(|&k| (start(k), std::cmp::Reverse(p.size[k] * p.secs[k].len() as i64)));
    let mut states = vec![St { y: vec![-1; p.n], waste: vec![0; m], score: 0.0 }];
    let mut occ: Vec<(i64, i64)> = vec![];
    let mut g0 = 0;
    while g0 < p.n {
        let mut g1 = g0; while g1 < p.n && start(order[g1]) == start(order[g0]) { g1 += 1 }
        let group: Vec<usize> = order[g0..g1].to_vec();
        let mut later = vec![true; p.n]; for &k in &order[..g1] { later[k] = false }
        let mut table: std::collections::HashMap<(u32, u32), (Vec<i64>, i64, bool)> = Default::default();
        for step in 0..group.len() {
            if stop() { return None }
            let mut cand: Vec<(f64, u32, u32, i64)> = vec![];
            for (i, st) in states.iter().enumerate() {
                for (gi, &k) in group.iter().enumerate() {
                    if st.y[k] >= 0 { continue }
                    if group[..gi].iter().any(|&o| st.y[o] < 0 && p.size[o] == p.size[k] && p.secs[o] == p.secs[k]) { continue }
                    let mut mask = 0u32; for (x, &o) in group.iter().enumerate() { if st.y[o] < 0 && o != k { mask |= 1 << x } }
                    occ.clear();
                    for &j in &p.near[k] { let y = st.y[j as usize]; if y >= 0 { occ.push((y, y + p.size[j as usize])) } }
                    occ.sort_unstable();
                    let mut at = 0; let mut places: Vec<i64> = vec![];
                    for &(a, b) in occ.iter().chain(&[(p.cap, p.cap)]) { if a - at >= p.size[k] { places.push(at); if a - at > p.size[k] { places.push(a - p.size[k]) } } at = at.max(b); }
                    if step == 0 && g0 == 0 { places.truncate(1) }
                    'place: for y in places {
                        *children += 1;
                        let mut score = st.score;
                        for &s in &p.secs[k] {
                            let t = table.entry((s, mask)).or_insert_with(|| {
                                let pend = p.mem[s as usize].iter().filter(|&&j| later[j as usize] || group.iter().position(|&o| o == j as usize).is_some_and(|x| mask >> x & 1 == 1)).map(|&j| p.size[j as usize]).collect();
                                sums_of(pend, maxm) });
                            let s = s as usize;
                            let mut o: [(i64, i64); 64] = [(0, 0); 64]; let mut c = 0;
                            for &j in &p.mem[s] { let yj = if j as usize == k { y } else { st.y[j as usize] }; if yj >= 0 { let mut q = c; while q > 0 && o[q - 1].0 > yj { o[q] = o[q - 1]; q -= 1 } o[q] = (yj, yj + p.size[j as usize]); c += 1 } }
                            let mut at = 0; let mut waste = 0;
                            for q in 0..=c { let (a, b) = if q == c { (p.cap, p.cap) } else { o[q] };
                                let gap = a - at;
                                if gap > 0 { waste += if gap < t.1 { gap } else if t.2 { 0 } else { gap - fill(&t.0, gap) } }
                                at = b; }
                            if waste > p.slack[s] { continue 'place }
                            let sl = p.slack[s] as f64 + p.cap as f64 * 0.002;
                            score += (waste - st.waste[s]) as f64 / sl;
                        }
                        let f = score + noise * (r.next() % 1000) as f64 / 1000.0;
                        cand.push((f, i as u32, k as u32, y));
                    }
                }
            }
            if cand.is_empty() { if v { println!("   w{width} dead at step {} of {}", g0 + step, p.n) } return None }
            cand.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut next = vec![]; let mut seen: HashSet<Vec<i64>> = HashSet::new();
            let rel: Vec<usize> = order[..g1].iter().copied().filter(|&j| p.near[j].iter().any(|&q| later[q as usize] || group.contains(&(q as usize)))).collect();
            let rsecs: std::collections::BTreeSet<u32> = rel.iter().flat_map(|&j| p.secs[j].iter().copied()).collect();
            for (_, i, k, y) in cand {
                let k = k as usize;
                let st = &states[i as usize];
                let key: Vec<i64> = rel.iter().map(|&j| if j == k { y } else { st.y[j] }).collect();
                if !seen.insert(key) { continue }
                let mut st = st.clone(); st.y[k] = y;
                let mut mask = 0u32; for (x, &o) in group.iter().enumerate() { if st.y[o] < 0 { mask |= 1 << x } }
                for &s in &p.secs[k] { let t = &table[&(s, mask)]; let s = s as usize;
                    let mut o: Vec<(i64, i64)> = p.mem[s].iter().filter(|&&j| st.y[j as usize] >= 0).map(|&j| (st.y[j as usize], st.y[j as usize] + p.size[j as usize])).collect(); o.sort_unstable(); o.push((p.cap, p.cap));
                    let mut at = 0; let mut waste = 0;
                    for (a, b) in o { let gap = a - at; if gap > 0 { waste += if gap < t.1 { gap } else if t.2 { 0 } else { gap - fill(&t.0, gap) } } at = b; }
                    st.waste[s] = waste; }
                let mut score = 0.0;
                for &s in &rsecs { let s = s as usize; score += st.waste[s] as f64 / (p.slack[s] as f64 + p.cap as f64 * 0.002); }
                st.score = score;
                next.push(st);
                if next.len() >= width { break }
            }
            states = next;
        }
        g0 = g1;
    }
    states.into_iter().next().map(|s| s.y)
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let after = |n: &str, d: &str| args.iter().position(|a| a == n).and_then(|k| args.get(k + 1)).cloned().unwrap_or(d.into());
    let names = after("--plants", "sweep,circle");
    let list = |s: String| s.split(',').map(|x| x.parse().unwrap()).collect::<Vec<u64>>();
    let (sizes, loads) = (list(after("--sizes", "150,200,250")), list(after("--loads", "95,97,98,99,100")));
    let seconds: f64 = after("--seconds", "4").parse().unwrap();
    let width: usize = after("--width", "50").parse().unwrap();
    let maxm: usize = after("--maxm", "8").parse().unwrap();
    let (from, seeds) = (after("--from", "0").parse::<u64>().unwrap(), after("--seeds", "1").parse::<u64>().unwrap());
    let v = args.iter().any(|a| a == "-v");
    for plant in Plant::ALL {
        if names != "all" && !names.split(',').any(|n| n == format!("{plant:?}").to_lowercase()) { continue; }
        let (mut pf, mut pa) = (0, 0); let mut line = String::new();
        for &b in &sizes { for &load in &loads { for seed in from..from + seeds {
            let seed = (seed * 1000 + b) * 101 + load;
            let pp = plant.problem(b as usize, load, &mut Choices::seeded(seed));
            let start = clock::seconds();
            let stop = || clock::seconds() - start > seconds;
            let mut r = Rng(0x9E37_79B9_7F4A_7C15); let mut w = width; let mut round = 0; let mut ch = 0;
            let period = match pp.segments[0] { TimeSegment::Circular(p) => p, _ => 0 };
            let ok = loop {
                if stop() { break false }
                let turn = if period > 0 { (r.next() % period as u64) as i64 } else { 0 };
                let p = prep(&pp, turn);
                if let Some(y) = beam(&p, w, round % 2 == 1, &mut r, &stop, if round < 2 { 0.0 } else { 0.3 }, &mut ch, maxm, v) {
                    for k in 0..p.n { for &j in &p.near[k] { let j = j as usize; assert!(y[k] + p.size[k] <= y[j] || y[j] + p.size[j] <= y[k]); } assert!(y[k] >= 0 && y[k] + p.size[k] <= p.cap); }
                    break true }
                round += 1; if round % 2 == 0 { w *= 2 }
            };
            let t = clock::seconds() - start;
            pa += 1; pf += ok as u32;
            line += &if ok { format!(" {b}/{load}:{t:.2}(w{w})") } else { format!(" {b}/{load}:--(w{w},{}k)", ch / 1000) };
        }}}
        println!("{plant:?}: {pf} of {pa}{line}");
    }
}
