//! Sums of products that stay in tensor memory: from zero on, through one loop or through several that stand behind or
//! inside one another (C66).
//!
//! ```text
//! s0 = zero; s1 = for (a = s0) { yield dot(x, y, a) }; s2 = for (b = s1) { yield dot(u, v, b) }; readers of s2
//! ```
//!
//! Nothing but the next product reads what lies between: the columns are taken before the first loop, and handed over
//! behind the last.

use warploom_ir::{BlockId, Module, OpId, Opcode, ValueDef, ValueId};

use crate::nest::is_inside;
use crate::transports::find::Found;
use crate::transports::operands::{DotOperand, Slot};
use crate::waits::lags;
use crate::walk::{Users, preorder};

/// A sum of products.
#[derive(Clone, Debug)]
pub(crate) struct Sum {
    /// The loops of its block that add to it, in order.
    pub loops: Vec<OpId>,
    /// The products, with the number of their loop.
    pub dots: Vec<(usize, OpId)>,
    /// What carries it: arguments and results of loops.
    pub carried: Vec<ValueId>,
    /// All of it, the result of the last loop.
    pub whole: ValueId,
    /// Which operand of the first loop is zero.
    pub zero: usize,
}

impl Sum {
    /// The sum that a product adds to, if a loop carries it from zero on.
    pub fn of(kernel: &Module, dot: OpId) -> Option<Sum> {
        let mut arg = *kernel.ops[dot].operands.get(2).filter(|_| kernel.ops[dot].opcode.is_product())?;
        // Products of one trip before it add to the same sum.
        while let Some(before) =
            kernel.def_op(arg).filter(|&op| kernel.ops[op].block == kernel.ops[dot].block)
        {
            arg = match kernel.ops[before].opcode {
                Opcode::MmaWait => *kernel.ops[before].operands.first()?,
                opcode if opcode.is_product() => *kernel.ops[before].operands.get(2)?,
                _ => return None,
            };
        }
        let (first, at) = loop {
            let (scf_for, at) = carrier(kernel, arg)?;
            let init = *kernel.ops[scf_for].operands.get(at + 3)?;
            if kernel.is_const_zero(init) {
                break (scf_for, at);
            }
            arg = match kernel.def_op(init) {
                Some(op) if kernel.ops[op].opcode == Opcode::For => {
                    let at = kernel.ops[op].results.iter().position(|&v| v == init)?;
                    *kernel.blocks[kernel.entry(op, 0)?].args.get(at + 1)?
                }
                Some(_) => return None,
                None => init,
            };
        };
        let users = Users::new(kernel);
        let (whole, zero) = (*kernel.ops[first].results.get(at)?, at + 3);
        let mut sum = Sum { loops: vec![first], dots: Vec::new(), carried: Vec::new(), whole, zero };
        sum.enter(kernel, &users, first, at)?;
        // As far as nothing else reads it.
        while let Some((next, at)) = next_loop(kernel, &users, sum.whole, kernel.ops[first].block?) {
            let mut longer = sum.clone();
            longer.loops.push(next);
            match longer.enter(kernel, &users, next, at) {
                Some(whole) => sum = Sum { whole, ..longer },
                None => break,
            }
        }
        sum.dots.iter().any(|&(_, other)| other == dot).then_some(sum)
    }

    /// Goes through a loop that carries the sum as its value number `at`; the loop's result.
    fn enter(&mut self, kernel: &Module, users: &Users, scf_for: OpId, at: usize) -> Option<ValueId> {
        let body = kernel.entry(scf_for, 0)?;
        let mut value = *kernel.blocks[body].args.get(at + 1)?;
        self.carried.push(value);
        let before = self.dots.len();
        loop {
            let &[user] = users.of(value) else { return None };
            let data = &kernel.ops[user];
            value = match data.opcode {
                _ if data.block != Some(body) => return None,
                opcode
                    if opcode.is_product() && data.operands.iter().position(|&v| v == value) == Some(2) =>
                {
                    self.dots.push((self.loops.len() - 1, user));
                    kernel.result(user)?
                }
                Opcode::MmaWait => kernel.result(user)?,
                Opcode::For => {
                    let (inner, at) = next_loop(kernel, users, value, body)?;
                    self.enter(kernel, users, inner, at)?
                }
                Opcode::Yield => match data.operands.iter().filter(|&&v| v == value).count() {
                    1 if data.operands.get(at) == Some(&value) => break,
                    _ => return None,
                },
                _ => return None,
            };
        }
        let result = *kernel.ops[scf_for].results.get(at).filter(|_| self.dots.len() > before)?;
        self.carried.push(result);
        Some(result)
    }

    /// How many of the loops have none but products that stay.
    fn staying(&self, kernel: &Module, found: &[Found], operands: &[DotOperand]) -> usize {
        let of = |loops: usize| self.dots.iter().filter(move |&&(n, _)| n < loops);
        // Staging buffers lie over slots that products of a loop before may still read.
        let stages = |op: &OpId| kernel.ops[*op].opcode == Opcode::DescriptorStore;
        let staged =
            |n: usize| self.block(kernel, n).iter().any(|&op| preorder(kernel, op).iter().any(stages));
        let stay = |&n: &usize| {
            of(n).all(|&(_, dot)| self.may(kernel, dot, found, operands)) && (of(n).count() < 2 || !staged(n))
        };
        (0..=self.loops.len()).rev().find(stay).unwrap_or(0)
    }

