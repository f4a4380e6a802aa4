//! Kernels that one partition runs: the program's text, what the checker finds in broken ones, refusals.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{broken_by, checked, one_partition};
use std::collections::BTreeSet;

use warploom_chips::Target;
use warploom_ir::Module;
use warploom_pipeline::check::{self, Effort, Rule};
use warploom_pipeline::{RegisterLayout, Resumed, explain, resume};

#[test]
fn the_pointer_gemm_has_pipelined_loads() {
    let gemm = one_partition("gemm_pointers", "sm_80", &checked());
    assert_eq!(gemm.expanded().unwrap().shape.layout, RegisterLayout::MmaSync { m: 2, n: 2 });
    assert_eq!((gemm.expanded().unwrap().shape.warps, gemm.loops.len()), (4, 1));
    let loads = &gemm.depths[0];
    assert!(gemm.loops[0].answer.optimal && loads.slots == loads.law && loads.slots >= 2);
    let text = warploom_ir::print(&gemm.program);
    let copies = text.matches("warploom.async_copy").count() as u64;
    assert_eq!(copies, 2 * loads.slots, "two copies for each iteration ahead, two in the loop");
    // The same text again from the program form.
    let target = Target::named("sm_80").unwrap();
    let again = warploom_ir::parse(&text).unwrap();
    assert!(matches!(resume(&again, &target, &checked()), Ok(Resumed::Program(_))));
    assert!(explain(&gemm).contains("iterations ahead"));
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
        let gemm = one_partition("gemm_pointers", "sm_86", &options);
        assert_eq!(gemm.depths[0].slots, depth);
    }
    let mut options = checked();
    options.smem_limit = Some(40 << 10);
    let gemm = one_partition("gemm_pointers", "sm_80", &options);
    assert_eq!(gemm.depths[0].slots, 2);
    let text = common::kernel("gemm_pointers");
    let module = warploom_ir::parse(&text).unwrap();
    let target = Target::named("sm_80").unwrap();
    // One slot of each tile: no load is pipelined, and that is told, with what would.
    options.smem_limit = Some(20 << 10);
    let gemm = common::compile_one(&module, &target, &options).unwrap_or_else(|e| panic!("{}", e[0]));
    assert_eq!(
        (gemm.depths[0].slots, gemm.expanded().unwrap().loads[0].late.as_ref().map(BTreeSet::len)),
        (1, Some(2))
    );
    let told = gemm.remarks.iter().find(|r| r.rule == Some("C24")).expect("no remark");
    assert!(told.to_string().contains("two slots of 8192 B"), "{told}");
    assert!(explain(&gemm).contains("no load is pipelined"));
    options.smem_limit = Some(12 << 10);
    let refused = common::compile_one(&module, &target, &options).unwrap_err();
    assert!(refused[0].to_string().contains("fits: a loop that loads 1/2 of it in a trip"), "{}", refused[0]);
    assert_eq!((refused[0].code.name(), refused[0].rule), ("capacity", Some("C92")));
    options.depth = Some(1);
    let refused = common::compile_one(&module, &target, &options).unwrap_err();
    assert_eq!(refused[0].rule, Some("C24"));
}

/// What the checker finds in a program whose text was changed.
fn found(text: &str, from: &str, to: &str) -> Vec<Rule> {
    broken_by("sm_80", text, from, to)
}

