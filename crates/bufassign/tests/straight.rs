//! Straight-line code: in-place reuse, PyPTO's AddAlloc, and the run that checks the addresses (B68..B72, B83).
#![allow(clippy::unwrap_used, clippy::panic)]

use warploom_bufassign::straight::*;
use warploom_testing::bufassign::Choices;

fn tile(name: &str, buffer: Option<u64>, space: &str) -> Tile {
    Tile {
        name: name.into(),
        shape: vec![64, 64],
        element: "f32".into(),
        space: space.into(),
        buffer,
        live_in: false,
        live_out: false,
    }
}

fn op(name: &str, reads: &[&str], writes: &[&str], elementwise: bool) -> StraightOp {
    let list = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    StraightOp { name: name.into(), reads: list(reads), writes: list(writes), elementwise }
}

fn code(tiles: Vec<Tile>, ops: Vec<StraightOp>) -> StraightLine {
    let space = |name: &str, bytes| StraightSpace { name: name.into(), bytes, align: 32, reserved: vec![] };
    let spaces = vec![space("DDR", None), space("UB", Some(524_288))];
    StraightLine { name: "compute".into(), spaces, tiles, ops, in_place: true, place: Placement::Sequential }
}

fn solved(code: &StraightLine) -> StraightAnswer {
    let a = straight_line(code).unwrap_or_else(|e| panic!("{e}"));
    check_straight(code, &a).unwrap_or_else(|e| panic!("{e:?}"));
    a
}

/// Buffer id, bytes and address of every allocation.
fn allocs(a: &StraightAnswer) -> Vec<(u64, u64, Option<u64>)> {
    a.allocs.iter().map(|x| (x.id, x.bytes, x.addr)).collect()
}

/// The three examples of PyPTO's AddAlloc, with its numbers.
#[test]
fn examples_of_add_alloc_b83() {
    let t = 16384;
    let one = code(
        vec![tile("tile_a", Some(0), "UB"), tile("tile_b", Some(0), "UB")],
        vec![op("load", &[], &["tile_a"], false), op("add", &["tile_a"], &["tile_b"], true)],
    );
    assert_eq!(allocs(&solved(&one)), [(0, t, Some(0))]);
    let several = code(
        vec![tile("tile_a", Some(0), "UB"), tile("tile_b", Some(1), "UB"), tile("tile_c", Some(0), "UB")],
        vec![
            op("load", &[], &["tile_a"], false),
            op("add", &["tile_a"], &["tile_b"], true),
            op("load", &[], &["tile_c"], false),
        ],
    );
    assert_eq!(allocs(&solved(&several)), [(0, t, Some(0)), (1, t, Some(t))]);
    let mut tensor = tile("tensor", Some(0), "DDR");
    (tensor.shape, tensor.live_in) = (vec![128, 128], true);
    let spaces =
        code(vec![tensor, tile("tile", Some(1), "UB")], vec![op("load", &["tensor"], &["tile"], false)]);
    assert_eq!(allocs(&solved(&spaces)), [(0, 65536, None), (1, t, Some(0))]);
}

#[test]
fn the_example_of_the_command_b83() {
    let text = include_str!("../../../examples/problems/straight.json");
    let a = solved(&StraightLine::from_json(text).unwrap());
    // `sum` takes the place of `a`, the first operand that nobody reads any more; `b` is read by nobody after `add`,
    // and written again.
    let of = |name: &str| a.tiles.iter().find(|t| t.name == name).unwrap().addr;
    assert_eq!((of("a"), of("sum"), of("b"), of("max")), (Some(0), Some(0), Some(16384), Some(32768)));
    assert_eq!((a.in_place.len(), a.spaces[1].used), (1, 32768 + 256));
    assert_eq!(serde_json::from_str::<StraightAnswer>(&serde_json::to_string(&a).unwrap()).unwrap(), a);
}

