//! Legacy profiles made by hand, against what pprof makes of them.

use super::super::ProfileData;
use super::super::testing::{load, notes, stacks_of, text};

#[test]
fn a_heap_is_scaled_to_what_was_not_sampled() {
    let profile = stacks_of(
        "heap profile: 1: 1024 [4: 4096] @ heap/1048576\n1: 1024 [4: 4096] @ 0x11 0x22\n#\t0x10\tmain.leaf+0x1\t/a.go:7\n#\t0x21\tmain.main+0x2\t/a.go:9\n\n# runtime.MemStats\n# Alloc = 5\n",
    );
    // 1024 / (1 - exp(-1024/524288)), and four times that.
    assert_eq!(text(&profile), "main.main main.leaf = 2050 2099200 512 524800 bytes:1024\n");
    assert_eq!(profile.str(profile.sample_types[3].kind), "inuse_space");
    assert_eq!(profile.locations[0].address, 0x10);
    assert!(profile.str(profile.drop_frames).starts_with("calloc|"));
}

#[test]
fn contention_is_told_in_ns() {
    let profile = stacks_of("--- mutex:\ncycles/second=2000000000\nsampling period=5\n4000 3 @ 0x11 0x22\n");
    assert_eq!(text(&profile), "0x21 0x10 = 15 10000\n");
}

#[test]
fn goroutines_have_names_where_go_gives_them_and_labels() {
    let profile = stacks_of(
        "goroutine profile: total 3\n2 @ 0x11 0x22 0x33\n# labels: {\"key\":\"a \\\"b\\\"\"}\n#\t0x21\tmain.inlined+0x1\t/a.go:1\n#\t0x21\tmain.f+0x1\t/a.go:2\n\n1 @ 0x11 0x33\n",
    );
    assert_eq!(text(&profile), "0x32 main.inlined>main.f 0x10 = 2 key:a \"b\"\n0x32 0x10 = 1\n");
}

fn words(words: &[u64], size: usize, is_big: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for word in words {
        match (size, is_big) {
            (4, false) => out.extend((*word as u32).to_le_bytes()),
            (4, true) => out.extend((*word as u32).to_be_bytes()),
            (_, false) => out.extend(word.to_le_bytes()),
            (_, true) => out.extend(word.to_be_bytes()),
        }
    }
    out
}

#[test]
fn a_binary_cpu_profile_of_any_word_is_read() {
    for (size, is_big) in [(4, false), (4, true), (8, false), (8, true)] {
        // The second sample's leaf stands twice, the second time behind the call.
        let mut file = words(
            &[0, 3, 0, 10_000, 0, 2, 2, 0x1100, 0x2200, 1, 3, 0x1150, 0x1150, 0x2300, 0, 1, 0],
            size,
            is_big,
        );
        file.extend(
            b"1000-2000 r-xp 00000000 08:01 7 /bin/prog\n2000-3000 r-xp 00000000 08:01 8 /lib/libc.so.6\n",
        );
        let loaded = load(&file).unwrap();
        let ProfileData::Stacks(profile) = loaded.data else { panic!() };
        assert_eq!(text(&profile), "0x21ff 0x1100 = 2 20000000\n0x22ff 0x1150 = 1 10000000\n");
        assert_eq!(profile.period, Some(10_000_000));
        let files: Vec<&str> = profile.mappings.iter().map(|mapping| profile.str(mapping.file)).collect();
        assert_eq!(files, ["/bin/prog", "/lib/libc.so.6"]);
        assert_eq!(profile.locations.iter().filter_map(|location| location.mapping).count(), 4);

        // Cut in the second sample: the first is whole.
        let loaded = load(&file[..11 * size]).unwrap();
        assert!(loaded.notes.cut_after.is_some());
        let claims = words(&[0, 3, 0, 10_000, 0, 2, u64::MAX >> 33], size, is_big);
        assert!(load(&claims).unwrap_err().to_string().contains("one piece of"));
    }
}

#[test]
fn java_profiles_have_their_functions_behind_the_samples() {
    let profile = stacks_of(
        "--- contentionz 1 ---\nformat = java\nresolution = microseconds\nsampling period = 100\nms since reset = 6019923\n\
         1 1 @ 0x0d 0x0c\n14 1 @ 0x0d 0x0b\n\n 0x0d com.example.function03 (source.java:03)\n 0x0c GC\n 0x0b stub (/lib/libjvm.so)\n",
    );
    assert_eq!(
        text(&profile),
        "GC com.example.function03 = 100 100\nstub com.example.function03 = 100 1400\n"
    );
    assert_eq!(profile.duration_ns, Some(6_019_923_000_000));
}

#[test]
fn threads_are_counted() {
    let profile = stacks_of(
        "--- threadz 1 ---\n\n--- Thread 7f8 (name: main/1) stack: ---\n 0x1000 0x2000\n--- Thread 7f9 (name: x/2) stack: ---\n [same as previous thread]\n--- Memory map: ---\n1000-3000: /bin/prog\n",
    );
    assert_eq!(text(&profile), "0x1fff 0x1000 = 2\n");
}

#[test]
fn a_damaged_line_is_counted() {
    let notes =
        notes("heap profile: 1: 1 [0: 0] @ heapprofile\n1: 1 [0: 0] @ 0x1\n0: 5 [0: 0] @ 0x1\nrubbish\n");
    assert_eq!((notes.damaged, notes.first[0].number), (2, 3));
}
