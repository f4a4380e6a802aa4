//! The operations: one enum, made from the [table](crate::table).

use crate::entity::NameId;
use crate::facts::{Category, CostClass, Effect, OpFacts};

macro_rules! lowered {
    (yes) => {
        true
    };
    (no) => {
        false
    };
}

macro_rules! opcodes {
    ($($(#[$doc:meta])* $variant:ident $name:literal [$($in:tt)*] [$($out:tt)*] $regions:literal
        $format:ident $module:ident::$verifier:ident $category:ident $effect:ident $cost:ident $lowered:ident,)*) => {
        /// What an operation does. `Other` is any operation outside the known dialects: it is read, printed
        /// and kept, and refused where its meaning would be needed.
        ///
        /// The enum is exhaustive on purpose: whoever handles every operation is told by the compiler about a new
        /// one. Who only asks for facts uses [`Opcode::facts`] and need not match at all.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum Opcode {
            $(#[doc = concat!("`", $name, "`")] $(#[$doc])* $variant,)*
            /// An unknown operation; its name stands in the module.
            Other(NameId),
        }

        impl Opcode {
            /// Every known operation, in table order.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$variant,)*];

            /// What the table says about the operation.
            pub const fn facts(self) -> OpFacts {
                match self {
                    $(Opcode::$variant => OpFacts {
                        name: Some($name),
                        category: Category::$category,
                        effect: Effect::$effect,
                        cost: CostClass::$cost,
                        lowered: lowered!($lowered),
                    },)*
                    Opcode::Other(_) => OpFacts::UNKNOWN,
                }
            }

            /// The known operation of this name.
            pub fn from_name(name: &str) -> Option<Opcode> {
                match name {
                    $($name => Some(Opcode::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

crate::table::operations!(opcodes);

impl Opcode {
    /// The name in MLIR text; `None` for `Other`.
    pub const fn name(self) -> Option<&'static str> {
        self.facts().name
    }

    /// Whether each element of the result depends on the elements at the same place alone.
    pub const fn is_elementwise(self) -> bool {
        self.facts().category.is_elementwise()
    }

    /// Whether it multiplies tiles by the tensor core, as it is: operands 0 and 1, added to operand 2.
    pub const fn is_product(self) -> bool {
        matches!(self, Opcode::Dot | Opcode::DotBlockScaled)
    }

    /// Whether it ends a block.
    pub const fn is_terminator(self) -> bool {
        matches!(self.facts().category, Category::Terminator)
    }
}
