//! Kernels that one partition runs and whose tiles TMA moves, or may not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{broken_by, checked, one_partition};
use warploom_chips::Target;
use warploom_ir::diag::Code;
use warploom_pipeline::{CompileOptions, Partitions, Resumed, explain, resume};
use warploom_testing::pipeline::Kernel;

/// Where no loop has pipelined loads, or slots and results have no room, a chip with TMA is passed pointers; the launch
/// differs then, and the remark says how (C17).
#[test]
fn descriptors_that_tma_does_not_move_are_pointers_and_the_launch_says_so() {
    for (name, chip, why) in [
        ("call", "sm_90a", "pipelined loads by descriptor"),
        ("gather_rows", "sm_100a", "tt.descriptor_gather"),
        ("attention_causal", "sm_120a", "of 101376 B"),
    ] {
        let kernel = one_partition(name, chip, &checked());
        let text = warploom_ir::print(&kernel.program);
        assert!(!text.contains("tensordesc") && text.contains("warploom.descriptors = []"), "{name}");
        let told: Vec<_> = kernel.remarks.iter().filter(|r| r.rule == Some("C17")).collect();
        let [one] = told.as_slice() else { panic!("{name}: {told:?}") };
        assert!(one.notes[0].1.contains(why), "{name}: {one}");
        assert!(one.notes[1].1.contains("tensordesc_meta is empty"), "{name}: {one}");
        assert!(explain(&kernel).contains("masked accesses, not by TMA"), "{name}");
    }
    // Where there is no TMA, there is nothing to tell.
    let kernel = one_partition("softmax_online", "sm_80", &checked());
    assert!(kernel.remarks.iter().all(|r| r.rule != Some("C17")));
}

/// Where the chip has TMA, one lane brings the tiles of pipelined loads, and stores what comes out of it (C24).
#[test]
fn tma_moves_the_tiles_of_one_partition() {
    for (name, chip) in [
        ("gemm_bf16", "sm_120a"),
        ("gemm_persistent", "sm_120a"),
        ("attention", "sm_120a"),
        ("attention_64", "sm_120a"),
        ("attention_ragged", "sm_120a"),
        ("softmax_online", "sm_90a"),
        ("layernorm_rows", "sm_100a"),
    ] {
        let kernel = one_partition(name, chip, &checked());
        assert!(kernel.expanded().unwrap().loads.iter().all(|l| l.by_engine()), "{name}");
        assert!(kernel.remarks.iter().all(|r| r.rule != Some("C17")), "{name}");
        let text = warploom_ir::print(&kernel.program);
        assert!(text.contains("\"tma_to_generic\"") && text.contains("block_size"), "{name}");
        assert_eq!(text.contains("warploom.tma_store"), name != "attention_ragged", "rows of its own length");
        assert!(!text.contains("async_copy") && !text.contains("tt.descriptor_"), "{name}");
        assert!(explain(&kernel).contains("TMA in one partition"), "{name}");
        let (problem, _) = kernel.buffers.as_ref().unwrap();
        assert_eq!(
            problem.partitions.len(),
            2,
            "{name}: the lane that copies hands over like another partition"
        );
        let target = Target::named(chip).unwrap();
        let again = warploom_ir::parse(&text).unwrap();
        assert!(matches!(resume(&again, &target, &checked()), Ok(Resumed::Program(_))), "{name}");
    }
}

