//! What must hold of every loop and of every answer. Each law says in its error which one is broken, and how.

mod ask;
mod claims;
mod plain;

pub use claims::{best_binding_is_found, best_split_is_found, cores_refute, unrolling_never_hurts};
pub use plain::{
    algorithms_agree, any_text_is_judged, constraints_never_help, critical_ratio_scales,
    least_depths_have_a_schedule, numbering_does_not_matter, planted_optimum_is_found,
    post_pass_never_raises_bytes, schedule_is_legal, small_optimum_is_found, text_reads_back,
};
