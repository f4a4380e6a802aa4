//! How many CTAs of a kernel an SM holds at once (T3, T4).

use serde::{Deserialize, Serialize};

use crate::Target;

/// What one CTA of a kernel asks of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CtaDemand {
    /// Threads.
    pub threads: u32,
    /// Registers per thread at the launch.
    pub registers: u32,
    /// Shared memory, bytes, without the system's share.
    pub smem_bytes: u64,
    /// Tensor-memory columns allocated; 0 for none.
    pub tmem_columns: u32,
}

/// A resource that bounds residency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Resource {
    /// Shared memory of the SM.
    SharedMemory,
    /// Registers of the SM.
    Registers,
    /// Threads of the SM.
    Threads,
    /// CTAs of the SM.
    Ctas,
    /// Tensor-memory columns of the SM.
    TensorMemory,
}

/// How many CTAs fit, and why not more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Residency {
    /// CTAs an SM holds at once; at least 1.
    pub ctas: u32,
    /// The CTAs that each resource alone would hold, in the order of T4; without tensor memory, four.
    pub by_resource: Vec<(Resource, u32)>,
}

impl Residency {
    /// The resources that allow no CTA more.
    pub fn bound_by(&self) -> Vec<Resource> {
        self.by_resource
            .iter()
            .filter(|(_, ctas)| *ctas == self.ctas)
            .map(|(resource, _)| *resource)
            .collect()
    }
}

/// Not even one CTA fits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("T4: a CTA with {demanded} {unit} does not fit {chip}, which has {limit}")]
pub struct DoesNotFit {
    /// Name of the chip.
    pub chip: String,
    /// The resource that is exceeded.
    pub resource: Resource,
    /// What the CTA asks for, in `unit`.
    pub demanded: u64,
    /// What a CTA can have, in `unit`.
    pub limit: u64,
    /// What is counted.
    pub unit: String,
}

impl Target {
    /// Registers one warp is given for this many per thread: rounded up to the unit of T3.
    pub fn registers_of_warp(&self, per_thread: u32) -> u32 {
        let exact = u64::from(per_thread) * u64::from(self.threads.per_warp);
        let unit = u64::from(self.registers.warp_unit.max(1));
        u32::try_from(exact.div_ceil(unit).saturating_mul(unit)).unwrap_or(u32::MAX)
    }

    /// Warps of so many threads.
    fn warps(&self, threads: u32) -> u32 {
        threads.div_ceil(self.threads.per_warp.max(1))
    }

    /// How many CTAs of a kernel an SM holds at once (T4).
    ///
    /// # Errors
    /// [`DoesNotFit`] when a single CTA exceeds a limit, naming the first in the order of T4.
    ///
    /// ```
    /// use warploom_chips::{CtaDemand, Target};
    /// let demand = CtaDemand { threads: 384, registers: 168, smem_bytes: 196_608, tmem_columns: 0 };
    /// assert_eq!(Target::named("sm_90a").unwrap().residency(&demand).unwrap().ctas, 1);
    /// ```
    pub fn residency(&self, demand: &CtaDemand) -> Result<Residency, DoesNotFit> {
        let warps = self.warps(demand.threads).max(1);
        let registers = u64::from(self.registers_of_warp(demand.registers)) * u64::from(warps);
        self.fits(demand, registers)?;

        let smem = demand.smem_bytes.saturating_add(self.smem.reserved_per_cta);
        let resident_warps = self.threads.per_sm / self.threads.per_warp.max(1);
        let mut by_resource = vec![
            (Resource::SharedMemory, at_most(self.smem.per_sm, smem)),
            (Resource::Registers, at_most(self.registers.per_sm.into(), registers)),
            (Resource::Threads, at_most(resident_warps.into(), warps.into())),
            (Resource::Ctas, self.threads.ctas_per_sm),
        ];
        if let Some(tmem) = self.tmem.as_ref().filter(|_| demand.tmem_columns > 0) {
            by_resource
                .push((Resource::TensorMemory, at_most(tmem.columns.into(), demand.tmem_columns.into())));
        }
        let ctas = by_resource.iter().map(|(_, ctas)| *ctas).min().unwrap_or(0);
        Ok(Residency { ctas, by_resource })
    }

    /// The chip as a CTA sees it that shall share an SM with others: registers, shared memory, threads and
    /// tensor memory of a CTA are an even part of the SM's. What is compiled for it runs on the chip `ctas`
    /// to an SM (T3, T4). 0 and 1 give the chip itself.
    ///
    /// ```
    /// use warploom_chips::Target;
    /// let half = Target::named("sm_90a").unwrap().shared_by(2);
    /// assert_eq!((half.registers.per_cta, half.smem.per_cta), (32_768, 115_712));
    /// ```
    #[must_use]
    pub fn shared_by(&self, ctas: u32) -> Target {
        let mut part = self.clone();
        if ctas < 2 {
            return part;
        }
        let registers = self.registers.per_sm / ctas;
        let unit = self.registers.warp_unit.max(1);
        part.registers.per_cta = (registers / unit * unit).min(self.registers.per_cta);
        let smem = (self.smem.per_sm / u64::from(ctas)).saturating_sub(self.smem.reserved_per_cta);
        // Whole kibibytes: the granule of an SM's shared memory is not smaller.
        part.smem.per_cta = (smem / 1024 * 1024).min(self.smem.per_cta);
        let warp = self.threads.per_warp.max(1);
        part.threads.per_cta = (self.threads.per_sm / ctas / warp * warp).min(self.threads.per_cta);
        if let Some(tmem) = part.tmem.as_mut() {
            let columns = tmem.columns / ctas;
            tmem.columns = if columns == 0 { 0 } else { 1 << columns.ilog2() };
        }
        part
    }

    fn fits(&self, demand: &CtaDemand, registers: u64) -> Result<(), DoesNotFit> {
        let columns = self.tmem.as_ref().map_or(0, |tmem| tmem.columns);
        let limits = [
            (Resource::SharedMemory, demand.smem_bytes, self.smem.per_cta, "bytes of shared memory"),
            (
                Resource::Registers,
                demand.registers.into(),
                self.registers.per_thread.into(),
                "registers a thread",
            ),
            (Resource::Registers, registers, self.registers.per_cta.into(), "registers"),
            (Resource::Threads, demand.threads.into(), self.threads.per_cta.into(), "threads"),
            (Resource::TensorMemory, demand.tmem_columns.into(), columns.into(), "tensor-memory columns"),
        ];
        match limits.into_iter().find(|(_, demanded, limit, _)| demanded > limit) {
            None => Ok(()),
            Some((resource, demanded, limit, unit)) => Err(DoesNotFit {
                chip: self.chip.name.clone(),
                resource,
                demanded,
                limit,
                unit: unit.to_owned(),
            }),
        }
    }
}

/// How often `part` fits into `whole`; no bound for a part of 0.
fn at_most(whole: u64, part: u64) -> u32 {
    whole.checked_div(part).map_or(u32::MAX, |count| u32::try_from(count).unwrap_or(u32::MAX))
}
