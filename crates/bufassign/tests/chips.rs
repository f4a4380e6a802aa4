//! The built-in chips are machines described as data (B82): by its name or as JSON, a chip has the same answers.
#![allow(clippy::unwrap_used, clippy::panic)]

use serde_json::{Value as Json, json};
use warploom_bufassign::check::check;
use warploom_bufassign::{ErrorKind, MachineSpec, Problem, TargetSpec, assign};
use warploom_testing::bufassign::{Choices, Family, problem_of};

const CHIPS: [&str; 9] =
    ["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_121a"];

/// The description of a chip after a trip through JSON.
fn described(name: &str) -> TargetSpec {
    serde_json::from_str(&serde_json::to_string(&MachineSpec::chip(name).unwrap()).unwrap()).unwrap()
}

#[test]
fn every_chip_is_an_instance_b82() {
    let (mut answered, mut refused) = ([0; 9], 0);
    for (chip, name) in CHIPS.into_iter().enumerate() {
        let machine = described(name);
        for family in Family::ALL.into_iter().filter(|&f| f != Family::Machine) {
            for seed in 0..25 {
                let mut p = problem_of(family, &mut Choices::seeded(seed));
                p.target = TargetSpec::Named(name.into());
                let q = Problem { target: machine.clone(), ..p.clone() };
                match (assign(&p, &p.options), assign(&q, &q.options)) {
                    (Ok(a), Ok(b)) => {
                        assert_eq!(serde_json::to_string(&a).unwrap(), serde_json::to_string(&b).unwrap());
                        // The checker knows the chips by heart, and reads the description: it holds one against the other.
                        check(&p, &b).unwrap();
                        check(&q, &a).unwrap();
                        answered[chip] += 1;
                    }
                    (Err(a), Err(b)) => {
                        assert_eq!((a.kind, &a.code, &a.message), (b.kind, &b.code, &b.message));
                        refused += 1;
                    }
                    (a, b) => panic!("{name}, {family:?}, seed {seed}: {a:?} {b:?}"),
                }
            }
        }
    }
    println!("{answered:?} answered, {refused} refused");
    assert!(answered.iter().all(|&n| n > 50) && refused > 100, "{answered:?} {refused}");
}

/// A GPU that nobody built in: other sizes, barriers of 16 bytes, columns of 64 lanes, roles of its own.
#[test]
fn a_gpu_of_ones_own_b82() {
    let mut spec: Json = serde_json::to_value(MachineSpec::chip("sm_100a").unwrap()).unwrap();
    spec["machine"] = json!("other");
    spec["spaces"] = json!([
        {"name": "smem", "bytes": 98_304, "align": 256},
        {"name": "tmem", "bytes": 64 * 256 * 4,
         "columns": {"lanes": 64, "columns": 256, "cell_bits": 32, "min_alloc": 16}}]);
    spec["block"]["ring_barriers"]["bytes"] = json!(16);
    spec["block"]["barriers"] = json!(8);
    let own = |name: &str| json!({"role": name, "access": "write", "spaces": ["smem"], "signals": true, "counted": true});
    spec["roles"].as_array_mut().unwrap().push(own("bulk"));
    let problem = json!({"name": "p", "target": spec,
        "partitions": [{"id": 0, "warps": 1}, {"id": 1, "warps": 4}],
        "regions": [{"id": 0, "kind": "loop", "ii": 400, "stages": 2}],
        "ops": [
            {"id": 0, "region": 0, "partition": 0, "cycle": 0, "order": 0, "latency": 500, "async": true},
            {"id": 1, "region": 0, "partition": 1, "stage": 1, "cycle": 150, "order": 1, "latency": 200, "async": true},
            {"id": 2, "region": 0, "partition": 1, "stage": 1, "cycle": 360, "order": 2, "latency": 30}],
        "values": [
            {"id": 0, "root": 0, "shape": [64, 100], "element": "f16",
             "producer": {"op": 0, "role": "bulk"}, "consumers": [{"op": 1, "role": "tcgen05_b"}]},
            {"id": 1, "root": 1, "shape": [64, 48], "element": "f32",
             "producer": {"op": 1, "role": "tcgen05_d"}, "consumers": [{"op": 2, "role": "tcgen05_ld"}]}]});
    let p = Problem::from_json(&problem.to_string()).unwrap();
    let a = assign(&p, &p.options).unwrap_or_else(|e| panic!("{e}"));
    check(&p, &a).unwrap();
    let (load, sum) = (a.record(0).unwrap(), a.record(1).unwrap());
    // Two slots of 12,800 bytes, and behind them five barriers of 16 bytes: the accumulator has one.
    assert_eq!((load.stride, load.tx_bytes, a.smem.used), (Some(12_800), Some(12_800), 2 * 12_800 + 5 * 16));
    let tmem = a.tmem.as_ref().unwrap();
    assert_eq!((sum.tmem.unwrap().columns, tmem.limit, tmem.allocated), (48, 256, 64));
    assert_eq!(a.barriers.pool, 7);
}

/// Where and what each wrong description of a GPU is refused for.
#[test]
fn what_makes_no_sense_of_a_block_is_refused_by_name_b82() {
    let cases: &[(&str, Json, &str, &str)] = &[
        ("/spaces/0/bytes", json!(0), "spaces[0].bytes", "from 1 to"),
        ("/spaces/0/name", json!("lds"), "spaces[0].name", "called smem"),
        ("/spaces/0/base", json!(64), "spaces[0].base", "begins at 0"),
        ("/spaces/1/bytes", json!(64), "spaces[1].bytes", "262144"),
        ("/spaces/1/columns/columns", json!(0), "spaces[1].columns", "from 1 to"),
        ("/spaces/1/columns/lanes", json!(7), "spaces[1].columns", "even"),
        ("/block", json!(null), "spaces[1].columns", "with a `block`"),
        ("/semaphores", json!(4), "semaphores", "named barriers"),
        ("/block/threads", json!(0), "block.threads", "one warp"),
        ("/block/shared_bytes", json!(1), "block.shared_bytes", "memory of one block"),
        ("/block/ring_barriers/bytes", json!(12), "block.ring_barriers.bytes", "power of two"),
        ("/roles/0/role", json!("signal"), "roles[0].role", "another name"),
        ("/roles/0/spaces", json!([]), "roles[0].spaces", "at least one space"),
        ("/roles/0/spaces", json!(["lut"]), "roles[0].spaces", "no space lut"),
        ("/roles/0/align", json!(24), "roles[0].align", "power of two"),
        ("/roles/1/role", json!("tma_load"), "roles[1].role", "two roles"),
    ];
    let good = problem_of(Family::Partitions, &mut Choices::seeded(0));
    for (path, value, place, why) in cases {
        let mut spec = serde_json::to_value(MachineSpec::chip("sm_100a").unwrap()).unwrap();
        let (at, field) = path.rsplit_once('/').unwrap();
        spec.pointer_mut(at).unwrap()[field] = value.clone();
        let p = Problem { target: serde_json::from_value(spec).unwrap(), ..good.clone() };
        let e = assign(&p, &p.options).unwrap_err();
        assert_eq!(
            (e.kind, e.path.clone()),
            (ErrorKind::InvalidInput, Some(format!("target.{place}"))),
            "{path}"
        );
        assert!(e.message.contains(why), "{path}: {}", e.message);
    }
}
