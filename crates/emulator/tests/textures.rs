//! Textures and surfaces against formulas of their own, and what may go wrong with them (E101).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use warploom_chips::Target;
use warploom_emulator::{
    Addressing, Arg, Channel, Device, Filter, Launch, Module, Report, RunOptions, Texture, TextureKind,
};

const LANES: usize = 32;

fn module(body: &str) -> Module {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 t, .param .u64 in, .param .u64 out) .reqntid 32 {{\n\
         .reg .pred %p<3>;\n.reg .b16 %h<5>;\n.reg .b32 %r<20>;\n.reg .f32 %f<20>;\n.reg .b64 %rd<8>;\n\
         ld.param.u64 %rd1, [t];\nld.param.u64 %rd2, [in];\nld.param.u64 %rd3, [out];\nmov.u32 %r1, %tid.x;\n\
         mad.wide.u32 %rd4, %r1, 16, %rd2;\nmad.wide.u32 %rd5, %r1, 16, %rd3;\n\
         ld.global.v4.f32 {{%f1, %f2, %f3, %f4}}, [%rd4];\nld.global.v4.b32 {{%r11, %r12, %r13, %r14}}, [%rd4];\n\
         mov.b32 %r2, 0;\nmov.b32 %r3, 0;\nmov.b32 %r4, 0;\nmov.b32 %r5, 0;\n{body}\n\
         st.global.v4.b32 [%rd5], {{%r2, %r3, %r4, %r5}};\nret;\n}}\n"
    );
    let module = Module::parse(&text).unwrap_or_else(|e| panic!("{body}: {e}"));
    if let Some(refusal) = module.entries()[0].refusal() {
        panic!("{body}: {refusal}");
    }
    module
}

/// A device with a texture whose address is filled in; its texels are these bytes.
fn device(texture: &Texture, texels: &[u8]) -> (Device, u64, u64) {
    let mut device = Device::new(&Target::named("sm_90a").unwrap());
    let addr = device.alloc_from(texels, "texels").unwrap();
    let handle = device.texture(&Texture { addr, ..texture.clone() }).unwrap();
    (device, handle, addr)
}

fn launch(device: &mut Device, body: &str, handle: u64, input: &[[u32; 4]]) -> (Report, Vec<[u32; 4]>) {
    let bytes: Vec<u8> = input.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
    let (from, to) = (device.alloc_from(&bytes, "in").unwrap(), device.alloc(16 * 32, "out").unwrap());
    let module = module(body);
    let args = vec![Arg::U64(handle), Arg::Ptr(from), Arg::Ptr(to)];
    let launch = Launch { args, ..Launch::of(&module.entries()[0]) };
    let report = device.run(&module, &launch, &RunOptions::default()).unwrap();
    let words: Vec<u32> =
        device.read(to).unwrap().chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect();
    (report, words.chunks(4).map(|c| c.try_into().unwrap()).collect())
}

/// Fetches at coordinates, one for each lane, in a clean run.
fn fetch(texture: &Texture, texels: &[u8], body: &str, at: &[[f32; 4]]) -> Vec<[u32; 4]> {
    let (mut device, handle, _) = device(texture, texels);
    let bits: Vec<[u32; 4]> = at.iter().map(|c| c.map(f32::to_bits)).collect();
    let (report, out) = launch(&mut device, body, handle, &bits);
    assert!(report.clean(), "{body}\n{report}");
    out
}

fn floats(texels: &[f32]) -> Vec<u8> {
    texels.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn ramp(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 37 + 11) % 64) as f32).collect()
}

/// Multiples of 1/256, which the weights hold exactly, inside and outside of a texture of 8 texels.
fn places() -> Vec<[f32; 4]> {
    let one = |i: usize| ((i * 389 + 71) % 8192) as f32 / 256.0 - 12.0;
    (0..LANES).map(|i| [one(i), one(i + 40), one(i + 80), 0.0]).collect()
}

