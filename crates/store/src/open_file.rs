//! Opening a file of a recording, which may be a stranger's: a link would lead out of it, a FIFO or device would hold us up.

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a regular file for reading; what is none is an error that says so.
pub(crate) fn regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Err(Errno::LOOP) => return Err(io::Error::other("it is a link, which is not followed")),
        // A socket.
        Err(Errno::NXIO) => return Err(io::Error::other("it is not a regular file")),
        opened => File::from(opened?),
    };
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}
