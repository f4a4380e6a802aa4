//! What a command may take: bytes read, bytes unpacked, seconds.

use std::time::{Duration, Instant};

// The budget of a command, the same for every command. Nesting is bounded by the readers themselves: 128 levels of
// JSON, and what the readers of MLIR and PTX say. No doc comment: it would replace those of the commands.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
pub struct Limits {
    /// Largest input read, in bytes
    #[arg(long, global = true, value_name = "BYTES", default_value_t = 512 << 20)]
    pub max_input: u64,
    /// Largest text that a compressed input may become, in bytes
    #[arg(long, global = true, value_name = "BYTES", default_value_t = 512 << 20)]
    pub max_unpacked: u64,
    /// Seconds for the whole command. `schedule`, `assign`, `pack`, `run` and `ptx` then give what they have so far
    /// (`run` and `ptx` behind the interleaving that runs), the others write nothing; which it is depends on the
    /// machine
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    pub time_limit: Option<Duration>,
}

/// A number of seconds, fractions allowed.
fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    number.ok_or_else(|| format!("`{text}` is no number of seconds"))
}

/// The seconds of one command, counted from its start.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    limit: Option<Duration>,
}

impl Clock {
    /// A clock that begins now.
    pub fn start(limit: Option<Duration>) -> Clock {
        Clock { start: Instant::now(), limit }
    }

    /// The time that is left, 0 when it is over; `None` without a limit.
    pub fn left(&self) -> Option<Duration> {
        self.limit.map(|limit| limit.saturating_sub(self.start.elapsed()))
    }

    /// Whether less than this is left.
    pub fn is_short_of(&self, time: Duration) -> bool {
        self.left().is_some_and(|left| left < time)
    }
}
