//! Kernels that one agent runs: the program's text, what the checker finds in broken ones, refusals.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeSet;

use warploom_ir::Module;
use warploom_ir::diag::Code;
use warploom_pipeline::check::{self, Effort, Rule};
use warploom_pipeline::fuzzing::Kernel;
use warploom_pipeline::single::{self, Layout, Single};
use warploom_pipeline::{Options, Resumed, resume};
use warploom_target::Target;

fn compile(name: &str, chip: &str, options: &Options) -> Option<Single> {
    let text = common::reference_kernel(name)?;
    let module = warploom_ir::parse(&text).unwrap();
    let target = Target::named(chip).unwrap();
    assert!(single::applies(&module, &target, None));
    Some(single::compile(&module, &target, options).unwrap_or_else(|e| panic!("{name}: {}", e[0])))
}

fn checked() -> Options {
    let mut options = Options::default();
    options.check = true;
    options
}

#[test]
fn the_pointer_gemm_copies_ahead() {
    let Some(gemm) = compile("gemm_pointers", "sm_80", &checked()) else { return };
    assert_eq!(gemm.shape.layout, Layout::MmaSync { m: 2, n: 2 });
    assert_eq!((gemm.shape.warps, gemm.loops.len()), (4, 1));
    let ahead = &gemm.loops[0];
    assert!(ahead.answer.optimal && ahead.depth == ahead.law && ahead.depth >= 2);
    let text = warploom_ir::print(&gemm.program);
    let copies = text.matches("warploom.async_copy").count() as u64;
    assert_eq!(copies, 2 * ahead.depth, "two copies for each iteration ahead, two in the loop");
    // The same text again from the program form.
    let target = Target::named("sm_80").unwrap();
    let again = warploom_ir::parse(&text).unwrap();
    assert!(matches!(resume(&again, &target, &checked()), Ok(Resumed::Program(_))));
    assert!(single::explain(&gemm).contains("iterations ahead"));
    for form in [&gemm.scheduled, &gemm.assigned] {
        let back = warploom_ir::parse(&warploom_ir::print(form)).unwrap();
        assert!(warploom_ir::verify(&back).is_empty());
    }
}

#[test]
fn depths_as_asked_and_as_they_fit() {
    for depth in [2, 3, 4, 6] {
        let mut options = checked();
        options.depth = Some(depth);
        let Some(gemm) = compile("gemm_pointers", "sm_86", &options) else { return };
        assert_eq!(gemm.loops[0].depth, depth);
    }
    let mut options = checked();
    options.smem_limit = Some(40 << 10);
    let Some(gemm) = compile("gemm_pointers", "sm_80", &options) else { return };
    assert_eq!(gemm.loops[0].depth, 2);
    let text = common::reference_kernel("gemm_pointers").unwrap();
    let module = warploom_ir::parse(&text).unwrap();
    let target = Target::named("sm_80").unwrap();
    // One slot of each tile: nothing runs ahead, and that is told, with what would.
    options.smem_limit = Some(20 << 10);
    let gemm = single::compile(&module, &target, &options).unwrap_or_else(|e| panic!("{}", e[0]));
    assert_eq!((gemm.loops[0].depth, gemm.loops[0].late.as_ref().map(BTreeSet::len)), (1, Some(2)));
    let told = gemm.remarks.iter().find(|r| r.rule == Some("C24")).expect("no remark");
    assert!(told.to_string().contains("two slots of 8192 B"), "{told}");
    assert!(single::explain(&gemm).contains("nothing runs ahead"));
    options.smem_limit = Some(12 << 10);
    let refused = single::compile(&module, &target, &options).unwrap_err();
    assert!(refused[0].to_string().contains("fits: a loop that loads 1/2 of it in a trip"), "{}", refused[0]);
    assert_eq!((refused[0].code.name(), refused[0].rule), ("capacity", Some("C92")));
    options.depth = Some(1);
    let refused = single::compile(&module, &target, &options).unwrap_err();
    assert_eq!(refused[0].rule, Some("C24"));
}

