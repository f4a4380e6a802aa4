//! The limits that ptxas checks: each is accepted as it stands in the data, and one step beyond is not.

use crate::assembler::{Assembler, VERSION};
use warploom_chips::mma::{mma_sync, wgmma};
use warploom_chips::{Element, Feature, PtxVersion, Target};

/// A kernel, and whether ptxas should take it as it is: without an error, and without a directive "ignored"
/// or a value "adjusted".
struct Question {
    chip: String,
    what: String,
    module: String,
    legal: bool,
}

impl Question {
    fn new(target: &Target, what: String, directives: &str, body: &str, legal: bool) -> Question {
        Question::in_version(target, VERSION, what, directives, body, legal)
    }

    fn in_version(
        target: &Target,
        version: &str,
        what: String,
        directives: &str,
        body: &str,
        legal: bool,
    ) -> Question {
        let chip = target.name().to_owned();
        let head = format!(".version {version}\n.target {chip}\n.address_size 64\n.visible .entry k");
        // Parameters stand in parentheses, all other directives behind them.
        let signature = match directives.starts_with(".param") {
            true => format!("({directives})"),
            false => format!("() {directives}"),
        };
        let registers = ".reg .b32 r<256>; .reg .f32 f<256>; .reg .f64 g<16>; .reg .b64 d<4>; .reg .pred p0;";
        Question { chip, what, module: format!("{head}{signature}\n{{ {registers} {body} ret; }}\n"), legal }
    }
}

fn ask(questions: impl Fn(&Target) -> Vec<Question>) {
    let ptxas = Assembler::found();
    let questions: Vec<Question> = Target::all().unwrap().iter().flat_map(questions).collect();
    let complaint = |question: &Question| {
        let answer = ptxas.ask(&question.chip, &question.module);
        let legal =
            answer.accepted && !["ignored", "adjusting"].iter().any(|word| answer.text.contains(word));
        (legal != question.legal).then(|| format!("{}, {}:\n{}", question.chip, question.what, answer.text))
    };
    let wrong: Vec<String> = questions.iter().filter_map(complaint).collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), questions.len(), wrong.join("\n"));
}

/// A PTX version one step older that ptxas knows.
fn older(version: PtxVersion) -> PtxVersion {
    let PtxVersion { major, minor } = version;
    match (major, minor) {
        (8, 0) => PtxVersion { major: 7, minor: 8 },
        (9, 0) => PtxVersion { major: 8, minor: 8 },
        (_, 0) => PtxVersion { major: major - 1, minor: 5 },
        _ => PtxVersion { major, minor: minor - 1 },
    }
}

#[test]
fn t2_lowest_ptx_version() {
    ask(|target| {
        let question = |version: PtxVersion, legal| {
            let version = version.to_string();
            Question::in_version(target, &version, format!("PTX {version}"), "", "", legal)
        };
        let lowest = target.chip.ptx_min;
        vec![question(lowest, true), question(older(lowest), false), question(target.chip.ptx_default, true)]
    });
}

#[test]
fn t2_static_shared_memory() {
    ask(|target| {
        let question = |bytes: u64, legal| {
            let body = format!(".shared .b8 s[{bytes}]; mov.b32 r1, s; st.shared.b32 [r1], 1;");
            Question::new(target, format!("{bytes} B of static shared memory"), "", &body, legal)
        };
        let most = target.smem.per_cta_static;
        vec![question(most, true), question(most + 1, false)]
    });
}

/// ptxas drops `.minnctapersm` when so many CTAs or their threads cannot be resident.
#[test]
fn t2_threads_and_ctas_of_an_sm() {
    ask(|target| {
        let question = |threads: u32, ctas: u32, legal| {
            let directives = format!(".reqntid {threads} .minnctapersm {ctas}");
            Question::new(target, directives.clone(), &directives, "", legal)
        };
        let (threads, ctas) = (target.threads.per_sm, target.threads.ctas_per_sm);
        let halves = threads / 512;
        vec![
            question(32, ctas, true),
            question(32, ctas + 1, false),
            question(512, halves, true),
            question(512, halves + 1, false),
        ]
    });
}

#[test]
fn t3_registers_of_a_thread() {
    ask(|target| {
        let question = |count: u32, legal| {
            let directive = format!(".maxnreg {count}");
            Question::new(target, directive.clone(), &directive, "", legal)
        };
        let (least, most) = (target.registers.min_per_thread, target.registers.per_thread);
        vec![
            question(least, true),
            question(least - 1, false),
            question(most, true),
            question(most + 1, false),
        ]
    });
}

#[test]
fn t7_named_barriers() {
    ask(|target| {
        let question =
            |body: String, legal| Question::new(target, body.clone(), "", &format!("{body};"), legal);
        let (ids, step) = (target.barriers.named, target.barriers.count_step);
        vec![
            question(format!("bar.sync {}, 64", ids - 1), true),
            question(format!("bar.sync {ids}, 64"), false),
            question(format!("bar.sync 1, {step}"), true),
            question(format!("bar.sync 1, {}", step + 1), false),
            question("bar.arrive 1, 64".to_owned(), true),
            question("bar.arrive 1".to_owned(), false),
        ]
    });
}

#[test]
fn t8_mbarrier_count() {
    ask(|target| {
        let question = |count: u64, legal| {
            let body = format!(".shared .b64 s; mbarrier.init.shared.b64 [s], {count};");
            Question::new(target, format!("mbarrier.init {count}"), "", &body, legal)
        };
        let most = u64::from(target.barriers.mbarrier_count);
        vec![question(0, false), question(1, true), question(most, true), question(most + 1, false)]
    });
}

