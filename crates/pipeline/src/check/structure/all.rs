//! The order of these checks.

use warploom_chips::Target;

use super::arrivals::{commits, counts};
use super::memory::{columns, memory, overlaps};
use super::partitions::{elections, named_barriers, registers, warps};
use super::turns::turns;
use crate::check::model::Model;
use crate::check::report::Report;

/// Checks the declarations against each other and against the chip.
pub(in crate::check) fn check(model: &Model<'_>, target: &Target, report: &mut Report) {
    memory(model, target, report);
    columns(model, target, report);
    overlaps(model, report);
    for (index, ring) in model.rings.iter().enumerate() {
        counts(model, index, ring, target, report);
    }
    commits(model, report);
    warps(model, target, report);
    registers(model, target, report);
    named_barriers(model, target, report);
    turns(model, target, report);
    elections(model, report);
}