/// What the checker finds in a program whose text was changed.
fn found(text: &str, from: &str, to: &str) -> Vec<Rule> {
    found_on("sm_80", text, from, to)
}

fn found_on(chip: &str, text: &str, from: &str, to: &str) -> Vec<Rule> {
    assert!(text.contains(from), "{from}");
    let module: Module = warploom_ir::parse(&text.replacen(from, to, 1)).unwrap();
    let target = Target::named(chip).unwrap();
    match check::program(&module, &target, Effort::Quick) {
        Ok(()) => Vec::new(),
        Err(list) => list.into_iter().map(|v| v.rule).collect(),
    }
}

#[test]
fn the_checker_finds_broken_groups() {
    let mut options = checked();
    options.depth = Some(3);
    let Some(gemm) = compile("gemm_pointers", "sm_80", &options) else { return };
    let text = warploom_ir::print(&gemm.program);
    let pending = "warploom.async_wait {pending = 1 : i32}";
    // Waits for too little; waits for enough, only later than need be.
    assert!(found(&text, pending, "warploom.async_wait {pending = 2 : i32}").contains(&Rule::Read));
    assert!(found(&text, pending, "warploom.async_wait {pending = 0 : i32}").is_empty());
    // Nobody waits for the others.
    let barrier = format!("{pending}\n        warploom.barrier_sync @all");
    assert!(found(&text, &barrier, pending).contains(&Rule::Read));
    // A group less, so that each wait covers another copy.
    assert!(found(&text, "warploom.async_commit\n", "\n").contains(&Rule::Read));
    // Copies left under way.
    let last = "warploom.async_wait {pending = 0 : i32}";
    assert!(found(&text, last, "").contains(&Rule::Drain));
    // One slot less than the copies run ahead.
    assert!(
        found(&text, "depth = 3 : i32", "depth = 2 : i32")
            .iter()
            .any(|r| matches!(r, Rule::Form | Rule::Read))
    );
    // A ring of groups has no barriers.
    assert!(found(&text, "full = -1 : i32", "full = 0 : i32").contains(&Rule::Form));
    // Another handshake than its copies.
    assert!(!found(&text, "handshake = \"cp_async\"", "handshake = \"none\"").is_empty());
    // A barrier for fewer warps than come.
    assert!(found(&text, "threads = 128 : i32", "threads = 96 : i32").contains(&Rule::NamedBarrier));
}

#[test]
fn products_of_copied_tiles_are_asynchronous_where_the_chip_has_them() {
    for (depth, pending) in [(2, 0), (3, 1), (5, 1)] {
        let mut options = checked();
        options.depth = Some(depth);
        let Some(gemm) = compile("gemm_pointers", "sm_90a", &options) else { return };
        assert_eq!((gemm.shape.layout, gemm.shape.warps), (Layout::Wgmma, 8));
        assert_eq!((gemm.loops[0].depth, gemm.loops[0].pipelined.pending), (depth, pending));
        assert_eq!(gemm.synchronous, None);
    }
    // Without room for a third slot no product is left unfinished.
    let mut options = checked();
    options.smem_limit = Some(40 << 10);
    let Some(gemm) = compile("gemm_pointers", "sm_90a", &options) else { return };
    assert_eq!((gemm.loops[0].depth, gemm.loops[0].pipelined.pending), (2, 0));
    // Two products of which each is read in its trip.
    let attention = compile("attention.sm80", "sm_90a", &checked()).unwrap();
    assert_eq!((attention.shape.layout, attention.loops[0].pipelined.pending), (Layout::Wgmma, 0));
}

