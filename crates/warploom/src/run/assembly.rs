//! The author's assembly (`tt.elementwise_inline_asm`) for the reference interpreter: a small PTX kernel around the text, on
//! the emulator. It knows nothing of how the compiler passes the same text on.

use std::fmt::Write as _;

use warploom_chips::{PtxVersion, Target};
use warploom_emulator as emulator;
use warploom_emulator::{Device, Launch, Race, RunOptions};
use warploom_ir::Type;
use warploom_ir::interp::{Assembly, AssemblyCall};
use warploom_ptx::{Instruction, Statement};

/// An instruction means the same wherever there is one: the first chip that has all is taken.
const CHIPS: [&str; 4] = ["sm_90a", "sm_100a", "sm_120a", "sm_80"];
/// Most elements of a pack.
const MOST: usize = 64;
/// Threads of a CTA.
const THREADS: usize = 128;

/// First words of the instructions that compute on registers alone. What others do depends on who runs them.
const PURE: &str = "abs add addc and bfe bfi bfind bmsk bra brev clz cnot copysign cos cvt div dp2a dp4a ex2 fma fns lg2 \
    lop3 mad mad24 madc max min mov mul mul24 neg not or popc prmt rcp rem rsqrt sad selp set setp shf shl \
    shr sin slct sqrt sub subc szext tanh testp vabsdiff4 vadd4 vmax4 vmin4 vsub4 xor";
/// Special registers of these begin differ from thread to thread.
const SPECIAL: &str = "%aggr %clock %cluster %cta %current %dynamic %envreg %global %grid %is_ %lane %ncta %ncluster %nsm %ntid \
    %nwarp %pm %reserved %smid %tid %total %warp";

/// Runs assembly on the emulator.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnEmulator;

/// How an operand's elements lie in registers.
struct Operand {
    /// Bits of an element, and of a register.
    bits: usize,
    room: usize,
    /// Elements in a register, registers for a pack.
    each: usize,
    registers: usize,
}

/// What stands for an operand's register in the text.
enum Name {
    /// A register, numbered.
    Register(usize),
    /// A constant.
    Number(i64),
}

impl Assembly for OnEmulator {
    fn run(&self, call: &AssemblyCall<'_>) -> Result<Vec<Vec<u64>>, String> {
        if call.pack > MOST {
            return Err(format!("{} elements at a time", call.pack));
        }
        let groups = call.count.div_ceil(call.pack);
        let classes: Vec<&str> =
            call.constraints.split(',').map(str::trim).filter(|c| !c.starts_with('~')).collect();
        let mut classes = classes.into_iter();
        let (mut names, mut outputs, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
        let (mut rooms, mut buffers) = (Vec::new(), Vec::new());
        for &ty in &call.results {
            let first = rooms.len();
            let operand = Operand::new(
                ty,
                call.pack,
                classes.clone().next().map(|c| c.trim_start_matches(['=', '&'])),
            )?;
            for class in classes.by_ref().take(operand.registers) {
                if !class.starts_with('=') {
                    return Err(format!("constraint `{class}` of a result"));
                }
                names.push(Name::Register(rooms.len()));
                rooms.push(operand.room);
            }
            outputs.push((operand, first));
        }
        let made = rooms.len();
        for (ty, bits) in &call.operands {
            let class = classes.clone().next().unwrap_or_default();
            if matches!(class, "n" | "i") {
                classes.next();
                names.push(Name::Number(constant(ty, bits)?));
                continue;
            }
            let tied = class.parse::<usize>().ok().and_then(|n| rooms[..made].get(n));
            let class = tied.map_or(class, |&room| ["h", "r", "l"][room / 32]);
            let operand = Operand::new(ty, call.pack, Some(class))?;
            let mut registers = Vec::new();
            for class in classes.by_ref().take(operand.registers) {
                let own = class.parse::<usize>().ok().filter(|&n| n < made);
                registers.push(own.unwrap_or(rooms.len()));
                if own.is_none() {
                    rooms.push(operand.room);
                }
                names.push(Name::Register(registers[registers.len() - 1]));
            }
            buffers.push(operand.packed(bits, groups * call.pack));
            inputs.push((operand, registers));
        }
        if classes.next().is_some() {
            return Err(format!("constraints `{}`", call.constraints));
        }
        let text = filled(call.text, &names)?;
        pure(&text)?;
        let kernel = kernel(&text, &rooms, &inputs, &outputs, groups);
        let sizes = outputs.iter().map(|(operand, _)| groups * operand.registers * operand.room / 8);
        let made = launch(&kernel, &buffers, sizes.collect(), groups)?;
        Ok(outputs
            .iter()
            .zip(made)
            .map(|((operand, _), bytes)| operand.unpacked(&bytes, call.count))
            .collect())
    }
}

impl Operand {
    fn new(ty: &Type, pack: usize, class: Option<&str>) -> Result<Operand, String> {
        let bits = match ty {
            Type::Ptr { .. } | Type::Index => 64,
            _ => ty.elem_bits().unwrap_or(0) as usize,
        };
        let room = match class {
            Some("h") => 16,
            Some("r" | "f") => 32,
            Some("l" | "d") => 64,
            other => return Err(format!("constraint `{}`", other.unwrap_or_default())),
        };
        if !bits.is_power_of_two() || bits < 8 || bits > room {
            return Err(format!("an operand of type {ty} in a register of {room} bits"));
        }
        let each = (32 / bits).clamp(1, pack);
        Ok(Operand { bits, room, each, registers: pack.div_ceil(each) })
    }

