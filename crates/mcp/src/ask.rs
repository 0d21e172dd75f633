//! A question: a command of `whyslow` in a process of its own, which is killed where nobody waits for it any more.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::sync::oneshot;
use whyslow_model::visible;

/// A longer answer is none that can be cut down, bytes.
const MOST_OUTPUT: u64 = 256 << 20;
/// What is kept of complaints, bytes.
const MOST_COMPLAINTS: u64 = 4 << 10;
/// Those that end a question are told in at most so many characters.
const TOLD: usize = 2_000;

/// What a command said.
pub(crate) struct Said {
    /// On standard output.
    pub(crate) output: Vec<u8>,
    /// On standard error, fit to be shown.
    pub(crate) complaints: String,
}

/// Runs `program` with `words`. Where nobody waits for it any more, it is killed, and waited for: none stays behind as a zombie.
///
/// # Errors
/// What it complained of, in words for whoever asked.
pub(crate) async fn ask(program: &Path, words: &[OsString], limit: Duration) -> Result<Said, String> {
    // Closed when this is dropped.
    let (_waiting, dropped) = oneshot::channel::<()>();
    let asked = tokio::spawn(run(program.to_path_buf(), words.to_vec(), limit, dropped));
    asked.await.map_err(|error| error.to_string())?
}

async fn run(
    program: PathBuf,
    words: Vec<OsString>,
    limit: Duration,
    dropped: oneshot::Receiver<()>,
) -> Result<Said, String> {
    let mut command = Command::new(program);
    command.args(words).env("NO_COLOR", "1").env_remove("COLUMNS");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Also where the server ends.
    command.kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| format!("whyslow cannot be started: {error}"))?;
    let output = read(child.stdout.take(), MOST_OUTPUT);
    let complaints = read(child.stderr.take(), MOST_COMPLAINTS);
    let too_long = format!("given up after {} s (--time-limit): ask of a smaller recording", limit.as_secs());
    let said = tokio::select! {
        said = async { tokio::join!(output, complaints) } => Ok(said),
        () = tokio::time::sleep(limit) => Err(too_long),
        _ = dropped => Err("cancelled".to_string()),
    };
    let (output, complaints) = match said {
        Ok(said) => said,
        Err(why) => {
            let _ = child.kill().await;
            return Err(why);
        }
    };
    let status = child.wait().await;
    let complaints: String =
        visible::block(&String::from_utf8_lossy(&complaints.0)).chars().take(TOLD).collect();
    if output.1 {
        return Err(format!("the answer is larger than {MOST_OUTPUT} bytes"));
    }
    match status {
        Ok(status) if status.success() || !output.0.is_empty() => Ok(Said { output: output.0, complaints }),
        Ok(status) if complaints.is_empty() => Err(format!("whyslow ended with {status}")),
        Ok(_) => Err(complaints),
        Err(error) => Err(format!("whyslow cannot be waited for: {error}")),
    }
}

/// All of a stream up to `most` bytes; true where there was more. The rest is read and dropped: its writer must not wait for us.
async fn read(from: Option<impl AsyncRead + Unpin>, most: u64) -> (Vec<u8>, bool) {
    let mut kept = Vec::new();
    let Some(mut from) = from else { return (kept, false) };
    let _ = (&mut from).take(most).read_to_end(&mut kept).await;
    let mut rest = [0; 4096];
    let mut more = false;
    while let Ok(1..) = from.read(&mut rest).await {
        more = true;
    }
    (kept, more)
}
