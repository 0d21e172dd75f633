//! `whyslow dump`: a unix socket in a folder that only its user may look into. One line asks, one line answers.

use super::{AskSender, MOST_REASON};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;
use whyslow_privacy::files;

/// What names of sockets begin and end with.
const PREFIX: &str = "ring-";
const ENDING: &str = ".sock";
/// Longer answers are none of ours.
const MOST_ANSWER: u64 = 64 << 10;
/// A recorder that does not answer in that time is stuck: it converts a window meanwhile.
const WAIT: Duration = Duration::from_mins(6);

/// A recorder that can be asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RingRecorder {
    /// Its process.
    pub pid: u32,
    /// Its socket.
    pub socket: PathBuf,
}

/// Where the sockets of this user are: `/run/whyslow` of root, else below the user's own folder.
fn folder() -> PathBuf {
    let is_root = rustix::process::geteuid().is_root();
    match std::env::var_os("XDG_RUNTIME_DIR").filter(|at| !is_root && Path::new(at).is_absolute()) {
        Some(at) => PathBuf::from(at).join("whyslow"),
        None if is_root => PathBuf::from("/run/whyslow"),
        None => std::env::temp_dir().join(format!("whyslow-{}", rustix::process::geteuid().as_raw())),
    }
}

/// True where nobody but this user may write there.
fn is_ours(folder: &Path) -> bool {
    std::fs::symlink_metadata(folder).is_ok_and(|about| {
        about.is_dir() && about.uid() == rustix::process::geteuid().as_raw() && about.mode() & 0o077 == 0
    })
}

/// The socket of this process. It is removed when this goes; what a killed recorder left goes when the next one looks.
pub struct Listening {
    path: PathBuf,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Listens for `whyslow dump`.
///
/// # Errors
/// Where there is no folder for the socket.
pub fn listen(to: AskSender) -> std::io::Result<Listening> {
    listen_in(&folder(), to)
}

fn listen_in(folder: &Path, to: AskSender) -> std::io::Result<Listening> {
    files::create_folder_if_missing(folder)?;
    if !is_ours(folder) {
        return Err(std::io::Error::other("its folder is another user's, or open to others"));
    }
    // Removes those that nobody listens on any more.
    recorders_in(folder);
    let path = folder.join(format!("{PREFIX}{}{ENDING}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    std::thread::Builder::new().name("whyslow-asked".to_string()).spawn(move || {
        for stream in listener.incoming().flatten() {
            let to = to.clone();
            // One that waits for its recording keeps no other from asking.
            let _ = std::thread::Builder::new()
                .name("whyslow-asked".to_string())
                .spawn(move || serve(&stream, &to));
        }
    })?;
    Ok(Listening { path })
}

fn serve(stream: &UnixStream, to: &AskSender) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let mut line = String::new();
    let read = BufReader::new(stream.take(4 * MOST_REASON as u64)).read_line(&mut line);
    // Who only looks whether somebody listens says nothing.
    if !read.is_ok_and(|bytes| bytes > 0 && line.ends_with('\n')) {
        return;
    }
    let text = match to.ask("dump", "`whyslow dump`", line.trim()) {
        Ok(path) => format!("kept {}\n", path.display()),
        Err(why) => format!("failed {}\n", why.replace('\n', "; ")),
    };
    let mut stream = stream;
    let _ = stream.write_all(text.as_bytes());
}

/// The recorders of this user that can be asked. Sockets that nobody listens on are removed.
pub fn recorders() -> Vec<RingRecorder> {
    recorders_in(&folder())
}

fn recorders_in(folder: &Path) -> Vec<RingRecorder> {
    let mut all = Vec::new();
    if !is_ours(folder) {
        return all;
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let pid = name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(ENDING));
        let Some(pid) = pid.and_then(|pid| pid.parse().ok()) else { continue };
        match UnixStream::connect(entry.path()) {
            Ok(_) => all.push(RingRecorder { pid, socket: entry.path() }),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                let _ = std::fs::remove_file(entry.path());
            }
            Err(_) => {}
        }
    }
    all.sort_by_key(|recorder| recorder.pid);
    all
}

/// Asks a recorder for a window, and waits for the recording.
///
/// # Errors
/// What the recorder says, or that it does not answer.
pub fn dump(recorder: &RingRecorder, reason: &str) -> Result<PathBuf, String> {
    let failed = |error: std::io::Error| format!("recorder {}: {error}", recorder.pid);
    let mut stream = UnixStream::connect(&recorder.socket).map_err(failed)?;
    stream.set_read_timeout(Some(WAIT)).map_err(failed)?;
    stream.write_all(format!("{}\n", reason.replace('\n', " ")).as_bytes()).map_err(failed)?;
    let mut answer = String::new();
    (&stream).take(MOST_ANSWER).read_to_string(&mut answer).map_err(failed)?;
    match answer.trim_end().split_once(' ') {
        Some(("kept", path)) => Ok(PathBuf::from(path)),
        Some(("failed", why)) => Err(format!("recorder {}: {why}", recorder.pid)),
        _ => Err(format!("recorder {}: it ended before it answered", recorder.pid)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Asks;
    use super::*;
    use std::time::Instant;

    #[test]
    fn one_asks_and_is_told_where_it_is() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("run");
        let mut asks = Asks::default();
        let listening = listen_in(&folder, asks.sender()).expect("listens");
        let stale = folder.join("ring-1.sock");
        drop(UnixListener::bind(&stale).expect("bound"));
        let found = recorders_in(&folder);
        assert_eq!(found.iter().map(|one| one.pid).collect::<Vec<_>>(), [std::process::id()]);
        assert!(!stale.exists(), "nobody listens there");
        let asker = std::thread::spawn(move || [dump(&found[0], "slow\ncheckout"), dump(&found[0], "")]);
        for (reason, answer) in [
            ("`whyslow dump` asked for it (slow checkout)", Ok(PathBuf::from("/x/y.whyslow"))),
            ("`whyslow dump` asked for it", Err("disk\nfull".to_string())),
        ] {
            let until = Instant::now() + Duration::from_secs(10);
            let asked = loop {
                if let Some(asked) = asks.take() {
                    break asked;
                }
                assert!(Instant::now() < until, "nobody asked");
                std::thread::sleep(Duration::from_millis(2));
            };
            assert_eq!((asked.kind(), asked.reason().as_str()), ("dump", reason));
            asked.answer(answer);
        }
        let [kept, failed] = asker.join().expect("joined");
        assert_eq!(kept, Ok(PathBuf::from("/x/y.whyslow")));
        assert!(failed.is_err_and(|why| why.ends_with(": disk; full")));
        drop(listening);
        assert!(recorders_in(&folder).is_empty());
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).expect("set");
        assert!(listen_in(&folder, asks.sender()).is_err(), "a folder that others may look into");
    }
}
