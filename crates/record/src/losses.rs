//! Rows that were lost, table by table.

use crate::bpf::ring::RingLoss;
use crate::clock::Clock;
use whyslow_model::{Loss, Timestamp};

/// What a ring lost of a table, within `whole` where it lost nothing.
pub(crate) fn loss(table: &str, of: RingLoss, whole: (Timestamp, Timestamp), clock: Clock) -> Loss {
    let (from, to) = if of.lost > 0 { (clock.epoch(of.first), clock.epoch(of.last)) } else { whole };
    Loss { table: table.to_string(), from, to, lost: of.lost, produced: of.produced, refused: of.refused }
}

/// Copies of stacks, and of lists of frames, that were to be unwound. They are rows of no table: what is lost of them has the stack that frame
/// pointers tell.
pub(crate) struct CopyLosses {
    /// Of the kernel's side.
    pub(crate) stacks: RingLoss,
    pub(crate) frames: RingLoss,
    /// Behind it: those that came faster than they were unwound.
    pub(crate) late: (u64, u64),
}

impl CopyLosses {
    /// Their row.
    pub(crate) fn row(&self, whole: (Timestamp, Timestamp), clock: Clock) -> Loss {
        let row = loss(Loss::COPIES, self.stacks.plus(&self.frames), whole, clock);
        match self.late.0 + self.late.1 {
            0 => row,
            late => Loss { from: whole.0, to: whole.1, lost: row.lost + late, ..row },
        }
    }

    /// What was lost, for the notes of the recording.
    pub(crate) fn words(&self) -> Option<String> {
        let CopyLosses { stacks, frames, late } = self;
        let (lost, lists) = (stacks.lost + late.0, frames.lost + late.1);
        (lost + lists > 0).then(|| {
            format!(
                "lost copies: of {} stacks {lost} were not unwound ({} found no room in the kernel's ring, {} came too fast), and of {} lists \
                 of frames {lists}; these samples and waits have the stack that frame pointers tell",
                stacks.produced, stacks.lost, late.0, frames.produced
            )
        })
    }
}

/// One row a table: some come by two ways.
pub(crate) fn by_table(losses: Vec<Loss>) -> Vec<Loss> {
    let mut tables: Vec<Loss> = Vec::new();
    for loss in losses {
        match tables.iter_mut().find(|known| known.table == loss.table) {
            Some(known) => {
                if loss.lost > 0 {
                    known.from = if known.lost > 0 { known.from.min(loss.from) } else { loss.from };
                    known.to = if known.lost > 0 { known.to.max(loss.to) } else { loss.to };
                }
                known.lost += loss.lost;
                known.produced += loss.produced;
                known.refused += loss.refused;
            }
            None => tables.push(loss),
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_that_are_lost_on_either_side_are_told() {
        let whole = (Timestamp::new(5), Timestamp::new(9));
        let clock = Clock { offset: 0 };
        let none = CopyLosses { stacks: RingLoss::NONE, frames: RingLoss::NONE, late: (0, 0) };
        assert_eq!((none.row(whole, clock).lost, none.words()), (0, None));
        let stacks = RingLoss { produced: 90, lost: 3, first: 6, last: 7, refused: 40, ..RingLoss::NONE };
        let frames = RingLoss { produced: 10, ..RingLoss::NONE };
        let of_ring = CopyLosses { stacks, frames, late: (0, 0) }.row(whole, clock);
        assert_eq!((of_ring.produced, of_ring.lost, of_ring.refused), (100, 3, 40));
        let both = CopyLosses { stacks, frames, late: (4, 1) };
        let row = both.row(whole, clock);
        assert_eq!((row.from, row.to, row.lost), (whole.0, whole.1, 8));
        let words = both.words().unwrap();
        assert!(words.contains("of 90 stacks 7") && words.contains("of 10 lists of frames 1;"), "{words}");
    }
}
