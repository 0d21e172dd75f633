// Traces stolen heirlooms: compares the marks of an inquiry with those of all in the register.
use std::fs::File;
use std::io::{self, Read};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A leaf of the register: marks, then a small picture.
const LEAF: usize = @{leaf_kb} << 10;

struct Register {
    path: String,
    leaves: Vec<u8>,
}

impl Register {
    #[inline(never)]
    fn @{fn}(&mut self) -> io::Result<&[u8]> {
        if @{keep} == 0 || self.leaves.is_empty() {
            let mut file = File::open(&self.path)?;
            let size = file.metadata()?.len() as usize;
            self.leaves.resize(size, 0);
            for part in self.leaves.chunks_mut(1 << 20) {
                file.read_exact(part)?;
            }
        }
        Ok(&self.leaves)
    }

    fn nearest(&mut self, marks: u64) -> io::Result<(usize, u32, f64)> {
        let start = Instant::now();
        let leaves = self.@{fn}()?;
        let took = start.elapsed().as_secs_f64();
        let (mut best, mut distance) = (0, 65);
        for (number, leaf) in leaves.chunks(LEAF).enumerate() {
            let known = u64::from_le_bytes(leaf[..8].try_into().unwrap());
            let apart = (known ^ marks).count_ones();
            if apart < distance {
                (best, distance) = (number, apart);
            }
        }
        Ok((best, distance, took))
    }
}

/// The marks of a picture, which stands for the photograph that came with the inquiry.
fn marks(inquiry: u64) -> u64 {
    let (mut state, mut sums) = (inquiry.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, [0u64; 64]);
    for i in 0..@{detail} * 10 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        sums[i % 64] += state >> 56;
    }
    let mean = sums.iter().sum::<u64>() / 64;
    sums.iter().enumerate().fold(0, |marks, (bit, &sum)| marks | ((sum > mean) as u64) << bit)
}

fn main() -> io::Result<()> {
    let mut register = Register { path: "@{work}/@{register}".into(), leaves: Vec::new() };
    if @{keep} != 0 {
        register.@{fn}()?;
    }
    let (began, mut busy, mut culprit, mut inquiries, mut hits) = (Instant::now(), 0.0, 0.0, 0u64, 0u64);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let (_, distance, took) = register.nearest(marks(inquiries))?;
        culprit += took;
        hits += (distance < 12) as u64;
        inquiries += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = inquiries as f64 / @{per_s} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            sleep(Duration::from_secs_f64(rest));
        }
    }
    std::fs::write("@{report}", format!("{{\"units\": {inquiries}, \"seconds\": {busy}, \"culprit\": {culprit}, \"hits\": {hits}}}"))
}