/// The texel at an index that may be outside, by counting instead of dividing.
fn outside(addressing: Addressing, mut i: i64, n: i64) -> Option<i64> {
    match addressing {
        Addressing::Border => (0..n).contains(&i).then_some(i),
        Addressing::Clamp => Some(i.max(0).min(n - 1)),
        Addressing::Wrap => {
            while i < 0 {
                i += n;
            }
            while i >= n {
                i -= n;
            }
            Some(i)
        }
        _ => loop {
            if i < 0 {
                i = -1 - i;
            } else if i >= n {
                i = 2 * n - 1 - i;
            } else {
                break Some(i);
            }
        },
    }
}

#[test]
fn a_linear_filter_weighs_texels_by_their_distance() {
    let (width, height) = (8_i64, 4_i64);
    let texels = ramp(32);
    for addressing in [Addressing::Clamp, Addressing::Border, Addressing::Wrap, Addressing::Mirror] {
        for normalized in [false, true] {
            if !normalized && matches!(addressing, Addressing::Wrap | Addressing::Mirror) {
                continue;
            }
            let texture = Texture {
                addressing: [addressing; 3],
                filter: Filter::Linear,
                normalized,
                ..Texture::of(TextureKind::Plane, 0, Channel::F32, 1, [8, 4, 1])
            };
            let scale = if normalized { [8.0, 4.0] } else { [1.0, 1.0] };
            let at: Vec<[f32; 4]> =
                places().iter().map(|p| [p[0] / scale[0], p[1] / scale[1], 0.0, 0.0]).collect();
            let body = "tex.2d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%rd1, {%f1, %f2}];";
            let out = fetch(&texture, &floats(&texels), body, &at);
            for (p, got) in places().iter().zip(out) {
                let (x, y) = (f64::from(p[0]) - 0.5, f64::from(p[1]) - 0.5);
                let mut want = 0.0;
                for j in -40..40_i64 {
                    for i in -40..40_i64 {
                        let weight =
                            (1.0 - (x - i as f64).abs()).max(0.0) * (1.0 - (y - j as f64).abs()).max(0.0);
                        let here = outside(addressing, i, width).zip(outside(addressing, j, height));
                        want +=
                            weight * here.map_or(0.0, |(i, j)| f64::from(texels[(j * width + i) as usize]));
                    }
                }
                assert_eq!(f32::from_bits(got[0]), want as f32, "{addressing:?} {normalized} at {p:?}");
                assert_eq!(
                    [got[1], got[2], got[3]],
                    [0, 0, 1.0_f32.to_bits()],
                    "channels that are not there"
                );
            }
        }
    }
}

#[test]
fn every_type_of_channel_is_read_as_a_whole_number_or_a_fraction() {
    let bytes: Vec<u8> = (0..64).map(|i| (i * 73 + 129) as u8).collect();
    let at: Vec<[f32; 4]> = (0..LANES).map(|i| [(i % 8) as f32 + 0.7, 0.0, 0.0, 0.0]).collect();
    let half = |i: usize| i16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]);
    for (channel, n) in [(Channel::U8, 4), (Channel::S8, 4), (Channel::U16, 4), (Channel::S16, 2)] {
        let plain = Texture::of(TextureKind::Line, 0, channel, n, [8, 1, 1]);
        let ask = |t: &Texture, ty: &str| {
            fetch(t, &bytes, &format!("tex.1d.v4.{ty}.f32 {{%r2, %r3, %r4, %r5}}, [%rd1, {{%f1}}];"), &at)
        };
        let whole = ask(&plain, "u32");
        let parts = ask(&Texture { fractions: true, ..plain.clone() }, "f32");
        for lane in 0..LANES {
            for c in 0..n as usize {
                let i = (lane % 8) * n as usize + c;
                let (number, most) = match channel {
                    Channel::U8 => (i32::from(bytes[i]), 255.0),
                    Channel::S8 => (i32::from(bytes[i] as i8), 127.0),
                    Channel::U16 => (i32::from(half(i) as u16), 65535.0),
                    _ => (i32::from(half(i)), 32767.0),
                };
                assert_eq!(whole[lane][c] as i32, number, "{channel:?}");
                let want = (f64::from(number) / most).max(-1.0) as f32;
                assert_eq!(f32::from_bits(parts[lane][c]), want, "{channel:?}");
            }
        }
    }
}

