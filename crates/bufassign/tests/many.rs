//! Many values of which no two can be ordered (B57): what the rounds of packing do not find one by one.

#![allow(clippy::unwrap_used)]

use warploom_bufassign::{Problem, assign, check};

/// One partition writes every value, another reads it: nothing says that a value has been read when the next
/// is written.
fn stream(n: u64) -> Problem {
    let join = |items: Vec<String>| items.join(",");
    let ops = join(
        (0..2 * n)
            .map(|k| {
                let (partition, cycle) = (k % 2, 5 * k);
                format!(r#"{{"id":{k},"region":0,"partition":{partition},"cycle":{cycle},"order":{k},"latency":3}}"#)
            })
            .collect(),
    );
    let values = join(
        (0..n)
            .map(|v| {
                let (bytes, write, read) = (64 + 64 * (v % 7), 2 * v, 2 * v + 1);
                format!(
                    r#"{{"id":{v},"root":{v},"shape":[{bytes}],"element":"i8","producer":{{"op":{write},"role":"reg_write"}},"consumers":[{{"op":{read},"role":"reg_read"}}]}}"#
                )
            })
            .collect(),
    );
    let text = format!(
        r#"{{"name":"stream","target":"sm_90a","partitions":[{{"id":0,"warps":1}},{{"id":1,"warps":1}}],"regions":[{{"id":0,"kind":"loop","ii":{},"stages":1}}],"ops":[{ops}],"values":[{values}]}}"#,
        10 * n + 10
    );
    Problem::from_json(&text).unwrap()
}

#[test]
fn unordered_values_lie_apart() {
    for n in [8, 40, 300] {
        let problem = stream(n);
        let a = assign(&problem, &problem.options).unwrap();
        check::check(&problem, &a).unwrap();
        let data: u64 = (0..n).map(|v| 64 + 64 * (v % 7)).sum();
        assert_eq!((a.merge.len() as u64, a.smem.used), (n, data + 16 * n));
    }
}
