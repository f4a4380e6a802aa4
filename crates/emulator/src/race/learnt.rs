//! Clocks of warps of which some lanes learn more than others (E60, E100).

use super::channel::{Done, Kind, channel};
use super::clock::Clock;
use std::rc::Rc;

impl Clock {
    /// Some lanes of the own warp, of which `live` have not ended, learn what a clock knows.
    pub(crate) fn learn(&mut self, lanes: u32, live: u32, clock: &Clock) {
        if live & !lanes == 0 {
            self.join(clock);
            return;
        }
        let told = Rc::make_mut(self.told.get_or_insert_default());
        told.clock.get_or_insert_with(|| clock.plain()).join(clock);
        told.lanes |= lanes;
        if live & !told.lanes == 0 {
            self.tell_all();
        }
    }

    /// Copies by `cp.async` of the own warp are over, each for the lane that issued it.
    pub(crate) fn copied(&mut self, warp: u32, numbers: &[u32]) {
        let told = Rc::make_mut(self.told.get_or_insert_default());
        let (_, done) = told.copies.get_or_insert_with(|| (warp, Done::default()));
        numbers.iter().for_each(|n| done.insert(*n));
    }

    /// Lanes meet: what one of them was told all of them know.
    pub(crate) fn tell(&mut self, lanes: u32, live: u32) {
        let Some(told) = self.told.as_mut().map(Rc::make_mut) else { return };
        if told.lanes & lanes != 0 {
            told.lanes |= lanes;
        }
        let copies = told.copies.take();
        let all = live & !told.lanes == 0;
        if all || told.clock.is_none() {
            self.tell_all();
        }
        self.finish_copies(copies);
    }

    /// What some lanes were told is known to whoever has this clock.
    pub(crate) fn tell_all(&mut self) {
        let Some(told) = self.told.take() else { return };
        if let Some(clock) = &told.clock {
            self.join(clock);
        }
        self.finish_copies(told.copies.clone());
    }

    /// A clock that is passed on by some lanes: it holds what they were told.
    pub(crate) fn passed_on_by(&mut self, lanes: u32) {
        let Some(told) = self.told.take() else { return };
        if let Some(clock) = told.clock.as_ref().filter(|_| told.lanes & lanes != 0) {
            self.join(clock);
        }
        self.finish_copies(told.copies.clone());
    }

    /// What was told to some of these lanes was followed by a proxy fence of a space.
    pub(crate) fn fence_told(&mut self, space: usize, lanes: u32) {
        if let Some(told) = self.told.as_mut().filter(|t| t.lanes & lanes != 0)
            && let Some(clock) = &mut Rc::make_mut(told).clock
        {
            clock.fence(space);
        }
    }

    fn finish_copies(&mut self, copies: Option<(u32, Done)>) {
        if let Some((warp, done)) = copies {
            self.complete_all(channel(warp, Kind::CpAsync), &done);
        }
    }
}
