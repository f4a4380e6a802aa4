//! Targets as text for people.

mod formula;
mod table;

use crate::cost::Amount;
use crate::{Target, mma::MmaInstruction};
use table::Table;

/// All chips in one table (T2).
pub fn overview() -> String {
    let targets = match Target::all() {
        Ok(targets) => targets,
        Err(error) => return format!("{error}\n"),
    };
    let mut table = Table::new(&[
        "target",
        "device",
        "SMs",
        "MHz",
        "PTX",
        "SMEM/CTA",
        "SMEM/SM",
        "threads/SM",
        "CTAs/SM",
        "cluster",
        "TMEM",
        "tensor cores",
        "f16 MAC/clk",
    ]);
    for target in &targets {
        table.row(overview_row(target));
    }
    table.print()
}

fn overview_row(target: &Target) -> Vec<String> {
    let chip = &target.chip;
    let cluster = target.cluster.as_ref().map_or("-".to_owned(), |c| format!("{}/{}", c.portable, c.opt_in));
    let tmem = target.tmem.as_ref().map_or("-".to_owned(), |t| format!("{}x{}", t.lanes, t.columns));
    let cores = match target.mma_instruction() {
        MmaInstruction::MmaSync => "mma.sync",
        MmaInstruction::Wgmma => "wgmma",
        MmaInstruction::Tcgen05 => "tcgen05",
    };
    let rate = target.unit.get("TC").and_then(|unit| unit.macs_per_clk.get(&crate::Element::F16));
    vec![
        chip.name.clone(),
        chip.device.clone(),
        chip.sms.to_string(),
        chip.clock_mhz.to_string(),
        chip.ptx_default.to_string(),
        target.smem.per_cta.to_string(),
        target.smem.per_sm.to_string(),
        target.threads.per_sm.to_string(),
        target.threads.ctas_per_sm.to_string(),
        cluster,
        tmem,
        cores.to_owned(),
        rate.map_or("-".to_owned(), Amount::to_string),
    ]
}

/// One chip: limits, features, units with their rates, costs with their origins.
pub fn describe(target: &Target) -> String {
    let chip = &target.chip;
    let head = format!(
        "{}: {}, {} SMs at {} MHz, PTX {} (at least {})\n",
        chip.name, chip.device, chip.sms, chip.clock_mhz, chip.ptx_default, chip.ptx_min
    );
    let unverified = match target.unverified.as_slice() {
        [] => String::new(),
        keys => format!("not verified: {}\n", keys.join(", ")),
    };
    let parts = [
        head + &unverified,
        format!("Limits\n{}", limits(target)),
        format!("Features\n{}", features(target)),
        format!("Units, rates per clock and SM\n{}", units(target)),
        format!("Native instructions, each with an issue slot\n{}", instructions(target)),
        format!(
            "Costs in clocks: /E0 = times elements/16384, KiB = whole KiB; the first unit is held as long as any\n{}",
            costs(target)
        ),
    ];
    parts.join("\n")
}

