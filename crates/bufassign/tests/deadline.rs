//! A deadline is kept, and what is answered by it is an answer (B85).
#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::{Duration, Instant};
use warploom_bufassign::pack::{CsvProblem, PackOptions, PackOutcome, PackProblem, check_pack, pack};
use warploom_bufassign::{ErrorKind, Problem, assign, assign_within, check};
use warploom_testing::bufassign::{Choices, packing, problem};

/// With no time at all every problem that fits without sharing is assigned, and the checker has nothing to say.
#[test]
fn no_time_gives_an_answer() {
    let (mut answered, mut short) = (0, 0);
    for seed in 0..80 {
        let p = problem(&mut Choices::seeded(seed));
        match assign_within(&p, &p.options, Instant::now()) {
            Ok(a) => {
                answered += 1;
                check::check(&p, &a).unwrap_or_else(|v| panic!("seed {seed}: {v}"));
                assert!(
                    a.notes.iter().any(|n| n.rule == "B60"),
                    "seed {seed}: nothing says that time was up"
                );
            }
            Err(e) => {
                assert_ne!(e.kind, ErrorKind::Internal, "seed {seed}: {e}");
                short += u32::from(assign(&p, &p.options).is_ok());
            }
        }
    }
    println!("{answered} answered without time, {short} that fit with time do not");
    assert!(answered > 20);
}

#[test]
fn no_time_packs_on_top_of_each_other() {
    let options = PackOptions::default().deadline(Some(Instant::now()));
    for seed in 0..80 {
        let p = packing(&mut Choices::seeded(seed));
        let outcome = pack(&p, &options);
        check_pack(&p, &outcome).unwrap_or_else(|v| panic!("seed {seed}: {v}"));
        assert!(!matches!(outcome, PackOutcome::Invalid(_)));
    }
}

/// Every two of these meet: two hundred million pairs, which take longer than there is.
#[test]
fn many_items_end_in_time() {
    let mut p = PackProblem::linear(None);
    for k in 0..20_000 {
        p.push(64 + k % 7, 0, 10 + k.cast_signed());
    }
    let start = Instant::now();
    let outcome = pack(&p, &PackOptions::default().deadline(Some(start + Duration::from_millis(200))));
    let took = start.elapsed();
    let PackOutcome::Fits { peak, lower_bound, .. } = outcome else { panic!("{outcome:?}") };
    assert!(peak < lower_bound * 2, "{peak} of {lower_bound}");
    // A slow machine is given ten times as long.
    assert!(took < Duration::from_secs(2), "{took:?}");
}

/// Reading a file takes time, too: it ends where the time does, and says so.
#[test]
fn a_large_file_is_read_while_there_is_time() {
    let mut text = String::from("id,lower,upper,size\n");
    for k in 0..400_000 {
        text += &format!("{k},{k},{},{}\n", k + 9, 64 + k % 7);
    }
    let read = |time| {
        let end = Instant::now() + Duration::from_millis(time);
        CsvProblem::read(&text, None, &PackOptions::default().deadline(Some(end)))
    };
    let e = read(0).unwrap_err();
    assert!(e.late && e.line == 4098 && e.to_string().contains("after 4096 rows"), "{e}");
    let csv = read(600_000).unwrap();
    assert_eq!((csv.problem.items.len(), csv.id(399_999)), (400_000, Some("399999")));
    // Nor is there a plan for so many once the time is up, but everything on top of each other.
    let start = Instant::now();
    let outcome = pack(&csv.problem, &PackOptions::default().deadline(Some(start)));
    assert!(matches!(outcome, PackOutcome::Fits { optimal: false, .. }));
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn no_values_need_no_time() {
    let p: Problem = Problem::builder("nothing", "sm_90a").finish();
    assert!(assign_within(&p, &p.options, Instant::now()).is_ok());
}
