//! Loops of machine code: how many instructions a trip takes (C81, C82).
//!
//! [`disassemble`] runs nvdisasm; [`loops`] reads its text. A loop is a natural loop of the control-flow
//! graph: a back edge to a block that dominates its source, and every block from which that source is reached
//! without passing the head. So the code of a spin wait counts, wherever ptxas moved it; code behind the
//! loop does not. Beside that stands what a trip runs in which every wait passes at once.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};
use warploom_ir::Diagnostic;
use warploom_ir::diag::Code;

use crate::flow::{Step, around, natural_loops};
use crate::pipe::{Counts, is_of_each_lane, starts_for_all};

/// A natural loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    /// The function it is in.
    pub function: String,
    /// Address of its head in bytes.
    pub head: u64,
    /// Instructions, those of inner loops included.
    pub instructions: u32,
    /// The same without what is run only where a wait does not pass at once.
    pub fast: u32,
    /// Multiplications of warpgroups.
    pub hgmma: u32,
    /// Multiplications of tcgen05.
    pub utcmma: u32,
    /// Multiplications of single warps.
    pub mma: u32,
    /// TMA loads of tensors.
    pub utmaldg: u32,
    /// Loops inside it.
    pub inner: u32,
    /// Loops inside it that do more than wait.
    pub working: u32,
    /// The work of a trip in which no wait fails.
    pub counts: Counts,
    /// What of `fast` one warp runs for all others, which jump over it.
    pub alone: u32,
    /// The work of that.
    pub counts_alone: Counts,
}

impl Loop {
    /// Whether it only waits: no more than a few instructions, and none that work.
    pub fn is_spin(&self) -> bool {
        self.inner == 0
            && self.hgmma + self.utcmma + self.mma == 0
            && self.utmaldg == 0
            && self.instructions <= 4
    }
}

/// The assembly text of a cubin.
///
/// # Errors
/// `assemble` where nvdisasm cannot be started or refuses.
pub fn disassemble(nvdisasm: &Path, cubin: &[u8]) -> Result<String, Box<Diagnostic>> {
    let failed = |text: String| Box::new(Diagnostic::error(Code::Assemble, text));
    let folder = tempfile::tempdir().map_err(|e| failed(format!("no temporary folder: {e}")))?;
    let input = folder.path().join("kernel.cubin");
    std::fs::write(&input, cubin).map_err(|e| failed(format!("the cubin could not be written: {e}")))?;
    let run = Command::new(nvdisasm).arg("-c").arg(&input).output();
    let run = run.map_err(|e| failed(format!("{} did not start: {e}", nvdisasm.display())))?;
    if !run.status.success() {
        return Err(failed(format!("nvdisasm: {}", String::from_utf8_lossy(&run.stderr))));
    }
    Ok(String::from_utf8_lossy(&run.stdout).into_owned())
}

/// An instruction.
struct Instruction<'a> {
    address: u64,
    /// Name with modifiers.
    name: &'a str,
    operands: &'a str,
    /// The label it may jump to.
    target: Option<&'a str>,
    /// Whether what follows may run too.
    falls: bool,
}

/// A function under construction.
#[derive(Default)]
struct Function<'a> {
    name: &'a str,
    instructions: Vec<Instruction<'a>>,
    labels: BTreeMap<&'a str, usize>,
}

/// Every loop of the functions in a text of nvdisasm, by the address of its head.
pub fn loops(text: &str) -> Vec<Loop> {
    functions(text).iter().flat_map(function_loops).collect()
}

fn functions(text: &str) -> Vec<Function<'_>> {
    let mut all: Vec<Function> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let line = line.trim();
        if let Some(section) = line.strip_prefix("//---").map(|rest| rest.trim_matches(['-', ' ', '\t'])) {
            let name = section.strip_prefix(".text.");
            inside = name.is_some();
            all.extend(name.map(|name| Function { name, ..Function::default() }));
            continue;
        }
        let Some(function) = all.last_mut().filter(|_| inside) else { continue };
        if let Some(label) = line.strip_suffix(':') {
            function.labels.insert(label, function.instructions.len());
        } else {
            function.instructions.extend(instruction(line));
        }
    }
    all
}

