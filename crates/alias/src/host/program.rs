//! A StableHLO part as plain data: operations in program order with what they read, make and contain (A55).

use hashbrown::HashMap;

use super::types::Type;
use super::verify::Call;
use crate::error::Pos;
use crate::text::form::last_types;
use crate::text::print::constant;
use crate::text::tree::{Form, Op, OpId, Tree, ValueId};

/// An operation by its number in program order.
pub(crate) type NodeId = usize;

/// A part of a value: the path through its tuples. The parts that matter are buffers and tensors.
pub(crate) type Part = (ValueId, Vec<i64>);

/// What an operation is to buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A function; the flag says that others may call it.
    Func(bool),
    /// The end of a region or a function.
    Return,
    /// `Pin`: a tensor becomes a buffer.
    Pin,
    /// `Unpin`: a buffer becomes a tensor.
    Unpin,
    /// `CreateBuffer`.
    Create,
    /// Any other custom call: pairs of (result part, operand part) that share memory.
    Call(Vec<(Part, Part)>),
    Tuple,
    /// `get_tuple_element` with its index.
    Element(i64),
    /// The declared cycles (A63).
    While(Vec<Vec<usize>>),
    /// `if` and `case`: one of the regions runs.
    Branch,
    Constant,
    /// Results may lie where an operand of the same type lay.
    Elementwise,
    Other,
}

/// One operation.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) op: OpId,
    pub(crate) kind: Kind,
    pub(crate) pos: Pos,
    /// Name and, for a call, its target.
    pub(crate) shown: String,
    pub(crate) operands: Vec<ValueId>,
    pub(crate) results: Vec<ValueId>,
    pub(crate) regions: Vec<Body>,
    /// The operation around it, and in which of its regions.
    pub(crate) parent: Option<(NodeId, usize)>,
    pub(crate) side_effect: bool,
}

/// One region.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) args: Vec<ValueId>,
    pub(crate) nodes: Vec<NodeId>,
}

/// A part of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) nodes: Vec<Node>,
    pub(crate) top: Vec<NodeId>,
    pub(crate) types: HashMap<ValueId, Type>,
    pub(crate) names: HashMap<ValueId, String>,
    /// Who makes a value; arguments have the operation whose region they belong to.
    pub(crate) made_by: HashMap<ValueId, NodeId>,
}

/// Elementwise operations: a result may take the place of an operand of its type.
const ELEMENTWISE: [&str; 37] = [
    "abs",
    "add",
    "and",
    "atan2",
    "cbrt",
    "ceil",
    "clamp",
    "cosine",
    "count_leading_zeros",
    "divide",
    "exponential",
    "exponential_minus_one",
    "floor",
    "log",
    "log_plus_one",
    "logistic",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "not",
    "or",
    "popcnt",
    "power",
    "remainder",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "select",
    "sign",
    "sine",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "xor",
    "shift_left",
];

impl Program {
    /// Reads a tree whose forms were read.
    pub(crate) fn new(tree: &Tree) -> Program {
        let mut p = Program::default();
        // Operations to read, innermost last, each with the place it goes to.
        let mut work: Vec<(OpId, Option<(NodeId, usize)>)> =
            tree.top.iter().rev().map(|o| (*o, None)).collect();
        while let Some((id, parent)) = work.pop() {
            let Some(op) = tree.ops.get(id) else { continue };
            let node = p.nodes.len();
            p.node(tree, id, op, parent);
            match parent.and_then(|(n, r)| p.nodes.get_mut(n)?.regions.get_mut(r)) {
                Some(body) => body.nodes.push(node),
                None => p.top.push(node),
            }
            for (r, region) in tree.regions_of(id).into_iter().enumerate().rev() {
                let blocks = tree.regions.get(region).map_or(&[][..], |r| r.blocks.as_slice());
                for block in blocks.iter().rev().filter_map(|b| tree.blocks.get(*b)) {
                    work.extend(block.ops.iter().rev().map(|o| (*o, Some((node, r)))));
                }
            }
        }
        p
    }