#[test]
fn the_checker_finds_broken_groups() {
    let mut options = checked();
    options.depth = Some(3);
    let gemm = one_partition("gemm_pointers", "sm_80", &options);
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
    // One slot less than the loads are ahead of their use.
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

/// Pages are looked up where their tiles are copied, for trips that there are; not where the loop changes memory.
#[test]
fn pages_are_looked_up_where_their_tiles_are_copied() {
    let kernel = common::kernel("attention_paged");
    let paged = one_partition("attention_paged", "sm_90a", &checked());
    let text = warploom_ir::print(&paged.program);
    let body = text.split("scf.for").nth(1).and_then(|body| body.split("scf.yield").next()).unwrap();
    assert_eq!(body.matches("warploom.async_copy").count(), 2, "{body}");
    let lookup = body.lines().find(|l| l.contains("tt.load")).unwrap();
    assert_eq!(
        lookup.split("tt.load ").nth(1).unwrap().split(" : ").next().unwrap().split(", ").count(),
        3,
        "{lookup}"
    );
    // A store in the loop may be to the table of pages.
    let line = kernel.lines().find(|l| l.contains("%54 = arith.maxnumf")).unwrap();
    let stored = format!("      tt.store %20, %21 : !tt.ptr<i32>\n{line}");
    let module = warploom_ir::parse(&kernel.replace(line, &stored)).unwrap();
    let made = common::compile_one(&module, &Target::named("sm_90a").unwrap(), &checked());
    let made = made.unwrap_or_else(|e| panic!("{}", e[0]));
    assert!(!warploom_ir::print(&made.program).contains("async_copy @p0[%arg"), "copies in the loop");
    assert!(made.remarks.iter().any(|r| r.to_string().contains("depend on what the loop computes")));
}

/// A loop whose trips all fit the ring copies everything before it begins; groups are still waited for one by one.
#[test]
fn a_loop_that_fits_its_ring_copies_nothing() {
    for (trips, inside) in [(96, 0), (97, 2)] {
        let (bound, kernel) =
            (format!("%bound = arith.constant {trips} : i32"), common::kernel("gemm_pointers"));
        let kernel = kernel.replace("%28:3 = scf.for", &format!("{bound}\n    %28:3 = scf.for"));
        let module = warploom_ir::parse(&kernel.replace("to %arg5 step", "to %bound step")).unwrap();
        let mut options = checked();
        options.depth = Some(3);
        let target = Target::named("sm_80").unwrap();
        let made = common::compile_one(&module, &target, &options).unwrap_or_else(|e| panic!("{}", e[0]));
        let text = warploom_ir::print(&made.program);
        let body = text.split("scf.for").nth(1).and_then(|body| body.split("scf.yield").next()).unwrap();
        assert_eq!(body.matches("warploom.async_copy").count(), inside, "{body}");
        assert_eq!(body.matches("warploom.async_commit").count(), 1, "{body}");
        if inside == 0 {
            let pending = "warploom.async_wait {pending = 2 : i32}";
            assert!(found(&text, pending, "warploom.async_wait {pending = 3 : i32}").contains(&Rule::Read));
            assert!(found(&text, "warploom.async_commit\n", "\n").contains(&Rule::Read));
            // The second copy goes where the first one is.
            let copies: Vec<_> = text.match_indices("warploom.async_copy @p0[%").map(|(at, _)| at).collect();
            let slot = |at: usize| text[at..].split(['[', ']']).nth(1).unwrap();
            let (first, second) = (slot(copies[0]), slot(copies[2]));
            let moved = format!("async_copy @p0[{second}] {{payload = 0");
            let onto = format!("async_copy @p0[{first}] {{payload = 0");
            assert!(found(&text, &moved, &onto).contains(&Rule::Read));
        }
    }
}

#[test]
fn products_of_copied_tiles_are_asynchronous_where_the_chip_has_them() {
    for (depth, pending) in [(2, 0), (3, 1), (5, 1)] {
        let mut options = checked();
        options.depth = Some(depth);
        let gemm = one_partition("gemm_pointers", "sm_90a", &options);
        assert_eq!(
            (gemm.expanded().unwrap().shape.layout, gemm.expanded().unwrap().shape.warps),
            // One warpgroup holds the sum of 128x128, so no second one reads the operands again.
            (RegisterLayout::Wgmma { columns: 1 }, 4)
        );
        assert_eq!((gemm.depths[0].slots, gemm.loops[0].pipelined.pending), (depth, pending));
        assert_eq!(gemm.synchronous, None);
    }
    // Without room for a third slot no product is left unfinished.
    let mut options = checked();
    options.smem_limit = Some(40 << 10);
    let gemm = one_partition("gemm_pointers", "sm_90a", &options);
    assert_eq!((gemm.depths[0].slots, gemm.loops[0].pipelined.pending), (2, 0));
    // Two products of which each is read in its trip.
    let attention = one_partition("attention.sm80", "sm_90a", &checked());
    assert_eq!(
        (attention.expanded().unwrap().shape.layout, attention.loops[0].pipelined.pending),
        (RegisterLayout::Wgmma { columns: 1 }, 0)
    );
}

#[test]
fn operands_that_wgmma_does_not_read_as_they_lie_are_laid_down_again() {
    let text = common::kernel("gemm_pointers");
    // B is K by N, and 8-bit operands of wgmma must have K inside.
    let module = warploom_ir::parse(&text.replace("f16", "f8E5M2")).unwrap();
    let target = Target::named("sm_90a").unwrap();
    let made = common::compile_one(&module, &target, &checked()).unwrap_or_else(|e| panic!("{}", e[0]));
    assert_eq!(
        (made.expanded().unwrap().shape.layout, made.expanded().unwrap().stored.len()),
        (RegisterLayout::Wgmma { columns: 1 }, 1)
    );
    // A product reads what the next trip overwrites: it ends in its own.
    assert_eq!(made.loops[0].pipelined.pending, 0);
}

#[test]
fn the_checker_finds_broken_asynchronous_products_of_one_partition() {
    let mut options = checked();
    options.depth = Some(3);
    let gemm = one_partition("gemm_pointers", "sm_90a", &options);
    let text = warploom_ir::print(&gemm.program);
    let found = |from: &str, to: &str| broken_by("sm_90a", &text, from, to);
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
    // The accumulator read before it is there.
    assert!(
        found("{pending = 0 : i32} : tensor", "{pending = 1 : i32} : tensor").contains(&Rule::Unfinished)
    );
}

#[test]
fn what_has_no_code_is_refused_with_its_remedy() {
    let refused = |text: &str, chip: &str| {
        let module = warploom_ir::parse(text).unwrap();
        let target = Target::named(chip).unwrap();
        resume(&module, &target, &checked()).map(|_| ()).unwrap_err()[0].clone()
    };
    let scaled = common::kernel("scaled");
    let error = refused(&scaled.replace("lhs = e4m3", "lhs = e2m3"), "sm_86");
    assert_eq!((error.code.name(), error.message.as_str()), ("op", "tt.dot_scaled of e2m3 is not supported"));
}

/// Without TMA a descriptor is pointer, extents and strides (C17); the operand loaded in front of the loop is copied
/// once, and where two slots of K and of V have no room, one of each is filled while the other is read.
#[test]
fn attention_in_one_partition_takes_slots_in_turns_where_memory_is_short() {
    let wide = one_partition("attention", "sm_80", &checked());
    assert_eq!(
        (wide.expanded().unwrap().shape.layout, wide.expanded().unwrap().blocking.len()),
        (RegisterLayout::MmaSync { m: 8, n: 1 }, 1)
    );
    assert!(wide.expanded().unwrap().loads[0].late.is_none() && wide.depths[0].slots == 2);
    let narrow = one_partition("attention", "sm_86", &checked());
    assert_eq!(
        (narrow.depths[0].slots, narrow.expanded().unwrap().loads[0].late.as_ref().map(|l| l.len())),
        (1, Some(1))
    );
    let text = warploom_ir::print(&narrow.program);
    assert!(!text.contains("tensordesc") && text.contains("@p0_late"));
    let report = explain(&narrow);
    assert!(report.contains("in turns") && report.contains("tiles copied in place"), "{report}");
    // In front of the early tiles, and of the late ones: what is not waited for is not there.
    let waits: Vec<usize> = text.match_indices("pending = 0 : i32").map(|(at, _)| at).collect();
    assert_eq!(waits.len(), 4, "the tile copied in place, twice in the loop, the drain");
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
        let gemm = one_partition("gemm_pointers", chip, &checked());
        let asynchronous = gemm.expanded().unwrap().shape.layout == RegisterLayout::Wgmma { columns: 1 };
        assert_eq!(asynchronous, chip == "sm_90a", "{chip}");
        let made = one_partition("gemm_device_descriptors", chip, &checked());
        assert!(made.depths[0].slots >= 2, "{chip}");
    }
}

/// Loops that count otherwise are followed too: each trip copies, meets and multiplies.
#[test]
fn a_while_loop_copies_in_each_trip() {
    let kernel = one_partition("while_loop", "sm_80", &checked());
    assert!(
        kernel.loops.is_empty()
            && kernel.expanded().unwrap().blocking.len() == 1
            && kernel.expanded().unwrap().blocking[0].again
    );
    let text = warploom_ir::print(&kernel.program);
    assert_eq!(found(&text, "pending = 0 : i32", "pending = 0 : i32"), []);
    assert!(found(&text, "pending = 0 : i32", "pending = 1 : i32").contains(&Rule::Read));
}

/// What is written is read again by other lanes: all meet in between. Kernels that only write what they do not read, or
/// through other arguments, are left alone.
#[test]
fn accesses_behind_a_write_through_the_same_argument_wait_for_everybody() {
    let kernel = one_partition("reductions", "sm_80", &checked());
    let text = warploom_ir::print(&kernel.program);
    assert_eq!(text.matches("warploom.barrier_sync").count(), 2, "one in front of each atomic operation");
    let plain = one_partition("softmax", "sm_80", &checked());
    assert!(!warploom_ir::print(&plain.program).contains("warploom.barrier_sync"));
}
