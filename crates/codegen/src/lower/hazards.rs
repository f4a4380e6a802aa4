//! What operations may change, and what must be read before they do.

use warploom_ir::{Attr, Module, OpId, Opcode};

use super::value::Memory;
use crate::error::{Result, locate};
use crate::program::{Payload, Program, Ring};

/// A number above every offset in shared memory.
const TENSOR_MEMORY: u64 = 1 << 40;

/// For each ring, the rings whose bytes a write into it may change.
fn overlaps(rings: &[Ring]) -> Vec<Memory> {
    let spans = |ring: &Ring| -> Vec<(u64, u64)> {
        let span = |p: &Payload| match p.columns {
            None => (p.offset, p.offset + p.stride * (ring.depth - 1) + p.layout.bytes()),
            // Tensor memory is no part of shared memory: columns are counted far behind it.
            Some(at) => {
                let width = p.layout.rows / at.rows * at.width;
                let first = TENSOR_MEMORY + at.first;
                (first, first + at.stride * (ring.depth - 1) + width)
            }
        };
        ring.payloads.iter().map(span).collect()
    };
    let meet = |a: &Ring, b: &Ring| {
        let (a, b) = (spans(a), spans(b));
        a.iter().any(|x| b.iter().any(|y| x.0 < y.1 && y.0 < x.1))
    };
    let of = |ring: &Ring| {
        let met = rings.iter().enumerate().filter(|(_, other)| meet(ring, other));
        met.fold(Memory::NONE, |all, (i, _)| all.union(Memory::ring(i)))
    };
    rings.iter().map(of).collect()
}

/// What operations may change.
pub(super) struct Hazards {
    /// For each ring, what a write into it changes.
    overlaps: Vec<Memory>,
    /// What may change once others have passed a barrier: slots that stores, or copies for another ring, go
    /// to. Slots that copies of their own ring fill change only after a release.
    barrier: Memory,
    /// Slots that copies fill. A fence of proxies lets the next copy go ahead as soon as this lane says so: what reads
    /// them comes before it.
    copied: Memory,
    /// The same of tensor memory, by the first warp of the partition that stores: to itself its lanes' rows do not
    /// change, for each lane writes those that it reads.
    tensor: Vec<(u64, Memory)>,
}

impl Hazards {
    /// Looks at every write of a program.
    pub fn new(module: &Module, program: &Program) -> Result<Hazards> {
        let overlaps = overlaps(&program.rings);
        let (mut barrier, mut copied, mut tensor) = (Memory::NONE, Memory::NONE, Vec::new());
        let mut stack = vec![(program.func, 0)];
        while let Some((op, mut warp)) = stack.pop() {
            let ring = || program.ring(module, op).map_err(|r| locate(module, op, r));
            match module.ops[op].opcode {
                Opcode::Partition => {
                    let partition = program.partitions.iter().find(|partition| partition.op == op);
                    warp = partition.map_or(0, |partition| partition.warp);
                }
                Opcode::TileStore if program.rings[ring()?].handshake.orders_tensor_memory() => {
                    tensor.push((warp, overlaps[ring()?]));
                }
                Opcode::TileStore | Opcode::AsyncCopy => barrier = barrier.union(overlaps[ring()?]),
                Opcode::TmaLoad => {
                    let own = ring()?;
                    copied = copied.union(Memory::ring(own));
                    barrier = barrier.union(overlaps[own].without(Memory::ring(own)));
                }
                _ => {}
            }
            for &region in &module.ops[op].regions {
                for &block in &module.regions[region].blocks {
                    stack.extend(module.blocks[block].ops.iter().map(|&op| (op, warp)));
                }
            }
        }
        Ok(Hazards { overlaps, barrier, copied, tensor })
    }

    /// Memory that an operation of the partition which starts at this warp, nested ones included, may change.
    pub fn of(&self, module: &Module, program: &Program, op: OpId, warp: u64) -> Memory {
        let others = self.tensor.iter().filter(|(writer, _)| *writer != warp);
        let barrier = others.fold(self.barrier, |all, (_, memory)| all.union(*memory));
        let mut all = Memory::NONE;
        let mut stack = vec![op];
        while let Some(op) = stack.pop() {
            let ring = || program.ring(module, op).ok();
            let own = match module.ops[op].opcode {
                Opcode::ConsumerRelease => ring().map(Memory::ring),
                Opcode::TileStore | Opcode::TmaLoad | Opcode::AsyncCopy => {
                    ring().map(|ring| self.overlaps[ring])
                }
                // One that orders the slots of a ring alone: nobody writes others before the next one.
                Opcode::BarrierSync => {
                    let orders = module.attr(op, "orders").and_then(Attr::as_str);
                    let ring = orders.and_then(|name| program.ring_named(name));
                    // One that says so orders what was read of global memory, too.
                    let global = module.attr(op, "reads").map_or(Memory::NONE, |_| Memory::GLOBAL);
                    Some(ring.map_or(barrier, |ring| self.overlaps[ring]).union(global))
                }
                Opcode::ProxyFence => Some(self.copied),
                Opcode::Dot | Opcode::MmaWait => Some(Memory::REGISTERS),
                Opcode::TtgBarrier => Some(barrier.union(Memory::GLOBAL)),
                Opcode::ElementwiseInlineAsm
                    if !matches!(module.attr(op, "pure"), Some(Attr::Bool(true))) =>
                {
                    Some(Memory::GLOBAL)
                }
                opcode if opcode.facts().effect.writes() => Some(Memory::GLOBAL),
                _ => None,
            };
            all = all.union(own.unwrap_or_default());
            for &region in &module.ops[op].regions {
                for &block in &module.regions[region].blocks {
                    stack.extend(&module.blocks[block].ops);
                }
            }
        }
        all
    }
}
