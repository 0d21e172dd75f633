//! What is mounted where (/proc/self/mountinfo), and of which kinds a file system is that may be asked for its size without
//! waiting for another machine.

use crate::files::Reader;
use rustix::io::Errno;
use whyslow_counters::text;

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    /// `254:0`.
    pub(crate) device: (u32, u32),
    /// What of the file system is shown: `/` unless it is a bind mount or a subvolume.
    pub(crate) part: Box<str>,
    /// Where.
    pub(crate) at: Box<str>,
    /// `ext4`.
    pub(crate) kind: Box<str>,
    /// `/dev/vda`, `server:/export`.
    pub(crate) source: Box<str>,
}

/// Kinds whose data is on this machine.
const LOCAL: [&str; 20] = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "zfs", "vfat", "exfat", "ntfs3", "jfs",
    "reiserfs", "bcachefs", "squashfs", "erofs", "iso9660", "overlay", "nilfs2", "udf",
];

/// Kinds that may wait for another machine or a program, also when only the path leads over them.
const FOREIGN: [&str; 14] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "ceph",
    "glusterfs",
    "lustre",
    "afs",
    "gpfs",
    "autofs",
    "virtiofs",
    "beegfs",
];

impl Mount {
    /// True where its size may be asked for.
    pub(crate) fn is_local(&self) -> bool {
        LOCAL.contains(&&*self.kind)
    }

    /// True for a file system of another machine or a program (FUSE).
    pub(crate) fn is_foreign(&self) -> bool {
        FOREIGN.contains(&&*self.kind) || self.kind.starts_with("fuse")
    }
}

/// Mounts looked at: a host of hundreds of containers has thousands, its own come first.
const MOST: usize = 4096;

/// All mounts that this process sees; of several at one place the last, which hides the others.
pub(crate) fn all(reader: &mut Reader) -> Result<Vec<Mount>, Errno> {
    let mut mounts: Vec<Mount> = Vec::new();
    for line in text::lines(reader.proc("self/mountinfo")?) {
        let Some(mount) = parse(line) else { continue };
        mounts.retain(|known| known.at != mount.at);
        if mounts.len() < MOST {
            mounts.push(mount);
        }
    }
    Ok(mounts)
}

/// Those whose size may be asked for: of a local kind, and the way to them leads over no foreign one.
pub(crate) fn askable(mounts: &[Mount]) -> impl Iterator<Item = &Mount> {
    let foreign: Vec<&str> =
        mounts.iter().filter(|mount| mount.is_foreign()).map(|mount| &*mount.at).collect();
    mounts.iter().filter(move |mount| {
        let over = |place: &&str| {
            mount.at.strip_prefix(*place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        mount.is_local() && !foreign.iter().any(over)
    })
}

/// `27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw` (proc_pid_mountinfo(5)).
fn parse(line: &[u8]) -> Option<Mount> {
    let mut words = text::words(line).skip(2);
    let mut device = words.next()?.splitn(2, |byte| *byte == b':');
    let mut half = || u32::try_from(text::number(device.next()?)?).ok();
    let device = (half()?, half()?);
    let (part, at) = (words.next()?, words.next()?);
    let mut behind = words.skip_while(|word| *word != b"-").skip(1);
    let (kind, source) = (behind.next()?, behind.next()?);
    Some(Mount { device, part: plain(part), at: plain(at), kind: plain(kind), source: plain(source) })
}

/// A path of /proc's lists of mounts: blanks and the like stand as `\040`.
pub(crate) fn plain(word: &[u8]) -> Box<str> {
    let mut out = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind
            .get(..3)
            .filter(|digits| first == b'\\' && digits.iter().all(|b| (b'0'..=b'7').contains(b)));
        let value =
            digits.map(|digits| digits.iter().fold(0u32, |sum, digit| sum * 8 + u32::from(digit - b'0')));
        match value.and_then(|value| u8::try_from(value).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = behind.get(3..).unwrap_or_default();
            }
            None => {
                out.push(first);
                rest = behind;
            }
        }
    }
    whyslow_model::text::bounded(&out).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_with_and_without_optional_fields() {
        let mount = parse(br"36 35 98:0 /mnt1 /mnt\040two rw,noatime master:1 shared:7 - ext3 /dev/root rw")
            .expect("a mount");
        assert_eq!(
            (mount.device, &*mount.at, &*mount.kind, &*mount.source),
            ((98, 0), "/mnt two", "ext3", "/dev/root")
        );
        assert!(parse(b"22 27 0:21 / /proc rw - proc proc rw").is_some());
        for damaged in
            [&b"22 27 0:21 / /proc rw proc proc"[..], b"", b"1 2 3 4 5 6 - a b", br"1 2 0:1 / /\9 - "]
        {
            assert_eq!(parse(damaged), None);
        }
        assert_eq!(&*plain(br"a\999\04"), r"a\999\04");
    }

    #[test]
    fn nothing_is_asked_beyond_a_foreign_mount() {
        let mount = |at: &str, kind: &str| Mount {
            device: (1, 1),
            part: "/".into(),
            at: at.into(),
            kind: kind.into(),
            source: "x".into(),
        };
        let mounts = [
            mount("/", "ext4"),
            mount("/net", "nfs4"),
            mount("/net/disk", "xfs"),
            mount("/network", "xfs"),
            mount("/f", "fuse.sshfs"),
            mount("/proc", "proc"),
        ];
        let places: Vec<&str> = askable(&mounts).map(|mount| &*mount.at).collect();
        assert_eq!(places, ["/", "/network"]);
    }
}