#[test]
fn factors_that_wgmma_does_not_read_are_multiplied_synchronously() {
    let Some(text) = common::reference_kernel("gemm_pointers") else { return };
    // B is K by N, and 8-bit factors of wgmma must have K inside.
    let module = warploom_ir::parse(&text.replace("f16", "f8E5M2")).unwrap();
    let target = Target::named("sm_90a").unwrap();
    let made = single::compile(&module, &target, &checked()).unwrap_or_else(|e| panic!("{}", e[0]));
    assert!(matches!(made.shape.layout, Layout::MmaSync { .. }));
    assert!(made.synchronous.unwrap().contains("operand b"));
}

#[test]
fn the_checker_finds_broken_asynchronous_products_of_one_agent() {
    let mut options = checked();
    options.depth = Some(3);
    let Some(gemm) = compile("gemm_pointers", "sm_90a", &options) else { return };
    let text = warploom_ir::print(&gemm.program);
    let found = |from: &str, to: &str| found_on("sm_90a", &text, from, to);
    let meeting = "warploom.proxy_fence\n        warploom.barrier_sync @all";
    assert!(found(meeting, meeting).is_empty());
    // Copies that the asynchronous proxy does not know of, and a fence behind the meeting.
    assert!(found(meeting, "warploom.barrier_sync @all").contains(&Rule::Fence));
    let late = "warploom.barrier_sync @all\n        warploom.proxy_fence";
    assert!(found(meeting, late).contains(&Rule::Fence));
    // Slots filled while a product of the trip before reads them, or one of another warp.
    let wait = "{pending = 1 : i32} : tensor";
    assert!(found(wait, "{pending = 2 : i32} : tensor").contains(&Rule::Overwrite));
    assert!(found(wait, "{pending = 0 : i32} : tensor").is_empty());
    assert!(!found(meeting, "warploom.proxy_fence").is_empty());
    // The sum read before it is there.
    assert!(
        found("{pending = 0 : i32} : tensor", "{pending = 1 : i32} : tensor").contains(&Rule::Unfinished)
    );
}

#[test]
fn what_has_no_code_is_refused_with_its_remedy() {
    let refused = |text: &str, chip: &str| {
        let module = warploom_ir::parse(text).unwrap();
        let target = Target::named(chip).unwrap();
        resume(&module, &target, &checked()).map(|_| ()).unwrap_err().remove(0)
    };
    let Some(gather) = common::reference_kernel("gather_rows") else { return };
    let error = refused(&gather, "sm_80");
    assert_eq!((error.code.name(), error.rule), ("target", Some("C3")));
    let scaled = common::reference_kernel("scaled").unwrap();
    let error = refused(&scaled.replace("lhs = e4m3", "lhs = e2m3"), "sm_86");
    assert_eq!((error.code.name(), error.message.as_str()), ("op", "tt.dot_scaled of e2m3 is not supported"));
}

/// What a text of a later form becomes, or its refusals.
fn again(text: &str, chip: &str) -> Result<Resumed, Vec<warploom_ir::diag::Diagnostic>> {
    resume(&warploom_ir::parse(text).unwrap(), &Target::named(chip).unwrap(), &checked())
}

/// A text without the names of block arguments: what had none gets one when it is read.
fn with_plain_names(text: &str) -> String {
    let digits = |c: char| c.is_ascii_digit() || c == '_';
    text.split("%arg").map(|part| part.trim_start_matches(digits)).collect::<Vec<_>>().join("%arg")
}

