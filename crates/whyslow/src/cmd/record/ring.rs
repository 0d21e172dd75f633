//! `whyslow record --ring 30s --on TRIGGER -o DIR`: the last seconds of a recording that goes on, kept when something happens.

use crate::global::Global;
use crate::live::{self, Attend, LiveArgs};
use crate::output::{plain, say};
use crate::status::Status;
use crate::temporary::LiveFolder;
use anyhow::{Context, bail};
use rustix::process::Signal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use whyslow_flight::ask::{self, Asks, Token};
use whyslow_flight::{DetailFolder, Flight, FlightNews, FlightOptions, KeptWindow, Shelf};
use whyslow_model::{Event, visible};
use whyslow_record::{Options, Session};
use whyslow_store::Meta;

/// Keeping the last seconds.
#[derive(clap::Args)]
pub(super) struct RingArgs {
    /// Record until stopped, keep the last so long in memory, and write it out when a trigger fires: 30s, 2m. -o is then the folder
    /// of the recordings
    #[arg(long, value_name = "TIME", value_parser = whyslow_model::typed::time, help_heading = "Keep the last seconds")]
    pub(super) ring: Option<Duration>,
    /// When to keep it (may repeat): request>200ms, request>p99*3, made>200ms, error, call>1s, errno=EPIPE|ETIMEDOUT, psi=cpu>20%,
    /// oom, signal=SIGSEGV, exit!=0. `whyslow dump` always does, and SIGUSR1 where no command is recorded
    #[arg(long = "on", value_name = "TRIGGER", value_parser = typed, requires = "ring", help_heading = "Keep the last seconds")]
    on: Vec<String>,
    /// So long after a trigger is kept, too
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = whyslow_model::typed::time, help_heading = "Keep the last seconds")]
    after: Duration,
    /// Memory of the ring; where it does not hold the time, less is kept, and that is said
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = memory, help_heading = "Keep the last seconds")]
    memory: u64,
    /// So many recordings are kept; the oldest make place
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..), help_heading = "Keep the last seconds")]
    keep: u16,
    /// Between two recordings of the same trigger, at least; what fires meanwhile is counted
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = whyslow_model::typed::time, help_heading = "Keep the last seconds")]
    cool_down: Duration,
    /// Listen there for `POST /dump?reason=…`: an address of this host, 127.0.0.1:9911. Needs --token-file
    #[arg(long, value_name = "ADDRESS", requires_all = ["ring", "token_file"], help_heading = "Keep the last seconds")]
    http: Option<SocketAddr>,
    /// Its first line is the token of --http
    #[arg(long, value_name = "FILE", requires = "http", help_heading = "Keep the last seconds")]
    token_file: Option<PathBuf>,
    /// Let who has the token also begin a recording in detail of what the ring records, on the same shelf: POST /record?seconds=30&reason=…
    /// It costs the recorded programs more than the ring does
    #[arg(long, requires = "http", help_heading = "Keep the last seconds")]
    http_record: bool,
    /// Makes a recording of a window that waits.
    #[arg(long, value_name = "FOLDER", hide = true, exclusive = true)]
    pub(super) finish: Option<PathBuf>,
    /// Makes the recording that a ring was asked for.
    #[arg(long, value_name = "FOLDER", hide = true, conflicts_with_all = ["ring", "output"])]
    pub(super) asked: Option<PathBuf>,
}

fn typed(text: &str) -> Result<String, String> {
    whyslow_flight::trigger(text).map(|_| text.to_string())
}

fn memory(text: &str) -> Result<u64, String> {
    let size = whyslow_model::typed::bytes(text)?;
    // What waits to be read has a quarter of it.
    if size < 8 << 20 { Err("at least 8M".to_string()) } else { Ok(size) }
}

/// Makes a recording of what waits in a folder.
pub(super) fn finish(folder: &Path) -> anyhow::Result<Status> {
    // The recorder and what it records come first.
    let _ = rustix::process::nice(10);
    live::keep_rights_of_reader(folder.parent());
    whyslow_flight::finish(folder)?;
    Ok(Status::Done)
}

