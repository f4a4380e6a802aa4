//! Cost files of one's own: what they change (T38, T40), and what is refused (T39).

use warploom_chips::cost::{Op, Origin, unit};
use warploom_chips::{Element, Target, TargetError};

use crate::{target, wgmma};

const WGMMA: &str = "[op.wgmma]
duration = { unit = \"TC\", work = \"macs\", origin = \"derived\" }
latency = { fixed = 200, plus_duration = true, origin = \"derived\" }
";

#[test]
fn t39_entries_are_replaced_whole() {
    let chip = target("sm_90a");
    let changed = chip.with_costs(WGMMA).unwrap();
    let cost = changed.cost(&wgmma(64, 32, 16, Element::F16), 4).unwrap();
    assert_eq!((cost.latency, cost.uses.len(), cost.duration_on(unit::TC), cost.issue), (216, 1, 16, 30));
    let same_otherwise = Target { op: chip.op.clone(), ..changed };
    assert_eq!(same_otherwise, chip);
}

/// What T38 shows is a legal file for the chip it names.
#[test]
fn t38_example() {
    let text = r#"
chip = { name = "sm_90a", sms = 114, clock_mhz = 1755 }
unit.TC = { count = 1, macs_per_clk = { f16 = 2048, bf16 = 2048, tf32 = 1024, e4m3 = 4096, e5m2 = 4096, s8 = 4096 } }
unit.TMA = { count = 1, bytes_per_clk = 64 }
unit.MINE = { count = 2, elements_per_clk = 0.5 }
[op.tma_load]
duration = { unit = "TMA", work = "bytes", min = 30, origin = "derived" }
latency = { fixed = 460, clk_per_kib = 16, box_step = 240, box_bytes = 512, box_max = 2, origin = "derived" }
[op.wgmma]
duration = { unit = "TC", work = "macs", also = [{ unit = "SMEM", work = "operand_bytes" }], origin = "derived" }
latency = { fixed = 64, plus_duration = true, origin = "derived" }
[op.convert]
duration = { unit = "MINE", work = "elements", origin = "derived" }
latency = { plus_duration = true, origin = "derived" }
"#;
    let chip = target("sm_90a").with_costs(text).unwrap();
    assert_eq!((chip.chip.sms, chip.chip.clock_mhz), (114, 1755));
    let cost = chip.cost(&Op::Convert { elements: 3 }, 4).unwrap();
    assert_eq!((cost.latency, cost.duration_on("MINE")), (6, 6));
    let load = Op::TmaLoad { bytes: 16 << 10, inner_bytes: 128 };
    // The entry of a file stands in the place of the chip's whole one.
    let [own, chips] = [&chip, &target("sm_90a")].map(|of| of.cost(&load, 4).unwrap());
    assert_eq!((own.latency, own.duration_on(unit::TMA)), (chips.latency, chips.duration_on(unit::TMA)));
    assert_eq!((own.uses.len(), chips.duration_on(unit::L2)), (1, 256));
    assert!(target("sm_100a").with_costs(text).unwrap_err().to_string().contains("`chip.name`"));
}

/// A measured table stands in the place of a rate (T40).
#[test]
fn t40_tables() {
    let text = r#"
[op.tma_load]
duration = { unit = "TMA", work = "bytes", table = [[1024, 30], [16384, 250], [65536, 1100]], origin = "measured", measured = { device = "H100", clock_mhz = 1755, date = "2026-01-01", spread = 2.5 } }
latency = { work = "bytes", table = [[1024, 600], [65536, 2000]], origin = "measured", measured = { device = "H100", clock_mhz = 1755, date = "2026-01-01", spread = 9 } }
"#;
    let chip = target("sm_90a").with_costs(text).unwrap();
    let cost = chip.cost(&Op::TmaLoad { bytes: 16 << 10, inner_bytes: 128 }, 4).unwrap();
    assert_eq!((cost.latency, cost.duration_on(unit::TMA), cost.origin), (934, 250, Origin::Measured));
}

/// Bad cost files: text, then line and key of the refusal.
#[test]
fn t39_refusals() {
    let rule = |duration: &str, latency: &str| {
        format!("# one\n[op.shared]\nduration = {{ {duration} }}\nlatency = {{ {latency} }}\n")
    };
    let good = "unit = \"SMEM\", fixed = 5, origin = \"derived\"";
    let enough = "fixed = 5, origin = \"derived\"";
    assert!(target("sm_90a").with_costs(&rule(good, enough)).is_ok());
    let cases = [
        ("[op.shared", 1, "op.shared"),
        ("# x\nspeed = 3", 2, "speed"),
        ("[op.teleport]\n", 1, "op.teleport"),
        ("[op.shared]\n", 1, "op.shared"),
        ("[unit.TC]\ncount = 1\nwarp = 3", 3, "warp"),
        ("[unit.TC]\ncount = -1", 2, "count"),
        ("[unit.TC]\ncount = 0", 2, "unit.TC.count"),
        ("[unit.TMA]\ncount = 1\nbytes_per_clk = 0", 3, "unit.TMA.bytes_per_clk"),
        ("[unit.TMA]\ncount = 1", 1, "unit.TMA"),
        ("\n[unit.TC]\ncount = 1\nmacs_per_clk = { f16 = 1, bf16 = 0 }", 4, "unit.TC.macs_per_clk.bf16"),
        ("[unit.TC]\ncount = 1\nmacs_per_clk = { f17 = 1 }", 3, "macs_per_clk"),
        ("[unit.FP32]\ncount = 1\nfull_rate_warps = 0", 3, "unit.FP32.full_rate_warps"),
        ("chip = { name = \"sm_80\" }", 1, "chip.name"),
    ];
    let rules = [
        (rule("unit = \"X\", fixed = 5, origin = \"derived\"", enough), 3, "op.shared.duration.unit"),
        (
            rule("unit = \"SMEM\", work = \"elements\", origin = \"derived\"", enough),
            3,
            "op.shared.duration.work",
        ),
        (rule("unit = \"SMEM\", rate = 3, origin = \"derived\"", enough), 3, "op.shared.duration.work"),
        (
            rule("unit = \"SMEM\", work = \"bytes\", rate = 0.0, origin = \"derived\"", enough),
            3,
            "op.shared.duration.rate",
        ),
        (
            rule("unit = \"SMEM\", min = 4, max = 3, origin = \"derived\"", enough),
            3,
            "op.shared.duration.max",
        ),
        (rule("unit = \"SMEM\", fixed = 5, origin = \"guess\"", enough), 3, "duration"),
        (rule("unit = \"SMEM\", fixed = 5, origin = \"measured\"", enough), 3, "op.shared.duration.origin"),
        (rule(good, "fixed = 4, origin = \"derived\""), 4, "op.shared.latency"),
        (
            rule(good, "fixed = 5, table = [[2, 3], [1, 4]], work = \"bytes\", origin = \"derived\""),
            4,
            "op.shared.latency.table",
        ),
        (
            rule(good, "fixed = 5, box_bytes = 0, box_step = 1, origin = \"derived\""),
            4,
            "op.shared.latency.box_bytes",
        ),
        (rule(good, "fixed = 5, long_k = 3, origin = \"derived\""), 4, "op.shared.latency.long_k"),
        (rule(good, "fixed = 5, clk_per_kib = -1, origin = \"derived\""), 4, "latency"),
    ];
    let cases = cases.iter().map(|(text, line, key)| (text.to_string(), *line, *key)).chain(rules);
    for (text, line, key) in cases {
        match target("sm_90a").with_costs(&text) {
            Err(TargetError::File { line: at, key: found, reason }) => {
                assert_eq!((at, found.as_str()), (line, key), "{text}: {reason}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// Hostile text is refused, and soon: too much of it, or nested too deep (T39).
#[test]
fn t39_hostile_text() {
    for piece in ["[", "a.", "{", "a=[", "a={b=", "("] {
        for length in [10_000, 2_000_000] {
            let refusal = target("sm_90a").with_costs(&piece.repeat(length)).unwrap_err().to_string();
            assert!(refusal.starts_with("line 1: `") && refusal.len() < 500, "{refusal}");
        }
    }
    let deep = format!("a = {}", "[".repeat(100_000));
    assert!(target("sm_90a").with_costs(&deep).is_err());
}