/// In place only where it is safe: element by element, the last read, as many bytes, the same space.
#[test]
fn in_place_only_where_it_is_safe_b83() {
    let chain = |change: &dyn Fn(&mut StraightLine)| {
        let mut c = code(
            vec![tile("a", None, "UB"), tile("b", None, "UB")],
            vec![
                op("load", &[], &["a"], false),
                op("exp", &["a"], &["b"], true),
                op("use", &["b"], &[], false),
            ],
        );
        change(&mut c);
        let a = solved(&c);
        (a.in_place.len(), a.allocs.len())
    };
    assert_eq!(chain(&|_| ()), (1, 1));
    assert_eq!(chain(&|c| c.in_place = false), (0, 2));
    assert_eq!(chain(&|c| c.ops[1].elementwise = false), (0, 2));
    assert_eq!(chain(&|c| c.ops[2].reads.push("a".into())), (0, 2));
    assert_eq!(chain(&|c| c.tiles[0].live_out = true), (0, 2));
    assert_eq!(chain(&|c| c.tiles[1].element = "f16".into()), (0, 2));
    assert_eq!(chain(&|c| c.tiles[1].space = "DDR".into()), (0, 2));
    // Of two results one takes the operand's place.
    let two = |c: &mut StraightLine| {
        c.ops[1].writes.push("c".into());
        c.tiles.push(tile("c", None, "UB"));
    };
    assert_eq!(chain(&two), (1, 2));
}

#[test]
fn what_makes_no_sense_is_refused_b83() {
    let good = code(
        vec![tile("a", None, "UB"), tile("b", None, "UB")],
        vec![op("load", &[], &["a"], false), op("exp", &["a"], &["b"], false)],
    );
    type Break<'a> = (&'a str, &'a str, &'a dyn Fn(&mut StraightLine));
    let table: &[Break<'_>] = &[
        ("tiles[1].name", "two tiles", &|c| c.tiles[1].name = "a".into()),
        ("tiles[0].space", "no space", &|c| c.tiles[0].space = "L1".into()),
        ("tiles[name=a].shape", "dimension", &|c| c.tiles[0].shape = vec![0]),
        ("tiles[name=a].shape", "overflows", &|c| c.tiles[0].shape = vec![u64::MAX, 2]),
        ("tiles[name=a].element", "unknown", &|c| c.tiles[0].element = "f33".into()),
        ("ops[1].reads[0]", "no tile", &|c| c.ops[1].reads = vec!["z".into()]),
        ("ops[0].reads[0]", "before anything", &|c| c.ops[0].reads = vec!["b".into()]),
        ("tiles[2]", "nothing writes", &|c| c.tiles.push(tile("c", None, "UB"))),
        ("spaces[1].bytes", "at least one", &|c| c.spaces[1].bytes = Some(0)),
        ("spaces[1].name", "two spaces", &|c| c.spaces[1].name = "DDR".into()),
        ("spaces", "power of two", &|c| c.spaces[1].align = 24),
        ("tiles[1].buffer", "at one time", &|c| (c.tiles[0].buffer, c.tiles[1].buffer) = (Some(0), Some(0))),
    ];
    for (path, why, break_it) in table {
        let mut bad = good.clone();
        break_it(&mut bad);
        let e = straight_line(&bad).unwrap_err();
        assert_eq!((e.path.as_deref(), e.message.contains(why)), (Some(*path), true), "{e}");
    }
    let mut small = good.clone();
    small.spaces[1].bytes = Some(20_000);
    for place in [Placement::Sequential, Placement::Packed] {
        small.place = place;
        let e = straight_line(&small).unwrap_err();
        assert_eq!((e.code.as_str(), e.need, e.limit), ("B71", Some(32_768), Some(20_000)), "{e}");
    }
}

