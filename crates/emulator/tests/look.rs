//! Looking closer (E102, E104): watches, breaks, registers at findings, and what would reach what was not reached.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use warploom_chips::Target;
use warploom_emulator::{
    Arg, Break, Device, EmulatorRefusal, Launch, Look, Module, Policy, Race, Report, RunOptions, SightKind,
    Watch,
};

/// Warp w adds w to 32 words in shared memory in turn, n times, with a barrier between; the last turn goes to `out`.
const KERNEL: &str = "\
.version 8.0
.target sm_80
.address_size 64
.file 1 \"turns.cu\"
.visible .entry turns(.param .u64 out, .param .u32 n)
.reqntid 64
{
    .reg .pred %p<4>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<4>;
    .shared .align 16 .b8 words[128];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    and.b32 %r3, %r2, 31;
    shr.u32 %r4, %r2, 5;
    mov.b32 %r5, words;
    mad.lo.u32 %r6, %r3, 4, %r5;
    setp.ne.u32 %p1, %r4, 0;
    .loc 1 10 3
    @!%p1 st.shared.u32 [%r6], %r3;
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra $end;
$turn:
    .loc 1 12 5
    bar.sync 0;
    @%p1 ld.shared.u32 %r7, [%r6];
    .loc 1 13 5
    @%p1 add.u32 %r7, %r7, %r4;
    @%p1 st.shared.u32 [%r6], %r7;
    sub.u32 %r1, %r1, 1;
    setp.gt.u32 %p3, %r1, 0;
    @%p3 bra $turn;
$end:
    .loc 1 15 1
    @!%p1 ret;
    mad.wide.u32 %rd2, %r3, 4, %rd1;
    ld.shared.u32 %r8, [%r6];
    st.global.u32 [%rd2], %r8;
    ret;
}
";

/// The line of the kernel that holds this text.
fn line(text: &str) -> u32 {
    1 + KERNEL.lines().position(|l| l.contains(text)).unwrap() as u32
}

fn run(kernel: &str, n: u32, options: RunOptions) -> Result<Report, EmulatorRefusal> {
    let module = Module::parse(kernel).unwrap();
    let mut device = Device::new(&Target::named("sm_80").unwrap());
    let out = device.alloc(128, "out").unwrap();
    let launch =
        Launch { args: vec![Arg::Ptr(out), Arg::U32(n)], ..Launch::of(module.entry("turns").unwrap()) };
    device.run(&module, &launch, &options)
}

fn looking(look: Look) -> RunOptions {
    RunOptions::default().look(look)
}

fn watching(text: &str) -> RunOptions {
    looking(Look::default().watch(text.parse().unwrap()))
}

#[test]
fn watched_shared_memory_is_told_with_its_values() {
    let report = run(KERNEL, 2, watching("shared[8..12]")).unwrap();
    assert!(report.clean(), "{report}");
    let seen: Vec<(SightKind, &str, u32)> = report
        .seen
        .iter()
        .map(|s| (s.kind.clone(), s.memory.as_ref().unwrap().holds.as_str(), s.place.line))
        .collect();
    let (first, load, store, last) =
        (line("st.shared.u32 [%r6], %r3"), line("%r7, [%r6]"), line("[%r6], %r7"), line("%r8, [%r6]"));
    assert_eq!(
        seen,
        [
            (SightKind::Write, "02 00 00 00", first),
            (SightKind::Read, "02 00 00 00", load),
            (SightKind::Write, "03 00 00 00", store),
            (SightKind::Read, "03 00 00 00", load),
            (SightKind::Write, "04 00 00 00", store),
            (SightKind::Read, "04 00 00 00", last),
        ]
    );
    // Lane 2 alone touches these bytes.
    assert!(report.seen.iter().all(|s| s.place.actor.ends_with("lanes 2")), "{:?}", report.seen);
    assert_eq!(report.seen[2].place.source.as_deref(), Some("turns.cu:13:5"));
}

#[test]
fn watched_buffers_are_told_by_name_and_range() {
    let report = run(KERNEL, 1, watching("out[4..20]")).unwrap();
    let [sight] = report.seen.as_slice() else { panic!("{:?}", report.seen) };
    let memory = sight.memory.as_ref().unwrap();
    assert_eq!((memory.start, memory.end, memory.name.as_deref()), (4, 20, Some("out")));
    assert_eq!(memory.holds, "02 00 00 00 03 00 00 00 04 00 00 00 05 00 00 00");
    assert!(sight.place.actor.contains("lanes 1-4"));
    assert!(run(KERNEL, 1, watching("out")).unwrap().seen.len() == 1);
}

