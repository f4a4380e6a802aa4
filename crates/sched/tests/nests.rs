//! Loops around loops, and loops whose exit is computed in the loop (S104).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod common;

use common::gemm;
use warploom_sched::check::{self, ScheduleViolationKind as Kind};
use warploom_sched::{
    Answer, InnerLoop, LoopExit, LoopGraph, NestAnswer, PartitionModel, ResourceUse, ScheduleError,
    ScheduleOptions, read_graph, schedule, schedule_nest, schedule_unrolled, to_line, validate,
};

/// The tiles of a product, one after the other: what the loop over K leaves is converted and stored.
fn tiles(trips: u64) -> Vec<LoopGraph> {
    let mut outer = LoopGraph::new("tiles");
    outer.add_resource("TMA", 1).add_resource("TC", 1).add_resource("ALU", 1);
    let index = outer.add_node("index", 4, &[("ALU", 0, 4)]);
    let products = outer.add_inner_loop("gemm", trips);
    let convert = outer.add_node("convert", 200, &[("ALU", 0, 128)]);
    let store = outer.add_node("store", 300, &[("TMA", 0, 90)]);
    outer.add_edge(index, products, 4, 0).add_edge(products, convert, 0, 0).add_edge(convert, store, 200, 0);
    // Two accumulators.
    outer.add_value(products, 65_536, "tmem", &[(convert, 0, 128)]);
    outer.values[0].max_depth = Some(2);
    vec![gemm(), outer]
}

fn solve(loops: &[LoopGraph]) -> NestAnswer {
    let nest = schedule_nest(loops, 1, &ScheduleOptions::default()).expect("a schedule");
    check::nest(loops, 1, &nest).expect("a good schedule");
    nest
}

fn kinds(loops: &[LoopGraph], nest: &NestAnswer) -> Vec<Kind> {
    check::nest(loops, 1, nest).err().into_iter().flatten().map(|v| v.kind).collect()
}

fn refusal(loops: &[LoopGraph]) -> (String, String) {
    let Err(ScheduleError::Graph(errors)) = schedule_nest(loops, 1, &ScheduleOptions::default()) else {
        panic!("it is refused")
    };
    (errors[0].kind.code().to_owned(), errors[0].at.clone())
}

#[test]
fn an_inner_loop_holds_its_units() {
    let nest = solve(&tiles(16));
    let inner = &nest.inner[0];
    assert_eq!((inner.nest.answer.ii, inner.run), (256, 15 * 256 + 1211));
    // The copies of 16 products, one after the other, and the store.
    assert_eq!((nest.answer.ii, nest.answer.optimal), (15 * 256 + 2 * 96 + 90, true));
    assert!(nest.answer.length > inner.run);
}

#[test]
fn an_inner_loop_takes_cycles_in_turn() {
    let mut loops = tiles(16);
    loops.iter_mut().for_each(|g| _ = g.add_interleaved("issue", 1));
    let takes =
        |cycles| ResourceUse { resource: "issue".to_owned(), duration: cycles, ..ResourceUse::default() };
    loops[0].nodes.iter_mut().for_each(|v| v.uses.push(takes(80)));
    // An index and what goes with the run.
    loops[1].nodes.iter_mut().take(2).for_each(|v| v.uses.push(takes(1_000)));
    let nest = solve(&loops);
    assert_eq!((nest.inner[0].nest.answer.ii, nest.answer.res_mii), (256, 16 * 3 * 80 + 2_000));
    let mut less = nest.clone();
    less.answer.ii -= 1;
    assert!(kinds(&loops, &less).contains(&Kind::Resource));
    loops[1].resources[3].interleaved = false;
    assert_eq!(refusal(&loops), ("InterleavedElsewhere".to_owned(), "nodes[1].inner".to_owned()));
}