    /// The operations from the first loop to number `loops`.
    fn block<'a>(&self, kernel: &'a Module, loops: usize) -> &'a [OpId] {
        let (Some(&first), Some(&last)) = (self.loops.first(), self.loops.get(loops.max(1) - 1)) else {
            return &[];
        };
        let ops = kernel.ops[first].block.map(|b| kernel.blocks[b].ops.as_slice()).unwrap_or_default();
        let at = |op: OpId| ops.iter().position(|&o| o == op);
        at(first).zip(at(last)).and_then(|(from, to)| ops.get(from..=to)).unwrap_or_default()
    }

    /// Whether a product's part of the sum may stay: what it reads comes by pipelined loads of its loop, is stored in front
    /// of it or of the sum, or stays what it is while the loop runs; the product gives the slots back.
    fn may(&self, kernel: &Module, dot: OpId, found: &[Found], operands: &[DotOperand]) -> bool {
        let scf_for = kernel.parent(dot).filter(|&op| kernel.ops[op].opcode == Opcode::For);
        let (Some(scf_for), Some(body)) = (scf_for, kernel.ops[dot].block) else { return false };
        let inside = |op: OpId| self.loops.iter().any(|&l| op != l && is_inside(kernel, op, l));
        let among = |base: OpId| {
            self.block(kernel, self.loops.len()).iter().any(|&op| op == base || is_inside(kernel, base, op))
        };
        let brought = |operand: &DotOperand| {
            let base = kernel.def_op(operand.seen.base);
            match operand.slot {
                Some(Slot::Ring) => {
                    found.iter().any(|f| f.scf_for == scf_for && f.tiles.iter().any(|t| Some(t.op) == base))
                }
                Some(Slot::Blocking) => base.is_some_and(|base| !among(base)),
                None => !operand.is_settled() || !inside(operand.at) || self.dots.len() == 1,
            }
        };
        (waits_behind(kernel, dot) || lags(kernel, body, dot) || self.goes_on(kernel, dot))
            && operands.iter().filter(|f| f.dot == dot).all(brought)
            && operands.iter().any(|f| f.dot == dot && f.is_of_trip())
    }

    /// Whether products of one trip add to the sum one after the other, a given one among them.
    fn goes_on(&self, kernel: &Module, dot: OpId) -> bool {
        let block = kernel.ops[dot].block;
        let mut beside = self.dots.iter().filter(|&&(_, op)| op != dot && kernel.ops[op].block == block);
        beside.next().is_some()
    }
}

/// Whether the sum of a product stays in tensor memory. Slots that the copy engine fills are given back once: none but
/// products of such sums may read them.
pub(crate) fn stays(kernel: &Module, dot: OpId, found: &[Found], operands: &[DotOperand]) -> bool {
    let may_stay = |dot: OpId| {
        Sum::of(kernel, dot).is_some_and(|sum| {
            let loops = sum.staying(kernel, found, operands);
            sum.dots.iter().any(|&(n, other)| n < loops && other == dot)
        })
    };
    let by_engine = found.iter().filter(|f| Some(f.scf_for) == kernel.parent(dot) && f.engine());
    let mut others = by_engine.flat_map(|f| &f.tiles).flat_map(|t| readers(kernel, t.op));
    may_stay(dot) && others.all(may_stay)
}

/// The loop that carries an argument, and as which of its values.
fn carrier(kernel: &Module, arg: ValueId) -> Option<(OpId, usize)> {
    let ValueDef::Argument { block, index } = kernel.values[arg].def else { return None };
    let scf_for = kernel.regions[kernel.blocks[block].region?].parent?;
    let at = usize::try_from(index).ok()?.checked_sub(1)?;
    (kernel.ops[scf_for].opcode == Opcode::For).then_some((scf_for, at))
}

/// The loop of a block that alone takes a value, and as which of its values.
fn next_loop(kernel: &Module, users: &Users, value: ValueId, block: BlockId) -> Option<(OpId, usize)> {
    let &[user] = users.of(value) else { return None };
    let data = &kernel.ops[user];
    if data.opcode != Opcode::For || data.block != Some(block) {
        return None;
    }
    let mut taken = data.operands.iter().enumerate().filter(|&(_, &v)| v == value).map(|(at, _)| at);
    match (taken.next(), taken.next()) {
        (Some(at), None) => Some((user, at.checked_sub(3)?)),
        _ => None,
    }
}

/// Who reads a tile, by whatever name.
fn readers(kernel: &Module, load: OpId) -> Vec<OpId> {
    let (users, mut values) = (Users::new(kernel), kernel.ops[load].results.to_vec());
    let mut found = Vec::new();
    while let Some(value) = values.pop() {
        for &user in users.of(value) {
            match kernel.ops[user].opcode {
                Opcode::Trans | Opcode::Reshape => values.extend(&kernel.ops[user].results),
                _ => found.push(user),
            }
        }
    }
    found
}

/// Whether a product has the wait of a later form behind it.
fn waits_behind(kernel: &Module, dot: OpId) -> bool {
    let users = Users::new(kernel);
    let waits = |&op: &OpId| kernel.ops[op].opcode == Opcode::MmaWait;
    kernel.result(dot).is_some_and(|v| matches!(users.of(v), [op] if waits(op)))
}
