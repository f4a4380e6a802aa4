//! Bodies that are nothing but jumps.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// What one instruction does with control.
#[derive(Clone, Debug)]
enum Jump {
    None,
    To(Index),
    Maybe(Index),
    Table(Index, Index),
    Leave,
    MaybeLeave,
}

fn jump() -> impl Strategy<Value = Jump> {
    let at = any::<Index>;
    prop_oneof![
        4 => Just(Jump::None),
        2 => at().prop_map(Jump::To),
        4 => at().prop_map(Jump::Maybe),
        1 => (at(), at()).prop_map(|(a, b)| Jump::Table(a, b)),
        1 => Just(Jump::Leave),
        1 => Just(Jump::MaybeLeave),
    ]
}

/// Modules of one kernel `k` in which every instruction has a label, and many jump somewhere.
pub fn flow_texts() -> impl Strategy<Value = String> {
    vec(jump(), 0..24).prop_map(|jumps| {
        let label = |at: &Index| format!("$L{}", at.index(jumps.len() + 1));
        let mut body = String::new();
        for (i, jump) in jumps.iter().enumerate() {
            let line = match jump {
                Jump::None => "mov.u32 %r1, 0;".to_owned(),
                Jump::To(at) => format!("bra.uni {};", label(at)),
                Jump::Maybe(at) => format!("@%p1 bra {};", label(at)),
                Jump::Table(a, b) => {
                    format!("$T{i}: .branchtargets {}, {};\nbrx.idx %r1, $T{i};", label(a), label(b))
                }
                Jump::Leave => "ret;".to_owned(),
                Jump::MaybeLeave => "@!%p1 exit;".to_owned(),
            };
            body.push_str(&format!("$L{i}:\n{line}\n"));
        }
        let end = jumps.len();
        format!(
            ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{{\n.reg .pred %p<2>;\n\
             .reg .b32 %r<2>;\n{body}$L{end}:\n}}\n"
        )
    })
}
