//! Buffers at addresses of the caller's choice.

use std::error::Error;

use warploom_chips::Target;
use warploom_emulator::{Arg, Device, Launch, Module, RunOptions};

/// Adds one to the word that the address in `table` points at.
const THROUGH: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry through(.param .u64 table) .reqntid 1 {
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [table];
    ld.global.u64 %rd2, [%rd1];
    ld.global.u32 %r1, [%rd2];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%rd2], %r1;
    ret;
}";

const HIGH: u64 = 0x7f00_0000_1010;
const LOW: u64 = 0x1a2_b000;

fn device() -> Result<Device, Box<dyn Error>> {
    Ok(Device::new(&Target::named("sm_80")?))
}

#[test]
fn pointers_in_placed_buffers_are_those_of_the_host() -> Result<(), Box<dyn Error>> {
    let module = Module::parse(THROUGH)?;
    for word in [HIGH + 4, LOW + 8] {
        let mut device = device()?;
        // Next to each other, and not at multiples of the bytes that the machine looks at together.
        device.place(HIGH, &[1; 16], "high")?;
        device.place(HIGH + 16, &[2; 16], "next")?;
        device.place(LOW, &[3; 16], "low")?;
        let table = device.alloc_from(&word.to_le_bytes(), "table")?;
        let launch = Launch { args: vec![Arg::Ptr(table)], ..Launch::of(module.entry("through")?) };
        let report = device.run(&module, &launch, &RunOptions::default())?;
        assert!(report.clean(), "{report}");
        let (base, at) = if word > HIGH { (HIGH, 4) } else { (LOW, 8) };
        let first = device.read(base)?.first().copied().unwrap_or(0);
        let wanted: Vec<u8> = (0..16).map(|i| first + u8::from(i == at)).collect();
        assert_eq!(device.read(base)?, wanted);
        assert_eq!(device.read(HIGH + 16)?, [2; 16]);
    }
    Ok(())
}

#[test]
fn what_is_not_placed_is_out_of_bounds() -> Result<(), Box<dyn Error>> {
    let module = Module::parse(THROUGH)?;
    let mut device = device()?;
    device.place(HIGH, &[0; 16], "high")?;
    let table = device.alloc_from(&(HIGH + 16).to_le_bytes(), "table")?;
    let launch = Launch { args: vec![Arg::Ptr(table)], ..Launch::of(module.entry("through")?) };
    assert!(device.run(&module, &launch, &RunOptions::default())?.has("A01"));
    Ok(())
}

#[test]
fn places_that_are_taken_are_refused() -> Result<(), Box<dyn Error>> {
    let mut device = device()?;
    let own = device.alloc(64, "own")?;
    device.place(HIGH, &[0; 64], "high")?;
    // Overlaps from each side, address 0, the machine's own memory, the end of the address space.
    for addr in [HIGH, HIGH + 63, HIGH - 1, own + 8, 0, 0x00f0_0000_0000, 0x00df_ffff_fff0, u64::MAX - 4] {
        assert!(device.place(addr, &[0; 32], "new").is_err(), "{addr:#x}");
    }
    device.place(HIGH + 64, &[0; 8], "behind")?;
    device.place(HIGH - 8, &[0; 8], "before")?;
    // Buffers of the machine's choice keep out of the way.
    device.place(own + (1 << 20), &[0; 8], "in the way")?;
    let next = device.alloc(8, "next")?;
    assert!(next > own + (1 << 20));
    Ok(())
}
