//! The table of operations: complete, consistent, and the only place that says what it says.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use warploom_ir::attributes::{ATTRIBUTES, Becomes};
use warploom_ir::{Category, CostClass, Effect, Opcode};

#[test]
fn every_operation_has_one_name_in_a_dialect() {
    let mut names = BTreeSet::new();
    for &opcode in Opcode::ALL {
        let name = opcode.name().unwrap();
        assert!(
            name.contains('.')
                && name.bytes().all(|b| b.is_ascii_lowercase() || b"._0123456789".contains(&b))
        );
        assert!(names.insert(name), "{name} names two operations");
        assert_eq!(Opcode::from_name(name), Some(opcode));
    }
    assert_eq!(Opcode::from_name("math.no_such"), None);
}

#[test]
fn the_columns_of_a_row_agree() {
    for &opcode in Opcode::ALL {
        let (facts, name) = (opcode.facts(), opcode.name().unwrap());
        let harmless = matches!(facts.effect, Effect::None | Effect::Divides);
        match facts.category {
            Category::Integers | Category::Floats | Category::Elements => {
                assert!(opcode.is_elementwise());
                assert!(
                    harmless || facts.effect == Effect::Foreign,
                    "{name} computes elements and does more"
                );
                assert_ne!(facts.cost, CostClass::Free, "{name} computes elements for nothing");
            }
            Category::Source | Category::View => {
                assert_eq!((facts.effect, facts.cost), (Effect::None, CostClass::Free), "{name}");
            }
            Category::Exchange | Category::Reduction | Category::Product => assert!(harmless, "{name}"),
            Category::Pointers | Category::Descriptors => assert!(
                matches!(facts.effect, Effect::Read | Effect::Write | Effect::Update)
                    || name.contains("make"),
                "{name}"
            ),
            Category::Terminator => {
                assert!(opcode.is_terminator());
                assert_eq!((facts.effect, facts.cost), (Effect::Control, CostClass::Free), "{name}");
            }
            Category::Claim => assert_eq!(facts.effect, Effect::Observed, "{name}"),
            Category::Program => {
                assert!(["warploom.", "ttg.", "tt.grid_"].iter().any(|own| name.starts_with(own)), "{name}");
            }
            Category::Structure => assert!(!harmless, "{name}"),
            other => panic!("{name} is {other:?}"),
        }
        assert_eq!(facts.effect.writes(), matches!(facts.effect, Effect::Write | Effect::Update));
        if facts.lowered {
            assert!(facts.effect != Effect::Foreign || opcode.is_elementwise(), "{name}");
        }
    }
    assert!(!Opcode::ALL.iter().any(|o| o.facts().category == Category::Unknown));
}

/// Source files of a crate of the workspace.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => sources(&path, found),
            path if path.extension().is_some_and(|e| e == "rs") => found.push(path),
            _ => {}
        }
    }
}

/// Whether a file names this variant outside comments.
fn names(text: &str, variant: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.lines().map(|line| line.split("//").next().unwrap_or("")).any(|line| {
        line.match_indices(variant)
            .any(|(at, _)| !line[..at].ends_with(word) && !line[at + variant.len()..].starts_with(word))
    })
}

#[test]
fn an_elementwise_operation_stands_in_the_table_the_interpreter_and_the_lowering_only() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for package in ["ir", "chips", "sched", "alias", "pipeline", "codegen", "emulator", "warploom"] {
        sources(&crates.join(package).join("src"), &mut files);
    }
    assert!(files.len() > 200, "{} source files", files.len());
    for variant in ["Tanh", "Floor", "Ceil", "Sin", "Cos", "AbsI", "ClampF", "MulHiUI", "FPToUI", "ShRSI"] {
        let holding = files.iter().filter(|file| names(&std::fs::read_to_string(file).unwrap(), variant));
        let places: BTreeSet<String> = holding
            .map(|file| file.strip_prefix(crates).unwrap().to_string_lossy().replace('\\', "/"))
            // What axis analysis knows of an operation is more than it needs.
            .filter(|file| !file.starts_with("ir/src/axis/"))
            // A checker shares no code with what it checks: it follows the scalars of loops by itself.
            .filter(|file| file != "pipeline/src/check/run/scalars.rs")
            .map(|file| match file.as_str() {
                "ir/src/table.rs" => "table".to_owned(),
                inside if inside.starts_with("ir/src/interp/") => "interpreter".to_owned(),
                inside if inside.starts_with("codegen/src/lower/") => "lowering".to_owned(),
                other => other.to_owned(),
            })
            .collect();
        let expected = ["interpreter", "lowering", "table"].map(str::to_owned);
        assert_eq!(places, BTreeSet::from(expected), "{variant}");
    }
}

