//! Wrong memory, for tests of its readers: from [`begin`] on, some of what is read of processes is not what is there.

use std::sync::atomic::{AtomicU64, Ordering};

/// Of so many reads one is wrong; 0: none is.
static ONE_IN: AtomicU64 = AtomicU64::new(0);
/// Where chance has got to.
static CHANCE: AtomicU64 = AtomicU64::new(1);

/// Makes one of so many reads wrong, by a chance that begins at `seed`, for all threads of this program.
pub fn begin(one_in: u64, seed: u64) {
    CHANCE.store(seed, Ordering::Relaxed);
    ONE_IN.store(one_in, Ordering::Relaxed);
}

/// All reads are right again.
pub fn end() {
    ONE_IN.store(0, Ordering::Relaxed);
}

/// Damages what was read at an address, where it is this read's turn; false where it is to fail.
#[inline]
pub(crate) fn is_read(address: u64, into: &mut [u8]) -> bool {
    match ONE_IN.load(Ordering::Relaxed) {
        0 => true,
        one_in => is_read_wrongly(one_in, address, into),
    }
}

#[cold]
fn is_read_wrongly(one_in: u64, address: u64, into: &mut [u8]) -> bool {
    let random = || {
        // SplitMix64 (Steele, Lea, Flood 2014).
        let mut x = CHANCE.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    if !random().is_multiple_of(one_in) || into.is_empty() {
        return true;
    }
    let word = match random() % 10 {
        0 => return false,
        1 => 0,
        2 => u64::MAX,
        3 => random() % 512,
        // It leads to itself, or to what is beside it.
        4 => address,
        5 => address.wrapping_add(random() % 256).wrapping_sub(128),
        6 => i64::MAX as u64,
        7 => 1 << (random() % 64),
        _ => random(),
    };
    let bytes = word.to_ne_bytes();
    let at = (random() as usize % into.len()) / 8 * 8;
    let wide = bytes.len().min(into.len() - at).min(1 << (random() % 4));
    into[at..at + wide].copy_from_slice(&bytes[..wide]);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_so_many_is_wrong() {
        let mut wrong = 0;
        for _ in 0..4000 {
            let mut bytes = [7; 16];
            wrong += u32::from(!is_read_wrongly(4, 0x1000, &mut bytes) || bytes != [7; 16]);
        }
        assert!((500..1500).contains(&wrong), "{wrong}");
        let mut bytes = [7; 3];
        (0..100).for_each(|_| _ = is_read_wrongly(1, 0x1000, &mut bytes));
        assert!(is_read_wrongly(1, 0x1000, &mut []));
    }
}
