//! Block I/O: 23 direct writes of a block, held against /proc/diskstats; what is written back, held against the file.

use super::{TIMES, only, record};
use crate::common::skipped;
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const BLOCK: usize = 4096;

#[repr(align(4096))]
struct Aligned([u8; BLOCK]);

/// Writes that the file's device completed so far (Documentation/admin-guide/iostats.rst: field 5 behind the name).
fn writes_of_device(of: &Path) -> Option<u64> {
    let device = std::fs::metadata(of).ok()?.dev();
    let (major, minor) = (libc::major(device).to_string(), libc::minor(device).to_string());
    let text = std::fs::read_to_string("/proc/diskstats").ok()?;
    text.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        (fields[0] == major && fields[1] == minor).then(|| fields[7].parse().ok())?
    })
}

fn file() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("direct-writes");
    let file = File::create(&path).unwrap();
    // Its blocks are there before: a write then is one request and no more.
    std::io::Write::write_all(&mut &file, &[1; TIMES * BLOCK]).unwrap();
    file.sync_all().unwrap();
    path
}

#[test]
fn requests_are_those_of_the_disk() {
    let path = file();
    let direct = OpenOptions::new().write(true).custom_flags(libc::O_DIRECT).open(&path);
    let Ok(direct) = direct else { return skipped("no direct I/O on this file system") };
    if writes_of_device(&path).is_none() {
        return skipped("this file system has no block device of its own");
    }
    let work = move || {
        let block = Aligned([7; BLOCK]);
        for number in 0..TIMES {
            // SAFETY: the buffer outlives the call and has the length given.
            let written = unsafe {
                libc::pwrite(
                    direct.as_raw_fd(),
                    block.0.as_ptr().cast(),
                    BLOCK,
                    (number * BLOCK) as libc::off_t,
                )
            };
            assert_eq!(written, BLOCK as isize);
        }
    };
    let options = only(|options| options.block = true);
    let Some((seen, (), [before, after])) = record(options, work, |_| writes_of_device(&path)) else {
        return;
    };
    let ours: Vec<_> =
        seen.blocks.iter().filter(|io| io.tid == Some(seen.tid) && io.op.starts_with("write")).collect();
    assert_eq!(ours.len(), TIMES, "{:?}", seen.blocks);
    let device = std::fs::metadata(&path).unwrap().dev();
    for io in &ours {
        assert_eq!(io.bytes, BLOCK as u64);
        assert_eq!(io.pid, Some(std::process::id()));
        assert!(io.completed > io.issued, "{io:?}");
        // A partition's requests name the whole disk.
        assert!(io.device.starts_with(&format!("{}:", libc::major(device))), "{io:?}");
    }
    // Direct writes carry the program's own pages.
    assert!(ours.iter().all(|io| io.file.is_none()), "{ours:?}");
    let (before, after) = (before.unwrap(), after.unwrap());
    assert!(after - before >= TIMES as u64, "the disk counted {} writes", after - before);
    seen.assert_whole("block_io", seen.blocks.len());
    let _ = std::fs::remove_file(&path);
}

/// What is written back of a file names it, whoever issues it.
#[test]
fn pages_that_are_written_back_name_their_file() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("written-back");
    let Ok(file) = File::create(&path) else { return skipped("no file can be made") };
    if writes_of_device(&path).is_none() {
        return skipped("this file system has no block device of its own");
    }
    let metadata = file.metadata().unwrap();
    let work = move || {
        std::io::Write::write_all(&mut &file, &[7; TIMES * BLOCK]).unwrap();
        file.sync_all().unwrap();
    };
    let Some((seen, ..)) = record(only(|options| options.block = true), work, |_| ()) else { return };
    let of_file = |io: &&whyslow_model::BlockIo| {
        io.file.is_some_and(|file| {
            let device = libc::makedev(file.major, file.minor);
            (device, file.inode) == (metadata.dev(), metadata.ino())
        })
    };
    let ours: Vec<_> = seen.blocks.iter().filter(of_file).collect();
    assert!(ours.iter().all(|io| io.op.starts_with("write")), "{ours:?}");
    // All of it, and no page of another file's.
    let bytes: u64 = ours.iter().map(|io| io.bytes).sum();
    assert_eq!(bytes, (TIMES * BLOCK) as u64, "{:?}", seen.blocks);
    let _ = std::fs::remove_file(&path);
}