/// Where two slots of K and of V have no room, each has one, with barriers of its own; either is given back as soon as
/// it has been read, and asked for again behind that.
#[test]
fn slots_of_tma_take_turns_where_memory_is_short() {
    let kernel = one_partition("attention", "sm_120a", &checked());
    assert_eq!(
        (kernel.depths[0].slots, kernel.expanded().unwrap().loads[0].late.as_ref().map(|l| l.len())),
        (1, Some(1))
    );
    let text = warploom_ir::print(&kernel.program);
    assert!(explain(&kernel).contains("in turns"));
    let found = |from: &str, to: &str| broken_by("sm_120a", &text, from, to);
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
fn the_checker_finds_broken_slots_of_tma_in_one_partition() {
    let gemm = one_partition("gemm_bf16_64", "sm_120a", &checked());
    let text = warploom_ir::print(&gemm.program);
    let line = |wanted: &str, number: usize| {
        let mut lines = text.lines().filter(|l| l.contains(wanted));
        format!("{}\n", lines.nth(number).unwrap_or_else(|| panic!("{wanted}")))
    };
    let broken = |gone: &str| broken_by("sm_120a", &text, gone, "");
    let steady = text.matches("warploom.producer_acquire").count() - 1;
    assert!(!broken(&line("warploom.consumer_wait", 0)).is_empty());
    assert!(!broken(&line("warploom.consumer_release", 0)).is_empty());
    let acquire = line("warploom.producer_acquire", steady);
    let at = text.rfind(&acquire).unwrap();
    let without = format!("{}{}", &text[..at], &text[at + acquire.len()..]);
    assert!(!broken_by("sm_120a", &without, "module", "module").is_empty());
    // Results lie over the slots: all meet in front of the first one written, and behind it.
    assert!(!broken(&line("warploom.barrier_sync", 0)).is_empty());
    assert!(!broken(&line("warploom.barrier_sync", 1)).is_empty());
    assert!(!broken(&line("warploom.proxy_fence", 2)).is_empty(), "between the write and the copy");
    assert!(!broken(&line("warploom.store_wait", 0)).is_empty());
}

/// What partitions of their own have no code for, one partition runs; the remark names the form refused and why.
#[test]
fn one_partition_takes_over_where_partitions_of_their_own_have_no_code() {
    for (name, chip, why) in [
        ("while_loop", "sm_90a", "no scf.for"),
        ("while_loop", "sm_100a", "no scf.for"),
        ("if_in_loop", "sm_100a", "neither zero nor what its loop carries"),
    ] {
        let text = common::kernel(name);
        let module = warploom_ir::parse(&text).unwrap();
        let target = Target::named(chip).unwrap();
        let resumed = resume(&module, &target, &checked()).unwrap();
        let Resumed::Compiled(compiled) = &resumed else { panic!("a program") };
        assert_eq!(compiled.strategy.partitions, Partitions::One, "{name} on {chip}");
        let first = &resumed.remarks()[0];
        assert!(first.message.contains("were refused") && first.message.contains(why), "{first}");
        assert!(first.offset.is_some() && !first.notes.is_empty(), "{first}");
        assert!(resumed.explain().unwrap().contains(why));
    }
}

/// What is broken, asks for a precision or for more than there is stays refused, in the words of the form asked for.
#[test]
fn one_partition_takes_over_nothing_that_is_wrong() {
    let target = Target::named("sm_90a").unwrap();
    let refused = |text: &str, options: &CompileOptions| {
        resume(&common::parse(text), &target, options).map(|_| ()).unwrap_err()[0].clone()
    };
    let wide = Kernel { extents: [256, 256, 64], ..Kernel::default() }.text();
    assert_eq!(refused(&wide, &checked()).code, Code::Registers);
    let narrow = Kernel { extents: [128, 4, 64], ..Kernel::default() }.text();
    assert_eq!(refused(&narrow, &checked()).code, Code::Desc);
    let exact = Kernel { input: "f32", extents: [128, 128, 32], ..Kernel::default() }.text();
    let exact = exact.replace(", inputPrecision = tf32", "");
    assert!(resume(&common::parse(&exact), &target, &checked()).is_ok());
    let mut options = checked();
    options.smem_limit = Some(10_000);
    assert_eq!(refused(&Kernel::default().text(), &options).code, Code::Capacity);
    // The author's places are for partitions of their own.
    let turned = common::kernel("while_loop");
    assert!(resume(&common::parse(&turned), &target, &checked()).is_ok());
    let at = turned.find("tt.descriptor_load").unwrap();
    let (head, tail) = turned.split_at(at + turned[at..].find(" : ").unwrap());
    let bound = format!("{head} {{warploom.buffer = \"a\"}}{tail}");
    assert!(refused(&bound, &checked()).message.contains("no scf.for"));
}