    fn node(&mut self, tree: &Tree, id: OpId, op: &Op, parent: Option<(NodeId, usize)>) {
        let node = self.nodes.len();
        let regions: Vec<Body> = tree
            .regions_of(id)
            .into_iter()
            .map(|r| {
                let first =
                    tree.regions.get(r).and_then(|r| r.blocks.first()).and_then(|b| tree.blocks.get(*b));
                Body { args: first.map_or_else(Vec::new, |b| b.args.clone()), nodes: Vec::new() }
            })
            .collect();
        let operands = tree.operands(id);
        for (value, ty) in result_types(op) {
            self.types.entry(value).or_insert_with(|| Type::parse(&ty));
        }
        for value in op.results.iter().chain(regions.iter().flat_map(|r| &r.args)) {
            self.made_by.insert(*value, node);
            if let Some(v) = tree.values.get(*value) {
                let name = match v.pack {
                    Some((n, _)) => format!("%{}#{n}", v.name),
                    None => format!("%{}", v.name),
                };
                self.names.insert(*value, name);
            }
        }
        let is_while = op.name == "stablehlo.while";
        for region in &regions {
            for (n, arg) in region.args.iter().enumerate() {
                let ty = match is_while {
                    true if tree.ty(*arg).is_none() => {
                        operands.get(n).and_then(|o| self.types.get(o)).cloned()
                    }
                    _ => tree.ty(*arg).map(Type::parse),
                };
                if let Some(ty) = ty {
                    self.types.entry(*arg).or_insert(ty);
                }
            }
        }
        let mut shown = op.name.clone();
        let call = op.form.as_ref().filter(|_| op.name == "stablehlo.custom_call").map(Call::new);
        if let Some(call) = &call {
            shown = format!("{} @{}", op.name, call.target);
        }
        let kind = match op.name.as_str() {
            "func.func" | "func" => {
                Kind::Func(!op.body.iter().any(|p| p.text().trim_matches('"') == "private"))
            }
            "return" | "func.return" | "stablehlo.return" => Kind::Return,
            "stablehlo.custom_call" => self.call(op, &operands, call.as_ref()),
            "stablehlo.tuple" => Kind::Tuple,
            "stablehlo.get_tuple_element" => Kind::Element(op.form.as_ref().and_then(index).unwrap_or(-1)),
            "stablehlo.while" => Kind::While(op.form.as_ref().map_or_else(Vec::new, cycles)),
            "stablehlo.if" | "stablehlo.case" => Kind::Branch,
            "stablehlo.constant" => Kind::Constant,
            _ if constant(op).is_some() => Kind::Constant,
            name => match name.strip_prefix("stablehlo.") {
                Some(short) if ELEMENTWISE.contains(&short) => Kind::Elementwise,
                _ => Kind::Other,
            },
        };
        let attr = |name: &str| op.form.as_ref().and_then(|f| f.attr(name)).map(str::trim);
        let side_effect = attr("has_side_effect") == Some("true");
        let (pos, results) = (op.pos, op.results.clone());
        self.nodes.push(Node { op: id, kind, pos, shown, operands, results, regions, parent, side_effect });
    }

    fn call(&self, op: &Op, operands: &[ValueId], call: Option<&Call>) -> Kind {
        let Some(call) = call else { return Kind::Other };
        match call.target.as_str() {
            "Pin" => return Kind::Pin,
            "Unpin" => return Kind::Unpin,
            "CreateBuffer" => return Kind::Create,
            _ => {}
        }
        let pairs = call.pairs.iter().filter_map(|pair| {
            let operand = operands.get(usize::try_from(pair.operand).ok()?)?;
            let result = match op.results.as_slice() {
                [one] => (*one, pair.output.clone()),
                more => {
                    let (first, rest) = pair.output.split_first()?;
                    (*more.get(usize::try_from(*first).ok()?)?, rest.to_vec())
                }
            };
            Some((result, (*operand, pair.path.clone())))
        });
        Kind::Call(pairs.collect())
    }

    /// The parts of a value that are buffers.
    pub(crate) fn buffers(&self, value: ValueId) -> Vec<Part> {
        let paths = self.types.get(&value).map_or_else(Vec::new, Type::buffers);
        paths.into_iter().map(|path| (value, path)).collect()
    }

