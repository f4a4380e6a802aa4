//! The modulo reservation table (S4).

mod counted;
mod listed;
mod row;
mod starts;
pub(crate) mod table;
