//! Local memory of the lanes of a warp, and the calls that they are in (E98).

/// Bytes of local memory that a lane may have.
pub(crate) const MOST: u64 = 128 << 10;

/// A call that a lane has not come back from.
#[derive(Clone, Debug)]
pub(crate) struct Return {
    /// The instruction behind the call, and the call itself.
    pub pc: u32,
    pub call: u32,
    /// Number of the function.
    pub function: u32,
    /// Where the frame of the caller begins and ends.
    base: u64,
    top: u64,
    /// Registers of the function, with their poison, and predicates, as an earlier call of it needs them.
    pub saved: Vec<(u64, u64)>,
    pub predicates: Vec<bool>,
}

#[derive(Clone, Debug, Default)]
struct Lane {
    bytes: Vec<u8>,
    base: u64,
    top: u64,
    calls: Vec<Return>,
}

/// Local memory of 32 lanes.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    /// Bytes of the kernel's own frame.
    frame: u64,
    /// Made when the first function is called or the first byte is written.
    lanes: Vec<Lane>,
}

impl Stack {
    /// The stack of a kernel with a frame of so many bytes.
    pub(crate) fn new(frame: u64) -> Self {
        Stack { frame, lanes: Vec::new() }
    }

    fn lane(&self, lane: u32) -> Option<&Lane> {
        self.lanes.get(lane as usize)
    }

    fn make(&mut self, lane: u32) -> Option<&mut Lane> {
        if self.lanes.is_empty() {
            self.lanes = vec![Lane { top: self.frame, ..Lane::default() }; 32];
        }
        self.lanes.get_mut(lane as usize)
    }

    /// Where the frame of the function that a lane is in begins.
    pub(crate) fn base(&self, lane: u32) -> u64 {
        self.lane(lane).map_or(0, |l| l.base)
    }

    /// Where it ends, and all of local memory.
    pub(crate) fn top(&self, lane: u32) -> u64 {
        self.lane(lane).map_or(self.frame, |l| l.top)
    }

    /// Bytes of a lane; those never written are zero.
    pub(crate) fn read(&self, lane: u32, at: u64, out: &mut [u8]) {
        let bytes = self.lane(lane).map_or(&[][..], |l| &l.bytes);
        for (i, b) in out.iter_mut().enumerate() {
            *b = bytes.get(at as usize + i).copied().unwrap_or(0);
        }
    }

    /// Writes bytes below the top.
    pub(crate) fn write(&mut self, lane: u32, at: u64, from: &[u8]) {
        let Some(l) = self.make(lane) else { return };
        let (at, end) = (at as usize, at as usize + from.len());
        if end as u64 > l.top {
            return;
        }
        if l.bytes.len() < end {
            l.bytes.resize(end, 0);
        }
        if let Some(to) = l.bytes.get_mut(at..end) {
            to.copy_from_slice(from);
        }
    }

    /// A lane enters a function: its frame begins where the caller's ends. `None` if there is no room.
    pub(crate) fn enter(&mut self, lane: u32, frame: u32, call: u32, function: u32) -> Option<&mut Return> {
        let l = self.make(lane)?;
        let base = l.top.next_multiple_of(16);
        let top = base + u64::from(frame);
        if top > MOST || l.calls.len() as u64 > MOST / 16 {
            return None;
        }
        let (saved, predicates) = (Vec::new(), Vec::new());
        l.calls.push(Return { pc: call + 1, call, function, base: l.base, top: l.top, saved, predicates });
        (l.base, l.top) = (base, top);
        // What an earlier call left there is nobody's business.
        l.bytes.truncate(base as usize);
        l.calls.last_mut()
    }

    /// More bytes on top of the frame that a lane is in, and where they begin; `None` if there is no room.
    pub(crate) fn extend(&mut self, lane: u32, bytes: u64, align: u64) -> Option<u64> {
        let l = self.make(lane)?;
        let at = l.top.next_multiple_of(align.max(1));
        l.top = at.checked_add(bytes).filter(|top| *top <= MOST)?;
        Some(at)
    }

    /// Gives back what lies above `top`; false where that is above the top, or below the frame.
    pub(crate) fn cut(&mut self, lane: u32, top: u64) -> bool {
        let Some(l) = self.make(lane) else { return false };
        let fine = (l.base..=l.top).contains(&top);
        if fine {
            l.top = top;
        }
        fine
    }

    /// A lane leaves the function it is in.
    pub(crate) fn leave(&mut self, lane: u32) -> Option<Return> {
        let l = self.make(lane)?;
        let back = l.calls.pop()?;
        (l.base, l.top) = (back.base, back.top);
        Some(back)
    }

    /// Everything that some lanes have there, as words.
    pub(crate) fn words(&self, lanes: u32) -> impl Iterator<Item = u64> {
        let here = self.lanes.iter().enumerate().filter(move |(l, _)| lanes >> l & 1 == 1);
        here.flat_map(|(_, l)| {
            let bytes = l.bytes.chunks(8).map(|c| c.iter().fold(0, |v, b| v << 8 | u64::from(*b)));
            bytes.chain([l.calls.len() as u64])
        })
    }
}
