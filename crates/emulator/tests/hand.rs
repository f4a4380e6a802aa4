//! The kernels written by hand run clean and give the right product (issue, E95).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod common;

use common::{Gemm, kernel, policies, with};

#[test]
fn sm90_gemm_is_clean_and_right() {
    let ptx = kernel("hand/gemm_bf16.sm_90a.ptx");
    for policy in policies() {
        let (report, error) = Gemm::hand_sm90(128, 256, 512).run(&ptx, &with(policy));
        assert!(report.clean(), "{policy:?}\n{report}");
        assert!(error < 4e-3, "{policy:?}: {error}");
    }
}

#[test]
fn sm100_gemm_is_clean_and_right() {
    let ptx = kernel("hand/gemm_bf16.sm_100a.ptx");
    for policy in policies() {
        let (report, error) = Gemm::hand_sm100(128, 256, 512).run(&ptx, &with(policy));
        assert!(report.clean(), "{policy:?}\n{report}");
        assert!(error < 4e-3, "{policy:?}: {error}");
    }
}