/// The parameter limit depends on the PTX version, so it is asked in the one that is emitted.
#[test]
fn b45_kernel_parameters() {
    ask(|target| {
        let version = target.chip.ptx_default.to_string();
        let question = |bytes: u32, legal| {
            let directives = format!(".param .align 64 .b8 a[{bytes}]");
            Question::in_version(target, &version, format!("{bytes} B of parameters"), &directives, "", legal)
        };
        let most = target.descriptors.param_bytes;
        vec![question(most, true), question(most + 1, false)]
    });
}

#[test]
fn t15_setmaxnreg() {
    ask(|target| {
        let Some(range) = &target.registers.setmaxnreg else { return Vec::new() };
        let question = |value: u32, legal| {
            let body = format!("setmaxnreg.inc.sync.aligned.u32 {value};");
            Question::new(target, body.clone(), ".reqntid 128 .maxnreg 128", &body, legal)
        };
        vec![
            question(range.min, true),
            question(range.min - range.step, false),
            question(range.min + range.step / 2, false),
            question(range.max, true),
            question(range.max + range.step, false),
        ]
    });
}

#[test]
fn t14_tensor_memory_allocation() {
    ask(|target| {
        let Some(tmem) = &target.tmem else { return Vec::new() };
        let question = |columns: u32, legal| {
            let body = format!(
                ".shared .b32 s; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], {columns};"
            );
            Question::new(target, format!("{columns} columns"), "", &body, legal)
        };
        let (least, most) = (tmem.min_alloc, tmem.columns);
        vec![
            question(least, true),
            question(least / 2, false),
            question(least * 3, false),
            question(most, true),
            question(most * 2, false),
        ]
    });
}

#[test]
fn t12_wgmma_columns() {
    let kinds = [
        (Element::Bf16, "f32.bf16.bf16", ", 1, 1, 0, 0"),
        (Element::Tf32, "f32.tf32.tf32", ", 1, 1"),
        (Element::E4m3, "f32.e4m3.e4m3", ", 1, 1"),
        (Element::S8, "s32.s8.s8", ""),
    ];
    ask(|target| {
        if !target.has(Feature::Wgmma) {
            return Vec::new();
        }
        let question = |(element, types, rest): (Element, &str, &str), n: u32, k: u32| {
            let letter = if element == Element::S8 { "r" } else { "f" };
            let registers: Vec<String> =
                (0..n.div_ceil(2).min(128)).map(|i| format!("{letter}{i}")).collect();
            let body = format!(
                "wgmma.mma_async.sync.aligned.m64n{n}k{k}.{types} {{{}}}, d0, d1, p0{rest};",
                registers.join(", ")
            );
            let legal = wgmma::n_legal(element, n) && wgmma::k(element) == Some(k);
            Question::new(target, format!("m64n{n}k{k} {element}"), "", &body, legal)
        };
        let columns = [4, 8, 12, 16, 24, 32, 40, 48, 56, 64, 96, 104, 160, 192, 248, 256, 264];
        let mut questions = Vec::new();
        for kind in kinds {
            questions
                .extend(wgmma::k(kind.0).into_iter().flat_map(|k| columns.map(|n| question(kind, n, k))));
            questions.extend([8, 16, 32, 64].map(|k| question(kind, 64, k)));
        }
        questions
    });
}

#[test]
fn t12_mma_sync_shapes() {
    ask(|target| {
        // The chips where a row of T12 changes.
        if !["sm_80", "sm_89", "sm_90a"].contains(&target.name()) {
            return Vec::new();
        }
        let kinds: [(Element, &str, &str, u32); 8] = [
            (Element::F16, "f32.f16.f16.f32", "f", 32),
            (Element::Bf16, "f32.bf16.bf16.f32", "f", 32),
            (Element::Tf32, "f32.tf32.tf32.f32", "f", 32),
            (Element::S8, "s32.s8.s8.s32", "r", 32),
            (Element::S4, "s32.s4.s4.s32", "r", 32),
            (Element::E4m3, "f32.e4m3.e4m3.f32", "f", 32),
            (Element::E5m2, "f32.e5m2.e5m2.f32", "f", 32),
            (Element::F64, "f64.f64.f64.f64", "g", 64),
        ];
        let shapes = [(16, 8, 4), (16, 8, 8), (16, 8, 16), (16, 8, 32), (16, 8, 64), (8, 8, 4)];
        let mut questions = Vec::new();
        for (element, types, letter, bits) in kinds {
            for (m, n, k) in shapes {
                // Eight-by-eight-by-four of 16 bits is Volta's, with operands of its own: not in T12.
                if m == 8 && element != Element::F64 {
                    continue;
                }
                let operand = if bits == 64 { "g" } else { "r" };
                let list = |letter: &str, bits: u32| {
                    let count = (bits / 32 / if letter == "g" { 2 } else { 1 }).clamp(1, 64);
                    let names: Vec<String> = (0..count).map(|i| format!("{letter}{i}")).collect();
                    format!("{{{}}}", names.join(", "))
                };
                let (a, b) = (m * k * element.bits() / 32, n * k * element.bits() / 32);
                let d = list(letter, m * n * bits / 32);
                let body = format!(
                    "mma.sync.aligned.m{m}n{n}k{k}.row.col.{types} {d}, {}, {}, {d};",
                    list(operand, a),
                    list(operand, b)
                );
                let legal = mma_sync::shapes(target, element).contains(&(m, n, k));
                questions.push(Question::new(target, format!("m{m}n{n}k{k} {element}"), "", &body, legal));
            }
        }
        questions
    });
}
