//! Writes a CPU profile like those of a large Go service: every sample has its own stack, 20 to 40 frames deep, about 27,000 samples to the MB of gzip.
//! The same arguments write the same file; another seed is another run of the same program.

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

const FUNCTIONS: u64 = 4_000;
const LOCATIONS: u64 = 12_000;

/// Writes `samples` samples to `out`.
pub(crate) fn write(out: &Path, samples: u64, seed: u64) -> Result<()> {
    let mut file = GzEncoder::new(BufWriter::new(File::create(out)?), Compression::default());
    let mut text = vec![String::new(), "samples".into(), "count".into(), "cpu".into(), "nanoseconds".into()];
    message(1, &fields(&[(1, 1), (2, 2)]), &mut file)?;
    message(1, &fields(&[(1, 3), (2, 4)]), &mut file)?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed);
    let (mut stack, mut packed, mut body) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..samples {
        // Neighbours in a profile share most of their stack: callers are kept, callees change.
        let depth = 20 + random.below(21);
        let kept = random.below(depth).max(depth / 2) as usize;
        stack.truncate(kept.min(stack.len()));
        while (stack.len() as u64) < depth {
            let caller = stack.last().copied().unwrap_or(0);
            stack.push((caller * 7 + 11 * random.below(4)) % LOCATIONS);
        }
        packed.clear();
        stack.iter().rev().for_each(|location| varint(location + 1, &mut packed));
        body.clear();
        message(1, &packed, &mut body)?;
        let count = 1 + random.below(3);
        packed.clear();
        varint(count, &mut packed);
        varint(count * 10_000_000, &mut packed);
        message(2, &packed, &mut body)?;
        message(2, &body, &mut file)?;
    }
    message(3, &fields(&[(1, 1), (2, 0x40_0000), (3, 0x240_0000), (7, 1), (8, 1), (9, 1)]), &mut file)?;
    for location in 0..LOCATIONS {
        let mut body = fields(&[(1, location + 1), (2, 1), (3, 0x40_0000 + location * 64)]);
        // One in four has a call inlined into it.
        for inlined in (0..=u64::from(location % 4 == 0)).rev() {
            let function = (location / 3 + inlined * 17) % FUNCTIONS + 1;
            message(4, &fields(&[(1, function), (2, 10 + location % 900)]), &mut body)?;
        }
        message(4, &body, &mut file)?;
    }
    for function in 0..FUNCTIONS {
        let first = text.len() as u64;
        text.push(format!(
            "example.com/service/internal/package{}.(*Type{}).method{function}",
            function % 97,
            function % 31
        ));
        text.push(format!(
            "/home/build/src/service/internal/package{}/file{}.go",
            function % 97,
            function % 409
        ));
        let body = fields(&[(1, function + 1), (2, first), (3, first), (4, first + 1), (5, function % 300)]);
        message(5, &body, &mut file)?;
    }
    for text in &text {
        message(6, text.as_bytes(), &mut file)?;
    }
    let mut rest = fields(&[(9, 1_700_000_000_000_000_000), (10, 30_000_000_000), (12, 10_000_000)]);
    message(11, &fields(&[(1, 3), (2, 4)]), &mut rest)?;
    file.write_all(&rest)?;
    file.finish()?.flush()?;
    Ok(())
}

/// xorshift64: the same numbers each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn message(field: u64, body: &[u8], out: &mut impl Write) -> Result<()> {
    let mut head = Vec::with_capacity(12);
    varint(field << 3 | 2, &mut head);
    varint(body.len() as u64, &mut head);
    out.write_all(&head)?;
    out.write_all(body)?;
    Ok(())
}

fn fields(fields: &[(u64, u64)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (field, value) in fields {
        varint(field << 3, &mut out);
        varint(*value, &mut out);
    }
    out
}
