//! Pictures name every buffer, barrier and pipe.

#![allow(clippy::unwrap_used, clippy::panic)]

use warploom_bufassign::{assign_json, render};

#[test]
fn worked_example_is_drawn() {
    let a = assign_json(include_str!("fixtures/worked.json")).unwrap();
    let map = render::memory_map(&a);
    for part in [
        "49184 of 232448",
        "II 400",
        "k x2",
        "p | x",
        "mbarriers of pipes [0]",
        "drain before region 1: 0 before 4",
    ] {
        assert!(map.contains(part), "{part} missing in\n{map}");
    }
    let chart = render::barriers(&a);
    for part in ["4 of 15", "slot  0 (id 1)", "turn (256 threads, sync)", "full at 49152, empty at 49168"] {
        assert!(chart.contains(part), "{part} missing in\n{chart}");
    }
    let svg = render::svg(&a);
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    // Two slots of k, three pieces of p and x, out, and the mbarriers in both regions.
    assert_eq!(svg.matches("<rect").count(), 8, "{svg}");
    for part in [">k x2, slot 0<", ">k x2, slot 1<", ">p<", ">x<", ">out<", ">16384<", ">49184<", ">cycle 0<"]
    {
        assert!(svg.contains(part), "{part} missing in\n{svg}");
    }
}
