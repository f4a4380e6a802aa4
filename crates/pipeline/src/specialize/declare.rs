//! Launch attributes, pipelines and named barriers (C12, C20, C22, C31, C32, C35).

use warploom_ir::{Attr, BlockId, OpId, Opcode, Type};

use crate::descriptor_record::record;
use crate::emit::number;
use crate::layout::{Ring, RingUse};
use crate::specialize::builder::Builder;

impl Builder<'_> {
    /// Attributes of the function that the launcher needs.
    pub(super) fn launch(&mut self, func: OpId) {
        let layout = self.source.layout;
        let records = self.source.selection.descriptors.iter().map(|(_, plan)| record(plan));
        let records = Attr::Array(records.collect());
        let attrs = &mut self.out.ops[func].attrs;
        attrs.set("warploom.warps", number(layout.warps));
        attrs.set("warploom.max_registers", number(layout.max_registers));
        attrs.set("warploom.shared", number(layout.shared));
        if let Some((columns, slot)) = layout.tmem {
            attrs.set("warploom.tmem", number(columns));
            attrs.set("warploom.tmem_slot", number(slot));
        }
        attrs.set("warploom.descriptors", records);
    }

    /// One declaration per pipeline and named barrier.
    pub(super) fn declarations(&mut self, body: BlockId) {
        let layout = self.source.layout;
        let func = self.source.selection.func;
        for ring in &layout.rings {
            let props = ring_attributes(ring);
            self.emit(body, func).op(Opcode::Pipeline, &[], &[], &props);
        }
        for barrier in &layout.barriers {
            let props = [
                ("sym_name", Attr::string(&barrier.name)),
                ("id", number(barrier.id)),
                ("threads", number(barrier.threads)),
            ];
            self.emit(body, func).op(Opcode::NamedBarrier, &[], &[], &props);
        }
        if let Some(turns) = layout.turns {
            let props = [
                ("sym_name", Attr::string(turns.name)),
                ("id", number(turns.id)),
                ("replicas", number(turns.replicas)),
            ];
            self.emit(body, func).op(Opcode::Turns, &[], &[], &props);
        }
    }
}

fn ring_attributes(ring: &Ring) -> Vec<(&'static str, Attr)> {
    let wide = |values: Vec<u64>| Attr::DenseArray {
        elem: Type::I64,
        values: values.into_iter().map(|v| i64::try_from(v).unwrap_or(i64::MAX)).collect(),
    };
    let swizzle: Vec<i64> = ring.payloads.iter().map(|p| i64::from(p.swizzle)).collect();
    let barrier = |at: Option<u64>| at.map_or_else(|| Attr::i32(-1), number);
    let offset = wide(ring.payloads.iter().map(|p| p.offset).collect());
    let stride = wide(ring.payloads.iter().map(|p| p.stride).collect());
    let place = match ring.usage {
        RingUse::Accumulator(_) | RingUse::Operand(_) => {
            vec![("space", Attr::string("tmem")), ("column", offset), ("columns", stride)]
        }
        _ => vec![
            ("swizzle", Attr::DenseArray { elem: Type::I32, values: swizzle }),
            ("offset", offset),
            ("stride", stride),
        ],
    };
    let mut attributes = vec![
        ("sym_name", Attr::string(&ring.name)),
        ("depth", number(ring.depth)),
        ("handshake", Attr::string(ring.handshake)),
        ("payload", Attr::Array(ring.payloads.iter().map(|p| Attr::string(&p.name)).collect())),
        ("tile", Attr::Array(ring.payloads.iter().map(|p| Attr::Type(p.tile.clone())).collect())),
    ];
    attributes.extend(place);
    attributes.extend([
        ("bytes", number(ring.bytes)),
        ("full", barrier(ring.full)),
        ("empty", barrier(ring.empty)),
        ("arrive_full", number(ring.arrive_full)),
        ("arrive_empty", number(ring.arrive_empty)),
    ]);
    attributes
}
