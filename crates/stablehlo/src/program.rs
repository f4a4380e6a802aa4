//! A StableHLO part as plain data: operations in program order with what they read, make and contain (A55).

use hashbrown::HashMap;
use warploom_alias::{Pos, TextPart};
use warploom_ir::{Attr, OpId, Opcode, ValueId};

use super::call::Call;
use super::types::Type;

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
    /// The program of a part.
    pub(crate) fn new(part: &TextPart) -> Program {
        let m = &part.module;
        let mut p = Program::default();
        // Operations to read, innermost last, each with the place it goes to.
        let mut work: Vec<(OpId, Option<(NodeId, usize)>)> =
            m.blocks[m.body()].ops.iter().rev().map(|o| (*o, None)).collect();
        while let Some((op, parent)) = work.pop() {
            let node = p.nodes.len();
            p.node(part, op, parent);
            match parent.and_then(|(n, r)| p.nodes.get_mut(n)?.regions.get_mut(r)) {
                Some(body) => body.nodes.push(node),
                None => p.top.push(node),
            }
            for (r, region) in m.ops[op].regions.iter().enumerate().rev() {
                for block in m.regions[*region].blocks.iter().rev() {
                    work.extend(m.blocks[*block].ops.iter().rev().map(|o| (*o, Some((node, r)))));
                }
            }
        }
        p
    }

    fn node(&mut self, part: &TextPart, op: OpId, parent: Option<(NodeId, usize)>) {
        let node = self.nodes.len();
        let data = &part.module.ops[op];
        let regions: Vec<Body> =
            part.region_args(op).into_iter().map(|args| Body { args, nodes: Vec::new() }).collect();
        let (operands, results) = (data.operands.to_vec(), data.results.to_vec());
        for value in results.iter().chain(regions.iter().flat_map(|r| &r.args)) {
            self.types.insert(*value, Type::parse(&part.ty(*value)));
            self.made_by.insert(*value, node);
            self.names.insert(*value, format!("%{}", part.value_name(*value)));
        }
        for (n, value) in results.iter().enumerate() {
            // Results of one name are told apart by their numbers.
            let name = part.value_name(*value);
            let same = |v: &&ValueId| part.value_name(**v) == name;
            if results.iter().filter(same).count() > 1 {
                let n = results.iter().take(n).filter(same).count();
                self.names.insert(*value, format!("%{name}#{n}"));
            }
        }
        let mut shown = part.name(op).to_owned();
        let call = (shown == "stablehlo.custom_call").then(|| Call::new(part, op));
        if let Some(call) = &call {
            shown = format!("{shown} @{}", call.target);
        }
        let word = |name: &str| part.module.attr(op, name).and_then(Attr::as_str);
        let kind = match part.name(op) {
            "func.func" | "func" => Kind::Func(word("sym_visibility") != Some("private")),
            "return" | "func.return" | "stablehlo.return" => Kind::Return,
            "stablehlo.custom_call" => self.call(&results, &operands, call.as_ref()),
            "stablehlo.tuple" => Kind::Tuple,
            "stablehlo.get_tuple_element" => Kind::Element(index(part, op).unwrap_or(-1)),
            "stablehlo.while" => Kind::While(cycles(part, op)),
            "stablehlo.if" | "stablehlo.case" => Kind::Branch,
            "stablehlo.constant" => Kind::Constant,
            _ if data.opcode == Opcode::Constant => Kind::Constant,
            name => match name.strip_prefix("stablehlo.") {
                Some(short) if ELEMENTWISE.contains(&short) => Kind::Elementwise,
                _ => Kind::Other,
            },
        };
        let side_effect = part.module.attr(op, "has_side_effect") == Some(&Attr::Bool(true));
        let pos = part.pos(op);
        self.nodes.push(Node { op, kind, pos, shown, operands, results, regions, parent, side_effect });
    }

    fn call(&self, results: &[ValueId], operands: &[ValueId], call: Option<&Call>) -> Kind {
        let Some(call) = call else { return Kind::Other };
        match call.target.as_str() {
            "Pin" => return Kind::Pin,
            "Unpin" => return Kind::Unpin,
            "CreateBuffer" => return Kind::Create,
            _ => {}
        }
        let pairs = call.pairs.iter().filter_map(|pair| {
            let operand = operands.get(usize::try_from(pair.operand).ok()?)?;
            let result = match results {
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

/// Which element of a tuple: `[1]`, or `index = 1 : i32` in generic form.
pub(crate) fn index(part: &TextPart, op: OpId) -> Option<i64> {
    match part.module.attr(op, "index")? {
        Attr::DenseArray { values, .. } => values.first().copied(),
        other => other.as_i64(),
    }
}

/// `warploom.rotate = [[0, 1], [2, 3, 4]]`; what is no number is left out and refused later as no cycle.
fn cycles(part: &TextPart, op: OpId) -> Vec<Vec<usize>> {
    let lists = part.module.attr(op, "warploom.rotate").and_then(Attr::as_array).unwrap_or(&[]);
    let slot = |item: &Attr| item.as_i64().and_then(|n| usize::try_from(n).ok());
    let cycle = |list: &Attr| list.as_array().unwrap_or(&[]).iter().filter_map(slot).collect();
    lists.iter().map(cycle).collect()
}