/// Operations of MLIR's own dialects that Triton registers and its front end never makes.
const NOT_MADE: [&str; 53] = [
    "arith.addui_extended",
    "arith.ceildivsi",
    "arith.ceildivui",
    "arith.convertf",
    "arith.floordivsi",
    "arith.flush_denormals",
    "arith.index_castui",
    "arith.mulsi_extended",
    "arith.mului_extended",
    "arith.scaling_extf",
    "arith.scaling_truncf",
    "arith.subui_extended",
    "cf.assert",
    "cf.switch",
    "math.acos",
    "math.acosh",
    "math.asin",
    "math.asinh",
    "math.atan",
    "math.atan2",
    "math.atanh",
    "math.cbrt",
    "math.clampf",
    "math.copysign",
    "math.cosh",
    "math.ctlz",
    "math.ctpop",
    "math.cttz",
    "math.erfc",
    "math.expm1",
    "math.fpowi",
    "math.ipowi",
    "math.isfinite",
    "math.isinf",
    "math.isnan",
    "math.isnormal",
    "math.log10",
    "math.log1p",
    "math.powf",
    "math.round",
    "math.roundeven",
    "math.sincos",
    "math.sinh",
    "math.tan",
    "math.trunc",
    "scf.execute_region",
    "scf.forall",
    "scf.forall.in_parallel",
    "scf.index_switch",
    "scf.parallel",
    "scf.reduce",
    "scf.reduce.return",
    "ub.unreachable",
];

#[test]
fn every_attribute_of_triton_has_a_row_and_is_read_c3() {
    let found: BTreeSet<&str> =
        include_str!("triton_attributes.txt").lines().filter(|line| !line.starts_with('#')).collect();
    assert!(found.len() > 60, "{} attributes", found.len());
    let rows: BTreeSet<String> = ATTRIBUTES.iter().map(|row| format!("{} {}", row.op, row.name)).collect();
    assert_eq!(rows.len(), ATTRIBUTES.len(), "an attribute stands twice");
    let missing: Vec<&&str> = found.iter().filter(|name| !rows.contains(**name)).collect();
    assert!(missing.is_empty(), "defined by Triton and not in the table: {missing:?}");
    // Functions have it in a dictionary of their own.
    let more: Vec<&String> = rows.iter().filter(|row| !found.contains(row.as_str())).collect();
    assert_eq!(more, ["tt.func noinline"], "in the table and not defined by Triton");

    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for package in ["ir/src/axis", "ir/src/interp", "pipeline/src", "codegen/src", "ir/src/text"] {
        sources(&crates.join(package), &mut files);
    }
    let texts: Vec<String> = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let read = |name: &str| texts.iter().any(|text| text.contains(&format!("\"{name}\"")));
    let unread = ATTRIBUTES.iter().filter(|row| row.becomes == Becomes::Honoured && !read(row.name));
    assert_eq!(unread.map(|row| row.name).collect::<Vec<_>>(), Vec::<&str>::new(), "honoured, but not read");
}

/// What the page of attributes must say.
fn page_of_attributes() -> String {
    let mut page = String::from(
        "# Attributes\n\nWhat the operations of Triton 3.9's dialect are told beside their operands, and what becomes of it. The verifier refuses\n\
         any other; those with the name of a dialect (`*`: on any operation) are advice. Options of a compile stand in\n\
         [supported.md](supported.md). The table is `crates/ir/src/attributes.rs`; a test compares it with the definitions that Triton\n\
         ships, with this page, and with what the sources read.\n\n| operation | attribute | becomes | how |\n|---|---|---|---|\n",
    );
    for row in ATTRIBUTES {
        let becomes = format!("{:?}", row.becomes).to_lowercase();
        page.push_str(&format!("| `{}` | `{}` | {becomes} | {} |\n", row.op, row.name, row.how));
    }
    page
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/attributes.md");

#[test]
fn the_page_of_attributes_is_the_table_c3() {
    assert_eq!(std::fs::read_to_string(PAGE).unwrap(), page_of_attributes(), "see the test that writes it");
}

#[test]
#[ignore = "writes the page"]
fn write_the_page_of_attributes() {
    std::fs::write(PAGE, page_of_attributes()).unwrap();
}

#[test]
fn the_table_is_what_triton_registers_c3() {
    let registered: BTreeSet<&str> =
        include_str!("triton_operations.txt").lines().filter(|line| !line.starts_with('#')).collect();
    assert!(registered.len() > 150, "{} operations", registered.len());
    let known: BTreeSet<&str> = Opcode::ALL.iter().filter_map(|opcode| opcode.name()).collect();
    let missing: BTreeSet<&str> = registered.difference(&known).copied().collect();
    assert_eq!(missing, BTreeSet::from(NOT_MADE), "registered and not in the table");
    // Dialects of Triton's front end; others are ours, or come from one operation each.
    let dialects = ["tt.", "arith.", "math.", "scf.", "cf.", "ub."];
    let ours = known.difference(&registered).filter(|name| dialects.iter().any(|d| name.starts_with(d)));
    assert_eq!(ours.collect::<Vec<_>>(), Vec::<&&str>::new(), "in the table and not registered");
}
