//! Elements of 8 and 4 bits on their way into shared memory and registers (E32, E36).
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod common;

use common::{box_kernel, run};
use warploom_chips::Target;
use warploom_emulator::{Arg, Device, ElemType, TensorMap, TiledMap};

const HEAD: &str = ".version 8.7\n.target sm_100a\n.address_size 64\n.extern .shared .align 1024 .b8 s[];\n";

#[test]
fn matrices_of_bytes_are_loaded_transposed() {
    let mut device = Device::new(&Target::named("sm_100a").unwrap());
    let data: Vec<u8> = (0..512_u32).map(|i| (i * 37 % 251) as u8).collect();
    let (from, out) = (device.alloc_from(&data, "data").unwrap(), device.alloc(32 * 16, "out").unwrap());
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 from, .param .u64 out) .reqntid 32 {{
        .reg .b32 %r<20>; .reg .b64 %rd<9>;
        ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [out];
        mov.u32 %r1, %tid.x; mov.b32 %r2, s; mad.lo.u32 %r3, %r1, 16, %r2; mul.wide.u32 %rd3, %r1, 16;
        add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
        ld.global.v4.b32 {{%r4, %r5, %r6, %r7}}, [%rd4]; st.shared.v4.b32 [%r3], {{%r4, %r5, %r6, %r7}};
        bar.warp.sync -1;
        ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {{%r8, %r9, %r10, %r11}}, [%r3];
        st.global.v4.b32 [%rd5], {{%r8, %r9, %r10, %r11}}; ret; }}"
    );
    let report = run(&mut device, &text, 512, vec![Arg::Ptr(from), Arg::Ptr(out)]);
    assert!(report.clean(), "{report}");
    let got = device.read(out).unwrap();
    for lane in 0..32 {
        for register in 0..4 {
            for i in 0..4 {
                let (row, col) = (4 * (lane % 4) + i, lane / 4 + 8 * (register % 2));
                let want = data[256 * (register / 2) + 16 * row + col];
                assert_eq!(
                    got[16 * lane + 4 * register + i],
                    want,
                    "lane {lane}, register {register}, byte {i}"
                );
            }
        }
    }
}

/// Sixteen elements of 4 bits are 8 bytes in global memory, and 8 or 16 in shared memory; the barrier is told of 8.
#[test]
fn boxes_of_four_bits_are_packed_or_padded() {
    let (rows, cols) = (24_u64, 512_u64);
    let data: Vec<u8> = (0..rows * cols / 2).map(|i| (i * 11 % 249) as u8 + 1).collect();
    for (elem, stored) in [(ElemType::B4, 8_usize), (ElemType::B4Padded, 16)] {
        let mut device = Device::new(&Target::named("sm_100a").unwrap());
        let (from, out) =
            (device.alloc_from(&data, "data").unwrap(), device.alloc(16 * 8 * stored as u64, "out").unwrap());
        let map = TiledMap {
            elem,
            addr: from,
            dims: vec![cols, rows],
            strides: vec![cols / 2],
            box_dims: vec![128, 16],
            elem_strides: vec![],
            swizzle: 0,
            nan_fill: false,
        };
        // Rows 12 to 28 of columns 128 to 256: the last four lie outside.
        let text = box_kernel(HEAD, [128, 12], 1024, 16 * 8 * stored as u32);
        let args = vec![Arg::from(&TensorMap::tiled(&map).unwrap()), Arg::Ptr(out)];
        let report = run(&mut device, &text, 8200, args);
        assert!(report.clean(), "{report}");
        let got = device.read(out).unwrap();
        for row in 0..16_usize {
            for byte in 0..64_usize {
                let inside = 12 + row < rows as usize;
                let want = if inside { data[(12 + row) * 256 + 64 + byte] } else { 0 };
                let at = (row * 8 + byte / 8) * stored + byte % 8;
                assert_eq!(got[at], want, "{elem:?}, row {row}, byte {byte}");
            }
        }
        let odd = TiledMap { box_dims: vec![120, 16], ..map };
        assert!(TensorMap::tiled(&odd).unwrap_err().to_string().contains("multiples of 16"));
    }
}
