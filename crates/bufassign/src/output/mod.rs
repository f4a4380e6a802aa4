//! The answer: one record per value, the merge map, the memory plans and what they rely on
//! (B9..B13).

mod assignment;
mod error;
mod fill;
mod record;
mod space;

pub use assignment::{AssignNote, Assignment, BarrierUse, DescPlan, Drain, MergeClass, Occupancy, OrderEdge};
pub use error::{
    AlsoFailure, AssignDiagnostic, AssignError, AssignFailure, Classification, ErrorKind, LoopInfo,
    PackVerdict, PoolHolder, PoolSlot, Remedy, ValueInfo,
};
pub use fill::{FillEnd, FillPlan, FillStep};
pub use record::{
    BarrierMode, Class, DescPlace, Handshake, Lanes, LastSlot, NamedBarrier, Record, TmemPlace, Why,
};
pub use space::{MapEntry, MapKind, SmemKind, SmemPlan, TmemPlan};
