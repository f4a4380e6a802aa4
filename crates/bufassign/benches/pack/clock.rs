//! Processor time, which other work on the machine does not change.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often the time is looked at.
const OFTEN: Duration = Duration::from_millis(20);
/// Ticks of the times that Linux gives out.
const TICKS: f64 = 100.0;

/// Seconds of processor time of all threads of this process, in hundredths; where the system does not tell, of the
/// clock.
pub fn seconds() -> f64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let begin = BEGIN.get_or_init(Instant::now);
    std::fs::read_to_string("/proc/self/stat")
        .ok()
        .and_then(|s| told(&s))
        .unwrap_or_else(|| begin.elapsed().as_secs_f64())
}

/// User and system time, the 12th and 13th field behind the name in brackets.
fn told(stat: &str) -> Option<f64> {
    let mut times = stat.rsplit_once(") ")?.1.split(' ').skip(11).map(str::parse::<f64>);
    Some((times.next()?.ok()? + times.next()?.ok()?) / TICKS)
}

/// Does something that a flag stops after so many seconds of processor time.
pub fn stopped_after<T>(most: f64, work: impl FnOnce(&AtomicBool) -> T) -> T {
    let (stop, end) = (AtomicBool::new(false), seconds() + most);
    let (done, over) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let over = over;
            while over.recv_timeout(OFTEN) == Err(RecvTimeoutError::Timeout) {
                if seconds() >= end {
                    return stop.store(true, Ordering::Relaxed);
                }
            }
        });
        let answer = work(&stop);
        drop(done);
        answer
    })
}
