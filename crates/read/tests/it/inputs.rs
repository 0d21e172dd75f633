//! Inputs of all kinds: directories, compressed, cut, unknown, several merged by time.

use crate::common::{Seen, bytes, see};
use std::io::Write;
use whyslow_model::Event;
use whyslow_model::profile::{ProfileContent, ProfileDamage};
use whyslow_read::{Input, ReadOptions, read};

const LOG: &str = "1 10:00:00.000100 close(3) = 0 <0.000010>\n1 10:00:00.000300 close(4) = 0 <0.000010>\n";

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn log(tid: u32, count: usize, step: usize, first: usize) -> String {
    let line = |i: usize| format!("{tid} 1795227758.{:06} close({i}) = 0 <0.000001>\n", first + i * step);
    (0..count).map(line).collect()
}

fn times(seen: &Seen) -> Vec<&str> {
    seen.events.iter().filter_map(|event| event.split(" at ").nth(1)?.split(' ').next()).collect()
}

#[test]
fn compressed_inputs_are_read_like_plain_ones() {
    let plain = see(&[bytes("t", LOG.as_bytes())], 1);
    assert_eq!(plain.events.len(), 2);
    // Two members, as `cat a.gz b.gz` makes them.
    let (first, second) = LOG.split_at(LOG.find('\n').unwrap() + 1);
    let members = [gzip(first.as_bytes()), gzip(second.as_bytes())].concat();
    assert_eq!(see(&[bytes("t", &members)], 1), plain);
    let zstd = zstd::encode_all(LOG.as_bytes(), 3).unwrap();
    assert_eq!(see(&[bytes("t", &zstd)], 1), plain);
}

#[test]
fn a_cut_compressed_stream_gives_what_it_has() {
    let text = log(1, 20_000, 7, 100);
    for packed in [gzip(text.as_bytes()), zstd::encode_all(text.as_bytes(), 3).unwrap()] {
        let seen = see(&[bytes("t.gz", &packed[..packed.len() / 2])], 1);
        assert!(seen.events.len() > 1_000, "{}", seen.events.len());
        assert!(seen.notes.iter().any(|note| note.starts_with("Truncated t.gz")), "{:?}", seen.notes);
        assert_eq!(seen.sources.len(), 1);
    }
}

#[test]
fn traces_with_one_clock_are_merged_by_time() {
    let (a, b) = (log(1, 3_000, 20, 0), log(2, 3_000, 20, 7));
    let seen = see(&[bytes("a", a.as_bytes()), bytes("b", b.as_bytes())], 1);
    assert_eq!(seen.events.len(), 6_000);
    let times = times(&seen);
    assert!(times.is_sorted());
    assert_eq!(seen.sources.len(), 2);
    assert!(seen.notes.is_empty(), "{:?}", seen.notes);
}

#[test]
fn a_set_of_ff_takes_its_threads_from_the_names() {
    let seen = see(
        &[
            bytes("out.12", b"10:00:00.000200 close(3) = 0\n10:00:00.000400 close(4) = 0\n"),
            bytes("out.13", b"10:00:00.000300 close(5) = 0\n"),
        ],
        1,
    );
    let order: Vec<&str> = seen.events.iter().map(|event| &event[9..17]).collect();
    assert_eq!(order, ["tid 12 a", "tid 13 a", "tid 12 a"]);
    // One began before midnight, one after it.
    let seen = see(
        &[bytes("o.1", b"00:00:01.000000 close(3) = 0\n"), bytes("o.2", b"23:59:59.000000 close(3) = 0\n")],
        1,
    );
    assert_eq!(times(&seen), ["86399.000000000", "86401.000000000"]);
}

#[test]
fn traces_of_different_clocks_are_read_one_after_another() {
    let seen = see(
        &[bytes("a", LOG.as_bytes()), bytes("b", log(2, 2, 1, 0).as_bytes()), bytes("c", b"close(3) = 0\n")],
        1,
    );
    assert_eq!(seen.events.len(), 5);
    // What the clocks are, and that nothing tells whose the last one is.
    assert_eq!(seen.notes.iter().filter(|note| note.starts_with("Assumed")).count(), 4);
    assert!(seen.notes.iter().any(|note| note.contains("c: nothing tells the number of its process")));
}

#[test]
fn one_bad_input_is_named_and_the_rest_used() {
    let missing = Input::File("/nonexistent/trace.st".into());
    let seen =
        see(&[missing, bytes("notes.txt", b"Dear diary\n"), bytes("t", LOG.as_bytes()), bytes("e", b"")], 1);
    assert_eq!(seen.events.len(), 2);
    assert_eq!(seen.notes.len(), 3, "{:?}", seen.notes);
    assert!(seen.notes[0].contains("/nonexistent/trace.st: No such file"), "{:?}", seen.notes);
    assert!(
        seen.notes[1].contains("notes.txt: not a capture of a known kind; accepted are "),
        "{:?}",
        seen.notes
    );
}

#[test]
fn nothing_usable_is_an_error_with_reasons() {
    let inputs = [Input::File("/nonexistent".into()), bytes("x", b"Dear diary\n")];
    let error = whyslow_read::read(
        &inputs,
        &whyslow_read::ReadOptions::default(),
        &(),
        &mut |_: whyslow_model::Event<'_>| {},
    );
    let message = error.unwrap_err().to_string();
    assert!(message.starts_with("nothing could be read: /nonexistent: No such file"), "{message}");
}