/// Every form reads back, prints as it was read and ends in the same program.
#[test]
fn the_scheduled_and_assigned_forms_are_resumed() {
    let kernels = [
        ("gemm_pointers", "sm_80"),
        ("gemm_pointers", "sm_90a"),
        ("gemm_device_descriptors", "sm_100a"),
        ("gemm_bf16", "sm_80"),
        ("attention", "sm_80"),
        ("attention", "sm_86"),
        ("attention_causal", "sm_80"),
        ("softmax_online", "sm_80"),
        ("layernorm", "sm_90a"),
        ("while_loop", "sm_80"),
        ("softmax", "sm_90a"),
        ("scaled", "sm_100a"),
        ("gemm_fp8", "sm_80"),
    ];
    for (name, chip) in kernels {
        let Some(made) = compile(name, chip, &checked()) else { return };
        let program = with_plain_names(&warploom_ir::print(&made.program));
        let (scheduled, assigned) = (warploom_ir::print(&made.scheduled), warploom_ir::print(&made.assigned));
        for text in [&scheduled, &assigned] {
            let resumed = again(text, chip).unwrap_or_else(|e| panic!("{name} on {chip}: {}", e[0]));
            let again = with_plain_names(&warploom_ir::print(resumed.program()));
            assert!(again == program, "{name} on {chip}");
            let form = if text == &scheduled { resumed.scheduled() } else { resumed.assigned() };
            assert!(&warploom_ir::print(form.unwrap()) == text, "{name} on {chip}");
        }
    }
}

/// Edited forms: what is right is kept, what is broken is refused by its rule.
#[test]
fn edited_forms_are_kept_or_refused_by_their_rule() {
    let Some(gemm) = compile("gemm_pointers", "sm_80", &checked()) else { return };
    let (scheduled, assigned) = (warploom_ir::print(&gemm.scheduled), warploom_ir::print(&gemm.assigned));
    let edited = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "no `{from}` in\n{text}");
        text.replacen(from, to, 1)
    };
    let rules = |text: &str| {
        let refused = again(text, "sm_80").map(|_| ()).unwrap_err();
        refused.iter().filter_map(|r| r.rule).collect::<Vec<_>>()
    };
    let ii = gemm.loops[0].answer.ii;
    let short = edited(&scheduled, &format!("warploom.ii = {ii} "), &format!("warploom.ii = {} ", ii / 2));
    assert!(rules(&short).iter().any(|r| ["S73", "S74"].contains(r)), "{:?}", rules(&short));
    assert_eq!(rules(&edited(&scheduled, "\"main\"", "\"load\"")), ["S62"]);
    let bare: String =
        scheduled.lines().map(|l| l.split(" {warploom.cycle").next().unwrap().to_owned() + "\n").collect();
    if warploom_ir::parse(&bare).is_ok() {
        assert!(rules(&bare).contains(&"S72"));
    }
    // One slot more of a ring is kept, where the bytes behind it are free.
    let record = &gemm.buffers.as_ref().unwrap().1.records;
    let (last, depth) = (record.iter().max_by_key(|r| r.offset).unwrap(), gemm.loops[0].depth);
    let line = assigned.lines().find(|l| l.contains(&format!("name = \"{}\"", last.name))).unwrap();
    let moved = line.replace(
        &format!("offset = {} ", last.offset.unwrap()),
        &format!("offset = {} ", last.offset.unwrap() + 1024),
    );
    assert_ne!(line, moved);
    let kept = again(&assigned.replace(line, &moved), "sm_80").unwrap();
    assert!(warploom_ir::print(kept.program()).contains(&format!("{}", last.offset.unwrap() + 1024)));
    let shallow = line.replace(&format!("depth = {depth} "), &format!("depth = {} ", depth - 1));
    assert!(rules(&assigned.replace(line, &shallow)).contains(&"B17"));
    let askew = line.replace(
        &format!("offset = {} ", last.offset.unwrap()),
        &format!("offset = {} ", last.offset.unwrap() + 8),
    );
    assert!(rules(&assigned.replace(line, &askew)).contains(&"B37"));
}

