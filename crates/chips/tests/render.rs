//! Targets as text for people: everything is there.

use warploom_chips::{Target, describe, overview};

#[test]
fn overview_lists_every_chip() {
    let text = overview();
    assert_eq!(text.lines().count(), 10, "{text}");
    for target in Target::all().unwrap() {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(target.name())).unwrap();
        assert!(line.contains(&target.smem.per_cta.to_string()), "{line}");
    }
}

#[test]
fn description_is_complete() {
    for target in Target::all().unwrap() {
        let text = describe(&target);
        for feature in &target.features {
            assert!(text.contains(feature.key()), "{feature}");
        }
        for name in target.unit.keys() {
            assert!(text.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name}");
        }
        for (kind, entry) in &target.op {
            let line = text
                .lines()
                .find(|line| line.split_whitespace().take(2).eq([kind.key(), kind.class().key()]))
                .unwrap();
            assert!(line.contains(&entry.duration.unit), "{line}");
        }
        assert!(target.unverified.iter().all(|key| text.contains(key)));
        assert!(text.lines().all(|line| !line.ends_with(' ')));
    }
}

#[test]
fn costs_read_as_formulas() {
    let text = describe(&Target::named("sm_90a").unwrap());
    assert!(text.contains("TMA max(30, bytes/64)"), "{text}");
    assert!(text.contains("460 + 16 KiB + 240 min(ceil(inner/512)-1, 2)"), "{text}");
    assert!(text.contains("TC MACs/rate; SMEM operand bytes/128"), "{text}");
    let text = describe(&Target::named("sm_100a").unwrap());
    assert!(text.contains("559, 900 from K = 128") && text.contains("532/E0"), "{text}");
    assert!(text.contains("min(4096, max(30, MACs/rate))") && text.contains("derived, published"), "{text}");
}