    /// The elements register by register, as bytes; the last again where there are too few.
    fn packed(&self, bits: &[u64], count: usize) -> Vec<u8> {
        let element = |i: usize| bits.get(i).or(bits.last()).copied().unwrap_or(0);
        let word =
            |first: usize| (0..self.each).fold(0, |word, i| word | element(first + i) << (i * self.bits));
        (0..count)
            .step_by(self.each)
            .flat_map(|i| word(i).to_le_bytes().into_iter().take(self.room / 8))
            .collect()
    }

    /// And back.
    fn unpacked(&self, bytes: &[u8], count: usize) -> Vec<u64> {
        let mask = u64::MAX >> (64 - self.bits);
        let words =
            bytes.chunks(self.room / 8).map(|word| word.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b)));
        words
            .flat_map(|word| (0..self.each).map(move |i| word >> (i * self.bits) & mask))
            .take(count)
            .collect()
    }
}

/// The one number that all elements are.
fn constant(ty: &Type, bits: &[u64]) -> Result<i64, String> {
    let width =
        ty.elem_bits().filter(|n| (1..=64).contains(n)).ok_or_else(|| format!("a constant of type {ty}"))?;
    match bits {
        [first, rest @ ..] if rest.iter().all(|bit| bit == first) => {
            Ok((first << (64 - width)) as i64 >> (64 - width))
        }
        _ => Err("a number that is no constant where one is asked for".into()),
    }
}

/// The text with a name for each operand.
fn filled(text: &str, names: &[Name]) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(before);
        if let Some(behind) = behind.strip_prefix('$') {
            out.push('$');
            rest = behind;
            continue;
        }
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        let name = behind[..digits].parse::<usize>().ok().and_then(|n| names.get(n));
        let written =
            match name.ok_or_else(|| format!("an operand `${}` that is not there", &behind[..digits]))? {
                Name::Register(n) => write!(out, "%operand{n}"),
                Name::Number(n) => write!(out, "{n}"),
            };
        written.map_err(|e| e.to_string())?;
        rest = &behind[digits..];
    }
    Ok(out + rest)
}

/// Refuses what is more than a function of its operands.
fn pure(text: &str) -> Result<(), String> {
    let whole = format!(".version 8.0\n.target sm_80\n.address_size 64\n.func f() {{\n{text}\n}}\n");
    let module = warploom_ptx::parse(&whole).map_err(|e| e.to_string())?;
    let mut all = module.functions().flat_map(|f| f.body.iter().flatten());
    let other = |one: &Instruction<'_>| {
        let first = one.opcode.split('.').next().unwrap_or_default();
        let special = |name: &str| SPECIAL.split(' ').any(|begin| name.starts_with(begin));
        !PURE.split(' ').any(|word| word == first) || one.names().any(special)
    };
    let impure = all.find_map(|statement| match statement {
        Statement::Instruction(one) if other(one) => Some(one.opcode),
        _ => None,
    });
    impure.map_or(Ok(()), |opcode| Err(format!("{opcode} is more than a function of its operands")))
}

