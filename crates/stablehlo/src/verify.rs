//! The verifier's rules (A57): every violated one is an error.

use warploom_alias::{AliasError, TextPart};
use warploom_ir::{Attr, ValueId};

use super::call::Call;
use super::program::{Node, Program, index};
use super::types::{Type, is_elem, pairs, path_text};

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
pub(crate) fn verify(part: &TextPart) -> Vec<AliasError> {
    let mut errors = Vec::new();
    let program = Program::new(part);
    for node in &program.nodes {
        let mut say = |code, message: String| {
            errors.push(AliasError::new(code, message).at(node.pos).help(remedy(code)));
        };
        malformed(&program, part, node, &mut say);
        match part.name(node.op) {
            "stablehlo.custom_call" => custom_call(&Call::new(part, node.op), &mut say),
            "stablehlo.get_tuple_element" => element(&program, part, node, &mut say),
            "stablehlo.tuple" => tuple(&program, node, &mut say),
            "stablehlo.while" => while_op(&program, part, node, &mut say),
            name if !CARRIERS.contains(&name) => other(&program, node, &mut say),
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
fn malformed(p: &Program, part: &TextPart, node: &Node, say: Say<'_>) {
    let args = node.regions.iter().flat_map(|r| &r.args);
    for ty in node.results.iter().chain(args).filter_map(|v| p.types.get(v)) {
        for path in ty.buffers() {
            let Some(buffer) = ty.part(&path) else { continue };
            let ok = buffer.shape().is_some_and(|(_, elem)| is_elem(elem));
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
    let aliases = part.module.attr(node.op, "output_operand_aliases");
    let item = match aliases.map(Attr::as_array) {
        Some(Some(items)) => pairs(items).err(),
        Some(None) => part.attr(node.op, "output_operand_aliases"),
        None => None,
    };
    if let Some(item) = item {
        say("A56", format!("'{item}' is no output_operand_alias"));
    }
}

/// HT1, HT2.
fn other(p: &Program, node: &Node, say: Say<'_>) {
    let kinds = "ranked tensor of float, boolean, integer, complex or quantized values";
    let has = |v: &ValueId| p.types.get(v).filter(|t| !t.buffers().is_empty()).map(Type::print);
    for (n, ty) in node.operands.iter().enumerate().filter_map(|(n, v)| has(v).map(|t| (n, t))) {
        say("HT1", format!("operand #{n} must be {kinds}, but got '{ty}'"));
    }
    for (n, ty) in node.results.iter().enumerate().filter_map(|(n, v)| has(v).map(|t| (n, t))) {
        say("HT2", format!("result #{n} must be variadic of {kinds}, but got '{ty}'"));
    }
}

/// HT3.
fn element(p: &Program, part: &TextPart, node: &Node, say: Say<'_>) {
    let index = index(part, node.op).unwrap_or(-1);
    let type_of = |values: &[ValueId]| values.first().and_then(|v| p.types.get(v));
    let (Some(from), Some(to)) = (type_of(&node.operands), type_of(&node.results)) else { return };
    let count = if let Type::Tuple(parts) = from { parts.len() } else { 0 };
    match from.part(&[index]) {
        None => say("HT3", format!("index {index} is out of range for a tuple of {count}")),
        Some(ty) if ty != to => {
            say("HT3", format!("result type {} is not element {index} of {}", to.print(), from.print()));
        }
        Some(_) => {}
    }
}

fn tuple(p: &Program, node: &Node, say: Say<'_>) {
    let Some(ty) = node.results.first().and_then(|v| p.types.get(v)) else { return };
    let own: Option<Vec<Type>> = node.operands.iter().map(|v| p.types.get(v).cloned()).collect();
    if let Some(own) = own.map(Type::Tuple)
        && *ty != own
    {
        say("HT3", format!("result type {} is not {}", ty.print(), own.print()));
    }
}

/// HT4.
fn while_op(p: &Program, part: &TextPart, node: &Node, say: Say<'_>) {
    let types = |values: &[ValueId]| -> Vec<Type> {
        values.iter().map(|v| p.types.get(v).cloned().unwrap_or_else(|| Type::parse("none"))).collect()
    };
    let expected = types(&node.results);
    let mut compare = |what: &str, got: Vec<Type>| {
        for k in 0..expected.len().max(got.len()) {
            let (got, want) = (got.get(k), expected.get(k));
            if got == want {
                continue;
            }
            let text = |t: Option<&Type>| t.map_or_else(|| "nothing".to_owned(), Type::print);
            let message = format!("while slot {k}: {what} has type {}, expected {}", text(got), text(want));
            say("HT4", message);
        }
    };
    compare("operand", types(&node.operands));
    let mut cond = None;
    for (body, name) in node.regions.iter().zip(["cond", "body"]) {
        compare(if name == "cond" { "cond argument" } else { "body argument" }, types(&body.args));
        let last = body.nodes.last().and_then(|n| p.nodes.get(*n));
        let last = last.filter(|n| part.name(n.op).starts_with("stablehlo."));
        let returned = last.map_or_else(Vec::new, |n| types(&n.operands));
        match name {
            "body" => compare("body return", returned),
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