    /// The parts of a value that are buffers or tensors.
    pub(crate) fn parts(&self, value: ValueId) -> Vec<Part> {
        let paths = self.types.get(&value).map_or_else(Vec::new, Type::leaves);
        paths.into_iter().map(|path| (value, path)).collect()
    }

    /// The type of a part.
    pub(crate) fn type_of(&self, part: &Part) -> Option<&Type> {
        self.types.get(&part.0)?.part(&part.1)
    }

    /// Whether a part is a buffer.
    pub(crate) fn is_buffer(&self, part: &Part) -> bool {
        self.type_of(part).is_some_and(Type::is_buffer)
    }

    /// The part that a part is, seen through tuples and their elements (A59).
    pub(crate) fn origin(&self, part: Part) -> Part {
        let (mut value, mut path) = part;
        // Each step goes to an earlier operation; a use before its definition ends the walk.
        let mut before = NodeId::MAX;
        while let Some(n) = self.made_by.get(&value).copied().filter(|n| *n < before) {
            let Some(node) = self.nodes.get(n).filter(|node| node.results.contains(&value)) else { break };
            before = n;
            match &node.kind {
                Kind::Tuple => {
                    let Some((first, rest)) = path.split_first() else { break };
                    let Some(operand) = usize::try_from(*first).ok().and_then(|n| node.operands.get(n))
                    else {
                        break;
                    };
                    (value, path) = (*operand, rest.to_vec());
                }
                Kind::Element(index) => {
                    let Some(operand) = node.operands.first() else { break };
                    path.insert(0, *index);
                    value = *operand;
                }
                _ => break,
            }
        }
        (value, path)
    }

    /// The name of a value in messages.
    pub(crate) fn name(&self, value: ValueId) -> &str {
        self.names.get(&value).map_or("?", String::as_str)
    }

    /// The operation that ends a region.
    pub(crate) fn last(&self, body: &Body) -> Option<&Node> {
        body.nodes.last().and_then(|n| self.nodes.get(*n)).filter(|n| n.kind == Kind::Return)
    }

    /// The regions around an operation, innermost first.
    pub(crate) fn around(&self, node: NodeId) -> Vec<(NodeId, usize)> {
        let mut out = Vec::new();
        let mut at = self.nodes.get(node).and_then(|n| n.parent);
        while let Some((parent, region)) = at {
            out.push((parent, region));
            at = self.nodes.get(parent).and_then(|n| n.parent);
        }
        out
    }

    /// The region that a value belongs to: that of its operation, or the one whose argument it is.
    pub(crate) fn home(&self, value: ValueId) -> Option<(NodeId, usize)> {
        let node = *self.made_by.get(&value)?;
        let n = self.nodes.get(node)?;
        match n.regions.iter().position(|r| r.args.contains(&value)) {
            Some(region) => Some((node, region)),
            None => n.parent,
        }
    }
}

/// `index = 1 : i32`
fn index(form: &Form) -> Option<i64> {
    form.attr("index")?.split(':').next()?.trim().parse().ok()
}

/// `warploom.rotate = [[0, 1], [2, 3, 4]]`; what is no number is left out and refused later as no cycle.
fn cycles(form: &Form) -> Vec<Vec<usize>> {
    let Some(text) = form.attr("warploom.rotate") else { return Vec::new() };
    let inner = text.trim().trim_start_matches('[').trim_end_matches(']');
    inner
        .split(']')
        .map(|c| c.trim_matches(|c: char| c == ',' || c == '[' || c.is_whitespace()))
        .map(|c| c.split(',').filter_map(|n| n.split(':').next()?.trim().parse().ok()).collect())
        .collect()
}

/// The results of an operation with their types: from its form, or from what its assembly ends with.
fn result_types(op: &Op) -> Vec<(ValueId, String)> {
    let types = match op.form.as_ref().map(|f| &f.outs) {
        Some(outs) if outs.len() == op.results.len() => outs.clone(),
        _ => last_types(&op.body),
    };
    op.results.iter().copied().zip(types).collect()
}
