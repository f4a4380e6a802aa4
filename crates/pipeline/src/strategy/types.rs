//! A strategy: who runs a kernel, how its tiles move, how its products are issued (Q4).

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, AttrDict, Module, OpId};

use crate::engines::Products;
use crate::place::refuse;

/// Who runs a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Partitions {
    /// One partition copies, multiplies and computes.
    One,
    /// Copies have a partition of their own, and so have products into tensor memory.
    Several,
}

/// How tiles behind descriptors come and go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Moves {
    /// By the copy engine.
    Tma,
    /// By lanes, through pointers.
    Lanes,
}

/// A way to compile a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Strategy {
    /// Who runs it.
    pub partitions: Partitions,
    /// How tiles behind descriptors come and go.
    pub moves: Moves,
    /// How products are issued.
    pub products: Products,
    /// Whether tiles take turns in shared memory, and A stays out of it, where they can: it does not fit otherwise.
    pub tight: bool,
    /// Whether two computing partitions take the trips of a loop over tiles in turn (Q50).
    pub turns: bool,
}

/// The mark of the function of a later form: the strategy that it was made by.
const MARK: &str = "warploom.strategy";

impl Strategy {
    /// Several partitions, tiles by TMA; the schedule says which products are left unfinished.
    pub const SEVERAL: Strategy = Strategy {
        partitions: Partitions::Several,
        moves: Moves::Tma,
        products: Products::Asynchronous { pending: 1 },
        tight: false,
        turns: false,
    };

    /// The same with two computing partitions that take turns by tiles.
    pub const IN_TURNS: Strategy = Strategy { turns: true, ..Strategy::SEVERAL };

    /// One partition.
    pub const fn one(moves: Moves, products: Products) -> Strategy {
        Strategy { partitions: Partitions::One, moves, products, tight: false, turns: false }
    }

    /// Writes the strategy on a function.
    pub(crate) fn write(self, module: &mut Module, func: OpId) {
        let partitions = match self.partitions {
            Partitions::One => "one",
            Partitions::Several => "several",
        };
        let moves = match self.moves {
            Moves::Tma => "tma",
            Moves::Lanes => "lanes",
        };
        let mut fields = vec![("partitions", Attr::string(partitions)), ("moves", Attr::string(moves))];
        if let Products::Asynchronous { pending } = self.products {
            fields.push(("pending", Attr::i64(i64::try_from(pending).unwrap_or(i64::MAX))));
        }
        if self.tight {
            fields.push(("tight", Attr::Bool(true)));
        }
        if self.turns {
            fields.push(("turns", Attr::Bool(true)));
        }
        module.ops[func].attrs.set(MARK, Attr::Dict(AttrDict::from_iter(fields)));
    }

    /// The strategy that stands on the function of a later form.
    ///
    /// # Errors
    /// None stands there, or one that is no strategy.
    pub(crate) fn read(module: &Module, func: OpId) -> Result<Strategy, Box<Diagnostic>> {
        let wrong = |text: &str| {
            let needs = "{partitions = \"one\" or \"several\", moves = \"tma\" or \"lanes\", pending = 0 or 1 where \
                         products are asynchronous, tight, turns}";
            let error = refuse(module, func, Code::Verify, format!("{text} `{MARK}`"));
            Err(Box::new(error.rule("Q4").note("needs", needs)))
        };
        let Some(mark) = module.attr(func, MARK) else {
            return wrong("a scheduled kernel says by which strategy it was made: it has no");
        };
        let Attr::Dict(fields) = mark else { return wrong("this is no strategy:") };
        let known = ["partitions", "moves", "pending", "tight", "turns"];
        if fields.iter().any(|(name, _)| !known.contains(&name)) {
            return wrong("an unknown field in");
        }
        let partitions = match fields.get("partitions").and_then(Attr::as_str) {
            Some("one") => Partitions::One,
            Some("several") => Partitions::Several,
            _ => return wrong("no partitions in"),
        };
        let moves = match fields.get("moves").and_then(Attr::as_str) {
            Some("tma") => Moves::Tma,
            Some("lanes") => Moves::Lanes,
            _ => return wrong("no moves in"),
        };
        let products = match fields.get("pending").map(Attr::as_i64) {
            None => Products::Synchronous,
            Some(Some(pending @ 0..=1)) => Products::Asynchronous { pending: pending.unsigned_abs() },
            Some(_) => return wrong("a wrong number of pending products in"),
        };
        let flag = |name: &str| match fields.get(name) {
            None => Some(false),
            Some(Attr::Bool(flag)) => Some(*flag),
            Some(_) => None,
        };
        let (Some(tight), Some(turns)) = (flag("tight"), flag("turns")) else {
            return wrong("`tight` and `turns` are true or absent in");
        };
        let strategy = Strategy { partitions, moves, products, tight, turns };
        match partitions {
            Partitions::Several if ![Strategy::SEVERAL, Strategy::IN_TURNS].contains(&strategy) => {
                wrong("several partitions have tiles by TMA and products that may be pending, unlike")
            }
            Partitions::One if turns => wrong("one partition takes no turns by tiles, unlike"),
            _ => Ok(strategy),
        }
    }
}
