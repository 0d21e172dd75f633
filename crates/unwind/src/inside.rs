//! Opening files as a watched process names them: inside of its root, wherever its links lead, and only regular ones.

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Opens the regular file that `path` names inside of `root`. No link leads out of it, none through the kernel's own
/// (`/proc/PID/fd`), and the file itself is no link: a container cannot make the recorder read a file of the host. A FIFO
/// or device does not hold it up.
///
/// # Errors
/// What the kernel refuses, and whatever is not a regular file.
pub fn open(root: &Path, path: &Path) -> io::Result<File> {
    open_as(root, path, OFlags::NOFOLLOW)
}

/// The same where the file itself may be a link, which is followed inside of `root` too: for files that are checked to be what
/// they should be.
///
/// # Errors
/// What the kernel refuses, and whatever is not a regular file.
pub fn follow(root: &Path, path: &Path) -> io::Result<File> {
    open_as(root, path, OFlags::empty())
}

fn open_as(root: &Path, path: &Path, links: OFlags) -> io::Result<File> {
    let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(root, folder, Mode::empty())?;
    let flags = links | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let file: OwnedFd = loop {
        match rustix::fs::openat2(&root, path, flags, Mode::empty(), resolve) {
            // Something was renamed on the way meanwhile.
            Err(Errno::AGAIN) => {}
            Err(Errno::NOSYS) => {
                return Err(io::Error::new(
                    io::ErrorKind::Unsupported,
                    "it cannot be opened safely: this kernel has no openat2, which Linux 5.6 brought",
                ));
            }
            Err(Errno::LOOP) => return Err(io::Error::other("it is a link")),
            opened => break opened?,
        }
    };
    let file = File::from(file);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    fn text(root: &Path, path: &str) -> Result<String, String> {
        let mut text = String::new();
        open(root, Path::new(path))
            .and_then(|mut file| file.read_to_string(&mut text))
            .map_err(|e| e.to_string())?;
        Ok(text)
    }

    #[test]
    fn nothing_outside_of_the_root_is_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join("tmp")).expect("made");
        let outside = folder.path().join("outside");
        std::fs::write(&outside, "of the host").expect("written");
        std::fs::write(root.join("tmp/own"), "own").expect("written");
        assert_eq!(text(&root, "/tmp/own").as_deref(), Ok("own"));
        assert_eq!(text(&root, "/../../tmp/own").as_deref(), Ok("own"));
        // Links to the file, absolute and relative, and a link on the way.
        symlink(&outside, root.join("tmp/absolute")).expect("linked");
        symlink("../../outside", root.join("tmp/relative")).expect("linked");
        symlink(folder.path(), root.join("way")).expect("linked");
        symlink("/proc/self/root", root.join("magic")).expect("linked");
        for path in ["/tmp/absolute", "/tmp/relative", "/way/outside", "/magic/etc/passwd", "/../outside"] {
            assert!(text(&root, path).is_err(), "{path}");
        }
        // Followed, they lead to what has that name inside.
        let followed = |path: &str| follow(&root, Path::new(path)).is_ok();
        symlink("/tmp/own", root.join("tmp/inner")).expect("linked");
        assert!(followed("/tmp/inner") && !followed("/tmp/absolute") && !followed("/tmp/relative"));
        assert!(!followed("/magic/etc/passwd"));
        let fifo = rustix::fs::CWD;
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(fifo, root.join("tmp/fifo"), rustix::fs::FileType::Fifo, mode, 0).expect("made");
        assert_eq!(text(&root, "/tmp/fifo"), Err("it is not a regular file".to_string()));
        // The kernel's own links do not lead out either.
        assert!(text(Path::new("/"), "/proc/self/exe").is_err());
        assert!(text(Path::new("/"), "/proc/self/root/etc/passwd").is_err());
    }
}
