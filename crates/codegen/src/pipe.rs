//! Which part of an SM runs an instruction of machine code, and how much work it is (T42, T43).
//!
//! Classes are those of NVIDIA's table of native arithmetic throughput, so that a rate of the chip's file belongs to each.
//! What no class is known for counts as [`Pipe::Other`]: it takes an issue slot and nothing else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What runs an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Pipe {
    /// Addition, multiplication and both of 32-bit floats.
    Fma,
    /// The same of two floats at once.
    Fma2,
    /// The same of pairs of 16-bit floats.
    Half,
    /// The same of 64-bit floats.
    Double,
    /// Multiplication of integers, and what uses it to move and to shift.
    Imad,
    /// Integers, logic, comparison, selection, moves.
    Alu,
    /// Minimum and maximum.
    MinMax,
    /// Packing conversions.
    Pack,
    /// Conversions one at a time.
    Convert,
    /// Exponentials, roots, reciprocals.
    Special,
    /// Exchange between lanes.
    Shuffle,
    /// What is the same for all lanes.
    Uniform,
    /// Reads and writes of shared memory.
    Shared,
    /// Reads and writes of global and local memory.
    Global,
    /// Reads and writes of tensor memory.
    TensorMemory,
    /// Products.
    Tensor,
    /// Barriers, fences, bulk copies.
    Barrier,
    /// Jumps.
    Control,
    /// Anything else.
    Other,
}

/// The work of instructions, all lanes of one warp together.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Instructions by what runs them.
    pub pipes: BTreeMap<Pipe, u64>,
    /// Bytes that threads move between registers and shared memory, a word to each lane where a width is not named.
    pub shared_bytes: u64,
    /// Bytes that asynchronous copies of threads bring to shared memory.
    pub copied_bytes: u64,
    /// Bytes that threads move between registers and global memory.
    pub global_bytes: u64,
    /// Bytes of operands that products of warpgroups read from shared memory, the warp's quarter.
    pub operand_bytes: u64,
    /// Words read from tensor memory.
    pub tensor_memory_words: u64,
    /// Words written to tensor memory.
    pub tensor_memory_stored_words: u64,
    /// Multiply-accumulates by the operands' type; those of a warpgroup, the warp's quarter. Products into tensor memory
    /// do not tell their shape.
    pub macs: BTreeMap<String, u64>,
    /// The same product by product: one waits for its own operands only.
    pub products: Vec<Product>,
}

/// Products that are alike.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Product {
    /// The operands' type.
    pub element: String,
    /// Multiply-accumulates of one; of a warpgroup's, the warp's quarter.
    pub macs: u64,
    /// Bytes of operands that one reads from shared memory, likewise.
    pub operand_bytes: u64,
    /// How many there are.
    pub count: u64,
}

const LANES: u64 = 32;

impl Counts {
    /// Adds an instruction: its name with modifiers, and its operands.
    pub(crate) fn add(&mut self, name: &str, operands: &str) {
        let pipe = pipe(name);
        *self.pipes.entry(pipe).or_default() += 1;
        let base = base(name);
        match (pipe, base) {
            (Pipe::Shared, "LDGSTS") => self.copied_bytes += LANES * width(name),
            (Pipe::Shared, "LDSM" | "STSM") => self.shared_bytes += matrices(name),
            (Pipe::Shared, _) => self.shared_bytes += LANES * width(name),
            (Pipe::Global, _) => self.global_bytes += LANES * width(name),
            (Pipe::TensorMemory, "STTM") => self.tensor_memory_stored_words += tensor_memory_words(name),
            (Pipe::TensorMemory, _) => self.tensor_memory_words += tensor_memory_words(name),
            (Pipe::Tensor, _) => self.product(name, operands),
            _ => {}
        }
    }