#[test]
fn a_break_tells_what_the_registers_hold_before_the_instruction() {
    let place: Break = format!("{}@2", line("[%r6], %r7")).parse().unwrap();
    let report = run(KERNEL, 3, looking(Look::default().break_at(place))).unwrap();
    // Both warps come there; the guard lets the second one through.
    assert_eq!(report.seen.len(), 2);
    let second = report.seen.iter().find(|s| s.place.actor.starts_with("warp 1")).unwrap();
    let of = |name: &str| second.registers.iter().find(|v| v.name == name).unwrap().lanes.clone();
    assert_eq!(second.place.visit, 2);
    assert_eq!(of("%r7"), (0..32).map(|l| Some(l + 2)).collect::<Vec<Option<u64>>>());
    assert_eq!(of("%p1"), [Some(1); 32]);
    let first = report.seen.iter().find(|s| s.place.actor.starts_with("warp 0")).unwrap();
    assert!(first.to_string().contains("%r7 undefined"), "{first}");
}

#[test]
fn a_break_in_the_source_stops_at_the_first_instruction_of_its_stretch() {
    let place: Break = "kernels/turns.cu:13".parse().unwrap();
    let report = run(KERNEL, 1, looking(Look::default().break_at(place).state(true))).unwrap();
    assert!(report.seen.iter().all(|s| s.place.line == line("add.u32 %r7")));
    assert_eq!(report.seen.len(), 2);
    let names: Vec<&str> = report.seen[0].registers.iter().map(|v| v.name.as_str()).collect();
    assert!(names.contains(&"%rd1") && names.contains(&"%p1") && !names.contains(&"%r8"), "{names:?}");
}

#[test]
fn a_finding_tells_values_and_the_whole_state_where_that_is_asked_for() {
    let racing = KERNEL.replace("bar.sync 0;", "");
    for state in [false, true] {
        let report = run(&racing, 1, looking(Look::default().state(state))).unwrap();
        let race = report.errors().find(|f| f.code == "R01").unwrap();
        let names: Vec<String> = race.registers.iter().map(ToString::to_string).collect();
        assert!(names.contains(&"%r6 = 0, 4 .. 124".to_owned()), "{names:?}");
        assert!(race.extent.as_ref().unwrap().holds.len() >= 11, "{race}");
        assert!(race.to_string().contains("\n  with: "), "{race}");
        let told = report.seen.iter().filter(|s| s.kind == SightKind::Finding("R01".into())).count();
        assert_eq!(told > 0, state);
    }
}

#[test]
fn a_deadlock_tells_the_registers_of_who_waits() {
    let stuck = KERNEL.replace("bar.sync 0;", "@%p1 bar.sync 1, 64;\n@!%p1 bar.sync 2, 64;");
    let report = run(&stuck, 1, looking(Look::default().state(true))).unwrap();
    assert!(report.has("D01"), "{report}");
    assert!(
        report.seen.iter().any(|s| s.kind == SightKind::Finding("D01".into()) && !s.registers.is_empty())
    );
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    let wrong = |options: RunOptions| run(KERNEL, 1, options).unwrap_err().to_string();
    assert!(wrong(watching("in")).contains("shared, tmem, out"));
    assert!(wrong(watching("out[120..132]")).contains("128 bytes"));
    assert!(
        wrong(looking(Look::default().break_at("1".parse().unwrap())))
            .contains(&format!("line {} has", line("ld.param.u64 %rd1")))
    );
    assert!(wrong(looking(Look::default().break_at("other.cu:3".parse().unwrap()))).contains(".file"));
    assert!(wrong(watching("out").race(Race::Off)).contains("happens-before"));
    for bad in ["", "out[", "out[3..3]", "[1..2]", "out[a]"] {
        assert!(bad.parse::<Watch>().is_err(), "{bad}");
    }
    for bad in ["", "0", "x", "k.cu:", "3@0"] {
        assert!(bad.parse::<Break>().is_err(), "{bad}");
    }
}

#[test]
fn sights_are_the_same_every_time_and_bounded() {
    let look = Look::default().watch("shared".parse().unwrap()).most(5);
    let one = || run(KERNEL, 9, looking(look.clone()).policy(Policy::Random(3))).unwrap();
    assert_eq!(one().seen.len(), 5);
    assert_eq!(one(), one());
    assert!(run(KERNEL, 9, RunOptions::default()).unwrap().seen.is_empty());
}

#[test]
fn a_barrier_that_never_ran_says_what_decides() {
    let report = run(KERNEL, 0, RunOptions::default()).unwrap();
    assert_eq!(report.coverage.never, [line("bar.sync 0")]);
    let [hint] = report.coverage.hints.as_slice() else { panic!("{:?}", report.coverage) };
    assert_eq!((hint.line, hint.branch), (line("bar.sync 0"), line("@%p2 bra")));
    assert_eq!(hint.depends, ["n = 0 (parameter 1)"]);
    assert!(run(KERNEL, 1, RunOptions::default()).unwrap().coverage.hints.is_empty());
}

#[test]
fn runs_together_reach_what_one_of_them_reached() {
    let never = run(KERNEL, 0, RunOptions::default()).unwrap().coverage;
    let whole = run(KERNEL, 1, RunOptions::default()).unwrap().coverage;
    let (mut one, mut other) = (never.clone(), whole.clone());
    one.join(&whole);
    other.join(&never);
    assert_eq!((one.reached(), other.reached()), (whole.instructions, whole.instructions));
    assert!(one.hints.is_empty());
}