/// `/*0c20*/ @!P1 BRA `(.L_x_4) ;`
fn instruction(line: &str) -> Option<Instruction<'_>> {
    let (address, rest) = line.strip_prefix("/*")?.split_once("*/")?;
    let address = u64::from_str_radix(address.trim(), 16).ok()?;
    let code = rest.trim().trim_end_matches(';').trim();
    let (guard, code) = match code.strip_prefix('@') {
        Some(code) => code.split_once(char::is_whitespace).map(|(guard, code)| (Some(guard), code.trim()))?,
        None => (None, code),
    };
    let (name, operands) = code.split_once(char::is_whitespace).unwrap_or((code, ""));
    // Takes an issue slot and does nothing, as ptxas orders accesses to shared memory.
    let name = if guard == Some("!PT") { "NOP" } else { name };
    if name.is_empty() {
        return None;
    }
    let jumps = ["BRA", "JMP", "BRX", "JMX"].contains(&name.split('.').next().unwrap_or(name));
    let label = operands.split_once("`(").and_then(|(before, rest)| Some((before, rest.split_once(')')?.0)));
    let target = label.filter(|_| jumps).map(|(_, label)| label);
    // `BRA P1, ..` and `BRA.DIV UR4, ..` have a condition of their own.
    let own_condition = label.is_some_and(|(before, _)| !before.trim().is_empty());
    let ends = (jumps && !own_condition) || ["EXIT", "RET"].contains(&name.split('.').next().unwrap_or(name));
    Some(Instruction { address, name, operands, target, falls: guard.is_some() || !ends })
}

/// The loops of one function.
fn function_loops(function: &Function) -> Vec<Loop> {
    let code = &function.instructions;
    let step = |i: &Instruction| Step {
        target: i.target.and_then(|label| function.labels.get(label).copied()).filter(|&at| at < code.len()),
        falls: i.falls,
    };
    let steps: Vec<Step> = code.iter().map(step).collect();
    // Lanes of our warps stay together: nobody takes the way of a warp that has come apart.
    let together: Vec<Step> = code
        .iter()
        .zip(&steps)
        .map(|(i, step)| Step { target: step.target.filter(|_| !i.name.contains(".DIV")), ..*step })
        .collect();
    let found = natural_loops(&steps);
    let describe = |(head, body): &(usize, Vec<usize>)| {
        let count = |name: &str| body.iter().filter(|&&i| code[i].name.starts_with(name)).count() as u32;
        let within = |other: &Vec<usize>| other.iter().all(|i| body.binary_search(i).is_ok());
        Loop {
            function: function.name.to_owned(),
            head: code[*head].address,
            instructions: body.len() as u32,
            fast: body.len() as u32,
            hgmma: count("HGMMA") + count("QGMMA"),
            utcmma: count("UTCHMMA") + count("UTCQMMA") + count("UTCIMMA") + count("UTCOMMA"),
            mma: count("HMMA") + count("QMMA") + count("IMMA"),
            utmaldg: count("UTMALDG"),
            inner: found.iter().filter(|(h, other)| h != head && within(other)).count() as u32,
            ..Loop::default()
        }
    };
    let all: Vec<Loop> = found.iter().map(describe).collect();
    let spins = || found.iter().zip(&all).filter(|(_, l)| l.is_spin()).map(|(spin, _)| spin);
    // A spin that stands beside the way through the loop is left out, and what leads there and back with it.
    let fast = |(head, body): &(usize, Vec<usize>)| {
        let inside = spins().filter(|(h, _)| h != head && body.binary_search(h).is_ok());
        let whole = around(&together, *head, body, &[]).unwrap_or_else(|| body.clone());
        inside.fold(whole, |body, (_, spin)| around(&together, *head, &body, spin).unwrap_or(body))
    };
    let finish = |(l, place): (&Loop, &(usize, Vec<usize>))| {
        let fast = fast(place);
        let alone = run_by_one(code, &together, &fast);
        let count = |of: &[usize]| {
            let mut counts = Counts::default();
            of.iter().filter_map(|&at| code.get(at)).for_each(|i| counts.add(i.name, i.operands));
            counts
        };
        let (counts, counts_alone) = (count(&fast), count(&alone));
        let waits = spins().filter(|(h, _)| *h != place.0 && place.1.binary_search(h).is_ok()).count() as u32;
        let (fast, alone) = (fast.len() as u32, alone.len() as u32);
        Loop { fast, working: l.inner.saturating_sub(waits), counts, alone, counts_alone, ..l.clone() }
    };
    all.iter().zip(&found).map(finish).collect()
}

