//! The verifier's rules (A57): every violated one is an error.

use super::program::{Node, Program};
use super::types::{Pair, Type, pairs, path_text};
use crate::error::AliasError;
use crate::text::tree::{Form, OpId, Tree};

/// A custom call as verification needs it.
pub(crate) struct Call {
    pub(crate) target: String,
    pub(crate) ins: Vec<Type>,
    pub(crate) outs: Vec<Type>,
    pub(crate) pairs: Vec<Pair>,
}

impl Call {
    /// The call that a form says.
    pub(crate) fn new(form: &Form) -> Call {
        Call {
            target: form.attr("call_target_name").unwrap_or("").trim_matches('"').to_owned(),
            ins: form.ins.iter().map(|t| Type::parse(t)).collect(),
            outs: form.outs.iter().map(|t| Type::parse(t)).collect(),
            pairs: form.attr("output_operand_aliases").and_then(|t| pairs(t).ok()).unwrap_or_default(),
        }
    }

    /// The root that output paths start from; `None` without results.
    fn root(&self) -> Option<Type> {
        match self.outs.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            more => Some(Type::Tuple(more.to_vec())),
        }
    }
}

/// Operations that buffers may go through.
const CARRIERS: [&str; 9] = [
    "stablehlo.custom_call",
    "stablehlo.tuple",
    "stablehlo.get_tuple_element",
    "stablehlo.while",
    "stablehlo.return",
    "func.func",
    "func",
    "func.return",
    "return",
];

/// All violations, in order of position.
pub(crate) fn verify(tree: &Tree) -> Vec<AliasError> {
    let mut errors = Vec::new();
    let program = Program::new(tree);
    for node in &program.nodes {
        let Some(op) = tree.ops.get(node.op) else { continue };
        let form = op.form.as_ref();
        let mut say = |code, message: String| {
            errors.push(AliasError::new(code, message).at(op.pos).help(remedy(code)));
        };
        malformed(&program, node, form, &mut say);
        match (op.name.as_str(), form) {
            ("stablehlo.custom_call", Some(form)) => custom_call(&Call::new(form), &mut say),
            ("stablehlo.get_tuple_element", Some(form)) => element(form, &mut say),
            ("stablehlo.tuple", Some(form)) => tuple(&program, node, form, &mut say),
            ("stablehlo.while", Some(form)) => while_op(tree, node.op, form, &mut say),
            (name, _) if !CARRIERS.contains(&name) => other(&program, node, &mut say),
            _ => {}
        }
    }
    errors
}

/// What to do about a violated rule.
fn remedy(code: &str) -> &'static str {
    match code {
        "A55" => "write memref<2x3xf32>: sizes, then a float, integer, complex or quantized element",
        "A56" => {
            "write #stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, \
             operand_tuple_indices = []>"
        }
        "HT1" | "HT2" => {
            "only custom_call, tuple, get_tuple_element, while and returns carry buffers; unpin first"
        }
        "HT3" => "make the types of the tuple and its element agree",
        "HT4" => "operand, arguments, return and result of a slot have one type",
        "HA1" | "HA2" | "HA3" => "name a part that the operands and results have",
        "HA4" => "only parts of one type share memory; Pin and Unpin take no pairs",
        "HC1" | "HC2" => "one buffer goes into one result",
        "HC3" => "every buffer that comes out went in: pair it with an operand, or use CreateBuffer",
        _ => "CreateBuffer is () -> memref, Pin is tensor -> memref, Unpin is memref -> tensor",
    }
}

