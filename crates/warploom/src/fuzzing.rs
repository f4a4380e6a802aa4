//! The whole way from text to PTX under generated kernels and damaged text (feature `fuzzing`).

use warploom_ir::Diagnostic;
use warploom_ir::diag::Code;
use warploom_ir::fuzzing::{Random, mutate};
use warploom_pipeline::fuzzing::Kernel;
use warploom_target::Target;

use crate::{Options, compile, read};

/// What became of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// PTX, with every checker passed.
    Compiled,
    /// Refused with diagnostics that have a place or a reason.
    Refused,
}

/// Bytes stand for a kernel of the GEMM family; where the first is odd its text is damaged, seeded by the second.
/// Bytes after `\xff` are text as it is.
///
/// # Errors
/// The law that is broken: an internal error, or a refusal without a reason.
pub fn compile_bytes(bytes: &[u8], target: &Target) -> Result<Outcome, String> {
    let text = match bytes {
        [0xff, text @ ..] => String::from_utf8_lossy(text).into_owned(),
        [how, seed, kernel @ ..] if how % 2 == 1 => {
            let mut random = Random::new(u64::from(*seed) << 8 | u64::from(*how));
            mutate(&Kernel::from_bytes(kernel).text(), &mut random)
        }
        _ => Kernel::from_bytes(bytes.get(1..).unwrap_or_default()).text(),
    };
    let module = match read(&text) {
        Ok(module) => module,
        Err(refusals) => return refused(&refusals),
    };
    match compile(&module, target, &Options::default()) {
        Ok(_) => Ok(Outcome::Compiled),
        Err(refusals) => refused(&refusals),
    }
}

fn refused(refusals: &[Diagnostic]) -> Result<Outcome, String> {
    if let Some(bug) = refusals.iter().find(|r| matches!(r.code, Code::Internal | Code::Emit)) {
        return Err(format!("internal error: {bug}"));
    }
    if refusals.is_empty() { Err("refused without a reason".into()) } else { Ok(Outcome::Refused) }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// The generator at work for a second; it must make kernels that compile and kernels that do not.
    #[test]
    fn generated_kernels_compile_or_are_refused() {
        let target = Target::named("sm_90a").unwrap();
        let start = Instant::now();
        let (mut compiled, mut refused) = (0, 0);
        let mut seed = 0;
        while start.elapsed() < Duration::from_secs(1) || compiled == 0 || refused == 0 {
            let mut random = Random::new(seed);
            let bytes: Vec<u8> = (0..24).map(|_| random.below(256) as u8).collect();
            match compile_bytes(&bytes, &target).unwrap_or_else(|law| panic!("seed {seed}: {law}")) {
                Outcome::Compiled => compiled += 1,
                Outcome::Refused => refused += 1,
            }
            seed += 1;
            assert!(seed < 10_000, "{compiled} compiled, {refused} refused: the generator is useless");
        }
        println!("{compiled} compiled, {refused} refused");
    }
}