#[test]
fn layers_slices_and_faces_are_told_apart() {
    let texels = floats(&(0..512).map(|i| i as f32).collect::<Vec<_>>());
    let at: Vec<[f32; 4]> = places().iter().map(|p| p.map(|x| x.rem_euclid(4.0))).collect();
    let floor = |v: f32| v.floor() as u32;
    let volume = Texture::of(TextureKind::Volume, 0, Channel::F32, 1, [4, 4, 8]);
    let body = "tex.3d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%rd1, {%f1, %f2, %f3, %f3}];";
    for (p, got) in at.iter().zip(fetch(&volume, &texels, body, &at)) {
        assert_eq!(f32::from_bits(got[0]) as u32, 16 * floor(p[2]) + 4 * floor(p[1]) + floor(p[0]));
    }
    let layers = Texture { layers: 8, ..Texture::of(TextureKind::Planes, 0, Channel::F32, 1, [4, 4, 1]) };
    let body = "rem.u32 %r6, %r1, 11;\ntex.a2d.v4.f32.f32 {%r2, %r3, %r4, %r5}|%p1, [%rd1, {%r6, %f1, %f2, %f2}];\n\
                selp.b32 %r3, 1, 0, %p1;";
    for (lane, (p, got)) in at.iter().zip(fetch(&layers, &texels, body, &at)).enumerate() {
        let layer = (lane as u32 % 11).min(7);
        assert_eq!(f32::from_bits(got[0]) as u32, 16 * layer + 4 * floor(p[1]) + floor(p[0]));
        assert_eq!(got[1], 1, "all texels are there");
    }
    // A direction through the middle of a texel of a face, from OpenGL's table of faces read backwards.
    let cube = Texture::of(TextureKind::Cube, 0, Channel::F32, 1, [4, 4, 1]);
    let body = "tex.cube.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%rd1, {%f1, %f2, %f3, %f3}];";
    let texel = |lane: usize| (lane % 6, lane % 4, lane / 8);
    let directions: Vec<[f32; 4]> = (0..LANES)
        .map(|lane| {
            let (face, i, j) = texel(lane);
            let (s, t) = ((2.0 * i as f32 + 1.0) / 4.0 - 1.0, (2.0 * j as f32 + 1.0) / 4.0 - 1.0);
            let [x, y, z] = match face {
                0 => [1.0, -t, -s],
                1 => [-1.0, -t, s],
                2 => [s, 1.0, t],
                3 => [s, -1.0, -t],
                4 => [s, -t, 1.0],
                _ => [-s, -t, -1.0],
            };
            [3.0 * x, 3.0 * y, 3.0 * z, 0.0]
        })
        .collect();
    for (lane, got) in fetch(&cube, &texels, body, &directions).iter().enumerate() {
        let (face, i, j) = texel(lane);
        assert_eq!(f32::from_bits(got[0]) as usize, 16 * face + 4 * j + i, "lane {lane}");
    }
}

