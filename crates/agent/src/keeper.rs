//! The agent's ring: the last seconds of what it records, kept as a recording when a trigger fires or somebody asks (`whyslow dump`, HTTP).

use crate::settings::{AgentSettings, RingSettings};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use whyslow_flight::ask::{self, Asks, Listening, Token};
use whyslow_flight::{Flight, FlightError, FlightNews, FlightOptions, KeptWindow, Shelf};
use whyslow_host::Sample;
use whyslow_model::{Event, visible};
use whyslow_record::{CutWindow, FlightState, RecordError, Session};
use whyslow_store::{HostInfo, Meta};

/// Recordings that were kept, in the folder of state.
pub(crate) const KEPT: &str = "kept";

/// The command that records in detail where somebody asks for it, but for whom and how long; the bytes of payload come behind it. Nobody is
/// recorded but whom the agent records, and the kernel's buffers are those of a ring. It takes no other means than BPF, which would slow the
/// services down.
const IN_DETAIL: [&str; 11] = [
    "/proc/self/exe",
    "record",
    "--by",
    "bpf",
    "--mode",
    "adaptive",
    "--follow",
    "0",
    "--buffer",
    "16",
    "--payload",
];

/// The ring, with who may ask for a window.
pub(crate) struct Keeper {
    settings: RingSettings,
    /// Bytes of reads and writes that are looked at to name requests.
    payload: u32,
    folder: PathBuf,
    host: String,
    targets: String,
    flight: Option<Flight>,
    /// While there is no flight.
    asks: Option<Asks>,
    _socket: Option<Listening>,
}

impl Keeper {
    /// `None` where no ring is wanted. What cannot be listened on is told to `say`.
    pub(crate) fn start(settings: &AgentSettings, say: &mut dyn FnMut(&str)) -> Option<Keeper> {
        let ring = settings.ring.clone();
        if ring.seconds == 0 {
            return None;
        }
        let folder = settings.state.join(KEPT);
        let asks = Asks::default();
        asks.let_record(ring.record);
        let socket = ask::listen_socket(asks.sender());
        if let Err(error) = &socket {
            say(&format!("`whyslow dump` cannot ask for a recording: {error}"));
        }
        if let Some(file) = &ring.token_file {
            let listening = ring
                .http
                .parse::<SocketAddr>()
                .map_err(|error| format!("ring.http = {:?}: {error}", ring.http))
                .and_then(|address| {
                    let token = Token::read(file).map_err(|why| format!("{}: {why}", visible::path(file)))?;
                    ask::listen_http(address, token, asks.sender())
                        .map_err(|error| format!("{address}: {error}"))
                });
            match listening {
                Ok(bound) => {
                    say(&format!("POST http://{bound}/dump?reason=… keeps a recording"));
                    if ring.record {
                        say(&format!(
                            "POST http://{bound}/record?seconds=30&reason=… begins a recording in detail"
                        ));
                    }
                }
                Err(why) => say(&format!("nobody can ask for a recording by HTTP: {why}")),
            }
        }
        for made in whyslow_flight::finish_all(&folder) {
            say(&format!("{}: kept by an agent that was killed", visible::path(&made)));
        }
        Some(Keeper {
            settings: ring,
            payload: settings.payload,
            folder,
            host: settings.host_name(),
            targets: String::new(),
            flight: None,
            asks: Some(asks),
            _socket: socket.ok(),
        })
    }

    /// The settings are others now; those of listening stay. A recording that was asked for is given up.
    pub(crate) fn reload(&mut self, settings: &AgentSettings) {
        self.host = settings.host_name();
        self.settings = settings.ring.clone();
        self.payload = settings.payload;
        if let Some(flight) = self.flight.take() {
            self.asks = Some(flight.into_asks());
        }
        if let Some(asks) = &self.asks {
            asks.let_record(self.settings.record);
        }
    }

