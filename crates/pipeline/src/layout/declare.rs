//! Launch attributes, pipelines and named barriers of a program (C12, C20, C22, C31, C32, C35).

use warploom_ir::{Attr, BlockId, LocId, Module, OpId, Opcode, Type};

use super::types::{ProgramLayout, Ring};
use crate::emit::{Emit, number};

impl ProgramLayout {
    /// Writes on the function what the launcher needs.
    pub fn launch(&self, out: &mut Module, func: OpId) {
        let attrs = &mut out.ops[func].attrs;
        attrs.set("warploom.warps", number(self.warps));
        attrs.set("warploom.max_registers", number(self.max_registers));
        attrs.set("warploom.shared", number(self.shared));
        if let Some((columns, slot)) = self.tmem {
            attrs.set("warploom.tmem", number(columns));
            attrs.set("warploom.tmem_slot", number(slot));
        }
        attrs.set("warploom.descriptors", Attr::Array(self.records.clone()));
    }

    /// One declaration per pipeline and named barrier.
    pub fn declare(&self, out: &mut Module, body: BlockId, loc: LocId) {
        let mut emit = Emit { out, block: body, loc };
        for ring in &self.rings {
            emit.op(Opcode::Pipeline, &[], &[], &ring_attributes(ring));
        }
        for barrier in &self.barriers {
            let props = [
                ("sym_name", Attr::string(&barrier.name)),
                ("id", number(barrier.id)),
                ("threads", number(barrier.threads)),
            ];
            emit.op(Opcode::NamedBarrier, &[], &[], &props);
        }
        if let Some(turns) = self.turns {
            let props = [
                ("sym_name", Attr::string(turns.name)),
                ("id", number(turns.id)),
                ("replicas", number(turns.replicas)),
            ];
            emit.op(Opcode::Turns, &[], &[], &props);
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
    let place: Vec<_> = match ring.tensor() {
        true => {
            let rows = ring.rows.map(|rows| ("rows", number(rows)));
            let place = [("column", offset), ("columns", stride)];
            [("space", Attr::string("tmem"))].into_iter().chain(rows).chain(place).collect()
        }
        false => vec![
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