#[test]
fn levels_are_chosen_and_mixed() {
    // Level l holds 10 to the l everywhere.
    let texels: Vec<f32> = [(1.0, 64), (10.0, 16), (100.0, 4), (1000.0, 1)]
        .iter()
        .flat_map(|(v, n)| std::iter::repeat_n(*v, *n))
        .collect();
    let near = Texture {
        levels: 4,
        normalized: true,
        ..Texture::of(TextureKind::Plane, 0, Channel::F32, 1, [8, 8, 1])
    };
    let mixed = Texture { mip_filter: Filter::Linear, ..near.clone() };
    let at: Vec<[f32; 4]> = (0..LANES).map(|i| [0.3, 0.6, i as f32 / 8.0 - 0.5, 0.0]).collect();
    let level = "tex.level.2d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%rd1, {%f1, %f2}], %f3;";
    let powers = [1.0, 10.0, 100.0, 1000.0_f32];
    for (p, got) in at.iter().zip(fetch(&near, &floats(&texels), level, &at)) {
        assert_eq!(f32::from_bits(got[0]), powers[(p[2].clamp(0.0, 3.0) + 0.5).floor().min(3.0) as usize]);
    }
    for (p, got) in at.iter().zip(fetch(&mixed, &floats(&texels), level, &at)) {
        let lod = p[2].clamp(0.0, 3.0);
        let (low, share) = (lod.floor() as usize, lod - lod.floor());
        let want = powers[low] * (1.0 - share) + if share > 0.0 { powers[low + 1] * share } else { 0.0 };
        assert!((f32::from_bits(got[0]) - want).abs() <= want * 1e-6, "lod {lod}");
    }
    // Half of the texture from pixel to pixel is four texels: level 2.
    let gradient = "mov.f32 %f5, 0f3F000000;\nmov.f32 %f6, 0f00000000;\n\
                    tex.grad.2d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%rd1, {%f1, %f2}], {%f5, %f6}, {%f6, %f6};";
    assert!(fetch(&near, &floats(&texels), gradient, &at).iter().all(|g| f32::from_bits(g[0]) == 100.0));
    // On a cube too: a direction that goes along a face by half of it.
    let six: Vec<f32> = [(1.0, 64), (10.0, 16), (100.0, 4), (1000.0, 1)]
        .iter()
        .flat_map(|(v, n)| std::iter::repeat_n(*v, 6 * *n))
        .collect();
    let cube = Texture { levels: 4, ..Texture::of(TextureKind::Cube, 0, Channel::F32, 1, [8, 8, 1]) };
    let gradient = "mov.f32 %f4, 0f40000000;\nmov.f32 %f5, 0f40000000;\nmov.f32 %f6, 0f00000000;\n\
                    tex.grad.cube.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%rd1, {%f4, %f1, %f2, %f2}], \
                    {%f6, %f6, %f5, %f6}, {%f6, %f5, %f6, %f6};";
    assert!(fetch(&cube, &floats(&six), gradient, &at).iter().all(|g| f32::from_bits(g[0]) == 100.0));
    let asked = "txq.width.b32 %r2, [%rd1];\ntxq.num_mipmap_levels.b32 %r3, [%rd1];\n\
                 txq.level.height.b32 %r4, [%rd1], 2;\ntxq.normalized_coords.b32 %r5, [%rd1];";
    assert_eq!(fetch(&near, &floats(&texels), asked, &at)[0], [8, 4, 2, 1]);
}

#[test]
fn four_texels_are_gathered_counter_clockwise() {
    let texture = Texture::of(TextureKind::Plane, 0, Channel::F32, 1, [4, 4, 1]);
    let texels = floats(&(0..16).map(|i| i as f32).collect::<Vec<_>>());
    let body = "tld4.r.2d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%rd1, {%f1, %f2}];";
    let at = vec![[2.0, 1.0, 0.0, 0.0]; LANES];
    let got = fetch(&texture, &texels, body, &at)[7].map(f32::from_bits);
    assert_eq!(got, [5.0, 6.0, 2.0, 1.0]);
}

#[test]
fn whole_coordinates_outside_of_a_line_give_zero() {
    let texture = Texture::of(TextureKind::Line, 0, Channel::F32, 1, [16, 1, 1]);
    let texels = floats(&(1..=16).map(|i| i as f32).collect::<Vec<_>>());
    let body = "sub.s32 %r6, %r1, 8;\ntex.1d.v4.f32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r6}];";
    for (lane, got) in fetch(&texture, &texels, body, &[[0.0; 4]; LANES]).iter().enumerate() {
        let want = if (8..24).contains(&lane) { lane as f32 - 7.0 } else { 0.0 };
        assert_eq!(f32::from_bits(got[0]), want);
    }
}

