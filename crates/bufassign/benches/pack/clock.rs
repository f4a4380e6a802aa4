//! Processor time, which other work on the machine does not change.

use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often the time is looked at.
const OFTEN: Duration = Duration::from_millis(20);

/// Seconds of processor time of all threads of this process.
pub fn seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Does something and says how many milliseconds of processor time it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = seconds();
    let done = work();
    (done, (seconds() - start) * 1e3)
}

/// Does something with a child process, and says how many milliseconds of processor time it took; of the clock where the
/// system does not tell.
pub fn timed_child<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let (start, before) = (Instant::now(), children());
    let done = work();
    let passed = children().zip(before).map(|(now, before)| now - before);
    (done, passed.unwrap_or_else(|| start.elapsed().as_secs_f64() * 1e3))
}

/// Milliseconds of all children that have ended, from Linux: hundredths of a second, the 14th and 15th field behind the
/// name in brackets.
fn children() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut times = stat.rsplit_once(") ")?.1.split(' ').skip(13).map(str::parse::<f64>);
    Some((times.next()?.ok()? + times.next()?.ok()?) * 10.0)
}

/// Does something that a flag stops after so many seconds of processor time.
pub fn stopped_after<T>(most: f64, work: impl FnOnce(&AtomicBool) -> T) -> T {
    let (stop, end) = (AtomicBool::new(false), seconds() + most);
    let (done, over) = channel::<()>();
    std::thread::scope(|scope| {
        let stop = &stop;
        scope.spawn(move || {
            while over.recv_timeout(OFTEN) == Err(RecvTimeoutError::Timeout) {
                if seconds() >= end {
                    return stop.store(true, Ordering::Relaxed);
                }
            }
        });
        let answer = work(stop);
        drop(done);
        answer
    })
}
