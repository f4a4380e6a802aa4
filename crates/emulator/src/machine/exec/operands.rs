//! Operands of a warp over all lanes.

use crate::code::GRID_BASE;
use crate::isa::lanes::Lanes;
use crate::isa::op::{Addr, Join, Special, Src};
use crate::machine::core::Core;
use crate::machine::warp::Warp;
use std::cmp::Ordering;

impl Warp {
    /// The value of an operand in every lane.
    pub(crate) fn value(&self, core: &Core<'_>, s: Src) -> Lanes {
        match s {
            Src::Reg(r) => self.regs.get(r as usize).copied().unwrap_or([0; 32]),
            Src::Imm(v) => [v; 32],
            Src::Plus(r, k) => {
                let mut v = self.regs.get(r as usize).copied().unwrap_or([0; 32]);
                v.iter_mut().for_each(|x| *x = x.wrapping_add(k));
                v
            }
            Src::Special(s) => self.special(core, s),
            Src::Frame(offset) => {
                let mut v = [0; 32];
                for (l, x) in v.iter_mut().enumerate() {
                    *x = self.stack.base(l as u32) + u64::from(offset);
                }
                v
            }
        }
    }

    /// The value of an operand that should be the same in all these lanes: that of the first.
    pub(crate) fn scalar(&self, core: &Core<'_>, s: Src, lanes: u32) -> u64 {
        match s {
            Src::Imm(v) => v,
            other => self.value(core, other).get(lanes.trailing_zeros() as usize).copied().unwrap_or(0),
        }
    }

    /// The address of a memory operand in every lane.
    pub(crate) fn addresses(&self, core: &Core<'_>, a: Addr) -> Lanes {
        let mut v = self.value(core, a.base);
        if a.offset != 0 {
            v.iter_mut().for_each(|x| *x = x.wrapping_add(a.offset));
        }
        v
    }

    /// Poison of an operand, in the form of `Warp::poison`.
    pub(crate) fn poison_of(&self, s: Src) -> u64 {
        match s {
            Src::Reg(r) | Src::Plus(r, _) => self.poison_at(r),
            _ => 0,
        }
    }

    /// Poison of a register.
    pub(crate) fn poison_at(&self, r: u32) -> u64 {
        self.poison.get(r as usize).copied().unwrap_or(0)
    }

    /// Whether an operand came from loaded data.
    pub(crate) fn taint_of(&self, s: Src) -> bool {
        match s {
            Src::Reg(r) | Src::Plus(r, _) => self.tainted.get(r as usize).copied().unwrap_or(false),
            _ => false,
        }
    }

    /// Poison and taint of what is computed from these operands.
    pub(crate) fn meta(&self, list: &[Src]) -> (u64, bool) {
        let mut poison = 0;
        let mut taint = false;
        for s in list {
            poison |= self.poison_of(*s);
            taint |= self.taint_of(*s);
        }
        let lanes = poison | poison >> 32;
        (lanes & 0xffff_ffff | lanes << 32, taint)
    }

    /// As `meta`, where an undefined operand need not make the whole result undefined.
    pub(crate) fn meta_joined(&self, join: Join, list: &[Src]) -> (u64, bool) {
        let each = list.iter().filter(|s| matches!(s, Src::Reg(_) | Src::Plus(..)));
        match join {
            Join::Whole => self.meta(list),
            Join::Halves => {
                each.fold((0, false), |(p, t), s| (p | self.poison_of(*s), t | self.taint_of(*s)))
            }
            Join::Bytes => {
                let (any, taint) = self.meta(list);
                let known = list.iter().any(|s| matches!(s, Src::Imm(v) if *v == 0));
                let all = each.fold(u64::MAX, |p, s| p & self.poison_of(*s));
                (if known { 0 } else { any & all }, taint)
            }
        }
    }

    /// Writes a result with its poison and taint.
    pub(crate) fn put(&mut self, d: u32, v: &Lanes, meta: (u64, bool), lanes: u32) {
        self.set(d, v, meta.0, lanes);
        if let Some(t) = self.tainted.get_mut(d as usize) {
            *t = meta.1;
        }
    }

    fn special(&self, core: &Core<'_>, s: Special) -> Lanes {
        let launch = core.launch;
        let [bx, by, bz] = launch.block;
        let axis = |v: [u32; 3], i: u8| v.get(usize::from(i)).copied().unwrap_or(0);
        let ctaid = core.ctas.get(self.cta as usize).map_or([0; 3], |c| c.ctaid);
        let divide = |a: [u32; 3], b: [u32; 3], i: u8| axis(a, i) / axis(b, i).max(1);
        let cluster_size: u32 = launch.cluster.iter().product();
        let whole = match s {
            Special::Tid(i) => {
                let mut v = [0; 32];
                for (l, x) in v.iter_mut().enumerate() {
                    let t = self.index * 32 + l as u32;
                    *x = u64::from(match i {
                        0 => t % bx.max(1),
                        1 => t / bx.max(1) % by.max(1),
                        _ => t / (bx * by).max(1),
                    });
                }
                return v;
            }
            Special::LaneId => {
                let mut v = [0; 32];
                v.iter_mut().enumerate().for_each(|(l, x)| *x = l as u64);
                return v;
            }
            Special::LaneMask(order, equal) => {
                let mut v = [0; 32];
                for (l, x) in v.iter_mut().enumerate() {
                    let below = (1_u64 << l) - 1;
                    let own = 1_u64 << l;
                    *x = match order {
                        Ordering::Less => below | if equal { own } else { 0 },
                        Ordering::Equal => own,
                        Ordering::Greater => 0xffff_ffff & !(below | if equal { 0 } else { own }),
                    };
                }
                return v;
            }
            Special::Ntid(i) => axis([bx, by, bz], i),
            Special::Ctaid(i) => axis(ctaid, i),
            Special::Nctaid(i) => axis(launch.grid, i),
            Special::WarpId => self.index,
            Special::NWarpId => (bx * by * bz).div_ceil(32),
            Special::SmId | Special::GridId | Special::Zero => 0,
            Special::NSmId => core.sms,
            Special::Clock | Special::GlobalTimer => return [core.steps; 32],
            Special::ClusterCtaid(i) => axis(ctaid, i) % axis(launch.cluster, i).max(1),
            Special::ClusterNctaid(i) => axis(launch.cluster, i),
            Special::ClusterId(i) => divide(ctaid, launch.cluster, i),
            Special::NClusterId(i) => divide(launch.grid, launch.cluster, i),
            Special::ClusterRank => self.cta,
            Special::ClusterSize => cluster_size,
            Special::DynamicSmem => launch.smem,
            Special::ReservedSmem => core.code.reserved_shared(launch.smem).start as u32,
            Special::ReservedSmemEnd => core.code.reserved_shared(launch.smem).end as u32,
            Special::GridWorkspace(high) => (GRID_BASE >> if high { 32 } else { 0 }) as u32,
            Special::TotalSmem => core.ctas.get(self.cta as usize).map_or(0, |c| c.shared.len() as u32),
        };
        [u64::from(whole); 32]
    }
}
