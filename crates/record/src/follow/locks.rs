//! Who holds what a thread waits for that is no descriptor: a lock of a file, a lock in shared memory, a System V queue.

use super::waits::Memory;
use crate::target::diag::number;
use std::fs::File;
use std::io::Read;
use whyslow_model::text;

/// Bytes of `/proc/locks`, of a list of mappings, of a list of queues that are read.
const MOST_BYTES: u64 = 1 << 20;
/// What a robust or priority-inheriting futex holds beside its owner's number (`FUTEX_TID_MASK`, linux/futex.h).
const TID_MASK: u32 = 0x3fff_ffff;

/// Who is waited for, and by what.
pub(super) type Held = (u32, String);

pub(super) fn bounded_file(path: &str) -> Vec<u8> {
    let mut text = Vec::new();
    if let Ok(file) = File::open(path) {
        // What was read before an error is good.
        let _ = file.take(MOST_BYTES).read_to_end(&mut text);
    }
    text
}

/// Who holds the lock of a file that `pid` waits for, by the text of `/proc/locks` (proc_locks(5)): its line is followed by those of
/// who waits, with the same number and `->`. The file's inode is told beside.
pub(super) fn file_lock(locks: &[u8], pid: u32, tid: u32) -> Option<(u32, u64)> {
    let mut holder = None;
    for line in locks.split(|byte| *byte == b'\n') {
        let words: Vec<&str> = std::str::from_utf8(line).ok()?.split_ascii_whitespace().collect();
        let waits = words.get(1) == Some(&"->");
        let at = if waits { 5 } else { 4 };
        let number = words.get(at).and_then(|word| word.parse::<u32>().ok());
        let inode = words.get(at + 1).and_then(|id| id.rsplit(':').next()?.parse::<u64>().ok());
        if !waits {
            holder = number.zip(inode);
        } else if number.is_some_and(|number| number == pid || number == tid) {
            // One of another namespace has number 0, and one of an open file -1.
            return holder.filter(|(holder, _)| *holder != 0 && *holder != pid);
        }
    }
    None
}

/// Processes that wait for a lock of a file that one of these holds, by the text of `/proc/locks`.
pub(super) fn waiters(locks: &[u8], holders: &[u32]) -> Vec<u32> {
    let (mut is_held, mut found) = (false, Vec::new());
    for line in locks.split(|byte| *byte == b'\n') {
        let Ok(line) = std::str::from_utf8(line) else { continue };
        let mut words = line.split_ascii_whitespace();
        let waits = words.nth(1) == Some("->");
        // A type, ADVISORY or MANDATORY, READ or WRITE stand before the number.
        let number = words.nth(if waits { 3 } else { 2 }).and_then(|word| word.parse::<u32>().ok());
        if !waits {
            is_held = number.is_some_and(|number| holders.contains(&number));
        } else if let Some(number) = number.filter(|number| is_held && *number != 0) {
            found.push(number);
        }
    }
    found
}

/// The path of a descriptor of `pid` with that inode number, for people.
pub(super) fn path_of(pid: u32, inode: u64) -> Option<String> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let mut found = entries.flatten().take(1_024).filter(|entry| {
        std::fs::metadata(entry.path()).is_ok_and(|about| about.is_file() && about.ino() == inode)
    });
    let link = std::fs::read_link(found.next()?.path()).ok()?;
    Some(text::bounded(link.as_os_str().as_bytes()))
}

/// A mapping that is shared with others: the file behind it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Shared {
    file: (String, u64),
    name: String,
}

/// What is mapped at `address` and shared, by a list of mappings (proc_pid_maps(5)).
fn mapped_at(maps: &[u8], address: u64) -> Option<Shared> {
    maps.split(|byte| *byte == b'\n').find_map(|line| {
        let line = std::str::from_utf8(line).ok()?;
        let mut words = line.split_ascii_whitespace();
        let (from, to) = words.next()?.split_once('-')?;
        let within =
            (u64::from_str_radix(from, 16).ok()?..u64::from_str_radix(to, 16).ok()?).contains(&address);
        let is_shared = words.next()?.as_bytes().get(3) == Some(&b's');
        let (device, inode) = (words.nth(1)?, words.next()?.parse().ok()?);
        let name = text::bounded(words.next().unwrap_or("shared memory").as_bytes());
        (within && is_shared && inode != 0).then(|| Shared { file: (device.to_string(), inode), name })
    })
}