/// Records in detail because a ring was asked to: the recorder of the ring started this process, and it ends with that one.
pub(super) fn asked(
    folder: &Path,
    (mut live, max_size): (LiveArgs, Option<u64>),
    global: &Global,
) -> anyhow::Result<Status> {
    // The ring and what it records come first.
    let _ = rustix::process::nice(10);
    let asked = DetailFolder::open(folder)?;
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM)).context("watching the recorder")?;
    let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get() as u32);
    if parent != Some(asked.recorder()) {
        bail!("the recorder {} that asked for this recording has ended", asked.recorder());
    }
    live.of_the_living();
    if !live.is_asked() {
        bail!("what was to be recorded has ended");
    }
    let meta = Meta { mode: Some("adaptive".to_string()), show_secrets: false, ..asked.meta().clone() };
    let recording = asked.recording();
    let (_, status) = super::make(&recording, (meta, Some(asked.sentence())), (&live, max_size), global)?;
    asked.done();
    Ok(status)
}

/// Records, until it is ended.
pub(super) fn run(
    args: &RingArgs,
    (mut live, output): (LiveArgs, Option<PathBuf>),
    meta: Meta,
    global: &Global,
) -> anyhow::Result<Status> {
    let Some(before) = args.ring else { bail!("how long is to be kept is missing") };
    let folder = output.unwrap_or_else(|| PathBuf::from("whyslow-kept"));
    if whyslow_store::is_recording(&folder) {
        bail!("{}: is a recording\nnext: name a folder for the recordings with -o", visible::path(&folder));
    }
    live.until_ended();
    let spool = LiveFolder::in_memory(global.show_secrets)?;
    let mut asks = Asks::default();
    asks.let_record(args.http_record);
    let _socket = match ask::listen_socket(asks.sender()) {
        Ok(socket) => Some(socket),
        Err(error) => {
            say!("whyslow: `whyslow dump` cannot ask for a recording: {}", plain(&error.to_string()));
            None
        }
    };
    if let (Some(address), Some(file)) = (args.http, &args.token_file) {
        let token = Token::read(file);
        let token = token.map_err(|why| anyhow::anyhow!("{}: {why}", visible::path(file)))?;
        let bound = ask::listen_http(address, token, asks.sender()).with_context(|| address.to_string())?;
        say!("whyslow: POST http://{bound}/dump?reason=… keeps a recording");
        if args.http_record {
            say!("whyslow: POST http://{bound}/record?seconds=30&reason=… begins a recording in detail");
        }
    }
    for made in whyslow_flight::finish_all(&folder) {
        say!("whyslow: {}: kept by a recorder that was killed", visible::path(&made));
    }
    let program = std::env::current_exe().context("where whyslow itself is")?;
    let mut attendant = Attendant {
        flight: None,
        has_command: !live.command.is_empty(),
        folder: folder.clone(),
        ring: (before, args.after, args.memory),
        make: Some(Box::new({
            let (on, cool_down, most) = (args.on.clone(), args.cool_down, usize::from(args.keep));
            let (after, memory) = (args.after, args.memory);
            let asks = std::mem::take(&mut asks);
            let record = [program.clone().into(), "record".into()].into_iter().chain(live.in_detail());
            let record =
                record.chain(["--buffer".into(), (KERNEL_BUFFER >> 20).to_string().into()]).collect();
            move |words: &str| {
                Ok(FlightOptions {
                    before,
                    after,
                    memory,
                    on,
                    cool_down,
                    shelf: Shelf::new(&folder, name_of(words), most)?,
                    meta: Meta { target: Some(words.to_string()), ..meta },
                    finish: vec![program.into(), "record".into(), "--finish".into()],
                    record,
                    asks,
                })
            }
        })),
    };
    let ended = live::attended(&live, spool.path(), &mut attendant, global)?;
    Ok(ended.status())
}

/// The name of what is recorded, out of `pid 4711 (java)` or `3 processes (nginx)`.
fn name_of(words: &str) -> &str {
    let inside = words.rsplit_once('(').and_then(|(_, name)| name.strip_suffix(')'));
    let name = inside.unwrap_or(words);
    name.rsplit('/').next().unwrap_or(name)
}

type Make = Box<dyn FnOnce(&str) -> anyhow::Result<FlightOptions>>;

