//! Which general registers an instruction touches.

use super::op::{Addr, Fence, Inst, Lod, MbarOp, Op, Reg, Src, Tcgen, TcgenA, WgmmaA};

/// Registers with whether they are written. Registers that a product owns asynchronously are not listed.
pub(crate) fn registers(inst: &Inst) -> Vec<(Reg, bool)> {
    let mut u = Uses(Vec::new());
    u.op(&inst.op);
    u.0
}

struct Uses(Vec<(Reg, bool)>);

impl Uses {
    fn r(&mut self, s: Src) {
        if let Src::Reg(r) | Src::Plus(r, _) = s {
            self.0.push((r, false));
        }
    }

    fn all(&mut self, list: &[Src]) {
        list.iter().for_each(|s| self.r(*s));
    }

    fn opt(&mut self, s: Option<Src>) {
        if let Some(s) = s {
            self.r(s);
        }
    }

    fn at(&mut self, a: Addr) {
        self.r(a.base);
    }

    fn w(&mut self, d: Reg) {
        self.0.push((d, true));
    }

    fn ws(&mut self, list: &[Option<Reg>]) {
        list.iter().flatten().for_each(|d| self.w(*d));
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Un { d, a, .. } | Op::Cvta { d, a, .. } | Op::MbarPending { d, a } => {
                self.r(*a);
                self.w(*d);
            }
            Op::Alloca { d, bytes, .. } => {
                self.r(*bytes);
                self.w(*d);
            }
            Op::MovPair { d, a } => {
                self.all(a);
                self.ws(d);
            }
            Op::StackSave { d } => self.w(*d),
            Op::StackRestore { a } => self.r(*a),
            Op::MovMatrix { d, a } => {
                self.r(*a);
                self.w(*d);
            }
            Op::SetpHalves { a, b, .. } => self.all(&[*a, *b]),
            Op::Set { d, a, b, .. }
            | Op::Bin { d, a, b, .. }
            | Op::Selp { d, a, b, .. }
            | Op::Mapa { d, a, rank: b, .. } => {
                self.all(&[*a, *b]);
                self.w(*d);
            }
            Op::Ter { d, a, b, c, .. } | Op::Carry { d, a, b, c, .. } => {
                self.all(&[*a, *b, *c]);
                self.w(*d);
            }
            Op::Lop3 { d, a, b, c, .. } => {
                self.all(&[*a, *b, *c]);
                self.ws(&[*d]);
            }
            Op::Bfi { d, a, b, pos, len, .. } => {
                self.all(&[*a, *b, *pos, *len]);
                self.w(*d);
            }
            Op::Setp { a, b, .. } => self.all(&[*a, *b]),
            Op::Pack { d, parts, .. } => {
                self.all(parts);
                self.w(*d);
            }
            Op::Unpack { d, a, .. } => {
                self.r(*a);
                self.ws(d);
            }
            Op::Formula { d, srcs, .. } => {
                self.all(srcs);
                self.w(*d);
            }
            Op::Cvt { d, a, b, .. } => {
                self.r(*a);
                self.opt(*b);
                self.w(*d);
            }
            Op::Shfl { d, a, b, c, mask, .. } => {
                self.all(&[*a, *b, *c, *mask]);
                self.w(*d);
            }
            Op::Match { d, a, mask, .. } | Op::Redux { d, a, mask, .. } => {
                self.all(&[*a, *mask]);
                self.w(*d);
            }
            Op::Vote { d, mask, .. } | Op::Elect { d, mask, .. } => {
                self.r(*mask);
                self.ws(&[*d]);
            }
            Op::BarWarp { mask } => self.r(*mask),
            Op::ActiveMask { d } => self.w(*d),
            Op::BrxIdx { index, .. } => self.r(*index),
            Op::IsSpace { a, .. } => self.r(*a),
            _ => self.memory(op),
        }
    }

    fn memory(&mut self, op: &Op) {
        match op {
            Op::Ld(l) => {
                self.at(l.addr);
                l.dsts.iter().flatten().for_each(|(d, _)| self.w(*d));
            }
            Op::Fence(Fence::AcquireMap(addr)) => self.at(*addr),
            Op::St(s) => {
                self.at(s.addr);
                self.all(&s.srcs);
            }
            Op::Atom(a) => {
                self.at(a.addr);
                self.all(&a.b);
                self.all(&a.c);
                self.ws(&a.dsts);
            }
            Op::CpAsync(c) => {
                self.at(c.dst);
                self.at(c.src);
                self.opt(c.src_size);
            }
            Op::Bar { id, count, d, .. } => {
                self.r(*id);
                self.opt(*count);
                self.ws(&[*d]);
            }
            Op::Mbar { addr, op, .. } => {
                self.at(*addr);
                match &**op {
                    MbarOp::Init { count } => self.r(*count),
                    MbarOp::Arrive { d, count, tx, .. } => {
                        self.r(*count);
                        self.opt(*tx);
                        self.ws(&[*d]);
                    }
                    MbarOp::ExpectTx { tx } | MbarOp::CompleteTx { tx } => self.r(*tx),
                    MbarOp::Wait { value, .. } => self.r(*value),
                    MbarOp::Inval | MbarOp::CopiesArrive { .. } => {}
                }
            }
            Op::Tensor(t) => {
                self.at(t.map);
                self.all(&t.coords);
                t.shared.iter().chain(&t.mbar).for_each(|a| self.at(*a));
                self.opt(t.multicast);
            }
            Op::Bulk(b) => {
                self.at(b.dst);
                self.at(b.src);
                self.r(b.size);
                self.opt(b.mask);
                b.skip.iter().for_each(|s| self.all(s));
                b.mbar.iter().for_each(|a| self.at(*a));
                self.opt(b.multicast);
            }
            Op::MapReplace { addr, value, .. } => {
                self.at(*addr);
                self.r(*value);
            }
            Op::MapPublish { dst, src } => {
                self.at(*dst);
                self.at(*src);
            }
            _ => self.matrices(op),
        }
    }

    fn matrices(&mut self, op: &Op) {
        match op {
            Op::LdMatrix(m) | Op::StMatrix(m) => {
                self.at(m.addr);
                self.all(&m.regs);
                self.ws(&m.dsts);
            }
            Op::Mma(m) => {
                self.all(&m.a);
                self.all(&m.b);
                self.all(&m.c);
                self.ws(&m.d);
            }
            Op::Wgmma(g) => {
                if let WgmmaA::Desc(s) = &g.a {
                    self.r(*s);
                }
                self.r(g.b);
            }
            Op::Tcgen(t) => self.tcgen(t),
            Op::WmmaLoad(m) | Op::WmmaStore(m) => {
                self.at(m.addr);
                self.opt(m.stride);
                self.all(&m.srcs);
                self.ws(&m.dsts);
            }
            Op::Wmma(p) => {
                [&p.a, &p.b, &p.c].into_iter().for_each(|list| self.all(list));
                self.ws(&p.d);
            }
            Op::Fetch(f) => {
                self.r(f.handle);
                self.all(&f.coords);
                self.all(&f.offsets);
                match &f.lod {
                    Lod::Base => {}
                    Lod::Level(s) => self.r(*s),
                    Lod::Gradient(x, y) => x.iter().chain(y).for_each(|s| self.r(*s)),
                }
                self.ws(&f.dsts);
            }
            Op::Surface(s) => {
                self.r(s.handle);
                self.all(&s.coords);
                self.all(&s.srcs);
                self.ws(&s.dsts);
            }
            Op::TextureQuery { d, handle, level, .. } => {
                self.r(*handle);
                self.opt(*level);
                self.w(*d);
            }
            _ => {}
        }
    }

    fn tcgen(&mut self, t: &Tcgen) {
        match t {
            Tcgen::Alloc { dst, columns, .. } => {
                self.at(*dst);
                self.r(*columns);
            }
            Tcgen::Dealloc { addr, columns, .. } => self.all(&[*addr, *columns]),
            Tcgen::Mma(m) => {
                self.at(m.d);
                match m.a {
                    TcgenA::Desc(s) => self.r(s),
                    TcgenA::Tmem(a) => self.at(a),
                }
                self.all(&[m.b, m.idesc]);
                self.all(&m.disable);
                if let Some(scales) = &m.scales {
                    self.at(scales.0);
                    self.at(scales.1);
                }
            }
            Tcgen::Cp { addr, desc, .. } => {
                self.at(*addr);
                self.r(*desc);
            }
            Tcgen::Commit { mbar, multicast, .. } => {
                self.at(*mbar);
                self.opt(*multicast);
            }
            Tcgen::Ld { addr, .. } => self.at(*addr),
            Tcgen::St { s, addr, .. } => {
                self.all(s);
                self.at(*addr);
            }
            Tcgen::Relinquish { .. } | Tcgen::WaitLd | Tcgen::WaitSt => {}
        }
    }
}
