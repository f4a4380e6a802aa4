//! PTX modules, read and decoded once (E71, E81).

use crate::error::{Diagnostic, Refusal};
use crate::isa::decode;
use crate::isa::decode::context::{Context, Symbol};
use crate::isa::op::{Inst, Op};
use crate::isa::uses;
use crate::ptx::parser;
use crate::ptx::raw::{RawEntry, RawModule, RawVar};
use std::collections::HashMap;
use std::sync::Arc;

/// Where `.global` and `.const` variables of a module are placed.
pub(crate) const MODULE_BASE: u64 = 0x00f0_0000_0000;
/// Diagnostics of one entry that are kept.
const MAX_DIAGNOSTICS: usize = 20;

/// A PTX module.
#[derive(Clone, Debug)]
pub struct Module {
    /// `.version` as written.
    pub version: String,
    /// First name of `.target`, e.g. `sm_90a`.
    pub target: String,
    entries: Vec<Entry>,
    /// Initial bytes of `.global` and `.const` variables.
    pub(crate) data: Arc<Vec<u8>>,
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name in the text.
    pub name: String,
    /// The fundamental type, e.g. `u32`; `b8` for byte arrays.
    pub ty: String,
    /// Bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Place in the parameter space, in bytes.
    pub offset: u64,
    /// Whether it is an array, such as a tensor map of 128 bytes.
    pub array: bool,
}

/// A kernel of a module.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The kernel's name.
    pub name: String,
    /// Its parameters in order.
    pub params: Vec<Param>,
    /// `.reqntid`, if any.
    pub required_threads: Option<[u32; 3]>,
    /// `.maxntid`, if any.
    pub max_threads: Option<[u32; 3]>,
    /// `.maxnreg`, if any.
    pub max_registers: Option<u32>,
    /// `.minnctapersm`, if any.
    pub min_ctas: Option<u32>,
    /// `.reqnctapercluster`, if any.
    pub cluster: Option<[u32; 3]>,
    pub(crate) code: Result<Arc<Code>, Refusal>,
}

/// The decoded body of an entry.
#[derive(Debug)]
pub(crate) struct Code {
    pub insts: Vec<Inst>,
    /// Width of each general register in bits.
    pub widths: Vec<u8>,
    pub names: Vec<String>,
    pub preds: usize,
    pub opcodes: Vec<String>,
    /// `.loc` places as file name, line, column.
    pub locs: Vec<(String, u32, u32)>,
    /// Bytes of static shared memory; the dynamic part begins at the next multiple of 1024.
    pub static_shared: u64,
    pub dynamic_base: u64,
    /// Bytes of local memory per thread.
    pub local: u64,
    pub param_bytes: u64,
    /// Registers that each instruction reads or, if true, writes.
    pub uses: Vec<Vec<(u32, bool)>>,
    pub uses_wgmma: bool,
    /// Global atomics or ordered accesses: CTAs see each other, so they run one after the other.
    pub shares_global: bool,
}

impl Module {
    /// Reads PTX text. Entries that use unsupported instructions are kept, and refused when they are run.
    ///
    /// # Errors
    /// `P01` with the line when the text is not PTX, `X01` for unsupported declarations.
    pub fn parse(text: &str) -> Result<Module, Refusal> {
        let raw = parser::parse(text)?;
        let mut data = Vec::new();
        let mut symbols = HashMap::new();
        let mut shared = SharedPlan::default();
        for v in &raw.vars {
            place(v, &mut data, &mut symbols, &mut shared)?;
        }
        let mut entries = Vec::new();
        for e in &raw.entries {
            entries.push(entry(&raw, e, &symbols, &shared)?);
        }
        Ok(Module {
            version: raw.version.clone(),
            target: raw.target.to_string(),
            entries,
            data: Arc::new(data),
        })
    }

    /// The kernels in the order of the text.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// A kernel by name.
    ///
    /// # Errors
    /// Names the kernels that exist.
    pub fn entry(&self, name: &str) -> Result<&Entry, Refusal> {
        self.entries.iter().find(|e| e.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.entries.iter().map(|e| e.name.as_str()).collect();
            Refusal::one(
                "L01",
                0,
                format!("no entry '{name}'"),
                format!("the module has: {}", known.join(", ")),
            )
        })
    }
}

impl Entry {
    /// The reasons why the machine cannot run this kernel, if there are any.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.code.as_ref().err()
    }

    /// Number of decoded instructions, 0 if refused.
    pub fn instructions(&self) -> usize {
        self.code.as_ref().map_or(0, |c| c.insts.len())
    }

    /// Bytes of static shared memory that the text declares.
    pub fn static_shared(&self) -> u64 {
        self.code.as_ref().map_or(0, |c| c.static_shared)
    }
}

#[derive(Clone, Default)]
struct SharedPlan<'a> {
    used: u64,
    dynamic: Vec<&'a str>,
    dynamic_align: u64,
}

fn align_up(x: u64, align: u64) -> u64 {
    x.next_multiple_of(align.max(1))
}

