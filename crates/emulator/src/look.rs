//! Looking closer: which memory and which places of a kernel to tell about (E104).

use std::ops::Range;
use std::str::FromStr;

/// Memory whose accesses are told: `NAME[FROM..TO]` in bytes, or `NAME` for the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    /// A buffer of the device, `shared` for each CTA's own memory, `tmem` for columns of tensor memory.
    pub name: String,
    /// Bytes, or columns; `None` for all of them.
    pub range: Option<Range<u64>>,
}

impl FromStr for Watch {
    type Err = String;

    fn from_str(text: &str) -> Result<Watch, String> {
        let bad = || format!("'{text}' is no watch: use NAME, NAME[BYTE] or NAME[FROM..TO]");
        let Some((name, rest)) = text.split_once('[') else {
            return if text.is_empty() { Err(bad()) } else { Ok(Watch { name: text.into(), range: None }) };
        };
        let inside = rest.strip_suffix(']').ok_or_else(bad)?;
        let number = |s: &str| s.trim().parse::<u64>().map_err(|_| bad());
        let range = match inside.split_once("..") {
            Some((from, to)) => number(from)?..number(to)?,
            None => number(inside)?..number(inside)?.saturating_add(1),
        };
        if name.is_empty() || range.is_empty() {
            return Err(bad());
        }
        Ok(Watch { name: name.into(), range: Some(range) })
    }
}

/// A place at which registers are told before it runs: `LINE` of the PTX or `FILE:LINE` of the source, with `@VISIT` only
/// when a warp comes there for that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// The last part of a source's name; `None` for the PTX itself.
    pub file: Option<String>,
    /// From 1.
    pub line: u32,
    /// From 1; `None` for each time.
    pub visit: Option<u32>,
}

impl FromStr for Break {
    type Err = String;

    fn from_str(text: &str) -> Result<Break, String> {
        let bad = || format!("'{text}' is no place: use LINE of the PTX or FILE:LINE, and @VISIT behind it");
        let number = |s: &str| s.parse::<u32>().ok().filter(|n| *n > 0).ok_or_else(bad);
        let (place, visit) = match text.rsplit_once('@') {
            Some((place, visit)) => (place, Some(number(visit)?)),
            None => (text, None),
        };
        let (file, line) = match place.rsplit_once(':') {
            Some((file, line)) => (Some(file.rsplit('/').next().unwrap_or(file).to_owned()), line),
            None => (None, place),
        };
        Ok(Break { file, line: number(line)?, visit })
    }
}

/// What to look at while a kernel runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Look {
    /// Memory whose accesses are told. Needs the happens-before analysis.
    pub watches: Vec<Watch>,
    /// Places at which registers are told.
    pub breaks: Vec<Break>,
    /// All registers of the warp, and the memory around, at each error; at breaks all registers too.
    pub state: bool,
    /// Sights of one cluster that are kept; 0 stands for [`Look::MOST`].
    pub most: usize,
}

impl Look {
    /// Sights of one cluster that are kept unless told.
    pub const MOST: usize = 100;

    /// Memory to watch.
    #[must_use]
    pub fn watch(mut self, watch: Watch) -> Look {
        self.watches.push(watch);
        self
    }

    /// A place to stop at.
    #[must_use]
    pub fn break_at(mut self, place: Break) -> Look {
        self.breaks.push(place);
        self
    }

    /// Whether all registers are told.
    #[must_use]
    pub fn state(mut self, state: bool) -> Look {
        self.state = state;
        self
    }

    /// How many sights of one cluster are kept.
    #[must_use]
    pub fn most(mut self, most: usize) -> Look {
        self.most = most;
        self
    }

    /// Whether there is nothing to look at.
    pub fn nothing(&self) -> bool {
        self.watches.is_empty() && self.breaks.is_empty() && !self.state
    }
}
