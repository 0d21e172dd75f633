//! The descriptors of one process: fd number to life, with the close-on-exec mark.

use crate::world::ids::LifeId;

/// The descriptors of one process. Numbers are kept in pages, so that a lone high number costs one page.
#[derive(Clone, Debug, Default)]
pub struct Slots {
    /// By page number. Mostly all pages from 0 on are there, and a page stands at its own number.
    pages: Vec<Page>,
}

#[derive(Clone, Debug)]
struct Page {
    number: u32,
    slots: Box<[Option<(LifeId, bool)>; Slots::PAGE]>,
}

impl Slots {
    /// Numbers above this are not tracked: `nofile` is 1,048,576 at most by default (`fs.nr_open`), and a
    /// damaged line may show any number.
    const MAX_FD: i32 = 1 << 20;
    const PAGE: usize = 32;

    /// The page and the place in it of `fd`, which may be any number.
    #[inline]
    fn place(fd: i32) -> Option<(u32, usize)> {
        let fd = usize::try_from(fd).ok()?;
        Some(((fd / Self::PAGE) as u32, fd % Self::PAGE))
    }

    /// Where the page stands, or where it belongs.
    #[inline]
    fn find(&self, number: u32) -> Result<usize, usize> {
        match self.pages.get(number as usize) {
            Some(page) if page.number == number => Ok(number as usize),
            _ => self.pages.binary_search_by_key(&number, |page| page.number),
        }
    }

    #[inline]
    fn slot_mut(&mut self, fd: i32) -> Option<&mut Option<(LifeId, bool)>> {
        let (number, at) = Self::place(fd)?;
        let page = self.find(number).ok()?;
        self.pages[page].slots.get_mut(at)
    }

    #[inline]
    pub(crate) fn get(&self, fd: i32) -> Option<LifeId> {
        let (number, at) = Self::place(fd)?;
        let page = self.find(number).ok()?;
        self.pages[page].slots[at].map(|(life, _)| life)
    }

    /// Puts `life` at `fd` and gives back what was there. A life that is not kept ([`LifeId::NONE`]) leaves it empty.
    pub(crate) fn set(&mut self, fd: i32, life: LifeId, cloexec: bool) -> Option<LifeId> {
        if life == LifeId::NONE || fd >= Self::MAX_FD {
            return self.take(fd);
        }
        let (number, at) = Self::place(fd)?;
        let page = self.find(number).unwrap_or_else(|page| {
            self.pages.insert(page, Page { number, slots: Box::new([None; Self::PAGE]) });
            page
        });
        self.pages[page].slots[at].replace((life, cloexec)).map(|(old, _)| old)
    }

    pub(crate) fn take(&mut self, fd: i32) -> Option<LifeId> {
        self.slot_mut(fd)?.take().map(|(life, _)| life)
    }

    pub(crate) fn set_cloexec(&mut self, fd: i32, on: bool) {
        if let Some(Some((_, cloexec))) = self.slot_mut(fd) {
            *cloexec = on;
        }
    }

    /// Takes out the lives that exec closes.
    pub(crate) fn take_cloexec(&mut self) -> Vec<LifeId> {
        let slots = self.pages.iter_mut().flat_map(|page| page.slots.iter_mut());
        slots.filter_map(|slot| slot.take_if(|(_, cloexec)| *cloexec)).map(|(life, _)| life).collect()
    }

    /// Takes out the lives of the numbers `from` to `to`.
    pub(crate) fn take_range(&mut self, from: i64, to: i64) -> Vec<LifeId> {
        let mut taken = Vec::new();
        for page in &mut self.pages {
            let first = i64::from(page.number) * Self::PAGE as i64;
            for (fd, slot) in (first..).zip(page.slots.iter_mut()) {
                if (from..=to).contains(&fd) {
                    taken.extend(slot.take().map(|(life, _)| life));
                }
            }
        }
        taken
    }

    /// Open numbers with their lives.
    pub fn iter(&self) -> impl Iterator<Item = (i32, LifeId)> {
        self.pages.iter().flat_map(|page| {
            let first = page.number as i32 * Self::PAGE as i32;
            (first..).zip(page.slots.iter()).filter_map(|(fd, slot)| slot.map(|(life, _)| (fd, life)))
        })
    }

    /// A copy for a child of the lowest numbers: `most` of them, rounded up to a page.
    pub(crate) fn inherited(&self, most: usize) -> Slots {
        Slots { pages: self.pages.iter().take(most.div_ceil(Self::PAGE)).cloned().collect() }
    }

    pub(crate) fn clear(&mut self) -> Vec<LifeId> {
        let lives = self.iter().map(|(_, life)| life).collect();
        self.pages = Vec::new();
        lives
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::fds::{FdLife, Fds, Origin};
    use crate::world::ids::ProcessId;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use whyslow_model::FdKind;

    proptest! {
        #[test]
        fn they_are_a_sorted_map(steps in prop::collection::vec((0u8..5, prop_oneof![-2i32..200, any::<i32>()]), 0..200)) {
            let mut fds = Fds::default();
            let (mut slots, mut map) = (Slots::default(), BTreeMap::new());
            for (step, fd) in steps {
                let known = (0..Slots::MAX_FD).contains(&fd);
                match step {
                    0 | 1 => {
                        let life = fds.add(FdLife::new(ProcessId(0), fd, FdKind::File, Origin::Open));
                        let before = if known { map.insert(fd, life) } else { None };
                        prop_assert_eq!(slots.set(fd, life, step == 1), before);
                    }
                    2 => prop_assert_eq!(slots.take(fd), map.remove(&fd)),
                    3 => {
                        let to = fd.saturating_add(20);
                        let gone: Vec<_> = map.range(fd..=to).map(|(fd, life)| (*fd, *life)).collect();
                        map.retain(|known, _| !(fd..=to).contains(known));
                        let lives: Vec<_> = gone.into_iter().map(|(_, life)| life).collect();
                        prop_assert_eq!(slots.take_range(fd.into(), to.into()), lives);
                    }
                    _ => prop_assert_eq!(slots.get(fd), map.get(&fd).copied()),
                }
                prop_assert!(slots.iter().eq(map.iter().map(|(fd, life)| (*fd, *life))));
            }
            prop_assert!(slots.inherited(64).iter().all(|(fd, life)| map[&fd] == life));
            prop_assert_eq!(slots.clear().len(), map.len());
        }
    }
}