    fn product(&mut self, name: &str, operands: &str) {
        let Some((m, n, k, warps)) = product_shape(name) else { return };
        let (element, bits) = product_element(name);
        // A second register operand holds A; else a descriptor names both.
        let a = operands.split(',').nth(1).is_some_and(|o| o.trim_start().starts_with("gdesc"));
        let elements = if warps > 1 { n * k + if a { m * k } else { 0 } } else { 0 };
        let (macs, operand_bytes) = (m * n * k / warps, elements * bits / 8 / warps);
        *self.macs.entry(element.to_owned()).or_default() += macs;
        self.operand_bytes += operand_bytes;
        let like =
            |p: &&mut Product| (&*p.element, p.macs, p.operand_bytes) == (element, macs, operand_bytes);
        match self.products.iter_mut().find(like) {
            Some(known) => known.count += 1,
            None => {
                self.products.push(Product { element: element.to_owned(), macs, operand_bytes, count: 1 })
            }
        }
    }
}

fn base(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// What runs an instruction of this name.
pub fn pipe(name: &str) -> Pipe {
    let base = base(name);
    match base {
        "FADD" | "FMUL" | "FFMA" | "FADD32I" | "FMUL32I" | "FFMA32I" | "FSWZADD" | "FHADD" | "FHFMA" => {
            Pipe::Fma
        }
        "FADD2" | "FMUL2" | "FFMA2" => Pipe::Fma2,
        "HADD2" | "HMUL2" | "HFMA2" | "HADD2_32I" | "HMUL2_32I" | "HFMA2_32I" => Pipe::Half,
        "DADD" | "DMUL" | "DFMA" | "DSETP" | "DMNMX" => Pipe::Double,
        "IMAD" | "IMUL" | "IDP" | "IDP4A" => Pipe::Imad,
        "FMNMX" | "FMNMX3" | "IMNMX" | "VIMNMX" | "VIMNMX3" | "VIADDMNMX" | "HMNMX2" | "VHMNMX" => {
            Pipe::MinMax
        }
        "F2FP" | "I2FP" | "F2IP" | "I2IP" => Pipe::Pack,
        "F2F" | "F2I" | "I2F" | "FRND" | "I2I" => Pipe::Convert,
        "MUFU" | "POPC" | "FLO" | "BREV" => Pipe::Special,
        "SHFL" | "REDUX" | "CREDUX" | "MATCH" => Pipe::Shuffle,
        "LDS" | "STS" | "LDSM" | "STSM" | "ATOMS" | "LDGSTS" => Pipe::Shared,
        "LDG" | "STG" | "LD" | "ST" | "LDL" | "STL" | "RED" | "REDG" | "ATOM" | "ATOMG" => Pipe::Global,
        "LDTM" | "STTM" => Pipe::TensorMemory,
        "HGMMA" | "QGMMA" | "IGMMA" | "BGMMA" | "HMMA" | "QMMA" | "IMMA" | "OMMA" | "DMMA" | "BMMA"
        | "UTCHMMA" | "UTCQMMA" | "UTCIMMA" | "UTCOMMA" => Pipe::Tensor,
        "IADD3" | "IADD" | "IADD32I" | "VIADD" | "VIADD3" | "IABS" | "ISETP" | "LOP3" | "LOP32I" | "SHF"
        | "SHL" | "SHR" | "LEA" | "PRMT" | "SEL" | "FSEL" | "FSETP" | "FSET" | "HSETP2" | "HSET2"
        | "PLOP3" | "P2R" | "R2P" | "MOV" | "BMSK" | "SGXT" | "FCHK" | "ICMP" | "VABSDIFF" | "VABSDIFF4"
        | "MOV32I" => Pipe::Alu,
        "BRA" | "BRX" | "JMP" | "JMX" | "EXIT" | "RET" | "CALL" | "BSSY" | "BSYNC" | "BREAK" | "NOP"
        | "YIELD" | "BPT" | "WARPSYNC" => Pipe::Control,
        "BAR" | "SYNCS" | "DEPBAR" | "LDGDEPBAR" | "MEMBAR" | "FENCE" | "ERRBAR" | "CCTL" | "WARPGROUP"
        | "NANOSLEEP" | "ELECT" | "VOTE" | "VOTEU" | "ARRIVES" => Pipe::Barrier,
        _ if ["UTMA", "UTC", "UBLK", "UCGA", "USETMAXREG", "UVIRT"].iter().any(|p| base.starts_with(p)) => {
            Pipe::Barrier
        }
        "R2UR" | "S2UR" => Pipe::Uniform,
        _ if base.starts_with('U') => Pipe::Uniform,
        _ if base.starts_with("LDCU") => Pipe::Uniform,
        _ => Pipe::Other,
    }
}

/// Whether one lane starts it for all: products into tensor memory, and bulk copies.
pub(crate) fn starts_for_all(name: &str) -> bool {
    let base = base(name);
    ["UTMA", "UBLK"].iter().any(|p| base.starts_with(p)) || (base.starts_with("UTC") && base.ends_with("MMA"))
}

/// Whether every lane has numbers of its own in it.
pub(crate) fn is_of_each_lane(name: &str) -> bool {
    use Pipe::*;
    match pipe(name) {
        Fma | Fma2 | Half | Double | MinMax | Pack | Convert | Special | Shuffle | Shared | Global
        | TensorMemory => true,
        Tensor => !starts_for_all(name),
        _ => base(name) == "BAR",
    }
}

/// Bytes a lane moves, by the width among the modifiers.
fn width(name: &str) -> u64 {
    name.split('.').skip(1).fold(4, |found, modifier| match modifier {
        "U8" | "S8" => 1,
        "U16" | "S16" => 2,
        "64" => 8,
        "128" => 16,
        "256" => 32,
        _ => found,
    })
}

/// Bytes of the matrices of 8 rows of 16 bytes that an ldmatrix or stmatrix moves.
fn matrices(name: &str) -> u64 {
    let count = name.split('.').skip(1).filter_map(|m| m.parse::<u64>().ok()).find(|m| [2, 4].contains(m));
    128 * count.unwrap_or(1)
}

/// `LDTM.x32`, `LDTM.16dp256bit.x8`: a word of each lane, 2 or 4 where lanes have so many bits of a row, times the count.
fn tensor_memory_words(name: &str) -> u64 {
    let each = match name {
        _ if name.contains("128bit") => 2,
        _ if name.contains("256bit") => 4,
        _ => 1,
    };
    let times = name.split('.').skip(1).find_map(|m| m.strip_prefix('x')?.parse::<u64>().ok());
    LANES * each * times.unwrap_or(1)
}

/// M, N, K, and how many warps work on it: `HGMMA.64x256x16`, `HMMA.16816`, `IMMA.16832`.
fn product_shape(name: &str) -> Option<(u64, u64, u64, u64)> {
    let modifier = name.split('.').nth(1)?;
    let mut numbers = modifier.split('x').map(str::parse::<u64>);
    if let (Some(Ok(m)), Some(Ok(n)), Some(Ok(k))) = (numbers.next(), numbers.next(), numbers.next()) {
        return Some((m, n, k, 4));
    }
    let (mn, k) = modifier.split_at_checked(3)?;
    match mn {
        "168" => Some((16, 8, k.parse().ok()?, 1)),
        "884" if k.is_empty() => Some((8, 8, 4, 1)),
        _ => None,
    }
}

/// The operands' type as the chips' files name it, and its bits.
fn product_element(name: &str) -> (&'static str, u64) {
    let of = |modifier: &str| match modifier {
        "BF16" => Some(("bf16", 16)),
        "TF32" => Some(("tf32", 32)),
        "E4M3" => Some(("e4m3", 8)),
        "E5M2" => Some(("e5m2", 8)),
        "E2M1" => Some(("e2m1", 4)),
        "S8" => Some(("s8", 8)),
        "U8" => Some(("u8", 8)),
        _ => None,
    };
    let usual = if base(name).starts_with('D') { ("f64", 64) } else { ("f16", 16) };
    name.split('.').skip(2).find_map(of).unwrap_or(usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(code: &[(&str, &str)]) -> Counts {
        let mut counts = Counts::default();
        code.iter().for_each(|(name, operands)| counts.add(name, operands));
        counts
    }

    #[test]
    fn products_tell_their_work_t43() {
        let got = counted(&[
            ("HGMMA.64x128x16.F32.BF16", "R24, gdesc[UR16], R24, gsb0"),
            ("HGMMA.64x128x16.F32.BF16", "R24, R88, gdesc[UR16], R24"),
            ("HMMA.16816.F32.BF16", "R4, R8, R12, R4"),
            ("QMMA.16832.F32.E4M3.E4M3", "R4, R8, R12, R4"),
            ("HMMA.1688.F32.TF32", "R4, R8, R12, R4"),
            ("UTCHMMA", "gdesc[UR4], gdesc[UR6], tmem[UR8]"),
        ]);
        let macs: Vec<(&str, u64)> = got.macs.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        assert_eq!(macs, [("bf16", 2 * 64 * 128 * 4 + 2048), ("e4m3", 4096), ("tf32", 1024)]);
        assert_eq!(got.operand_bytes, (2 * 128 * 16 + 64 * 16) * 2 / 4);
        assert_eq!(got.pipes[&Pipe::Tensor], 6);
        let products: Vec<_> = got.products.iter().map(|p| (p.macs, p.operand_bytes, p.count)).collect();
        let of_a = 64 * 16 * 2 / 4;
        let (wide, b) = (64 * 128 * 4, 128 * 16 * 2 / 4);
        assert_eq!(products, [(wide, b + of_a, 1), (wide, b, 1), (2048, 0, 1), (4096, 0, 1), (1024, 0, 1)]);
    }

    #[test]
    fn memory_counts_bytes_t43() {
        let got = counted(&[
            ("LDS.128", "R4, [R2]"),
            ("STS", "[R2], R4"),
            ("LDS.U16", "R4, [R2]"),
            ("LDSM.16.MT88.4", "R4, [R2]"),
            ("STSM.16.M", "[R2], R4"),
            ("LDGSTS.E.BYPASS.128", "[R2], [R4]"),
            ("LDG.E.128.CONSTANT", "R4, [R2]"),
            ("LDTM.x32", "R4, tmem[UR4]"),
            ("LDTM.16dp256bit.x8", "R4, tmem[UR4]"),
            ("STTM.x16", "tmem[UR4], R4"),
        ]);
        assert_eq!(got.shared_bytes, 512 + 128 + 64 + 512 + 128);
        assert_eq!((got.copied_bytes, got.global_bytes), (512, 512));
        assert_eq!((got.tensor_memory_words, got.tensor_memory_stored_words), (32 * 32 + 32 * 32, 32 * 16));
    }

    #[test]
    fn names_have_classes_t42() {
        let of = |names: &[&str]| names.iter().map(|n| pipe(n)).collect::<Vec<_>>();
        assert_eq!(of(&["FFMA", "FMUL2", "IMAD.MOV.U32"]), [Pipe::Fma, Pipe::Fma2, Pipe::Imad]);
        assert_eq!(
            of(&["FMNMX3", "F2FP.BF16.F32.PACK_AB", "MUFU.EX2"]),
            [Pipe::MinMax, Pipe::Pack, Pipe::Special]
        );
        assert_eq!(
            of(&["UIADD3.64", "UTMALDG.2D", "LDCU.64"]),
            [Pipe::Uniform, Pipe::Barrier, Pipe::Uniform]
        );
        assert_eq!(of(&["QWERTY", ""]), [Pipe::Other, Pipe::Other]);
    }
}
