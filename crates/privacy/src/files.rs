//! Folders and files of recordings, spools and what else nobody but the user may read: 0700 and 0600, whatever the umask.

use rustix::fs::{Mode, OFlags};
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The mode of a folder.
pub const FOLDER: u32 = 0o700;
/// The mode of a file.
pub const FILE: u32 = 0o600;

/// Makes a folder, which must not be there yet.
///
/// # Errors
/// Where it cannot be made, or something has its name.
pub fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(FOLDER).create(path)?;
    close_folder(path)
}

/// Takes from a folder of ours what others may do with it.
///
/// # Errors
/// Where it is no folder, or not ours.
pub fn close_folder(path: &Path) -> io::Result<()> {
    // The umask may have taken the owner's own bits. The folder is held by a descriptor: what is put in its place is left alone.
    let folder = rustix::fs::open(
        path,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    if rustix::fs::fstat(&folder)?.st_mode & 0o777 != FOLDER {
        use std::os::fd::AsRawFd;
        let held = format!("/proc/self/fd/{}", folder.as_raw_fd());
        std::fs::set_permissions(held, Permissions::from_mode(FOLDER))?;
    }
    Ok(())
}

/// Makes a folder where there is none.
///
/// # Errors
/// Where it cannot be made.
pub fn create_folder_if_missing(path: &Path) -> io::Result<()> {
    match create_folder(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        result => result,
    }
}

/// Makes a file, which must not be there yet, to write to its end.
///
/// # Errors
/// Where it cannot be made, or something has its name.
pub fn create_file(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().append(true).create_new(true), path)
}

/// Makes a file, or one that is there already empty. A link is not followed.
///
/// # Errors
/// Where it cannot be made, or opened.
pub fn create_or_empty_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    open(options.write(true).create(true).truncate(true).custom_flags(OFlags::NOFOLLOW.bits() as i32), path)
}

/// Writes a whole file, in place of what is there.
///
/// # Errors
/// Where it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    io::Write::write_all(&mut create_or_empty_file(path)?, bytes)
}

fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.mode(FILE).open(path)?;
    // The umask may have taken the owner's own bits, and a file that was there has what modes it had.
    if file.metadata()?.mode() & 0o777 != FILE {
        file.set_permissions(Permissions::from_mode(FILE))?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// The umask is the process's.
    static UMASK: Mutex<()> = Mutex::new(());

    fn mode(path: &Path) -> u32 {
        std::fs::symlink_metadata(path).expect("there").mode() & 0o7777
    }

    #[test]
    fn only_the_owner_may_look() {
        let place = tempfile::tempdir().expect("a folder");
        let _held = UMASK.lock();
        for umask in [0o000, 0o077, 0o777] {
            let before = rustix::process::umask(Mode::from_raw_mode(umask));
            let folder = place.path().join(format!("{umask:o}"));
            let made = create_folder(&folder)
                .and_then(|()| create_folder_if_missing(&folder))
                .and_then(|()| create_file(&folder.join("new")).map(drop))
                .and_then(|()| write(&folder.join("whole"), b"x"))
                .and_then(|()| write(&folder.join("whole"), b"y"));
            rustix::process::umask(before);
            made.expect("made");
            assert_eq!(mode(&folder), FOLDER, "{umask:o}");
            assert_eq!((mode(&folder.join("new")), mode(&folder.join("whole"))), (FILE, FILE), "{umask:o}");
            assert_eq!(std::fs::read(folder.join("whole")).expect("read"), b"y");
        }
        // What is open to all is closed before it is written to.
        let open = place.path().join("open");
        std::fs::write(&open, "old").expect("written");
        std::fs::set_permissions(&open, Permissions::from_mode(0o666)).expect("set");
        write(&open, b"new").expect("written");
        assert_eq!(mode(&open), FILE);
    }

    #[test]
    fn what_is_there_is_not_taken_over() {
        let _held = UMASK.lock();
        let place = tempfile::tempdir().expect("a folder");
        let (target, link) = (place.path().join("target"), place.path().join("link"));
        std::fs::write(&target, "kept").expect("written");
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        assert!(
            write(&link, b"lost").is_err() && create_file(&link).is_err() && create_folder(&link).is_err()
        );
        assert!(create_folder_if_missing(&target).is_err());
        assert_eq!(std::fs::read(&target).expect("read"), b"kept");
    }
}
