//! How values come to a product or a reader: rings filled by lanes or the copy engine, slots filled where they are
//! read, operands that are stored in front of their product (Q10, Q12).

pub(crate) mod blocking;
pub(crate) mod engine;
pub(crate) mod find;
mod loads;
pub(crate) mod made;
pub(crate) mod operand_stores;
pub(crate) mod operands;
pub(crate) mod panels;
pub(crate) mod roots;
pub(crate) mod slice;
mod spans;
pub(crate) mod turns;

pub use blocking::BlockingLoads;
pub use find::CopiedTile;
pub use loads::PipelinedLoads;
pub use operand_stores::{OperandStores, StoredOperand};
