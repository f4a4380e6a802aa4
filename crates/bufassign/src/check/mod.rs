//! stub
use crate::{Assignment, Options, Problem};
pub(crate) fn check_with(_p: &Problem, _o: &Options, _a: &Assignment) -> Result<(), Vec<String>> {
    Ok(())
}