/// Generated code: the run finds every tile where it is read, packed or one behind the other; packed takes no more.
#[test]
fn generated_code_holds_b83() {
    let (mut in_place, mut saved) = (0, 0);
    for seed in 0..300 {
        let c = &mut Choices::seeded(seed);
        let mut made = generated(c);
        let sequential = solved(&made);
        in_place += sequential.in_place.len();
        made.place = Placement::Packed;
        let packed = solved(&made);
        assert!(packed.spaces[1].used <= sequential.spaces[1].used, "seed {seed}");
        saved += u32::from(packed.spaces[1].used < sequential.spaces[1].used);
    }
    assert!(in_place > 100 && saved > 150, "{in_place} {saved}");
}

fn generated(c: &mut Choices<'_>) -> StraightLine {
    let mut made = code(Vec::new(), Vec::new());
    for k in 0..2 + c.below(14) {
        let name = format!("t{k}");
        let mut t = tile(&name, None, if c.below(6) == 0 { "DDR" } else { "UB" });
        t.shape = vec![8 << c.below(3), 16];
        t.live_in = k == 0 || c.below(8) == 0;
        t.live_out = c.below(8) == 0;
        let reads: Vec<String> = (0..1 + c.below(3)).map(|_| format!("t{}", c.below(k.max(1)))).collect();
        made.tiles.push(t);
        if k > 0 {
            let writes = vec![name];
            made.ops.push(StraightOp { name: format!("op{k}"), reads, writes, elementwise: c.below(2) == 0 });
        }
    }
    made
}

/// Every way to break an answer is caught.
#[test]
fn mutations_are_caught_b83() {
    let good_code =
        StraightLine::from_json(include_str!("../../../examples/problems/straight.json")).unwrap();
    let good = solved(&good_code);
    type Break<'a> = (&'a str, &'a str, &'a dyn Fn(&mut StraightAnswer));
    let both = |a: &mut StraightAnswer, t: usize, addr| {
        let id = a.tiles[t].buffer;
        a.tiles[t].addr = addr;
        a.allocs.iter_mut().filter(|x| x.id == id).for_each(|x| x.addr = addr);
    };
    let table: &[Break<'_>] = &[
        ("moved onto a live tile", "B71", &|a| both(a, 3, Some(0))),
        ("moved half onto its operand", "B71", &|a| both(a, 5, Some(32))),
        ("unaligned", "B69", &|a| both(a, 5, Some(32_770))),
        ("past the end", "B71", &|a| both(a, 5, Some(524_288))),
        ("without its address", "B70", &|a| both(a, 5, None)),
        ("an address in DDR", "B70", &|a| both(a, 0, Some(0))),
        ("another buffer's id", "B68", &|a| a.tiles[5].buffer = a.tiles[2].buffer),
        ("an allocation left out", "B68", &|a| a.allocs.retain(|x| x.addr != Some(0))),
        ("an allocation twice", "B68", &|a| a.allocs.push(a.allocs[0].clone())),
        ("an allocation too small", "B68", &|a| a.allocs.iter_mut().for_each(|x| x.bytes /= 2)),
        ("a tile left out", "B83", &|a| drop(a.tiles.pop())),
    ];
    for (name, rule, break_it) in table {
        let mut bad = good.clone();
        break_it(&mut bad);
        assert_ne!(good, bad, "{name} changed nothing");
        let found: Vec<&str> =
            check_straight(&good_code, &bad).err().into_iter().flatten().map(|v| v.rule).collect();
        assert!(found.contains(rule), "{name}: expected {rule}, found {found:?}");
    }
    // In place where the operation does not allow it.
    let mut strict = good_code.clone();
    strict.ops[2].elementwise = false;
    assert!(check_straight(&strict, &good).is_err());
    println!("caught {} of {}", table.len() + 1, table.len() + 1);
}

/// An option that there is not is refused by its name.
#[test]
fn unknown_options_are_refused_b84() {
    let text = include_str!("fixtures/worked.json");
    let bad = text.replacen('{', r#"{"options": {"recolor": true}, "#, 1);
    let e = warploom_bufassign::assign_json(&bad).unwrap_err();
    assert_eq!(e.path.as_deref(), Some("options.recolor"), "{e}");
    assert!(e.message.contains("unknown field `recolor`"), "{e}");
}
