//! Damaged profiles through every reader: nothing panics, and what a file claims is not believed. Fixed seeds, some seconds; `fuzz/` does the same by coverage.

use std::path::PathBuf;
use whyslow_profile::formats::{Limits, PROFILE_FORMATS, ProfileData, read, read_as};

/// xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    /// Cuts, changes, repeats and drops pieces.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(6) {
            let at = self.below(bytes.len());
            let length = self.below(16).min(bytes.len() - at);
            match self.below(6) {
                0 => bytes.truncate(at),
                1 => bytes[at..at + length].fill(0xff),
                2 => drop(bytes.drain(at..at + length)),
                3 => {
                    let piece = bytes[at..at + length].to_vec();
                    let to = self.below(bytes.len());
                    drop(bytes.splice(to..to, piece));
                }
                4 => bytes.insert(at, self.below(256) as u8),
                _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << self.below(8)),
            }
            if bytes.is_empty() {
                return;
            }
        }
    }
}

/// Small ones of each kind, and the captures beside the project (the first 8 KiB of each, plain).
fn samples() -> Vec<Vec<u8>> {
    let mut samples: Vec<Vec<u8>> = [
        "a;b_[i];c_[k] 12\na;d 3\n",
        "java 7/8 [002] 10.000001:     500 cpu-clock:pppH: \n\tffffff inner+0x12 (inlined)\n\tffffff outer+0x12 (/a.so)\n\n",
        "goroutine 1 [sleep, 3 minutes]:\nmain.f(0x1)\n\t/a.go:1 +0x2\ncreated by main.main in goroutine 1\n\t/a.go:3\n",
        "heap profile: 1: 1024 [4: 4096] @ heap/1048576\n1: 1024 [4: 4096] @ 0x11 0x22\n#\t0x10\tmain.f+0x1\t/a.go:7\n",
        "--- contentionz 1 ---\nformat = java\nresolution = microseconds\n1 1 @ 0x0d 0x0c\n 0x0d f (a.java:3)\n",
        "--- mutex:\ncycles/second=2000000000\n4000 3 @ 0x11\nMAPPED_LIBRARIES:\n1000-2000: /bin/a (@10) abc\n",
        "--- threadz 1 ---\n\n--- Thread 7f8 (name: main/1) stack: ---\n 0x1000 0x2000\n",
        "Full thread dump\n\"main\" #1 prio=5 tid=0x1 nid=0x2 runnable\n   java.lang.Thread.State: RUNNABLE\n\tat a.B.c(B.java:3)\n\t- waiting to lock <0x1> (a Foo)\n",
        "1s of 2s total (50%)\n      flat  flat%   sum%        cum   cum%\n     1.00s 50.00% 50.00%      2s   100%  main.f\n",
        "Total: 2s\nROUTINE ======================== f in /a.go\n  1s 2s (flat, cum) 100% of Total\n  1s 2s 7: x()\n",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    samples.push(
        [0_u64, 3, 0, 10_000, 0, 2, 2, 0x1100, 0x2200, 0, 1, 0]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect(),
    );
    let captures = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/captures"));
    for folder in ["pprof", "folded", "perf-script", "jstack", "goroutine"] {
        let Ok(entries) = std::fs::read_dir(captures.join(folder)) else {
            println!("skipped: no captures of {folder} beside the project");
            continue;
        };
        for entry in entries.flatten() {
            let Ok(mut bytes) = std::fs::read(entry.path()) else { continue };
            if bytes.starts_with(&[0x1f, 0x8b]) {
                let mut plain = Vec::new();
                let mut decoder = flate2::read::GzDecoder::new(bytes.as_slice());
                if std::io::Read::read_to_end(&mut decoder, &mut plain).is_ok() {
                    bytes = plain;
                }
            }
            bytes.truncate(8 << 10);
            samples.push(bytes);
        }
    }
    samples
}

#[test]
fn damaged_profiles_neither_panic_nor_ask_for_more_than_there_is() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let samples = samples();
    for round in 0..3 * samples.len() {
        let mut bytes = samples[round % samples.len()].clone();
        random.damage(&mut bytes);
        let recognised = read(bytes.as_slice(), "x", Limits::default()).into_iter();
        // Each reader gets what is not its own, too.
        let forced = PROFILE_FORMATS
            .iter()
            .flat_map(|format| read_as(format, bytes.as_slice(), "x", Limits::default()));
        for loaded in recognised.chain(forced) {
            let ProfileData::Stacks(profile) = loaded.data else { continue };
            assert!(profile.sample_count() <= bytes.len(), "{}", loaded.format);
            for sample in profile.samples() {
                assert_eq!(sample.values.len(), profile.sample_types.len());
                for id in sample.stack {
                    assert!((id.0 as usize) < profile.locations.len());
                    for line in profile.lines_of(*id) {
                        assert!(line.function.is_none_or(|id| profile.function(id).is_some()));
                    }
                }
            }
        }
    }
}

#[test]
fn a_decompression_bomb_is_refused() {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let piece = "a;b 1\n".repeat(1 << 16);
    for _ in 0..200 {
        encoder.write_all(piece.as_bytes()).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    let error = read(bomb.as_slice(), "x", Limits::default()).unwrap_err();
    assert!(error.to_string().contains("bomb"), "{error}");
    let error = read(bomb.as_slice(), "x", Limits { bytes: 1 << 20, ratio: u64::MAX }).unwrap_err();
    assert!(error.to_string().contains("more than 1048576 bytes"), "{error}");
}