/// Without TMA a descriptor is pointer, extents and strides (C17); the factor loaded in front of the loop is copied
/// once, and where two slots of K and of V have no room, one of each is filled while the other is read.
#[test]
fn attention_in_one_agent_takes_slots_in_turns_where_memory_is_short() {
    let Some(wide) = compile("attention", "sm_80", &checked()) else { return };
    assert_eq!((wide.shape.layout, wide.staged.len()), (Layout::MmaSync { m: 8, n: 1 }, 1));
    assert!(wide.loops[0].late.is_none() && wide.loops[0].depth == 2);
    let narrow = compile("attention", "sm_86", &checked()).unwrap();
    assert_eq!((narrow.loops[0].depth, narrow.loops[0].late.as_ref().map(|l| l.len())), (1, Some(1)));
    let text = warploom_ir::print(&narrow.program);
    assert!(!text.contains("tensordesc") && text.contains("@p0_late"));
    let report = single::explain(&narrow);
    assert!(report.contains("in turns") && report.contains("staged tiles"), "{report}");
    // In front of the early tiles, and of the late ones: what is not waited for is not there.
    let waits: Vec<usize> = text.match_indices("pending = 0 : i32").map(|(at, _)| at).collect();
    assert_eq!(waits.len(), 4, "the staged tile, twice in the loop, the drain");
    for &at in &waits[1..3] {
        let (front, rest) = text.split_at(at);
        let module: Module = warploom_ir::parse(&format!("{front}{}", rest.replacen('0', "1", 1))).unwrap();
        let target = Target::named("sm_86").unwrap();
        let list = check::program(&module, &target, Effort::Quick).unwrap_err();
        assert!(list.iter().any(|v| v.rule == Rule::Read), "{list:?}");
    }
}

/// A kernel whose tiles come through pointers runs on every chip, also on those with faster products.
#[test]
fn products_through_pointers_run_on_every_chip() {
    for chip in ["sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a"] {
        let Some(gemm) = compile("gemm_pointers", chip, &checked()) else { return };
        let asynchronous = gemm.shape.layout == Layout::Wgmma;
        assert_eq!(asynchronous, chip == "sm_90a", "{chip}");
        let made = compile("gemm_device_descriptors", chip, &checked()).unwrap();
        assert!(made.loops[0].depth >= 2, "{chip}");
    }
}

/// Loops that count otherwise are followed too: each trip copies, meets and multiplies.
#[test]
fn a_while_loop_copies_in_each_trip() {
    let Some(kernel) = compile("while_loop", "sm_80", &checked()) else { return };
    assert!(kernel.loops.is_empty() && kernel.staged.len() == 1 && kernel.staged[0].again);
    let text = warploom_ir::print(&kernel.program);
    assert_eq!(found(&text, "pending = 0 : i32", "pending = 0 : i32"), []);
    assert!(found(&text, "pending = 0 : i32", "pending = 1 : i32").contains(&Rule::Read));
}

/// What is written is read again by other lanes: all meet in between. Kernels that only write what they do not read, or
/// through other arguments, are left alone.
#[test]
fn accesses_behind_a_write_through_the_same_argument_wait_for_everybody() {
    let Some(kernel) = compile("reductions", "sm_80", &checked()) else { return };
    let text = warploom_ir::print(&kernel.program);
    assert_eq!(text.matches("warploom.barrier_sync").count(), 2, "one in front of each atomic operation");
    let plain = compile("softmax", "sm_80", &checked()).unwrap();
    assert!(!warploom_ir::print(&plain.program).contains("warploom.barrier_sync"));
}

/// Where no loop copies tiles ahead, or slots and results have no room, a chip with TMA is passed pointers; the launch
/// differs then, and the remark says how (C17).
#[test]
fn descriptors_that_tma_does_not_move_are_pointers_and_the_launch_says_so() {
    for (name, chip, why) in [
        ("call", "sm_90a", "ahead of their use"),
        ("gather_rows", "sm_100a", "tt.descriptor_gather"),
        ("attention_causal", "sm_120a", "of 101376 B"),
    ] {
        let Some(kernel) = compile(name, chip, &checked()) else { return };
        let text = warploom_ir::print(&kernel.program);
        assert!(!text.contains("tensordesc") && text.contains("warploom.descriptors = []"), "{name}");
        let told: Vec<_> = kernel.remarks.iter().filter(|r| r.rule == Some("C17")).collect();
        let [one] = told.as_slice() else { panic!("{name}: {told:?}") };
        assert!(one.notes[0].1.contains(why), "{name}: {one}");
        assert!(one.notes[1].1.contains("tensordesc_meta is empty"), "{name}: {one}");
        assert!(single::explain(&kernel).contains("masked accesses, not by TMA"), "{name}");
    }
    // Where there is no TMA, there is nothing to tell.
    let Some(kernel) = compile("softmax_online", "sm_80", &checked()) else { return };
    assert!(kernel.remarks.iter().all(|r| r.rule != Some("C17")));
}

