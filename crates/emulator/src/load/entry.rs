//! One kernel: parameters, variables, instructions, and those of the functions it calls.

use super::features::lacking;
use super::frame::{Frame, parameter};
use super::functions::{Bodies, below};
use super::variables::{Shared, Symbols, align_up};
use crate::code::Code;
use crate::error::{EmulatorRefusal, RefusalReason};
use crate::isa::decode;
use crate::isa::decode::context::{Context, Symbol, Together};
use crate::isa::op::{Callee, Inst, Op, Special, Src};
use crate::isa::uses;
use crate::module::{Entry, Param};
use std::collections::HashMap;
use std::sync::Arc;
use warploom_chips::Target;
use warploom_ptx::Function;

/// Diagnostics of one entry that are kept.
const MAX_DIAGNOSTICS: usize = 20;
/// Statements of one entry, and nested scopes.
const MAX_STATEMENTS: usize = 1 << 20;

/// Decodes a kernel. What the machine cannot run is kept as a refusal in it.
pub(super) fn load<'a>(
    function: &Function<'a>,
    module: &Surroundings<'_, 'a>,
    mut shared: Shared<'a>,
) -> Result<Entry, EmulatorRefusal> {
    let mut symbols = module.symbols.clone();
    let (params, param_bytes) = parameters(function)?;
    symbols
        .extend(function.parameters.iter().zip(&params).map(|(p, made)| (p.name, Symbol::At(made.offset))));
    let mut bodies = vec![Body::of(function, symbols, &mut shared, false)?];
    let names = below(function, &module.bodies);
    for (_, f) in names.iter().filter_map(|n| module.bodies.get(n)) {
        bodies.push(Body::of(f, module.symbols.clone(), &mut shared, true)?);
    }
    // Triton relies on the dynamic part beginning at a multiple of 1024 (C11).
    let dynamic_base = align_up(shared.used, shared.dynamic_align.max(1024));
    for body in &mut bodies {
        body.symbols.extend(shared.dynamic.iter().map(|name| (*name, Symbol::At(dynamic_base))));
    }
    let local = bodies.first().map_or(0, |b| b.frame.bytes);
    let code = decode(&bodies, module).map(|mut c| {
        c.static_shared = shared.used;
        c.dynamic_base = dynamic_base;
        c.local = local;
        c.param_bytes = param_bytes;
        Arc::new(c)
    });
    let numbers = |key: &str| function.tuning.iter().find(|t| t.name == key).map(|t| &t.numbers);
    let one = |key: &str| numbers(key).and_then(|n| n.first().and_then(|v| u32::try_from(*v).ok()));
    let three = |key: &str| {
        numbers(key).map(|n| {
            let at = |i: usize| n.get(i).map_or(1, |v| u32::try_from(*v).unwrap_or(u32::MAX));
            [at(0), at(1), at(2)]
        })
    };
    Ok(Entry {
        name: function.name.to_string(),
        params,
        required_threads: three(".reqntid"),
        max_threads: three(".maxntid"),
        max_registers: one(".maxnreg"),
        min_ctas: one(".minnctapersm"),
        cluster: three(".reqnctapercluster"),
        code,
    })
}

/// The parameters of a kernel, and their bytes.
pub(super) fn parameters(function: &Function<'_>) -> Result<(Vec<Param>, u64), RefusalReason> {
    let (mut params, mut bytes) = (Vec::new(), 0);
    for p in &function.parameters {
        let (size, align) = parameter(p)?;
        let offset = align_up(bytes, align);
        bytes = offset + size;
        let ty = p.ty.trim_start_matches('.').to_string();
        params.push(Param { name: p.name.to_string(), ty, size, align, offset, array: !p.dims.is_empty() });
    }
    Ok((params, bytes))
}

/// What a module has around its kernels.
pub(super) struct Surroundings<'t, 'a> {
    pub files: HashMap<u64, &'a str>,
    pub symbols: Symbols<'a>,
    /// Device functions that have a body.
    pub bodies: Bodies<'t, 'a>,
    /// Bytes of the parameters of each kernel.
    pub parameters: Vec<u64>,
    /// The chip that the text is for, where it is one that is known.
    pub chip: Option<Target>,
}

/// A kernel or a device function before it is decoded.
struct Body<'t, 'a> {
    function: &'t Function<'a>,
    text: warploom_ptx::Code<'t, 'a>,
    symbols: Symbols<'a>,
    frame: Frame,
    parameters: Vec<(u32, u32)>,
    results: Vec<(u32, u32)>,
}

