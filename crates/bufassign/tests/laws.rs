//! The laws of `warploom-testing` on problems that shrink (B64, B75, B76).

use proptest::prelude::*;
use warploom_bufassign::pack::PackOptions;
use warploom_testing::bufassign::{Choices, assignment_holds, packing_holds, packings, problems};

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn answers_hold(p in problems()) {
        prop_assert_eq!(assignment_holds(&p, &mut Choices::seeded(0)).err(), None);
    }

    #[test]
    fn packings_hold(p in packings()) {
        prop_assert_eq!(packing_holds(&p, &PackOptions::default().node_budget(20_000)).err(), None);
    }
}

/// What fails shrinks to what it fails by: here, a value that is read two turns later.
#[test]
fn a_failing_problem_shrinks() {
    use proptest::strategy::{Strategy, ValueTree};
    use proptest::test_runner::TestRunner;
    let fails =
        |p: &warploom_bufassign::Problem| p.values.iter().flat_map(|v| &v.consumers).any(|c| c.distance > 1);
    let mut runner = TestRunner::deterministic();
    let tree = (0..200).find_map(|_| problems().new_tree(&mut runner).ok().filter(|t| fails(&t.current())));
    let Some(mut tree) = tree else { unreachable!("no generated value is read two turns later") };
    let mut smaller = tree.simplify();
    while smaller {
        smaller = if fails(&tree.current()) { tree.simplify() } else { tree.complicate() && tree.simplify() };
    }
    let least = tree.current();
    assert_eq!(least.values.len(), 1, "{least:?}");
    assert!(least.ops.len() <= 2, "{least:?}");
}