/// Where the chip has TMA, one lane copies the tiles that a loop loads ahead, and stores what comes out of it (C24).
#[test]
fn tma_moves_the_tiles_of_one_agent() {
    for (name, chip) in [
        ("gemm_bf16", "sm_120a"),
        ("gemm_persistent", "sm_120a"),
        ("attention", "sm_120a"),
        ("attention_64", "sm_120a"),
        ("attention_ragged", "sm_120a"),
        ("softmax_online", "sm_90a"),
        ("layernorm_rows", "sm_100a"),
    ] {
        let Some(kernel) = compile(name, chip, &checked()) else { return };
        assert!(kernel.loops.iter().all(|l| l.by_engine()), "{name}");
        assert!(kernel.remarks.iter().all(|r| r.rule != Some("C17")), "{name}");
        let text = warploom_ir::print(&kernel.program);
        assert!(text.contains("\"tma_to_generic\"") && text.contains("block_size"), "{name}");
        assert_eq!(text.contains("warploom.tma_store"), name != "attention_ragged", "rows of its own length");
        assert!(!text.contains("async_copy") && !text.contains("tt.descriptor_"), "{name}");
        assert!(single::explain(&kernel).contains("TMA in one agent"), "{name}");
        let (problem, _) = kernel.buffers.as_ref().unwrap();
        assert_eq!(problem.agents.len(), 2, "{name}: the lane that copies hands over like another agent");
        let target = Target::named(chip).unwrap();
        let again = warploom_ir::parse(&text).unwrap();
        assert!(matches!(resume(&again, &target, &checked()), Ok(Resumed::Program(_))), "{name}");
    }
}

/// Where two slots of K and of V have no room, each has one, with barriers of its own; either is given back as soon as it
/// has been read, and asked for again behind that.
#[test]
fn slots_of_tma_take_turns_where_memory_is_short() {
    let Some(kernel) = compile("attention", "sm_120a", &checked()) else { return };
    assert_eq!((kernel.loops[0].depth, kernel.loops[0].late.as_ref().map(|l| l.len())), (1, Some(1)));
    let text = warploom_ir::print(&kernel.program);
    assert!(single::explain(&kernel).contains("in turns"));
    let found = |from: &str, to: &str| found_on("sm_120a", &text, from, to);
    for ring in ["p0", "p0_late"] {
        let release = text.lines().find(|l| l.contains(&format!("consumer_release @{ring}["))).unwrap();
        assert!(!found(release, "").is_empty(), "{ring}");
        let wait = text.lines().find(|l| l.contains(&format!("consumer_wait @{ring}["))).unwrap();
        assert!(!found(wait, "").is_empty(), "{ring}");
    }
    // The early tile of the next trip is asked for in front of the one read last.
    let (first, last) =
        (text.find("consumer_release @p0[").unwrap(), text.find("consumer_release @p0_late[").unwrap());
    let next = first + text[first..].find("producer_acquire @p0[").unwrap();
    assert!(first < next && next < last);
}

