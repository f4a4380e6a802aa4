//! The built-in data files, against the tables T1-T5.

#![allow(clippy::unwrap_used, clippy::panic)] // Helpers outside of test functions.

use warploom_chips::{Feature, Target, TargetError};

#[test]
fn t1_names() {
    for name in Target::names() {
        assert_eq!(Target::named(name).unwrap().name(), name);
    }
    for (plain, exact) in
        [("sm_90", "sm_90a"), ("sm_100", "sm_100a"), ("sm_120", "sm_120a"), ("sm_121", "sm_121a")]
    {
        let error = Target::named(plain).unwrap_err();
        assert_eq!(error, TargetError::PlainName { name: plain.into(), instead: exact });
        assert!(error.to_string().contains("wgmma") && error.rule() == "T1");
    }
    let error = Target::named("gfx942").unwrap_err().to_string();
    assert!(Target::names().iter().all(|name| error.contains(name)), "{error}");
}

/// The rows of T2 in column order.
#[test]
fn t2_limits() {
    let rows: [(&str, [u64; 9]); 6] = [
        ("dynamic", [166912, 101376, 101376, 232448, 232448, 232448, 232448, 101376, 101376]),
        ("static", [49152, 49152, 49152, 232448, 232448, 232448, 232448, 101376, 101376]),
        ("KiB", [164, 100, 100, 228, 228, 228, 228, 100, 100]),
        ("threads", [2048, 1536, 1536, 2048, 2048, 2048, 1536, 1536, 1536]),
        ("CTAs", [32, 16, 24, 32, 32, 32, 24, 24, 24]),
        ("columns", [0, 0, 0, 0, 512, 512, 512, 0, 0]),
    ];
    for (index, target) in Target::all().unwrap().iter().enumerate() {
        let got = [
            target.smem.per_cta,
            target.smem.per_cta_static,
            target.smem.per_sm / 1024,
            target.threads.per_sm.into(),
            target.threads.ctas_per_sm.into(),
            target.tmem.as_ref().map_or(0, |tmem| tmem.columns.into()),
        ];
        for ((row, expected), got) in rows.iter().zip(got) {
            assert_eq!(got, expected[index], "{row} of {}", target.name());
        }
    }
}

/// The rows of T5: feature, then `y` or `-` in column order.
#[test]
fn t5_features() {
    use Feature::*;
    let rows: [(&[Feature], &str); 11] = [
        (&[CpAsync, Mbarrier, Ldmatrix], "yyyyyyyyy"),
        (&[Fp8Convert, Fp8MmaSync], "--yyyyyyy"),
        (
            &[
                MbarrierTryWait,
                MbarrierTxCount,
                MbarrierArriveCount,
                MbarrierRemoteArrive,
                TmaLoad,
                TmaStore,
                TmaReduce,
                Stmatrix,
                Elect,
                Clusters,
                Mapa,
                GridDepControl,
                FenceProxyAsync,
                SetMaxNReg,
                TensormapReplace,
            ],
            "---yyyyyy",
        ),
        (&[TmaMulticast], "---yyyy--"),
        (&[Wgmma], "---y-----"),
        (&[Tcgen05, TmaCtaGroup2], "----yyy--"),
        (&[Tcgen05I8], "----y-y--"),
        (&[Tcgen05LdRed], "-----yy--"),
        (&[ReduxF32, CvtRs, PackedF32], "----yy---"),
        (
            &[F32x2, Max3F32, LdSt256, TmaGather4Cta, ClusterLaunchControl, LdmatrixM16n16, StmatrixM16n8],
            "----yyyyy",
        ),
        (&[MmaSyncE2m1, MmaSyncBlockScaled], "-------yy"),
    ];
    assert_eq!(rows.iter().map(|(features, _)| features.len()).sum::<usize>(), Feature::ALL.len());
    for (target, column) in Target::all().unwrap().iter().zip(0..) {
        for (features, cells) in &rows {
            for &feature in *features {
                let expected = cells.as_bytes()[column] == b'y';
                assert_eq!(target.has(feature), expected, "{feature} on {}", target.name());
            }
        }
    }
}

/// What belongs together stands together: the specification's limits follow from the features.
#[test]
fn limits_agree_with_features() {
    for target in Target::all().unwrap() {
        assert_eq!(target.tmem.is_some(), target.has(Feature::Tcgen05), "{}", target.name());
        assert_eq!(target.cluster.is_some(), target.has(Feature::Clusters));
        assert_eq!(target.registers.setmaxnreg.is_some(), target.has(Feature::SetMaxNReg));
        assert_eq!(target.descriptors.slots > 0, target.has(Feature::TmaLoad));
        assert_eq!(target.barriers.mbarrier_tx_bytes > 0, target.has(Feature::MbarrierTxCount));
        assert_eq!(target.barriers.free_ids(), (1..16).collect::<Vec<u32>>());
        assert_eq!(target.threads.warps_per_cta(), 32);
        assert!(target.descriptors.slots * target.descriptors.bytes <= target.descriptors.param_bytes);
        if let Some(tmem) = &target.tmem {
            for lane in 0..tmem.lanes {
                let holders = tmem.half_sets.iter().filter(|set| set.contains(lane)).count();
                assert_eq!(holders, 1, "lane {lane}");
            }
        }
    }
}

#[test]
fn targets_are_plain_data() {
    for target in Target::all().unwrap() {
        let json = serde_json::to_string(&target).unwrap();
        assert_eq!(serde_json::from_str::<Target>(&json).unwrap(), target);
    }
}
