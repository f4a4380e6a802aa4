//! Reading data and cost files: text to structs, with the line and key of what is wrong (T38, T39).

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::cost::{Fault, Native, OpEntry, OpKind, Unit, validate};
use crate::{Target, TargetError};

/// Most bytes of a cost file; a complete one has about four thousand.
const MAX_COST_FILE: usize = 1 << 20;

/// What a cost file may hold. All of it is optional; each entry replaces the built-in one entirely.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CostFile {
    chip: Option<ChipOfCosts>,
    #[serde(default)]
    unit: BTreeMap<String, Unit>,
    #[serde(default)]
    instruction: BTreeMap<String, Native>,
    #[serde(default)]
    op: BTreeMap<OpKind, OpEntry>,
}

/// The chip a cost file is for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChipOfCosts {
    name: String,
    sms: Option<u32>,
    clock_mhz: Option<u32>,
}

/// Reads a whole data file.
pub(crate) fn read_target(text: &str) -> Result<Target, TargetError> {
    let target: Target = toml::from_str(text).map_err(|error| unreadable(text, &error))?;
    match validate(&target, |_| true).into_iter().next() {
        None => Ok(target),
        Some(fault) => Err(located(text, fault)),
    }
}

impl Target {
    /// This target with entries of a cost file in the place of its own (T39).
    ///
    /// The file has the form of the `unit.NAME`, `instruction.CLASS` and `[op.KIND]` tables of a data file, and may name its
    /// `chip`. Each entry replaces a built-in one entirely; entries for new units are added.
    ///
    /// # Errors
    /// [`TargetError::File`] with line and key: more than 1 MiB of text, text that is not TOML, unknown
    /// keys or kinds, another chip's file, zero rates, a unit without the rate an entry needs, latency
    /// less than duration.
    ///
    /// ```
    /// use warploom_chips::Target;
    /// let hopper = Target::named("sm_90a").unwrap();
    /// let slower = hopper.with_costs("unit.TMA = { count = 1, bytes_per_clk = 38 }").unwrap();
    /// assert_ne!(hopper, slower);
    /// let error = hopper.with_costs("unit.TMA = { count = 1, bytes_per_clk = 0 }").unwrap_err();
    /// assert!(error.to_string().starts_with("line 1: `unit.TMA.bytes_per_clk`"));
    /// ```
    pub fn with_costs(&self, text: &str) -> Result<Target, TargetError> {
        if text.len() > MAX_COST_FILE {
            let reason = format!("{} bytes; a cost file has at most {MAX_COST_FILE}", text.len());
            return Err(TargetError::File { line: 1, key: "(whole file)".to_owned(), reason });
        }
        let costs: CostFile = toml::from_str(text).map_err(|error| unreadable(text, &error))?;
        let mut target = self.clone();
        if let Some(chip) = costs.chip {
            if chip.name != self.chip.name {
                let reason = format!("the file is for `{}`, the target is `{}`", chip.name, self.chip.name);
                return Err(located(text, Fault { key: "chip.name".to_owned(), reason, unit: None }));
            }
            target.chip.sms = chip.sms.unwrap_or(target.chip.sms);
            target.chip.clock_mhz = chip.clock_mhz.unwrap_or(target.chip.clock_mhz);
        }
        target.unit.extend(costs.unit);
        target.instruction.extend(costs.instruction);
        target.op.extend(costs.op.clone());
        match validate(&target, |kind| costs.op.contains_key(&kind)).into_iter().next() {
            None => Ok(target),
            Some(fault) => Err(located(text, fault.blamed_on_file(&costs.op))),
        }
    }
}

impl Fault {
    /// A built-in entry that no longer works is the fault of the unit that was replaced.
    fn blamed_on_file(self, given: &BTreeMap<OpKind, OpEntry>) -> Fault {
        let in_file = given.keys().any(|kind| self.key.starts_with(&format!("op.{kind}.")));
        match self.unit {
            Some(unit) if !in_file => {
                let reason = format!("`{}` depends on it: {}", self.key, self.reason);
                Fault { key: format!("unit.{unit}"), reason, unit: None }
            }
            _ => self,
        }
    }
}

/// A reader's error with its line; the key is that line's text up to the `=`.
fn unreadable(text: &str, error: &toml::de::Error) -> TargetError {
    let line = line_at(text, error.span().map_or(0, |span| span.start));
    let content = text.lines().nth(line - 1).unwrap_or("");
    let key = content.split(['=', '#']).next().unwrap_or("").trim().trim_matches(['[', ']']);
    let key: String = key.chars().take(80).collect();
    TargetError::File { line, key, reason: error.message().to_owned() }
}

/// A fault with the line of its key, or of the nearest table around it that the file has.
fn located(text: &str, fault: Fault) -> TargetError {
    let document = DeTable::parse(text).ok();
    let mut table = document.as_ref().map(Spanned::get_ref);
    let mut start = 0;
    for part in fault.key.split('.') {
        let Some((key, value)) = table.and_then(|table| table.get_key_value(part)) else { break };
        start = key.span().start;
        table = match value.get_ref() {
            DeValue::Table(inner) => Some(inner),
            _ => None,
        };
    }
    TargetError::File { line: line_at(text, start), key: fault.key, reason: fault.reason }
}

/// Line of a byte offset, from 1.
fn line_at(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|&byte| byte == b'\n').count() + 1
}