/// A kernel in which each thread runs the text for one pack.
fn kernel(
    text: &str,
    rooms: &[usize],
    inputs: &[(Operand, Vec<usize>)],
    outputs: &[(Operand, usize)],
    groups: usize,
) -> String {
    let buffers = inputs.len() + outputs.len();
    let params: Vec<String> = (0..buffers).map(|i| format!(".param .u64 buffer{i}")).collect();
    let registers: String =
        rooms.iter().enumerate().map(|(i, room)| format!(".reg .b{room} %operand{i};\n")).collect();
    let place = |buffer: usize, operand: &Operand| {
        let bytes = operand.registers * operand.room / 8;
        format!("ld.param.u64 %place, [buffer{buffer}];\nmad.wide.u32 %place, %pack, {bytes}, %place;\n")
    };
    let (mut loads, mut stores) = (String::new(), String::new());
    for (i, (operand, registers)) in inputs.iter().enumerate() {
        loads += &place(i, operand);
        for (j, register) in registers.iter().enumerate() {
            let room = operand.room;
            loads += &format!("ld.global.b{room} %operand{register}, [%place+{}];\n", j * room / 8);
        }
    }
    for (i, (operand, first)) in outputs.iter().enumerate() {
        stores += &place(inputs.len() + i, operand);
        for j in 0..operand.registers {
            let room = operand.room;
            stores += &format!("st.global.b{room} [%place+{}], %operand{};\n", j * room / 8, first + j);
        }
    }
    format!(
        ".visible .entry assembly({}) .reqntid {THREADS} {{\n.reg .pred %beyond;\n.reg .b32 %pack, %cta;\n\
         .reg .b64 %place;\n{registers}mov.u32 %cta, %ctaid.x;\nmov.u32 %pack, %tid.x;\n\
         mad.lo.u32 %pack, %cta, {THREADS}, %pack;\nsetp.ge.u32 %beyond, %pack, {groups};\n@%beyond ret;\n\
         {loads}{{\n{text}\n}}\n{stores}ret;\n}}\n",
        params.join(", ")
    )
}

/// Runs the kernel; the bytes of the outputs.
fn launch(
    kernel: &str,
    inputs: &[Vec<u8>],
    sizes: Vec<usize>,
    groups: usize,
) -> Result<Vec<Vec<u8>>, String> {
    let mut why = String::new();
    for chip in CHIPS {
        let target = Target::named(chip).map_err(|e| e.to_string())?;
        let version = PtxVersion::LLVM_22_LAST;
        let text = format!(".version {version}\n.target {chip}\n.address_size 64\n{kernel}");
        let module = emulator::Module::parse(&text).map_err(|e| e.to_string())?;
        let entry = module.entry("assembly").map_err(|e| e.to_string())?;
        if let Some(refusal) = entry.refusal() {
            why = refusal.to_string();
            continue;
        }
        let mut device = Device::new(&target);
        let mut places = Vec::new();
        for (i, bytes) in inputs.iter().enumerate() {
            places.push(device.alloc_from(bytes, &format!("operand {i}")).map_err(|e| e.to_string())?);
        }
        let made = places.len();
        for (i, &bytes) in sizes.iter().enumerate() {
            places.push(device.alloc(bytes as u64, &format!("result {i}")).map_err(|e| e.to_string())?);
        }
        let grid = u32::try_from(groups.div_ceil(THREADS)).map_err(|_| "too many elements".to_owned())?;
        let args = places.iter().map(|&place| emulator::Arg::Ptr(place)).collect();
        let launch = Launch { grid: [grid, 1, 1], args, ..Launch::of(entry) };
        let options = RunOptions::default().race(Race::Off);
        match device.run(&module, &launch, &options) {
            Ok(report) if report.clean() => {}
            Ok(report) => return Err(report.to_string()),
            // An instruction that this chip does not have.
            Err(refusal) => {
                why = refusal.to_string();
                continue;
            }
        }
        let read = |place: &u64| device.read(*place).map(<[u8]>::to_vec).map_err(|e| e.to_string());
        return places[made..]
            .iter()
            .zip(sizes)
            .map(|(p, n)| read(p).map(|b| b[..n.min(b.len())].to_vec()))
            .collect();
    }
    Err(why)
}