#[test]
fn three_levels() {
    let mut loops = tiles(4);
    let mut batch = LoopGraph::new("batch");
    batch.add_resource("TMA", 1).add_resource("TC", 1).add_resource("ALU", 2);
    let products = batch.add_inner_loop("tiles", 3);
    let last = batch.add_node("last", 10, &[("ALU", 0, 10)]);
    batch.add_edge(products, last, 0, 0);
    loops.push(batch);
    let nest = schedule_nest(&loops, 2, &ScheduleOptions::default()).unwrap();
    check::nest(&loops, 2, &nest).unwrap();
    // The copies are held from the first one of the first tile to the store of the last.
    let tile = &nest.inner[0].nest.answer;
    let (first, store) = (&tile.nodes[1], &tile.nodes[3]);
    assert_eq!(nest.answer.ii, 2 * tile.ii + store.time + 90 - first.time);
}

#[test]
fn wrong_nests_are_caught() {
    let loops = tiles(16);
    let good = solve(&loops);
    let found = |change: &dyn Fn(&mut NestAnswer)| {
        let mut nest = good.clone();
        change(&mut nest);
        kinds(&loops, &nest)
    };
    assert!(found(&|n| n.inner[0].run -= 1).contains(&Kind::Nest));
    assert!(found(&|n| n.inner[0].trips += 1).contains(&Kind::Nest));
    assert!(found(&|n| n.inner[0].grows_at = Some(0)).contains(&Kind::Nest));
    assert!(found(&|n| n.inner.clear()).contains(&Kind::Nest));
    let twice = found(&|n| n.inner.push(n.inner[0].clone()));
    assert!(twice.contains(&Kind::Nest));
    assert!(found(&|n| n.inner[0].nest.answer.nodes[2].time -= 1).contains(&Kind::Dependence));
    assert!(found(&|n| n.answer.nodes[2].time -= 1).contains(&Kind::Dependence));
    assert!(found(&|n| n.answer.ii -= 1).contains(&Kind::Resource));
    // The loop of another number of iterations.
    assert!(kinds(&tiles(17), &good).contains(&Kind::Nest));
    // A plain check does not take a loop for an operation.
    assert!(check::all(&loops[1], &good.answer).is_err());
}

#[test]
fn every_single_cycle_is_checked() {
    let loops = tiles(3);
    let good = solve(&loops);
    for id in 0..good.answer.nodes.len() {
        for by in [-1, 1, good.answer.ii, -good.answer.ii] {
            let mut nest = good.clone();
            let ii = nest.answer.ii;
            let v = nest.answer.nodes.iter_mut().find(|v| v.id == id).unwrap();
            v.time += by;
            (v.stage, v.cycle) = (v.time.div_euclid(ii), v.time.rem_euclid(ii));
            // Depths, counts or order do not follow, even where the times are a schedule.
            assert!(!kinds(&loops, &nest).is_empty(), "node {id} by {by}");
        }
    }
}

#[test]
fn unknown_numbers_of_iterations_stretch_the_schedule() {
    let mut loops = tiles(4);
    loops[1].nodes[1].inner.as_mut().unwrap().or_more = true;
    let nest = solve(&loops);
    let at = nest.inner[0].grows_at.expect("a place to grow");
    for more in [0, 1, 3, 100] {
        let longer = nest.stretched(&[more]).unwrap();
        assert_eq!(longer.ii, nest.answer.ii + 256 * more as i64);
        // The same nest with that number known takes it for a schedule.
        let known = tiles(4 + more);
        let outer = schedule_nest(&known, 1, &ScheduleOptions::default()).unwrap().outer;
        check::start(&outer, &longer).unwrap();
    }
    // Where the inner loop does not run, more of it finds no room.
    let run = &nest.inner[0];
    let start = nest.answer.nodes[run.node].time;
    let idle = (start - 1).rem_euclid(nest.answer.ii);
    assert_ne!(idle, at);
    let mut wrong = nest.clone();
    wrong.inner[0].grows_at = Some(idle);
    assert!(!kinds(&loops, &wrong).is_empty());
}