/// The flight recorder at the side of a recording.
struct Attendant {
    flight: Option<Flight>,
    /// A command is recorded: SIGUSR1 is passed on to it, as other signals are.
    has_command: bool,
    folder: PathBuf,
    /// Before, after, memory.
    ring: (Duration, Duration, u64),
    /// What is known once the recording has begun.
    make: Option<Make>,
}

/// Bytes of the kernel's buffers for calls: at 100,000 calls a second of 200 bytes they hold nearly a second, of which the drain needs a hundredth.
const KERNEL_BUFFER: u64 = 16 << 20;

impl Attend for Attendant {
    fn adjust(&self, options: &mut Options) {
        let (before, after, memory) = self.ring;
        let bounds = whyslow_record::RingBounds { length: before + after, memory };
        options.spool_room = Some(bounds.spool_room());
        options.ring_bytes = options.ring_bytes.min(KERNEL_BUFFER);
    }

    fn begin(&mut self, session: &Session, words: &str) -> anyhow::Result<()> {
        let Some(make) = self.make.take() else { bail!("a recording begins once") };
        let options = make(words)?;
        let by_hand = if self.has_command { "`whyslow dump`" } else { "SIGUSR1 or `whyslow dump`" };
        let on = match options.on.as_slice() {
            [] => by_hand.to_string(),
            some if self.has_command => format!("{} or {by_hand}", some.join(", ")),
            some => format!("{}, {by_hand}", some.join(", ")),
        };
        say!(
            "whyslow: keeps the last {:.0} s of {} in {} of memory; on {} it is written to {}",
            options.before.as_secs_f64(),
            plain(words),
            crate::output::bytes(options.memory),
            plain(&on),
            visible::path(options.shelf.folder()),
        );
        self.flight = Some(Flight::start(session, options)?);
        Ok(())
    }

    fn figure(&mut self, event: Event<'_>) {
        if let Some(flight) = &mut self.flight {
            flight.figure(event);
        }
    }

    fn tick(&mut self, session: &mut Session) -> anyhow::Result<Vec<String>> {
        let Some(flight) = &mut self.flight else { return Ok(Vec::new()) };
        Ok(flight.tick(session)?.iter().flat_map(in_words).collect())
    }

    fn asked(&mut self) {
        if let Some(flight) = &mut self.flight {
            flight.ask("signal", "the recorder got SIGUSR1".to_string());
        }
    }

    fn end(&mut self, session: &mut Session) -> Vec<String> {
        let Some(flight) = &mut self.flight else { return Vec::new() };
        let mut told: Vec<String> = flight.finish(session).iter().flat_map(in_words).collect();
        let (state, passed_over) = (flight.state(), flight.passed_over());
        let mut line = format!("{} recordings were kept", flight.kept());
        if passed_over > 0 {
            line += &format!("; {passed_over} times a trigger fired within its cool down");
        }
        if state.shortened > 0 {
            line += &format!(
                "; the memory was full {} times, and held {:.1} s in the end",
                state.shortened,
                state.holds.as_secs_f64()
            );
        }
        if state.no_room > 0 {
            line +=
                &format!("; {} of {} records found no room", state.no_room, state.records + state.no_room);
        }
        told.push(line);
        told
    }

    fn folder(&self) -> &Path {
        &self.folder
    }
}

fn in_words(news: &FlightNews) -> Vec<String> {
    match news {
        FlightNews::Kept(KeptWindow { path, why, .. }) => {
            vec![format!("{}: {}", visible::path(path), plain(why))]
        }
        FlightNews::Begun(KeptWindow { path, why, .. }) => {
            vec![format!("{}: begins now, in detail. {}", visible::path(path), plain(why))]
        }
        FlightNews::Removed(paths) => {
            paths.iter().map(|path| format!("{}: made place for a newer one", visible::path(path))).collect()
        }
        FlightNews::Failed(why) => vec![plain(why)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_are_named_after_the_program() {
        for (words, name) in [
            ("pid 4711 (java)", "java"),
            ("3 processes (nginx)", "nginx"),
            ("all processes", "all processes"),
            ("/usr/bin/make", "make"),
        ] {
            assert_eq!(name_of(words), name);
        }
        assert!(memory("4M").is_err() && memory("8M") == Ok(8 << 20));
    }
}