fn place<'a>(
    v: &RawVar<'a>,
    data: &mut Vec<u8>,
    symbols: &mut HashMap<&'a str, Symbol>,
    shared: &mut SharedPlan<'a>,
) -> Result<(), Diagnostic> {
    if v.space == ".shared" {
        shared_variable(v, symbols, shared);
        return Ok(());
    }
    let at = align_up(data.len() as u64, v.align);
    if at + v.size > 1 << 28 {
        return Err(Diagnostic::new("X01", 0, "module variables above 256 MiB", "use a buffer"));
    }
    data.resize(at as usize, 0);
    data.extend_from_slice(&v.init);
    data.resize((at + v.size) as usize, 0);
    symbols.insert(v.name, Symbol { address: MODULE_BASE + at });
    Ok(())
}

fn shared_variable<'a>(v: &RawVar<'a>, symbols: &mut HashMap<&'a str, Symbol>, shared: &mut SharedPlan<'a>) {
    if v.dynamic {
        shared.dynamic.push(v.name);
        shared.dynamic_align = shared.dynamic_align.max(v.align);
    } else {
        let at = align_up(shared.used, v.align);
        symbols.insert(v.name, Symbol { address: at });
        shared.used = at + v.size;
    }
}

fn entry<'a>(
    raw: &RawModule<'a>,
    e: &RawEntry<'a>,
    symbols: &HashMap<&'a str, Symbol>,
    shared: &SharedPlan<'a>,
) -> Result<Entry, Refusal> {
    let mut symbols = symbols.clone();
    let mut shared = shared.clone();
    let mut params = Vec::new();
    let mut param_bytes = 0;
    for p in &e.params {
        let offset = align_up(param_bytes, p.align);
        param_bytes = offset + p.size;
        symbols.insert(p.name, Symbol { address: offset });
        let (name, ty) = (p.name.to_string(), p.ty.to_string());
        params.push(Param { name, ty, size: p.size, align: p.align, offset, array: p.array });
    }
    let mut local = 0;
    for v in &e.vars {
        if v.space == ".local" {
            let at = align_up(local, v.align);
            symbols.insert(v.name, Symbol { address: at });
            local = at + v.size;
        } else {
            shared_variable(v, &mut symbols, &mut shared);
        }
    }
    // Triton relies on the dynamic part beginning at a multiple of 1024 (C11).
    let dynamic_base = align_up(shared.used, shared.dynamic_align.max(1024));
    for name in &shared.dynamic {
        symbols.insert(name, Symbol { address: dynamic_base });
    }
    let numbers = |key: &str| e.directives.iter().find(|(k, _)| *k == key).map(|(_, n)| n.clone());
    let one = |key: &str| numbers(key).and_then(|n| n.first().and_then(|v| u32::try_from(*v).ok()));
    let three = |key: &str| {
        numbers(key).map(|n| {
            let at = |i: usize| n.get(i).map_or(1, |v| u32::try_from(*v).unwrap_or(u32::MAX));
            [at(0), at(1), at(2)]
        })
    };
    let code = decode_body(raw, e, symbols).map(|mut c| {
        c.static_shared = shared.used;
        c.dynamic_base = dynamic_base;
        c.local = local;
        c.param_bytes = param_bytes;
        Arc::new(c)
    });
    Ok(Entry {
        name: e.name.to_string(),
        params,
        required_threads: three(".reqntid"),
        max_threads: three(".maxntid"),
        max_registers: one(".maxnreg"),
        min_ctas: one(".minnctapersm"),
        cluster: three(".reqnctapercluster"),
        code,
    })
}

fn decode_body<'a>(
    raw: &RawModule<'a>,
    e: &RawEntry<'a>,
    symbols: HashMap<&'a str, Symbol>,
) -> Result<Code, Refusal> {
    let mut cx = Context::new(e, symbols);
    let mut insts = Vec::with_capacity(e.insts.len());
    let mut diagnostics = Vec::new();
    for i in &e.insts {
        match decode::instruction(&mut cx, i) {
            Ok(inst) => insts.push(inst),
            Err(d) if diagnostics.len() + 1 < MAX_DIAGNOSTICS => diagnostics.push(d),
            Err(d) => {
                diagnostics.push(d);
                break;
            }
        }
    }
    if !diagnostics.is_empty() {
        return Err(Refusal { diagnostics });
    }
    let file = |n: u32| {
        let found = raw.files.iter().find(|(k, _)| *k == n).map_or("", |(_, f)| *f);
        found.rsplit('/').next().unwrap_or("").to_string()
    };
    let uses = insts.iter().map(uses::registers).collect();
    let uses_wgmma = insts.iter().any(|i| matches!(i.op, Op::Wgmma(_)));
    let shares_global = insts.iter().any(|i| i.op.shares_global());
    Ok(Code {
        insts,
        preds: cx.preds(),
        widths: std::mem::take(&mut cx.widths),
        names: std::mem::take(&mut cx.names),
        opcodes: std::mem::take(&mut cx.opcode_list),
        locs: e.locs.iter().map(|(f, l, c)| (file(*f), *l, *c)).collect(),
        static_shared: 0,
        dynamic_base: 0,
        local: 0,
        param_bytes: 0,
        uses,
        uses_wgmma,
        shares_global,
    })
}