    fn options(&mut self) -> Result<FlightOptions, FlightError> {
        let ring = &self.settings;
        let seconds = |seconds: u32| Duration::from_secs(seconds.into());
        let shelf = Shelf::new(&self.folder, &self.host, ring.keep.into())?;
        Ok(FlightOptions {
            before: seconds(ring.seconds),
            after: seconds(ring.after),
            memory: ring.memory << 20,
            on: ring.on.iter().map(|one| one.text().to_string()).collect(),
            cool_down: seconds(ring.cool_down),
            shelf: shelf.within(ring.disk << 20),
            meta: Meta {
                tool: concat!("whyslow ", env!("CARGO_PKG_VERSION")).to_string(),
                target: Some(self.targets.clone()),
                mode: Some("counts".to_string()),
                host: Some(HostInfo {
                    name: Some(self.host.clone()),
                    kernel: proc_text("osrelease"),
                    cpus: std::thread::available_parallelism().ok().map(|cpus| cpus.get() as u32),
                    boot_id: proc_text("random/boot_id"),
                }),
                ..Meta::default()
            },
            finish: ["/proc/self/exe", "record", "--finish"].map(Into::into).to_vec(),
            record: IN_DETAIL.map(Into::into).into_iter().chain([self.payload.to_string().into()]).collect(),
            asks: self.asks.take().unwrap_or_default(),
        })
    }

    /// A session of these targets has begun.
    pub(crate) fn begin(&mut self, session: &Session, targets: &str) -> Result<(), RecordError> {
        self.targets = targets.to_string();
        let begun = match &mut self.flight {
            Some(flight) => flight.renew(session),
            None => self.options().and_then(|options| {
                self.flight = Some(Flight::start(session, options)?);
                Ok(())
            }),
        };
        begun.map_err(failed)
    }

    /// The session is about to end: what was waited for is written.
    pub(crate) fn let_go(&mut self, session: &mut Session) -> Vec<FlightNews> {
        self.flight.as_mut().map(|flight| flight.let_go(session)).unwrap_or_default()
    }

    /// The recording ends, and this with it.
    pub(crate) fn finish(&mut self, session: &mut Session) -> Vec<FlightNews> {
        self.flight.as_mut().map(|flight| flight.finish(session)).unwrap_or_default()
    }

    /// To be called after each tick of the session.
    pub(crate) fn tick(&mut self, session: &mut Session) -> Result<Vec<FlightNews>, RecordError> {
        match &mut self.flight {
            Some(flight) => flight.tick(session).map_err(failed),
            None => Ok(Vec::new()),
        }
    }

    /// Ends the window of the session.
    pub(crate) fn cut(&mut self, session: &mut Session, spool: &Path) -> Result<CutWindow, RecordError> {
        match &mut self.flight {
            Some(flight) => flight.cut(session, spool).map_err(failed),
            None => session.cut(spool, None),
        }
    }

    /// A sample of the host.
    pub(crate) fn sample(&mut self, sample: &Sample) {
        let Some(flight) = &mut self.flight else { return };
        sample.tables.iter().for_each(|table| flight.figure(Event::Figures(Box::new(table.clone()))));
    }

    /// The recording in detail that is under way.
    pub(crate) fn recording(&self) -> Option<&KeptWindow> {
        self.flight.as_ref().and_then(Flight::recording)
    }

    /// CPU time of recordings in detail that ended since this was asked last.
    pub(crate) fn take_cpu_of_recordings(&mut self) -> Duration {
        self.flight.as_mut().map(Flight::take_cpu_of_recordings).unwrap_or_default()
    }

    /// How the ring stands, and how often triggers were passed over since their last recordings.
    pub(crate) fn state(&self) -> Option<(FlightState, u64)> {
        self.flight.as_ref().map(|flight| (flight.state(), flight.passed_over()))
    }
}

fn proc_text(name: &str) -> Option<String> {
    Some(std::fs::read_to_string(Path::new("/proc/sys/kernel").join(name)).ok()?.trim().to_string())
}

fn failed(error: FlightError) -> RecordError {
    match error {
        FlightError::Record(error) => error,
        other => RecordError::Internal(format!("the ring: {other}")),
    }
}