impl<'t, 'a> Body<'t, 'a> {
    fn of(
        function: &'t Function<'a>,
        mut symbols: Symbols<'a>,
        shared: &mut Shared<'a>,
        called: bool,
    ) -> Result<Self, EmulatorRefusal> {
        if function.body.as_ref().is_some_and(|b| b.len() > MAX_STATEMENTS) {
            let message = "more than 2^20 statements in a body";
            return Err(EmulatorRefusal::one("X01", function.line.0, message, "split the kernel"));
        }
        let mut frame = Frame::default();
        let (mut parameters, mut results) = (Vec::new(), Vec::new());
        if called {
            parameters = frame.parameters(&function.parameters, &mut symbols)?;
            results = frame.parameters(&function.returns, &mut symbols)?;
        }
        let text = warploom_ptx::Code::of(function)?;
        frame.variables(&text, &mut symbols, shared)?;
        Ok(Body { function, text, symbols, frame, parameters, results })
    }
}

/// Decodes a kernel, the first of the bodies, with the functions that it calls.
fn decode<'t, 'a: 't>(
    bodies: &'t [Body<'_, 'a>],
    module: &Surroundings<'_, 'a>,
) -> Result<Code, EmulatorRefusal> {
    let mut together = Together::default();
    for (i, body) in bodies.iter().skip(1).enumerate() {
        together.functions.insert(body.function.name, i as u32);
    }
    let (mut insts, mut locs, mut functions) = (Vec::new(), Vec::new(), Vec::new());
    let mut diagnostics = Vec::new();
    for (i, body) in bodies.iter().enumerate() {
        let (registers, predicates) = (together.widths.len() as u32, together.preds);
        together.first = insts.len() as u32;
        let first = together.first;
        let mut cx = Context::new(&body.text, body.symbols.clone(), together, i > 0);
        for step in body.text.steps() {
            // Every refusal names its instruction.
            let opcode = step.instruction.opcode;
            let lacking = module.chip.as_ref().and_then(|chip| lacking(chip, step.instruction));
            let decoded = decode::instruction(&mut cx, step);
            match lacking.map_or(decoded, Err).map_err(|d| d.of(opcode)) {
                Ok(mut inst) => {
                    inst.loc += if inst.loc > 0 { locs.len() as u32 } else { 0 };
                    insts.push(inst);
                }
                Err(d) if diagnostics.len() + 1 < MAX_DIAGNOSTICS => diagnostics.push(d),
                Err(d) => {
                    diagnostics.push(d);
                    return Err(EmulatorRefusal { diagnostics });
                }
            }
        }
        if bodies.len() > 1 {
            // Control that runs off the end must not run into the next body.
            insts.push(Inst::bare(if i > 0 { Op::Ret } else { Op::Exit }));
        }
        together = cx.together;
        let file = |n: u64| module.files.get(&n).and_then(|f| f.rsplit('/').next()).unwrap_or("").to_string();
        let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        locs.extend(body.text.locations().iter().map(|l| (file(l.file), small(l.line), small(l.column))));
        if i > 0 {
            let name = body.function.name;
            functions.push(crate::code::Function {
                name: name.to_string(),
                first,
                frame: body.frame.bytes as u32,
                parameters: body.parameters.clone(),
                results: body.results.clone(),
                registers: registers..together.widths.len() as u32,
                predicates: predicates..together.preds,
                recursive: below(body.function, &module.bodies).contains(name),
                number: module.bodies.get(name).map_or(0, |b| b.0),
            });
        }
    }
    if !diagnostics.is_empty() {
        return Err(EmulatorRefusal { diagnostics });
    }
    let uses: Vec<_> = insts.iter().map(uses::registers).collect();
    let calls = |callee: Callee| insts.iter().any(|i| matches!(&i.op, Op::Call(c) if c.callee == callee));
    let launches = calls(Callee::ChildBuffer);
    let allocates = launches || calls(Callee::Allocate) || calls(Callee::AllocateTo);
    super::guess::mark(&mut insts, &uses, &together.opcode_list);
    Ok(Code {
        uses,
        uses_wgmma: insts.iter().any(|i| matches!(i.op, Op::Wgmma(_))),
        // Those who take memory from the heap must not be given the same.
        shares_global: allocates || insts.iter().any(|i| i.op.shares_global()),
        reserves: specials(&insts, |s| matches!(s, Special::ReservedSmem | Special::ReservedSmemEnd)),
        grid_barrier: specials(&insts, |s| matches!(s, Special::GridWorkspace(_))),
        allocates,
        kernels: if launches { module.parameters.clone() } else { Vec::new() },
        insts,
        preds: together.preds as usize,
        widths: together.widths,
        names: together.names,
        predicate_names: together.predicate_names,
        opcodes: together.opcode_list,
        locs,
        static_shared: 0,
        dynamic_base: 0,
        local: 0,
        functions,
        param_bytes: 0,
    })
}

/// Whether some move reads a special register; that is how compilers read them.
fn specials(insts: &[Inst], which: impl Fn(Special) -> bool) -> bool {
    insts.iter().any(|i| matches!(i.op, Op::Un { a: Src::Special(s), .. } if which(s)))
}
