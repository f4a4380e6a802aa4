//! What the chip holds at once: registers of a thread, clusters on the SMs (T3, E99).

use super::launch::Launch;
use crate::code::Code;
use crate::module::Entry;
use warploom_chips::Target;

/// Registers of a thread at the start: those of `.maxnreg`, or what `.minnctapersm` leaves of an SM for each thread
/// of `.reqntid` or `.maxntid`. 0 if neither says so: only ptxas knows.
pub(crate) fn registers(target: &Target, entry: &Entry) -> u32 {
    if let Some(most) = entry.max_registers {
        return most.min(256) / 8 * 8;
    }
    let (Some(ctas), Some(threads)) = (entry.min_ctas, entry.required_threads.or(entry.max_threads)) else {
        return 0;
    };
    let warps = threads.iter().fold(1_u32, |n, t| n.saturating_mul(*t)).div_ceil(target.threads.per_warp);
    let unit = target.registers.warp_unit.max(1);
    let each = target.registers.per_sm / ctas.saturating_mul(warps).max(1) / unit * unit;
    (each / target.threads.per_warp.max(1)).min(256) / 8 * 8
}

/// Clusters that are resident at once. Registers count only where they are known, so this is the most there may be.
pub(crate) fn clusters(target: &Target, code: &Code, launch: &Launch, registers: u32) -> usize {
    let threads = launch.block.iter().fold(1_u32, |n, t| n.saturating_mul(*t)).next_multiple_of(32).max(32);
    let shared = code.shared_bytes(launch.smem) + target.smem.reserved_per_cta;
    let mut per_sm = u64::from(target.threads.ctas_per_sm.min(target.threads.per_sm / threads));
    per_sm = per_sm.min(target.smem.per_sm / shared.max(1));
    if registers > 0 {
        per_sm = per_sm.min(u64::from(target.registers.per_sm) / (u64::from(registers) * u64::from(threads)));
    }
    let size: u64 = launch.cluster.iter().map(|c| u64::from(*c)).product();
    (u64::from(target.chip.sms) * per_sm / size.max(1)).max(1) as usize
}
