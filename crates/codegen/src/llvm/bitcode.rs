//! A library of functions as bitcode, as data.

use inkwell::module::Module;

/// A library that may not have been read yet.
pub(crate) struct Library<'c, 't> {
    pub(super) bitcode: Option<&'t [u8]>,
    pub(super) read: Option<Module<'c>>,
    pub(super) linked: bool,
}

impl<'t> Library<'_, 't> {
    /// A library of this bitcode, or none.
    pub fn of(bitcode: Option<&'t [u8]>) -> Self {
        Library { bitcode, read: None, linked: false }
    }
}
