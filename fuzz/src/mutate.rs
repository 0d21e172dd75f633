//! Damage to an input, the same for the same seed.

use fastrand::Rng;

/// No input grows beyond.
const MOST: usize = 16 << 10;

/// Put in at random places: what parsers of numbers, texts and lengths trip over.
const PIECES: &[&[u8]] = &[
    b"18446744073709551615",
    b"9223372036854775808",
    b"-1",
    b"4294967295",
    b"0xffffffffffffffff",
    b"1e308",
    b"99999999999999999999999999",
    b"<18446744073.709551>",
    b"23:59:59.999999",
    b"\0\0\0\0",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
    b"\x1b[31m",
    b"\xe2\x80\xae",
    b"<unfinished ...>",
    b"<... read resumed>",
    b"((((((((((((((((",
    b"{{{{[[[[",
    b"\"",
    b"\\",
    b" = ",
    b"\r\n",
    b"\n\n",
    b"\t",
    b"%",
    b";",
    b":",
];

/// One of `seeds`, damaged one to eight times.
pub fn mutated(seeds: &[Vec<u8>], random: &mut Rng) -> Vec<u8> {
    let mut data = random.choice(seeds).cloned().unwrap_or_default();
    for _ in 0..random.u8(1..=8) {
        let other = random.choice(seeds).map_or(&[][..], Vec::as_slice);
        damage(&mut data, other, random);
        data.truncate(MOST);
    }
    data
}

/// A place in `data`, its end among them.
fn place(data: &[u8], random: &mut Rng) -> usize {
    random.usize(..=data.len())
}

fn piece<'a>(data: &'a [u8], most: usize, random: &mut Rng) -> &'a [u8] {
    let from = place(data, random);
    let length = random.usize(..=most.min(data.len() - from));
    &data[from..from + length]
}

fn damage(data: &mut Vec<u8>, other: &[u8], random: &mut Rng) {
    let at = place(data, random);
    match random.u8(..10) {
        0 | 1 if at < data.len() => data[at] ^= 1 << random.u8(..8),
        2 if at < data.len() => data[at] = random.u8(..),
        3 => data.truncate(at),
        4 => {
            let to = (at + random.usize(..64)).min(data.len());
            data.drain(at..to);
        }
        5 => drop(data.splice(at..at, random.choice(PIECES).copied().unwrap_or_default().iter().copied())),
        // Splices: from another input, from itself, and one piece many times.
        6 => drop(data.splice(at..at, piece(other, 512, random).iter().copied())),
        7 => {
            let own = piece(data, 256, random).to_vec();
            data.splice(at..at, own);
        }
        8 => {
            let repeated = piece(data, 64, random).repeat(random.usize(..50));
            data.splice(at..at, repeated);
        }
        // A number becomes another.
        _ => {
            let Some(from) = data[at..].iter().position(u8::is_ascii_digit).map(|digit| at + digit) else {
                return;
            };
            let digits = data[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let number = random.choice(&PIECES[..7]).copied().unwrap_or_default();
            data.splice(from..from + digits, number.iter().copied());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_input_and_another_one_another() {
        let seeds = [b"1 close(3) = 0\n".repeat(20), b"hello".to_vec()];
        let of = |seed| mutated(&seeds, &mut Rng::with_seed(seed));
        assert_eq!(of(7), of(7));
        let all: std::collections::HashSet<Vec<u8>> = (0..200).map(of).collect();
        assert!(all.len() > 150, "{}", all.len());
        assert!(all.iter().all(|data| data.len() <= MOST));
    }

    #[test]
    fn nothing_to_begin_with_is_survived() {
        for seed in 0..100 {
            mutated(&[], &mut Rng::with_seed(seed));
            mutated(&[Vec::new()], &mut Rng::with_seed(seed));
        }
    }
}
