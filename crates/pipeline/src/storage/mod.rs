//! The author's storage: values of a kernel bound to leaves of its storage-alias specs (A44-A51, B20).
//!
//! `warploom.buffer = #warploom.buffer<"p", mul = 2, add = 1>` on the operation that fills a buffer says that iteration
//! j uses buffer `(2 j + 1) mod n` of leaf `%p`. In shared memory that is a `tt.descriptor_load`, or the
//! `tt.descriptor_store` for its staging buffer; in tensor memory a `tt.dot` for its accumulator, or the operation that
//! makes the operand of one.

mod bind;
mod bindings;
mod edges;
mod remarks;

pub(crate) use bind::bind;
pub use bindings::BUFFER;
pub(crate) use bindings::Bindings;
