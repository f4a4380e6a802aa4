//! Findings: who, where, and against whom (E69).

use super::actor::Actor;
use super::core::Core;
use crate::place::{Extent, FindingPlace};
use crate::race::access::{Access, Act, OPERATION};
use crate::race::channel::{KINDS, Kind};
use crate::race::shadow::{Conflict, ConflictKind};
use crate::report::{Finding, Severity};

impl Core<'_> {
    /// Reports something; the first of its cause is kept, later ones counted (E103).
    #[allow(clippy::too_many_arguments, reason = "a finding has this many sides")]
    pub(crate) fn report(
        &mut self,
        code: &str,
        severity: Severity,
        actor: &Actor,
        other: Option<&Access>,
        extent: Option<Extent>,
        message: impl Into<String>,
        remedy: &str,
    ) {
        let first = self.place(actor.who, actor.time, actor.pc, actor.visit, actor.lanes);
        let second = other.map(|o| {
            let mut place = self.place(o.who, o.time, o.pc, o.visit, o.lanes);
            if o.home != self.home {
                let [x, y, z] = self.launch.position(u64::from(o.home), o.rank.into());
                place.actor.push_str(&format!(" of CTA ({x},{y},{z})"));
            }
            place
        });
        let since = other
            .filter(|_| code.starts_with('R'))
            .map(|o| (actor.since.min(o.since), actor.since.max(o.since)));
        let finding = Finding {
            code: code.to_string(),
            severity,
            kernel: self.launch.entry.clone(),
            cta: self.ctas.get(actor.cta as usize).map_or([0; 3], |c| c.ctaid),
            message: message.into(),
            remedy: remedy.to_string(),
            first: Some(first),
            second,
            extent,
            registers: Vec::new(),
            count: 1,
            pairs: Vec::new(),
            since,
            lanes: actor.lanes,
        };
        let same = |f: &&mut Finding| {
            f.same_cause(&finding) || code == "R05" && (f.code.as_str(), f.severity) == (code, severity)
        };
        if let Some(f) = self.findings.iter_mut().find(same) {
            f.absorb(&finding);
            return;
        }
        // Notes leave room for errors, and do not end a run.
        let error = severity == Severity::Error;
        let kept = if error { self.errors } else { self.findings.len() - self.errors };
        if kept >= self.opts.max_findings {
            return;
        }
        self.errors += usize::from(error);
        self.findings.push(finding);
    }

    /// What was only a remark is an error: the findings of this code.
    pub(crate) fn condemn(&mut self, code: &str) {
        for f in self.findings.iter_mut().filter(|f| f.code == code && f.severity == Severity::Note) {
            f.severity = Severity::Error;
            self.errors += 1;
        }
    }

    /// An error without a second actor.
    pub(crate) fn error(&mut self, code: &str, actor: &Actor, message: impl Into<String>, remedy: &str) {
        self.report(code, Severity::Error, actor, None, None, message, remedy);
    }

    pub(crate) fn place(&self, who: u32, time: u32, pc: u32, visit: u32, lanes: u32) -> FindingPlace {
        let (line, opcode, loc) =
            self.code.insts.get(pc as usize).map_or((0, 0, 0), |i| (i.line, i.opcode, i.loc));
        let actor = if who & OPERATION != 0 {
            let channel = who & !OPERATION;
            let kind = Kind::name_of(channel % KINDS);
            format!("{kind} #{time} of {}", self.warp_name(channel / KINDS))
        } else {
            format!("{} lanes {}", self.warp_name(who), lane_list(lanes))
        };
        FindingPlace {
            actor,
            line,
            opcode: self.code.opcodes.get(opcode as usize).cloned().unwrap_or_default(),
            visit,
            source: self.code.source(loc),
        }
    }

    /// "warp 3", with its CTA when there are several.
    pub(crate) fn warp_name(&self, id: u32) -> String {
        match self.ctas.iter().position(|c| id >= c.warps.0 && id < c.warps.0 + c.warps.1) {
            Some(rank) if self.ctas.len() > 1 => {
                format!("warp {} of CTA rank {rank}", id - self.ctas.get(rank).map_or(0, |c| c.warps.0))
            }
            _ => format!("warp {id}"),
        }
    }

    /// The shared range with the name the caller gave it.
    pub(crate) fn shared_extent(&self, start: u64, end: u64) -> Extent {
        let named =
            |(s, n, _): &&(u32, u32, String)| start >= u64::from(*s) && start < u64::from(*s) + u64::from(*n);
        let name = self.opts.names.iter().find(named).map(|(_, _, n)| n.clone());
        Extent { space: "shared".to_string(), start, end, name, holds: String::new() }
    }

    pub(crate) fn global_extent(&self, start: u64, end: u64) -> Extent {
        match self.world.global.store.describe(start) {
            Some((name, offset)) => Extent {
                space: "global".into(),
                start: offset,
                end: offset + (end - start),
                name: Some(name),
                holds: String::new(),
            },
            None => Extent { space: "global".into(), start, end, name: None, holds: String::new() },
        }
    }

    /// Reports a race or a missing proxy fence.
    pub(crate) fn collision(&mut self, race: &str, actor: &Actor, act: Act, c: &Conflict, extent: Extent) {
        let verb = |a: Act| match a {
            Act::Read => "read",
            Act::Write => "write",
            Act::Atomic => "barrier or atomic operation",
        };
        let (new, old) = (verb(act), verb(c.other.act));
        match c.kind {
            ConflictKind::Race if act == Act::Atomic && c.other.act == Act::Atomic => {
                let (message, remedy) = if actor.access(act, 0).overlaps_in_part(&c.other) {
                    (
                        "race: two strong accesses of different sizes overlap: neither is atomic for the other",
                        "access the word in one size everywhere, or order the two (E99)",
                    )
                } else {
                    (
                        "race: two strong accesses, and the scope of one does not reach the other",
                        "use .gpu scope between CTAs, .cluster within a cluster (E99)",
                    )
                };
                self.report(race, Severity::Error, actor, Some(&c.other), Some(extent), message, remedy);
            }
            ConflictKind::Race => {
                let message = format!("race: this {new} is not ordered after that {old}");
                let remedy = "no wait, barrier or release-acquire pair orders the two: add the missing one";
                self.report(race, Severity::Error, actor, Some(&c.other), Some(extent), message, remedy);
            }
            ConflictKind::Proxy => {
                let message =
                    format!("asynchronous {new} of bytes from a generic {old} without a proxy fence");
                let remedy = "fence.proxy.async by the writing threads before they release (C26)";
                self.report("R04", Severity::Error, actor, Some(&c.other), Some(extent), message, remedy);
            }
            ConflictKind::ProxyRead => {
                let message = format!("asynchronous {new} after a generic {old} without a proxy fence");
                let remedy = "whether hardware needs fence.proxy.async here is not verified (E64)";
                self.report("R04", Severity::Note, actor, Some(&c.other), Some(extent), message, remedy);
            }
        }
    }
}

/// "0-31", "5", "0,4,8".
pub(crate) fn lane_list(lanes: u32) -> String {
    let mut out = String::new();
    let mut l = 0;
    while l < 32 {
        if lanes >> l & 1 == 1 {
            let run = (lanes >> l).trailing_ones();
            if !out.is_empty() {
                out.push(',');
            }
            out.push_str(&l.to_string());
            if run > 1 {
                out.push_str(&format!("-{}", l + run - 1));
            }
            l += run;
        } else {
            l += 1;
        }
    }
    out
}