/// An inner loop whose only iteration takes no cycle has none before whose end it could grow; it counts as one.
#[test]
fn a_loop_of_no_cycles_grows_too() {
    let mut inner = LoopGraph::new("inner");
    let v = inner.add_node("x", 0, &[]);
    inner.add_value(v, 8, "smem", &[(v, 1, 2)]);
    let mut outer = LoopGraph::new("outer");
    let v = outer.add_node("x", 3, &[]);
    outer.add_edge(v, v, 3, 2);
    outer.add_value(v, 8, "smem", &[(v, 2, 0)]);
    outer.nodes[v].inner = Some(InnerLoop { name: "inner".to_owned(), trips: 1, or_more: true });
    let loops = [inner, outer];
    let nest = solve(&loops);
    assert_eq!((nest.inner[0].run, nest.inner[0].nest.answer.length), (1, 0));
    // So the checker wants it.
    let mut wrong = nest.clone();
    wrong.inner[0].run = 0;
    assert!(kinds(&loops, &wrong).contains(&Kind::Nest));
}

#[test]
fn what_cannot_be_stretched_is_said() {
    let open = |change: &dyn Fn(&mut LoopGraph)| {
        let mut loops = tiles(4);
        loops[1].nodes[1].inner.as_mut().unwrap().or_more = true;
        change(&mut loops[1]);
        refusal(&loops)
    };
    let told = |code: &str, at: &str| (code.to_owned(), at.to_owned());
    let window = open(&|g| {
        g.add_edge(2, 0, -9_000, 0);
    });
    assert_eq!(window, told("NotStretchable", "edges[3]"));
    assert_eq!(open(&|g| g.nodes[3].uses[0].start = 5), told("NotStretchable", "nodes[3].uses[0]"));
    assert_eq!(open(&|g| g.values[0].start = 5), told("NotStretchable", "values[0]"));
    // The inner loop has three units that are taken in turn, the outer one has one.
    let in_turn = |units: u64| {
        let mut inner = LoopGraph::new("inner");
        inner.add_interleaved("ISSUE", 3).add_node("x", 1, &[("ISSUE", 0, 6)]);
        let mut outer = LoopGraph::new("outer");
        outer.add_interleaved("ISSUE", units).add_node("x", 1, &[]);
        outer.nodes[0].inner = Some(InnerLoop { name: "inner".to_owned(), trips: 2, or_more: true });
        [inner, outer]
    };
    assert_eq!(refusal(&in_turn(1)), told("NotStretchable", "nodes[0].inner"));
    assert_eq!(solve(&in_turn(3)).answer.ii, 4);
}

#[test]
fn nests_without_their_loops_are_refused() {
    let told = |code: &str, at: &str| (code.to_owned(), at.to_owned());
    let mut loops = tiles(4);
    loops[1].nodes[1].inner.as_mut().unwrap().name = "other".to_owned();
    assert_eq!(refusal(&loops), told("UnknownLoop", "nodes[1].inner"));
    loops[1].nodes[1].inner.as_mut().unwrap().name = "tiles".to_owned();
    assert_eq!(refusal(&loops), told("LoopInItself", "nodes[1].inner"));
    let mut twice = tiles(4);
    twice.push(gemm());
    assert_eq!(refusal(&twice), told("DuplicateLoop", "nodes[1].inner"));
    assert_eq!(refusal(&tiles(0)), told("NoTrip", "nodes[1].inner"));
    assert_eq!(refusal(&tiles(1 << 40)), told("TooLarge", "nodes[1].inner"));
    let mut poor = tiles(4);
    poor[1].resources.retain(|r| r.name != "TC");
    assert_eq!(refusal(&poor), told("UnknownResource", "nodes[1].inner"));
    // Alone, the outer loop is no graph.
    let errors = validate(&tiles(4)[1]).map(|_| ()).unwrap_err();
    assert_eq!(errors[0].kind.code(), "UnknownLoop");
    let machine = ScheduleOptions::default().partition(Some(PartitionModel::default()));
    assert!(matches!(schedule_nest(&tiles(4), 1, &machine), Err(ScheduleError::BadOption { .. })));
}