/// What one warp runs for all: stretches of a trip that a jump leaves out, in which one lane starts a copy or a product and
/// no lane touches numbers of its own.
fn run_by_one(code: &[Instruction], steps: &[Step], trip: &[usize]) -> Vec<usize> {
    let named = |at: usize| code.get(at).map_or("", |i| i.name);
    let mut alone = Vec::new();
    for (place, &at) in trip.iter().enumerate() {
        let Some(&Step { target: Some(to), falls: true }) = steps.get(at) else { continue };
        let Ok(end) = trip.binary_search(&to) else { continue };
        let stretch = trip.get(place + 1..end).unwrap_or_default();
        let starts = stretch.iter().any(|&i| starts_for_all(named(i)));
        if starts && !stretch.iter().any(|&i| is_of_each_lane(named(i))) {
            alone.extend(stretch);
        }
    }
    alone.sort_unstable();
    alone.dedup();
    alone
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipe::Pipe;

    /// A loop whose wait was moved behind the exit, as ptxas does, and the loop of padding at the end.
    const TEXT: &str = "
//--------------------- .text.f --------------------------
.text.f:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_1:
        /*0010*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR5+0x8], R0 ;
        /*0020*/              @!P0 BRA `(.L_x_2) ;
.L_x_3:
        /*0030*/                   HGMMA.64x256x16.F32.BF16 R24, gdesc[UR16], R24, gsb0 ;
        /*0040*/                   BRA.DIV UR4, `(.L_x_9) ;
        /*0050*/              @!P1 BRA `(.L_x_1) ;
        /*0060*/                   EXIT ;
.L_x_2:
        /*0070*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR5+0x8], R0 ;
        /*0080*/              @!P0 BRA `(.L_x_2) ;
        /*0090*/                   BRA `(.L_x_3) ;
.L_x_9:
        /*00a0*/                   EXIT ;
.L_x_10:
        /*00b0*/                   BRA `(.L_x_10);
        /*00c0*/                   NOP;
//--------------------- .nv.shared --------------------------
.L_x_11:
        /*0000*/ 	.word	0x00000000
";

    #[test]
    fn spin_code_counts_and_code_behind_does_not_c81() {
        let found = loops(TEXT);
        let of = |head| found.iter().find(|l: &&Loop| l.head == head).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        let outer = of(0x10);
        assert_eq!((outer.instructions, outer.hgmma, outer.inner, outer.utmaldg), (8, 1, 1, 0));
        assert_eq!(outer.fast, 5, "not the retry of the wait, nor its way back");
        assert_eq!((outer.counts.pipes[&Pipe::Tensor], outer.counts.pipes[&Pipe::Barrier]), (1, 1));
        assert_eq!((outer.counts.pipes[&Pipe::Control], outer.working), (3, 0));
        assert_eq!(outer.function, "f");
        assert!(of(0x70).is_spin());
        assert!(!outer.is_spin());
    }

    #[test]
    fn one_warp_starts_copies_for_all_t43() {
        let text = "
//--------------------- .text.f --------------------------
.L_x_1:
        /*0000*/              @!P0 BRA `(.L_x_2) ;
        /*0010*/                   BRA.DIV UR4, `(.L_x_4) ;
.L_x_5:
        /*0020*/                   ELECT P1, URZ, PT ;
        /*0030*/                   UTMALDG.2D [UR4], [UR10] ;
.L_x_2:
        /*0040*/              @!P2 BRA `(.L_x_3) ;
        /*0050*/                   LDS.128 R4, [R2] ;
.L_x_3:
        /*0060*/              @P3 BRA `(.L_x_1) ;
        /*0070*/                   EXIT ;
.L_x_4:
        /*0080*/                   WARPSYNC.COLLECTIVE R7, `(.L_x_5) ;
        /*0090*/                   BRA `(.L_x_5) ;
";
        let found = loops(text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].instructions, found[0].fast, found[0].alone), (9, 7, 3));
        assert_eq!(found[0].counts_alone.pipes[&Pipe::Barrier], 2, "the election and the copy");
    }

    #[test]
    fn nothing_in_nothing() {
        assert!(loops("").is_empty());
        assert!(loops("//--- .text.g ---\n.text.g:\n").is_empty());
        assert!(loops("//--- .text.g ---\n/*zz*/ BRA ;\n/*0000*/ BRA `(.L_1) ;\n").is_empty());
    }

    #[test]
    fn a_missing_nvdisasm_is_a_diagnostic() {
        assert_eq!(disassemble(Path::new("no/such/nvdisasm"), &[]).unwrap_err().code, Code::Assemble);
    }
}