#[test]
fn a_directory_stands_for_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, data: &[u8]| std::fs::write(folder.path().join(name), data).unwrap();
    write("b.st", log(2, 2, 10, 5).as_bytes());
    write("a.st.gz", &gzip(log(1, 2, 10, 0).as_bytes()));
    write(".hidden", LOG.as_bytes());
    std::fs::create_dir(folder.path().join("below")).unwrap();
    let seen = see(&[Input::File(folder.path().into())], 2);
    assert_eq!(seen.events.len(), 4);
    assert!(times(&seen).is_sorted());
}

/// A sosreport: folders of dumps, links to them above, settings that look like folded stacks.
#[test]
fn a_dump_of_a_machine_is_one_input() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, data: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, data).unwrap();
    };
    write(
        "sos_commands/memory/free_-m",
        "       total  used  free  shared  buff/cache  available\nMem:  7982  1000  2000  1  4982  6500\nSwap:  0  0  0\n",
    );
    write(
        "sos_commands/kernel/sysctl_-a",
        "vm.dirty_ratio = 20\nvm.swappiness = 60\nkernel.pid_max = 4194304\n",
    );
    write("proc/loadavg", "0.20 0.18 0.12 1/80 11206\n");
    write(
        "proc/7/net/tcp",
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000000000000000 100 0 0 10 0\n",
    );
    write("etc/motd", "Hello\n");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("sos_commands/memory/free_-m", folder.path().join("free")).unwrap();
        std::os::unix::fs::symlink("..", folder.path().join("proc/up")).unwrap();
    }
    let seen = see(&[Input::File(folder.path().into())], 1);
    let figures = seen.events.iter().filter(|event| event.starts_with("Figures(")).count();
    // Memory, swap, load, and the limit of processes; once each, although a link leads to memory again.
    assert_eq!(figures, 4, "{:?}", seen.events);
    assert_eq!(seen.events.iter().filter(|event| event.starts_with("Fd(")).count(), 1);
    let skipped: Vec<_> =
        seen.notes.iter().filter(|note| note.contains("not captures of a known kind")).collect();
    assert_eq!(skipped.len(), 1, "{:?}", seen.notes);
    assert!(skipped[0].contains("1 files"), "{skipped:?}");
}

#[test]
fn more_files_than_may_be_open_are_merged() {
    let folder = tempfile::tempdir().unwrap();
    let count = 1_500;
    for tid in 0..count {
        let text: String =
            (0..3).map(|i| format!("1795227758.{:06} close({i}) = 0\n", tid + i * 2_000)).collect();
        std::fs::write(folder.path().join(format!("out.{}", tid + 1)), text).unwrap();
    }
    let seen = see(&[Input::File(folder.path().into())], 1);
    assert!(seen.notes.is_empty(), "{:?}", seen.notes);
    assert_eq!(seen.events.len(), 3 * count);
    assert!(times(&seen).is_sorted());
}

#[test]
fn snapshots_come_before_traces() {
    let lsof = "COMMAND   PID USER   FD   TYPE DEVICE SIZE/OFF NODE NAME\njava    14985 root   42u  IPv4 426991408      0t0  TCP *:8715 (LISTEN)\n";
    let seen = see(&[bytes("t", LOG.as_bytes()), bytes("l", lsof.as_bytes())], 1);
    let fd = seen.events.iter().position(|event| event.starts_with("Fd(")).expect("an open descriptor");
    let call = seen.events.iter().position(|event| event.starts_with("call")).expect("a call");
    assert!(fd < call);
}

#[test]
fn progress_is_told() {
    struct Told(std::sync::Mutex<Vec<(u64, Option<u64>)>>);
    impl whyslow_read::Progress for Told {
        fn bytes(&self, done: u64, total: Option<u64>) {
            self.0.lock().unwrap().push((done, total));
        }
    }
    let told = Told(Default::default());
    let text = log(1, 100_000, 7, 100);
    let inputs = [bytes("t", text.as_bytes())];
    whyslow_read::read(
        &inputs,
        &whyslow_read::ReadOptions { threads: 2 },
        &told,
        &mut |_: whyslow_model::Event<'_>| {},
    )
    .unwrap();
    let told = told.0.into_inner().unwrap();
    let size = text.len() as u64;
    assert!(told.len() as u64 > size >> 22);
    assert_eq!(told.last(), Some(&(size, Some(size))));
}

#[test]
fn a_profile_is_one_event_and_a_damaged_one_says_why() {
    let seen = |name: &str, data: &[u8]| {
        let mut profiles = Vec::new();
        let mut sink = |event: Event<'_>| {
            if let Event::Profile(profile) = event {
                profiles.push(*profile);
            }
        };
        let inputs = [Input::Bytes { name: name.to_string(), data: data.to_vec() }];
        let _ = read(&inputs, &ReadOptions { threads: 1 }, &(), &mut sink);
        profiles.pop()
    };
    let folded = seen("stacks.txt", b"main;work 3\nmain;idle 1\n").unwrap();
    assert_eq!((folded.format, folded.damage), ("folded stacks", None));
    assert!(matches!(folded.content, Some(ProfileContent::Stacks(profile)) if profile.total(0) == 4));
    let empty = seen("cpu.pprof", b"").unwrap();
    assert_eq!(empty.damage, Some(ProfileDamage::Empty));
    assert!(empty.reason.contains("StopCPUProfile never ran"), "{}", empty.reason);
    assert!(empty.content.is_none());
    assert!(seen("notes.txt", b"").is_none());
}