#[test]
fn the_checker_finds_broken_slots_of_tma_in_one_agent() {
    let Some(gemm) = compile("gemm_bf16_64", "sm_120a", &checked()) else { return };
    let text = warploom_ir::print(&gemm.program);
    let line = |wanted: &str, number: usize| {
        let mut lines = text.lines().filter(|l| l.contains(wanted));
        format!("{}\n", lines.nth(number).unwrap_or_else(|| panic!("{wanted}")))
    };
    let broken = |gone: &str| found_on("sm_120a", &text, gone, "");
    let steady = text.matches("warploom.producer_acquire").count() - 1;
    assert!(!broken(&line("warploom.consumer_wait", 0)).is_empty());
    assert!(!broken(&line("warploom.consumer_release", 0)).is_empty());
    let acquire = line("warploom.producer_acquire", steady);
    let at = text.rfind(&acquire).unwrap();
    let without = format!("{}{}", &text[..at], &text[at + acquire.len()..]);
    assert!(!found_on("sm_120a", &without, "module", "module").is_empty());
    // Results lie over the slots: all meet in front of the first one written, and behind it.
    assert!(!broken(&line("warploom.barrier_sync", 0)).is_empty());
    assert!(!broken(&line("warploom.barrier_sync", 1)).is_empty());
    assert!(!broken(&line("warploom.proxy_fence", 2)).is_empty(), "between the write and the copy");
    assert!(!broken(&line("warploom.store_wait", 0)).is_empty());
}

/// What agents of their own have no code for, one agent runs; the remark names the form refused and why.
#[test]
fn one_agent_takes_over_where_agents_of_their_own_have_no_code() {
    for (name, chip, why) in [
        ("while_loop", "sm_90a", "no scf.for"),
        ("while_loop", "sm_100a", "no scf.for"),
        ("if_in_loop", "sm_100a", "neither zero nor what its loop carries"),
    ] {
        let Some(text) = common::reference_kernel(name) else { return };
        let module = warploom_ir::parse(&text).unwrap();
        let target = Target::named(chip).unwrap();
        assert!(!single::applies(&module, &target, None));
        let resumed = resume(&module, &target, &checked()).unwrap();
        assert!(matches!(resumed, Resumed::Single(_)), "{name} on {chip}");
        let first = &resumed.remarks()[0];
        assert!(first.message.contains("were refused") && first.message.contains(why), "{first}");
        assert!(first.offset.is_some() && !first.notes.is_empty(), "{first}");
        assert!(resumed.explain().unwrap().contains(why));
    }
}

/// What is broken, asks for a precision or for more than there is stays refused, in the words of the form asked for.
#[test]
fn one_agent_takes_over_nothing_that_is_wrong() {
    let target = Target::named("sm_90a").unwrap();
    let refused = |text: &str, options: &Options| {
        resume(&common::parse(text), &target, options).map(|_| ()).unwrap_err().remove(0)
    };
    let wide = Kernel { extents: [256, 256, 64], ..Kernel::default() }.text();
    assert_eq!(refused(&wide, &checked()).code, Code::Registers);
    let narrow = Kernel { extents: [128, 4, 64], ..Kernel::default() }.text();
    assert_eq!(refused(&narrow, &checked()).code, Code::Desc);
    let exact = Kernel { input: "f32", extents: [128, 128, 32], ..Kernel::default() }.text();
    let exact = exact.replace(", inputPrecision = tf32", "");
    assert_eq!(refused(&exact, &checked()).code, Code::Precision);
    let mut options = checked();
    options.smem_limit = Some(10_000);
    assert_eq!(refused(&Kernel::default().text(), &options).code, Code::Capacity);
    // The author's places are for agents of their own.
    let Some(turned) = common::reference_kernel("while_loop") else { return };
    assert!(resume(&common::parse(&turned), &target, &checked()).is_ok());
    let at = turned.find("tt.descriptor_load").unwrap();
    let (head, tail) = turned.split_at(at + turned[at..].find(" : ").unwrap());
    let bound = format!("{head} {{warploom.buffer = \"a\"}}{tail}");
    assert!(refused(&bound, &checked()).message.contains("no scf.for"));
}