#[test]
fn nests_are_read_and_written() {
    let loops = tiles(4);
    assert_eq!(read_graph(&to_line(&loops[1])).unwrap(), loops[1]);
    let nest = solve(&loops);
    let read: NestAnswer = serde_json::from_str(&to_line(&nest)).unwrap();
    check::nest(&loops, 1, &read).unwrap();
    assert_eq!(read.answer, nest.answer);
}

/// A list is followed until its end; what is found is stored.
fn list(speculation: u64, committed: &[usize]) -> LoopGraph {
    let mut g = LoopGraph::new("list");
    g.add_resource("MEM", 1);
    let next = g.add_node("next", 4, &[("MEM", 0, 1)]);
    let last = g.add_node("last?", 8, &[]);
    let store = g.add_node("store", 1, &[("MEM", 0, 1)]);
    g.add_edge(next, next, 4, 1).add_edge(next, last, 4, 0).add_edge(next, store, 4, 0);
    g.exit = Some(LoopExit { node: last, speculation, committed: committed.to_vec() });
    g
}

fn answer(g: &LoopGraph) -> Answer {
    let answer = schedule(&validate(g).expect("valid"), &ScheduleOptions::default()).expect("a schedule");
    check::all(g, &answer).expect("a good schedule");
    answer
}

#[test]
fn speculation_lets_iterations_start_before_the_exit_is_known() {
    // 12 cycles until the exit is known: shared by 1, 2, 3 iterations.
    let found: Vec<i64> = (0..4).map(|speculation| answer(&list(speculation, &[])).ii).collect();
    assert_eq!(found, [12, 6, 4, 4]);
    // A store waits for the exit of the iteration before, which lengthens the schedule and not the II.
    let (taken_back, kept) = (answer(&list(2, &[])), answer(&list(2, &[2])));
    assert_eq!((taken_back.ii, kept.ii), (4, 4));
    assert!(
        kept.nodes[2].time + 4 >= kept.nodes[1].time + 8 && taken_back.nodes[2].time < kept.nodes[2].time
    );
    // Two iterations at once are no way around it.
    let g = list(1, &[2]);
    let unrolled = schedule_unrolled(&validate(&g).unwrap(), 4, &ScheduleOptions::default()).unwrap();
    check::unrolled(&g, &unrolled).unwrap();
    assert_eq!(unrolled.lower_bound, [6, 1]);
}

#[test]
fn too_much_speculation_is_caught() {
    let far = answer(&list(2, &[]));
    for g in [list(1, &[]), list(0, &[]), list(2, &[2])] {
        let found = check::all(&g, &far).unwrap_err();
        assert!(found.iter().any(|v| v.kind == Kind::Dependence), "{found}");
        assert!(check::times(&g, &far).is_err());
    }
    assert!(check::all(&list(3, &[]), &answer(&list(3, &[]))).is_ok());
}

#[test]
fn exits_are_read_and_refused() {
    let g = list(2, &[2]);
    assert_eq!(read_graph(&to_line(&g)).unwrap(), g);
    let mut wrong = g.clone();
    wrong.exit = Some(LoopExit { node: 7, speculation: 1 << 20, committed: vec![9] });
    let errors = validate(&wrong).map(|_| ()).unwrap_err();
    let found: Vec<(&str, &str)> = errors.iter().map(|e| (e.kind.code(), e.at.as_str())).collect();
    let wanted = [
        ("UnknownNode", "while.node"),
        ("UnknownNode", "while.committed[0]"),
        ("TooLarge", "while.speculation"),
    ];
    assert_eq!(found, wanted);
}
