//! Damaged profiles through every reader: nothing panics, and what a file claims is not believed. A fixed number of fixed seeds; `fuzz/`
//! goes on from there.

use crate::common::skipped;
use fastrand::Rng;
use std::path::Path;
use whyslow_profile::formats::{Limits, PROFILE_FORMATS, ProfileData, read, read_as};

/// Damaged profiles of one list of samples.
const ROUNDS: usize = 400;

/// Cuts, changes, repeats and drops pieces.
fn damage(random: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..random.usize(1..=6) {
        if bytes.is_empty() {
            return;
        }
        let at = random.usize(..bytes.len());
        let length = random.usize(..16).min(bytes.len() - at);
        match random.u8(..6) {
            0 => bytes.truncate(at),
            1 => bytes[at..at + length].fill(0xff),
            2 => drop(bytes.drain(at..at + length)),
            3 => {
                let piece = bytes[at..at + length].to_vec();
                let to = random.usize(..bytes.len());
                drop(bytes.splice(to..to, piece));
            }
            4 => bytes.insert(at, random.u8(..)),
            _ => bytes[at] ^= 1 << random.u8(..8),
        }
    }
}

/// Small ones of each kind.
fn built_in() -> Vec<Vec<u8>> {
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
    samples
}

/// The captures of a root, the first 8 KiB of each, plain.
fn captures(root: &Path) -> Vec<Vec<u8>> {
    let mut samples = Vec::new();
    for folder in ["pprof", "folded", "perf-script", "jstack", "goroutine"] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        // The seed chooses by number.
        paths.sort();
        for path in paths {
            let mut bytes = std::fs::read(path).unwrap();
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
    let mut samples = built_in();
    samples.extend(captures(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../captures"))));
    assert_survived(&samples);
}

#[test]
fn damaged_published_profiles_neither_panic_nor_ask_for_more_than_there_is() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/captures"));
    if !root.is_dir() {
        return skipped("no published captures beside the checkout (../shared/captures)");
    }
    assert_survived(&captures(root));
}

fn assert_survived(samples: &[Vec<u8>]) {
    for round in 0..ROUNDS {
        let mut bytes = samples[round % samples.len()].clone();
        damage(&mut Rng::with_seed(round as u64), &mut bytes);
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
    // Long lines, for it is the bytes that count.
    let piece = format!("a;{} 1\n", "b".repeat(1 << 10)).repeat(400);
    for _ in 0..200 {
        encoder.write_all(piece.as_bytes()).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    let error = read(bomb.as_slice(), "x", Limits::default()).unwrap_err();
    assert!(error.to_string().contains("bomb"), "{error}");
    let error = read(bomb.as_slice(), "x", Limits { bytes: 1 << 20, ratio: u64::MAX }).unwrap_err();
    assert!(error.to_string().contains("more than 1048576 bytes"), "{error}");
}
