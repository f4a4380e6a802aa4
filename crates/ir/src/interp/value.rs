//! What an SSA value holds while a kernel is interpreted.

use std::rc::Rc;

use super::data::Data;
use super::descriptor::Descriptor;

/// A tile, a scalar or a descriptor.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Tile(Rc<Data>),
    Desc(Rc<Descriptor>),
}

impl From<Data> for Value {
    fn from(data: Data) -> Value {
        Value::Tile(Rc::new(data))
    }
}

impl Value {
    /// Elements held; a descriptor counts as one.
    pub(super) fn elements(&self) -> u64 {
        match self {
            Value::Tile(data) => data.len() as u64,
            Value::Desc(_) => 1,
        }
    }
}