type Say<'a> = &'a mut dyn FnMut(&'static str, String);

/// A55 and A56: types and attributes that cannot be read.
fn malformed(p: &Program, node: &Node, form: Option<&Form>, say: Say<'_>) {
    let args = node.regions.iter().flat_map(|r| &r.args);
    for ty in node.results.iter().chain(args).filter_map(|v| p.types.get(v)) {
        for path in ty.buffers() {
            let Some(buffer) = ty.part(&path) else { continue };
            let ok = buffer.shape().is_some_and(|(_, elem)| crate::host::plan::is_elem(elem));
            if !ok {
                let text = buffer.print();
                let message = match text.contains(',') && !text.contains("!quant") {
                    true => format!("a buffer has no layout map and no memory space: '{text}'"),
                    false => format!("'{text}' is no buffer type"),
                };
                say("A55", message);
            }
        }
    }
    if let Some(Err(item)) = form.and_then(|f| f.attr("output_operand_aliases")).map(pairs) {
        say("A56", format!("'{item}' is no output_operand_alias"));
    }
}

/// HT1, HT2.
fn other(p: &Program, node: &Node, say: Say<'_>) {
    let kinds = "ranked tensor of float, boolean, integer, complex or quantized values";
    let has = |v: &usize| p.types.get(v).filter(|t| !t.buffers().is_empty()).map(Type::print);
    for (n, ty) in node.operands.iter().enumerate().filter_map(|(n, v)| has(v).map(|t| (n, t))) {
        say("HT1", format!("operand #{n} must be {kinds}, but got '{ty}'"));
    }
    for (n, ty) in node.results.iter().enumerate().filter_map(|(n, v)| has(v).map(|t| (n, t))) {
        say("HT2", format!("result #{n} must be variadic of {kinds}, but got '{ty}'"));
    }
}

/// HT3.
fn element(form: &Form, say: Say<'_>) {
    let index =
        form.attr("index").and_then(|t| t.split(':').next()?.trim().parse::<i64>().ok()).unwrap_or(-1);
    let (Some(from), Some(to)) = (form.ins.first(), form.outs.first()) else { return };
    let (from, to) = (Type::parse(from), Type::parse(to));
    let count = if let Type::Tuple(parts) = &from { parts.len() } else { 0 };
    match from.part(&[index]) {
        None => say("HT3", format!("index {index} is out of range for a tuple of {count}")),
        Some(ty) if *ty != to => {
            say("HT3", format!("result type {} is not element {index} of {}", to.print(), from.print()));
        }
        Some(_) => {}
    }
}

fn tuple(p: &Program, node: &Node, form: &Form, say: Say<'_>) {
    let Some(ty) = form.outs.first().map(|t| Type::parse(t)) else { return };
    let own: Option<Vec<Type>> = match form.ins.len() == node.operands.len() && !form.ins.is_empty() {
        true => Some(form.ins.iter().map(|t| Type::parse(t)).collect()),
        // The short form spells only the result.
        false => node.operands.iter().map(|v| p.types.get(v).cloned()).collect(),
    };
    if let Some(own) = own.map(Type::Tuple)
        && ty != own
    {
        say("HT3", format!("result type {} is not {}", ty.print(), own.print()));
    }
}

/// HT4.
fn while_op(tree: &Tree, id: OpId, form: &Form, say: Say<'_>) {
    let expected: Vec<Type> = form.outs.iter().map(|t| Type::parse(t)).collect();
    let mut compare = |what: &str, types: Vec<Option<Type>>| {
        for k in 0..expected.len().max(types.len()) {
            let (got, want) = (types.get(k).cloned().flatten(), expected.get(k));
            if let (Some(got), Some(want)) = (&got, want)
                && got == want
            {
                continue;
            }
            if types.get(k).is_some_and(Option::is_none) && want.is_some() {
                continue;
            }
            let text = |t: Option<&Type>| t.map_or_else(|| "nothing".to_owned(), Type::print);
            say(
                "HT4",
                format!("while slot {k}: {what} has type {}, expected {}", text(got.as_ref()), text(want)),
            );
        }
    };
    let mut cond = None;
    compare("operand", form.ins.iter().map(|t| Some(Type::parse(t))).collect());
    for (region, name) in tree.regions_of(id).into_iter().zip(["cond", "body"]) {
        let block = tree.regions.get(region).and_then(|r| r.blocks.first()).and_then(|b| tree.blocks.get(*b));
        let Some(block) = block else { continue };
        let args = block.args.iter().map(|v| tree.ty(*v).map(Type::parse)).collect();
        compare(if name == "cond" { "cond argument" } else { "body argument" }, args);
        let last = block.ops.last().and_then(|o| tree.ops.get(*o)).and_then(|o| o.form.as_ref());
        let returned: Vec<Type> =
            last.map_or_else(Vec::new, |f| f.ins.iter().map(|t| Type::parse(t)).collect());
        match name {
            "body" => compare("body return", returned.into_iter().map(Some).collect()),
            _ => {
                let flag = Type::Other("tensor<i1>".to_owned());
                if returned != [flag] {
                    let got = returned.iter().map(Type::print).collect::<Vec<_>>().join(", ");
                    let got = if got.is_empty() { "nothing".to_owned() } else { got };
                    cond = Some(format!("while slot 0: cond return has type {got}, expected tensor<i1>"));
                }
            }
        }
    }
    if let Some(message) = cond {
        say("HT4", message);
    }
}

/// HA, then HB or HC.
fn custom_call(call: &Call, say: Say<'_>) {
    let root = call.root();
    for pair in &call.pairs {
        let count = call.ins.len();
        let Some(operand) = usize::try_from(pair.operand).ok().and_then(|n| call.ins.get(n)) else {
            say(
                "HA1",
                format!(
                    "expects operandIndex in the output_operand_alias attribute to be in range [0, {count}); got: {}.",
                    pair.operand
                ),
            );
            continue;
        };
        let from = operand.part(&pair.path);
        let to = root.as_ref().and_then(|r| r.part(&pair.output));
        if from.is_none() {
            say(
                "HA2",
                "operand_tuple_indices in the output_operand_alias attribute out of bounds".to_owned(),
            );
        }
        if to.is_none() {
            say("HA3", "output_tuple_indices in the output_operand_alias attribute out of bounds".to_owned());
        }
        if let (Some(from), Some(to)) = (from, to)
            && from != to
        {
            say(
                "HA4",
                format!(
                    "shapes mismatch in the output_operand_alias attribute: operand part has type '{}' and output part has type '{}'",
                    from.print(),
                    to.print()
                ),
            );
        }
    }
    match call.target.as_str() {
        "CreateBuffer" => create(call, say),
        "Pin" => boundary(call, "Pin", ["HB4", "HB5", "HB6", "HB7", "HB8"], say),
        "Unpin" => boundary(call, "Unpin", ["HB9", "HB10", "HB11", "HB12", "HB13"], say),
        _ => buffers(call, root.as_ref(), say),
    }
}

fn create(call: &Call, say: Say<'_>) {
    if !call.ins.is_empty() {
        say("HB1", "CreateBuffer custom_call shouldn't have any inputs".to_owned());
    }
    match call.outs.as_slice() {
        [one] if one.is_buffer() => {}
        [_] => say("HB3", "CreateBuffer custom_call should have a memref result".to_owned()),
        _ => say("HB2", "CreateBuffer custom_call should have one result".to_owned()),
    }
}

/// Pin (tensor to buffer) and Unpin (buffer to tensor).
fn boundary(call: &Call, name: &str, codes: [&'static str; 5], say: Say<'_>) {
    let pin = name == "Pin";
    let (from, to) = if pin { ("tensor", "memref") } else { ("memref", "tensor") };
    let kind = |ty: &Type, name: &str| if name == "tensor" { ty.is_tensor() } else { ty.is_buffer() };
    let article = "a";
    let mut should = |code, what: &str| say(code, format!("{name} custom_call should have {what}"));
    let mut fits = true;
    match call.ins.as_slice() {
        [one] if kind(one, from) => {}
        [_] => {
            fits = false;
            should(codes[1], &format!("{article} {from} input"));
        }
        _ => {
            fits = false;
            should(codes[0], "one input");
        }
    }
    match call.outs.as_slice() {
        [one] if kind(one, to) => {}
        [_] => {
            fits = false;
            should(codes[3], &format!("{article} {to} output"));
        }
        _ => {
            fits = false;
            should(codes[2], "one output");
        }
    }
    if let (true, [a], [b]) = (fits, call.ins.as_slice(), call.outs.as_slice())
        && !a.compatible(b)
    {
        should(codes[4], "compatible input and output types");
    }
}

/// HC1 to HC3.
fn buffers(call: &Call, root: Option<&Type>, say: Say<'_>) {
    let mut outputs: Vec<&[i64]> = Vec::new();
    let mut operands: Vec<(i64, &[i64])> = Vec::new();
    for pair in &call.pairs {
        let to = root.and_then(|r| r.part(&pair.output));
        if to.is_some_and(Type::is_buffer) {
            if outputs.contains(&pair.output.as_slice()) {
                let path = path_text(&pair.output);
                say("HC1", format!("buffer output {path} is used in output_operand_alias more than once"));
            }
            outputs.push(&pair.output);
        }
        let from =
            usize::try_from(pair.operand).ok().and_then(|n| call.ins.get(n)).and_then(|t| t.part(&pair.path));
        if from.is_some_and(Type::is_buffer) {
            if operands.contains(&(pair.operand, &pair.path)) {
                let path = path_text(&pair.path);
                say(
                    "HC2",
                    format!(
                        "buffer operand {}{path} is used in output_operand_alias more than once",
                        pair.operand
                    ),
                );
            }
            operands.push((pair.operand, &pair.path));
        }
    }
    for path in root.map_or_else(Vec::new, Type::buffers) {
        if !outputs.contains(&path.as_slice()) {
            say("HC3", format!("buffer output {} is not used in output_operand_alias", path_text(&path)));
        }
    }
}
