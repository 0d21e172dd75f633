//! Rows that were lost, table by table.

use crate::bpf::ring::RingLoss;
use crate::clock::Clock;
use whyslow_model::{Loss, Timestamp};

/// What a ring lost of a table, within `whole` where it lost nothing.
pub(crate) fn loss(table: &str, of: RingLoss, whole: (Timestamp, Timestamp), clock: Clock) -> Loss {
    let (from, to) = if of.lost > 0 { (clock.epoch(of.first), clock.epoch(of.last)) } else { whole };
    Loss { table: table.to_string(), from, to, lost: of.lost, produced: of.produced, refused: of.refused }
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
