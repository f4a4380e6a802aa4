//! Partitions of a program: their warps, registers and layouts (C21, C31).

use warploom_ir::diag::Code;
use warploom_ir::{Module, OpId};

use super::attributes::{count, integers, missing};
use super::scratch;
use super::types::{Partition, Program};
use crate::error::{Result, locate, refuse};
use crate::family::{Blocked, Family, MmaSync, Rows, Wgmma};

impl Program<'_> {
    pub(super) fn read_partition(&self, module: &Module, op: OpId) -> Result<Partition> {
        let (warp, warps) = (count(module, op, "warp")?, count(module, op, "warps")?);
        let registers = count(module, op, "registers")?;
        let body = module
            .entry(op, 0)
            .ok_or_else(|| refuse(Code::Verify, "a partition needs a region").rule("C35"))?;
        if warps == 0 || warp.checked_add(warps).is_none_or(|end| end > self.warps) {
            let text = format!("warps {warp} and {warps} more of {}", self.warps);
            return Err(refuse(Code::Verify, text).rule("C21").into());
        }
        let moves = registers != self.max_registers / 8 * 8;
        if moves
            && (!(24..=256).contains(&registers) || registers % 8 != 0 || warp % 4 != 0 || warps % 4 != 0)
        {
            let text = format!("{registers} registers for warps {warp} and {warps} more");
            let needs = "a multiple of 8 in 24..256, and whole warpgroups";
            return Err(refuse(Code::Registers, text).rule("C31").note("needs", needs).into());
        }
        let family = read_family(module, op, warp, warps)?;
        let barrier = |name: &str| self.barrier_of.get(name).map(|&at| self.barriers[at]);
        let scratch = scratch::read(module, op, warps, self.shared, barrier)?;
        Ok(Partition { op, warp, warps, registers, family, scratch, body })
    }

    /// Gives each thread so many registers at most (C31).
    pub(crate) fn limit_registers(&mut self, most: u32) -> Result<()> {
        if !(16..=255).contains(&most) {
            let text = format!("{most} registers for each thread at most");
            return Err(refuse(Code::Registers, text).rule("C31").note("needs", "16..255").into());
        }
        let launched = self.max_registers / 8 * 8;
        if self.partitions.iter().any(|partition| partition.registers != launched) {
            let text = "a limit on registers where partitions move them among each other";
            return Err(refuse(Code::Registers, text).rule("C31").note("instead", "no limit").into());
        }
        self.max_registers = self.max_registers.min(u64::from(most));
        let launched = self.max_registers / 8 * 8;
        self.partitions.iter_mut().for_each(|partition| partition.registers = launched);
        Ok(())
    }

    pub(super) fn check_partitions(&self, module: &Module) -> Result<()> {
        let mut next = 0;
        for partition in &self.partitions {
            if partition.warp < next {
                let text = format!("warp {} belongs to two partitions", partition.warp);
                return Err(locate(module, partition.op, refuse(Code::Verify, text).rule("C21").into()));
            }
            next = partition.warp + partition.warps;
        }
        let total: u64 = self.partitions.iter().map(|a| 32 * a.warps * a.registers).sum();
        let pool = (32 * self.warps * (self.max_registers / 8 * 8)).min(65536);
        if total > pool {
            let text = format!("the partitions ask for {total} registers of {pool}");
            return Err(locate(module, self.func, refuse(Code::Registers, text).rule("C31").into()));
        }
        Ok(())
    }
}

/// The layout of a partition's tiles, by its attribute `layout`; accumulators of wgmma where it has none.
fn read_family(module: &Module, op: OpId, warp: u64, warps: u64) -> Result<Family> {
    let (warp, warps) = (warp as u16, warps as u16);
    match module.attr(op, "layout").map(|name| name.as_str().unwrap_or("?")) {
        None | Some("wgmma") => {
            let columns = match module.attr(op, "tiling") {
                None => 1,
                Some(_) => {
                    let [m, n] = tiling(module, op)?;
                    if 4 * u64::from(m) * u64::from(n) != u64::from(warps) {
                        let text = format!("{m} x {n} warpgroups in a partition of {warps} warps");
                        return Err(refuse(Code::Verify, text).rule("C61").into());
                    }
                    n
                }
            };
            Ok(Family::Wgmma(Wgmma { warp, warps, shared: false, columns, part: 0 }))
        }
        Some("wgmma_pairs") => Ok(Family::Wgmma(Wgmma { warp, warps, shared: true, columns: 1, part: 0 })),
        Some("rows") => Ok(Family::Rows(Rows { warp, warps })),
        Some("mma_sync") => {
            let [m, n] = tiling(module, op)?;
            if u64::from(m) * u64::from(n) != u64::from(warps) {
                let text = format!("{m} x {n} warps in a partition of {warps}");
                return Err(refuse(Code::Verify, text).rule("C67").into());
            }
            Ok(Family::MmaSync(MmaSync { warp, m, n }))
        }
        Some("blocked") => {
            let [vector, across] = tiling(module, op)?;
            let lanes = 32 * warps;
            if across > lanes || !lanes.is_power_of_two() {
                let text = format!("{across} of {lanes} lanes along the columns");
                return Err(refuse(Code::Verify, text).rule("C48").into());
            }
            Ok(Family::Blocked(Blocked { warp, lanes, vector, across }))
        }
        Some(other) => {
            let text = format!("layout {other} of a partition's tiles is not supported");
            Err(refuse(Code::Layout, text)
                .rule("C61")
                .note("instead", "wgmma, wgmma_pairs, rows, mma_sync, blocked")
                .into())
        }
    }
}

/// The two numbers of a partition's attribute `tiling`, powers of two.
fn tiling(module: &Module, op: OpId) -> Result<[u16; 2]> {
    let list = integers(module, op, "tiling")?;
    let power = |&n: &i64| u16::try_from(n).ok().filter(|n| n.is_power_of_two() && *n <= 1024);
    match list.iter().map(power).collect::<Option<Vec<u16>>>().as_deref() {
        Some(&[a, b]) => Ok([a, b]),
        _ => Err(missing(module, op, "tiling", "two powers of two")),
    }
}
