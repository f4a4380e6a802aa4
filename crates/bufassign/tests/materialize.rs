//! Fixtures of B72 and mutations of B77 for allocations.

#![allow(clippy::unwrap_used, clippy::panic)]

use warploom_bufassign::materialize::*;

fn buffer(id: u64, space: &str, bytes: u64) -> MemBuffer {
    MemBuffer { id, space: space.into(), bytes, live: vec![] }
}

fn spaces(reserved: &[(u64, u64)]) -> MemSpaces {
    let mut ub = MemSpace::placed("UB", 524_288, 32);
    ub.reserved = reserved.iter().map(|r| (r.0, r.1, "held".into())).collect();
    MemSpaces(vec![MemSpace::unplaced("DDR"), ub])
}

fn addresses(
    buffers: Vec<MemBuffer>,
    users: &[usize],
    reserved: &[(u64, u64)],
) -> Result<Vec<(u64, Option<u64>)>, MemError> {
    let users =
        users.iter().map(|&b| MemUser { variable: format!("t{b}"), buffer: b, bytes: buffers[b].bytes });
    let refs = MemRefs { users: users.collect(), buffers };
    let m = materialize(&refs, &spaces(reserved))?;
    check_allocs(&refs, &spaces(reserved), &m.allocs).unwrap();
    Ok(m.allocs.iter().map(|a| (a.bytes, a.addr)).collect())
}

#[test]
fn fixtures() {
    let ub = |id, bytes| buffer(id, "UB", bytes);
    let t = 16384;
    assert_eq!(addresses(vec![ub(0, t)], &[0, 0], &[]).unwrap(), [(t, Some(0))]);
    assert_eq!(addresses(vec![ub(0, t), ub(1, t)], &[0, 1, 0], &[]).unwrap(), [(t, Some(0)), (t, Some(t))]);
    let mixed = addresses(vec![buffer(0, "DDR", 65536), ub(1, t)], &[0, 1], &[]).unwrap();
    assert_eq!(mixed, [(65536, None), (t, Some(0))]);
    assert_eq!(addresses(vec![ub(0, 16), ub(1, 16)], &[0, 1], &[]).unwrap(), [(16, Some(0)), (16, Some(32))]);
    let behind = addresses(vec![ub(0, t), ub(1, t)], &[0, 1], &[(0, 4096)]).unwrap();
    assert_eq!(behind, [(t, Some(4096)), (t, Some(20480))]);
    assert_eq!(addresses(vec![], &[], &[]).unwrap(), []);
    let full = addresses(vec![ub(0, 8192)], &[0], &[(0, 524_288)]).unwrap_err();
    assert!(matches!(full, MemError::Capacity { used: 532_480, limit: 524_288, .. }), "{full}");
    let twice = addresses(vec![ub(0, 16)], &[0], &[(0, 64), (32, 64)]).unwrap_err();
    assert!(matches!(twice, MemError::BadSpace(_)));
}

#[test]
fn refusals_and_warnings() {
    let refs = MemRefs {
        buffers: vec![buffer(0, "UB", 16), buffer(0, "UB", 16)],
        users: vec![MemUser { variable: "big".into(), buffer: 0, bytes: 32 }],
    };
    assert!(matches!(materialize(&refs, &spaces(&[])), Err(MemError::TooSmall { needed: 32, .. })));
    let alike = MemRefs { users: vec![], ..refs.clone() };
    let m = materialize(&alike, &spaces(&[])).unwrap();
    assert_eq!((m.allocs.len(), m.warnings.len()), (2, 1));
    let lost = MemRefs { users: vec![MemUser { variable: "x".into(), buffer: 9, bytes: 1 }], ..refs };
    assert!(matches!(materialize(&lost, &spaces(&[])), Err(MemError::Dangling(_))));
}

#[test]
fn alloc_order_pinned() {
    let refs = MemRefs {
        buffers: vec![buffer(5, "UB", 16), buffer(3, "DDR", 16), buffer(1, "DDR", 16)],
        users: vec![],
    };
    let order: Vec<u64> = materialize(&refs, &spaces(&[])).unwrap().allocs.iter().map(|a| a.id).collect();
    assert_eq!(order, [1, 3, 5]);
}

#[test]
fn alloc_overlap_caught() {
    let refs = MemRefs { buffers: vec![buffer(0, "UB", 64), buffer(1, "UB", 64)], users: vec![] };
    let good = materialize(&refs, &spaces(&[])).unwrap().allocs;
    let caught = |f: &dyn Fn(&mut Vec<MemAlloc>)| {
        let mut bad = good.clone();
        f(&mut bad);
        let found = check_allocs(&refs, &spaces(&[]), &bad).unwrap_err();
        found.iter().map(|v| v.rule).collect::<Vec<_>>()
    };
    assert!(caught(&|a| a[1].addr = Some(72)).contains(&"B69"));
    assert!(caught(&|a| a[1].addr = Some(32)).contains(&"B71"));
    assert!(
        caught(&|a| {
            let x = a[0].clone();
            a.insert(0, x)
        })
        .contains(&"B68")
    );
    assert!(
        caught(&|a| {
            a.remove(0);
        })
        .contains(&"B68")
    );
}