#[test]
fn surfaces_are_written_by_one_launch_and_read_by_the_next() {
    let texture = Texture { pitch: 64, ..Texture::of(TextureKind::Plane, 0, Channel::U32, 1, [8, 4, 1]) };
    let (mut device, handle, addr) = device(&texture, &[0; 256]);
    let body =
        |last: &str| format!("and.b32 %r6, %r1, 7;\nshl.b32 %r6, %r6, 2;\nshr.u32 %r7, %r1, 3;\n{last}");
    let store = body("sust.b.2d.b32.trap [%rd1, {%r6, %r7}], {%r1};");
    let (report, _) = launch(&mut device, &store, handle, &[[0; 4]; LANES]);
    assert!(report.clean(), "{report}");
    let bytes = device.read(addr).unwrap();
    assert!((0..32).all(|i| usize::from(bytes[64 * (i / 8) + 4 * (i % 8)]) == i));
    for (clamp, far) in [("zero", 0), ("clamp", 7)] {
        let load = format!("add.u32 %r6, %r6, 4;\nsuld.b.2d.b32.{clamp} {{%r2}}, [%rd1, {{%r6, %r7}}];");
        let (report, out) = launch(&mut device, &body(&load), handle, &[[0; 4]; LANES]);
        assert!(report.clean(), "{report}");
        assert_eq!([out[2][0], out[7][0]], [3, far], "{clamp}");
    }
    let wrong = [
        ("suld.b.2d.b32.trap {%r2}, [%rd1, {%r1, %r7}];", "A02"),
        ("add.u32 %r6, %r6, 32;\nsuld.b.2d.b32.trap {%r2}, [%rd1, {%r6, %r7}];", "A01"),
        ("add.s64 %rd6, %rd1, 16;\nsuld.b.2d.b32.trap {%r2}, [%rd6, {%r6, %r7}];", "A03"),
        ("suld.b.1d.b32.trap {%r2}, [%rd1, {%r6}];", "A03"),
        (
            "sust.b.2d.b32.trap [%rd1, {%r6, %r7}], {%r1};\nsuld.b.2d.b32.trap {%r2}, [%rd1, {%r6, %r7}];",
            "R02",
        ),
        ("sust.b.2d.b32.trap [%rd1, {%r6, 0}], {%r1};", "R02"),
    ];
    for (last, code) in wrong {
        let (report, _) = launch(&mut device, &body(last), handle, &[[0; 4]; LANES]);
        assert!(report.has(code), "{last}: no {code}\n{report}");
    }
}

#[test]
fn what_cuda_has_no_texture_for_is_refused() {
    let mut device = Device::new(&Target::named("sm_90a").unwrap());
    let addr = device.alloc(1024, "texels").unwrap();
    let good = Texture::of(TextureKind::Plane, addr, Channel::F32, 1, [8, 8, 1]);
    assert!(device.texture(&good).is_ok());
    let wrong = [
        Texture { channels: 3, ..good.clone() },
        Texture { extent: [8, 0, 1], ..good.clone() },
        Texture { extent: [8, 8, 2], ..good.clone() },
        Texture { layers: 2, ..good.clone() },
        Texture { levels: 5, ..good.clone() },
        Texture { pitch: 16, ..good.clone() },
        Texture { fractions: true, ..good.clone() },
        Texture { channel: Channel::U8, filter: Filter::Linear, ..good.clone() },
        Texture { kind: TextureKind::Cube, ..good.clone() },
        Texture { extent: [64, 8, 1], ..good.clone() },
        Texture { addr: 8, ..good },
    ];
    for texture in wrong {
        assert!(device.texture(&texture).is_err(), "{texture:?}");
    }
}