/// Who holds the lock in shared memory at `address`: the futex has its owner's number (robust and priority-inheriting locks), or a lock
/// of glibc has it behind the count (`struct __pthread_mutex_s`). Any other process that does not map the same is not meant.
pub(super) fn shared_lock(pid: u32, address: u64, memory: &dyn Memory) -> Option<Held> {
    let shared = mapped_at(&bounded_file(&format!("/proc/{pid}/maps")), address)?;
    let mut bytes = [0; 12];
    if !memory.read(address, &mut bytes) {
        return None;
    }
    let word = |at: usize| number(&bytes, at).map(u32::from_ne_bytes);
    let candidates = [word(0)? & TID_MASK, word(8)?];
    candidates.into_iter().find_map(|tid| {
        let owner = process_of(tid).filter(|owner| *owner != pid && tid > 2)?;
        let maps = bounded_file(&format!("/proc/{owner}/maps"));
        let maps_it = maps.split(|byte| *byte == b'\n').any(|line| {
            let words: Vec<&[u8]> =
                line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect();
            let (device, inode) = (words.get(3), words.get(4));
            device == Some(&shared.file.0.as_bytes()) && inode == Some(&shared.file.1.to_string().as_bytes())
        });
        maps_it.then(|| (owner, format!("a lock in {}", shared.name)))
    })
}

/// The process of a thread (proc_pid_status(5)).
pub(super) fn process_of(tid: u32) -> Option<u32> {
    let status = bounded_file(&format!("/proc/{tid}/status"));
    let line = status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Tgid:"))?;
    std::str::from_utf8(line).ok()?.trim().parse().ok()
}

/// Who sent to a System V queue last, or received from it last, by the text of `/proc/sysvipc/msg` (sysvipc(7)).
pub(super) fn queue(text: &[u8], id: i32, room: bool) -> Option<Held> {
    /// `lspid`, `lrpid`.
    const LAST: [usize; 2] = [5, 6];
    let at = LAST[usize::from(room)];
    let pid = text.split(|byte| *byte == b'\n').skip(1).find_map(|line| {
        let words: Vec<&str> = std::str::from_utf8(line).ok()?.split_ascii_whitespace().collect();
        (words.get(1)?.parse() == Ok(id)).then(|| words.get(at)?.parse::<u32>().ok())?
    })?;
    (pid != 0).then(|| (pid, format!("message queue {id}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LOCKS: &str = "\
1: FLOCK  ADVISORY  WRITE 300 fe:02:77 0 EOF
2: POSIX  ADVISORY  WRITE 900 fe:02:1234 0 EOF
2: -> POSIX  ADVISORY  WRITE 812 fe:02:1234 0 EOF
2: -> POSIX  ADVISORY  READ  813 fe:02:1234 0 EOF
3: OFDLCK ADVISORY  WRITE -1 00:31:5 0 0
3: -> FLOCK  ADVISORY  WRITE 77 00:31:5 0 EOF
";

    #[test]
    fn the_holder_of_a_file_lock_stands_before_those_who_wait() {
        let of = |pid| file_lock(LOCKS.as_bytes(), pid, pid);
        assert_eq!((of(812), of(813)), (Some((900, 1234)), Some((900, 1234))));
        assert_eq!((of(900), of(77), of(1)), (None, None, None));
    }

    #[test]
    fn those_who_wait_for_a_lock_stand_behind_its_holder() {
        assert_eq!(waiters(LOCKS.as_bytes(), &[900]), [812, 813]);
        assert_eq!(waiters(LOCKS.as_bytes(), &[300, 77, 812]), [0; 0]);
    }

    #[test]
    fn the_last_who_sent_is_waited_for_by_who_receives() {
        let text = b"       key      msqid perms      cbytes       qnum lspid lrpid   uid   gid  cuid  cgid\n         0         32768   600          12          1   41   42     0     0     0     0 1 1 1\n";
        assert_eq!(queue(text, 32_768, false).map(|held| held.0), Some(41));
        assert_eq!(queue(text, 32_768, true).map(|held| held.0), Some(42));
        assert_eq!(queue(text, 5, true), None);
    }

    #[test]
    fn only_shared_mappings_of_a_file_are_meant() {
        let maps = b"7f00-7f10 rw-s 00000000 00:01 2053 /dev/shm/pool\n7f10-7f20 rw-p 00000000 00:01 2053 /dev/shm/pool\n";
        assert_eq!(mapped_at(maps, 0x7f08).map(|shared| shared.name), Some("/dev/shm/pool".to_string()));
        assert_eq!(mapped_at(maps, 0x7f18), None);
        assert_eq!(mapped_at(maps, 0x7f20), None);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in prop::collection::vec(any::<u8>(), 0..200)) {
            file_lock(&text, 7, 7);
            waiters(&text, &[7]);
            mapped_at(&text, 7);
            queue(&text, 7, false);
        }
    }
}
