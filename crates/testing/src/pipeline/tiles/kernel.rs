//! A generated kernel of tiles, as data.

/// What a generated kernel is launched with, in order of its parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TileArg {
    /// A buffer of these integers.
    Buffer(Vec<i64>),
    /// A buffer of so many elements, filled at random.
    Random(u64),
    /// A tensor of this shape behind a descriptor, filled at random.
    Tensor(Vec<u64>),
    /// A number.
    Number(i64),
}

impl TileArg {
    /// The argument as the command `run` takes it.
    pub fn text(&self) -> String {
        match self {
            TileArg::Buffer(values) => {
                format!("--arg={}", values.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
            }
            TileArg::Random(count) => format!("--arg=[{count}]"),
            TileArg::Tensor(dims) => {
                format!("--arg={}", dims.iter().map(u64::to_string).collect::<Vec<_>>().join("x"))
            }
            TileArg::Number(value) => format!("--arg={value}"),
        }
    }
}

impl std::fmt::Display for TileKernel {
    /// The file of it: what `warploom run` takes, as a comment, and the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list: Vec<String> = self.args.iter().map(TileArg::text).collect();
        write!(f, "// --grid {} {}\n{}", self.programs, list.join(" "), self.text)
    }
}

/// A generated kernel of tiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TileKernel {
    /// Its text, as Triton would print it.
    pub text: String,
    /// Its arguments.
    pub args: Vec<TileArg>,
    /// Programs along x.
    pub programs: u32,
}