fn limits(target: &Target) -> String {
    let mut table = Table::new(&[]);
    let mut row = |what: &str, value: String| table.row(vec![what.to_owned(), value]);
    let smem = &target.smem;
    row(
        "shared memory per CTA",
        format!(
            "{} B dynamic, {} B static, {} B without opt-in",
            smem.per_cta, smem.per_cta_static, smem.per_cta_default
        ),
    );
    row(
        "shared memory per SM",
        format!("{} B, of which {} B kept per CTA", smem.per_sm, smem.reserved_per_cta),
    );
    let registers = &target.registers;
    row(
        "registers",
        format!(
            "{} per SM and {} per CTA, {} to {} per thread, given to warps in units of {}",
            registers.per_sm,
            registers.per_cta,
            registers.min_per_thread,
            registers.per_thread,
            registers.warp_unit
        ),
    );
    if let Some(range) = &registers.setmaxnreg {
        row("setmaxnreg", format!("{} to {} in steps of {}", range.min, range.max, range.step));
    }
    let threads = &target.threads;
    row(
        "threads",
        format!("{} per CTA ({} warps), {} per SM", threads.per_cta, threads.warps_per_cta(), threads.per_sm),
    );
    row("CTAs per SM", threads.ctas_per_sm.to_string());
    row("grid", format!("{} x {} x {}", target.grid.x, target.grid.y, target.grid.z));
    if let Some(cluster) = &target.cluster {
        row("cluster", format!("{} CTAs, {} with opt-in", cluster.portable, cluster.opt_in));
    }
    let barriers = &target.barriers;
    let reserved: Vec<String> = barriers.reserved.iter().map(u32::to_string).collect();
    row("named barriers", format!("{}, reserved {}", barriers.named, reserved.join(" ")));
    row(
        "mbarriers",
        format!("{} arrivals, {} B awaited per phase", barriers.mbarrier_count, barriers.mbarrier_tx_bytes),
    );
    if let Some(tmem) = &target.tmem {
        row(
            "tensor memory",
            format!(
                "{} lanes x {} columns of {} bits, {} columns at least",
                tmem.lanes, tmem.columns, tmem.cell_bits, tmem.min_alloc
            ),
        );
    }
    let descriptors = &target.descriptors;
    row("kernel parameters", format!("{} B, {} descriptors", descriptors.param_bytes, descriptors.slots));
    table.print()
}

fn features(target: &Target) -> String {
    let mut lines = vec![String::new()];
    for feature in &target.features {
        if lines.last().is_some_and(|line| line.len() + feature.key().len() > 100) {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str("  ");
            line.push_str(feature.key());
        }
    }
    lines.join("\n") + "\n"
}

fn units(target: &Target) -> String {
    let mut table = Table::new(&["unit", "count", "rate"]);
    for (name, unit) in &target.unit {
        let mut rates = Vec::new();
        rates.extend(unit.bytes_per_clk.map(|rate| format!("{rate} B")));
        rates.extend(unit.chip_bytes_per_clk.map(|rate| format!("{rate} B when all SMs pull")));
        rates.extend(unit.elements_per_clk.map(|rate| format!("{rate} elements")));
        rates.extend(unit.macs_per_clk.iter().map(|(element, rate)| format!("{element} {rate}")));
        rates.extend(unit.full_rate_warps.map(|warps| format!("by {warps} warps")));
        rates.extend(unit.interleaved.then(|| "in turn".to_owned()));
        let rates = if rates.is_empty() { "-".to_owned() } else { rates.join(", ") };
        table.row(vec![name.clone(), unit.count.to_string(), rates]);
    }
    table.print()
}

fn instructions(target: &Target) -> String {
    let mut table = Table::new(&["instructions", "lanes per clock", "origin"]);
    for (class, native) in &target.instruction {
        let lanes: Vec<String> =
            native.lanes_per_clk.iter().map(|(unit, lanes)| format!("{unit} {lanes}")).collect();
        table.row(vec![class.clone(), lanes.join(", "), formula::origin(native.origin).to_owned()]);
    }
    table.print()
}

fn costs(target: &Target) -> String {
    let mut table = Table::new(&["operation", "class", "duration", "latency", "issue", "origin"]);
    for (kind, entry) in &target.op {
        let (duration, latency) = (entry.duration.origin, entry.latency.origin);
        let origin = match duration == latency {
            true => formula::origin(duration).to_owned(),
            false => format!("{}, {}", formula::origin(duration), formula::origin(latency)),
        };
        let issue =
            entry.issue.or(kind.usual_issue()).map_or("duration".to_owned(), |clocks| clocks.to_string());
        table.row(vec![
            kind.key().to_owned(),
            kind.class().key().to_owned(),
            formula::duration(target, &entry.duration),
            formula::latency(&entry.latency),
            issue,
            origin,
        ]);
    }
    table.print()
}
