//! The loop: records, cuts windows at the begin of each minute, has them told, and keeps to the budget.

use crate::error::AgentError;
use crate::outcome::WindowOutcome;
use crate::outward::Outward;
use crate::own::OwnMeter;
use crate::plan::{begin_of, in_words, micros, options, rest_of, run_id, write_samples};
use crate::settings::AgentSettings;
use crate::shed::{AgentDetail, Shedding};
use crate::status::AgentStatus;
use crate::watched::Watched;
use crate::window::{PARTS, SAMPLES, SPOOL, WindowAbout};
use std::collections::VecDeque;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};
use whyslow_host::{Sample, Sampler, SamplerOptions};
use whyslow_model::visible;
use whyslow_privacy::files;
use whyslow_record::{RecordError, Session};

/// Between two looks for signals and children.
const LOOK: Duration = Duration::from_millis(250);
/// Between two looks at how the recording goes.
const TICK: Duration = Duration::from_secs(2);
/// One that was told to end, or killed, may take so long.
const ENDING: Duration = Duration::from_secs(5);
/// From a failure to the next try: to load the programs takes most of a second of a CPU.
const RETRY: Duration = Duration::from_secs(10);
/// Bytes of a spool from which on its window is cut before its time.
const MOST_SPOOL: u64 = 128 << 20;
/// Windows that wait to be told at most; then the oldest are given up.
const MOST_WINDOWS: usize = 5;
/// A window is told for so many windows' length at most, and at least so long.
const LONGEST_TELLING: u32 = 3;
const SHORTEST_TELLING: Duration = Duration::from_secs(60);

/// What the agent is asked to do while it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgentOrder {
    /// Tell the window that is open, and end.
    End,
    /// Read the settings again.
    Reload,
}

/// Runs until it is told to end, or `windows` were told. `orders` is asked often; `reload` reads the settings; `say` is told what a
/// person should know.
///
/// # Errors
/// Where nothing can be recorded from the start on, or the state cannot be kept.
pub fn run(
    settings: AgentSettings,
    windows: Option<u64>,
    orders: &mut dyn FnMut() -> Vec<AgentOrder>,
    reload: &mut dyn FnMut() -> Result<AgentSettings, String>,
    say: &mut dyn FnMut(&str),
) -> Result<(), AgentError> {
    let mut agent = Agent::start(settings, say)?;
    let mut end = false;
    while !end {
        let until = agent.boundary.min(Instant::now() + LOOK);
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
        for order in orders() {
            match order {
                AgentOrder::End => end = true,
                AgentOrder::Reload => match reload() {
                    Ok(settings) => agent.reload(settings, say),
                    Err(why) => agent.trouble(format!("the settings stay as they were: {why}"), say),
                },
            }
        }
        agent.look(say);
        if !end && Instant::now() >= agent.boundary {
            agent.cut(say);
            end = windows.is_some_and(|most| agent.cuts >= most);
            if end {
                break;
            }
        }
    }
    agent.finish(say);
    Ok(())
}

/// A window's folder that is being told.
struct Telling {
    child: Child,
    folder: PathBuf,
    began: Instant,
}

struct Agent {
    settings: AgentSettings,
    host: String,
    kernel: String,
    run: String,
    /// Windows that were cut.
    cuts: u64,
    status: AgentStatus,
    shedding: Shedding,
    watched: Watched,
    /// `None` while there is nobody to record, or recording failed.
    session: Option<Session>,
    /// The open window's folder, and when it began.
    folder: PathBuf,
    opened: Instant,
    boundary: Instant,
    ticked: Instant,
    /// When recording is tried again after it failed.
    retry: Instant,
    /// Recording began within the open window.
    holds_start: bool,
    /// Bytes spooled before the open window.
    spooled: u64,
    sampler: Option<Sampler>,
    samples: Vec<Sample>,
    sampled: Instant,
    meter: OwnMeter,
    /// CPU time of those that told windows, since the last window was cut.
    telling_cpu: Duration,
    cpu_sum: f64,
    waiting: VecDeque<PathBuf>,
    telling: Option<Telling>,
    last_start: i64,
    outward: Outward,
}

impl Agent {
    fn start(settings: AgentSettings, say: &mut dyn FnMut(&str)) -> Result<Agent, AgentError> {
        let state = settings.state.clone();
        for folder in [state.clone(), state.join("windows"), state.join(PARTS)] {
            if !folder.exists() {
                files::create_folder_if_missing(&folder)
                    .map_err(|source| AgentError::State { path: folder.clone(), source })?;
            }
        }
        if let Ok(before) = AgentStatus::read(&state)
            && before.pid != std::process::id()
        {
            let began = Instant::now();
            while before.is_running() {
                if began.elapsed() > ENDING {
                    return Err(AgentError::Taken { path: state, pid: before.pid });
                }
                std::thread::sleep(LOOK);
            }
        }
        let now = Instant::now();
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let watched = Watched::of(&settings);
        let mut agent = Agent {
            host: settings.host_name(),
            kernel: kernel.trim().to_string(),
            run: run_id(),
            cuts: 0,
            status: AgentStatus::default(),
            shedding: Shedding::at(AgentDetail::Whole),
            watched,
            session: None,
            folder: PathBuf::new(),
            opened: now,
            boundary: now,
            ticked: now,
            retry: now,
            holds_start: true,
            spooled: 0,
            sampler: Sampler::new(SamplerOptions {
                threads: false,
                sockets: false,
                ..SamplerOptions::default()
            })
            .ok(),
            samples: Vec::new(),
            sampled: now,
            meter: OwnMeter::start(),
            telling_cpu: Duration::ZERO,
            cpu_sum: 0.0,
            waiting: VecDeque::new(),
            telling: None,
            last_start: i64::MIN,
            outward: Outward::start(&settings),
            settings,
        };
        agent.status = AgentStatus {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            host: agent.host.clone(),
            run: agent.run.clone(),
            since: micros(SystemTime::now()),
            window: agent.settings.window,
            ..AgentStatus::default()
        };
        agent.take_up_windows(say);
        agent.open()?;
        // Levels and rates since boot: what follows is over the time between.
        agent.samples.clear();
        agent.begin_session()?;
        say(&format!("records {}", agent.status.targets));
        agent.write_status(say);
        Ok(agent)
    }

    /// What an agent before this one left: windows that ended are told, one that did not is lost.
    fn take_up_windows(&mut self, say: &mut dyn FnMut(&str)) {
        let folder = self.settings.state.join("windows");
        let mut left: Vec<PathBuf> =
            std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        left.sort();
        for window in left {
            if WindowAbout::read(&window).is_some() {
                self.waiting.push_back(window);
            } else {
                let _ = std::fs::remove_dir_all(&window);
                self.status.windows_lost += 1;
                self.trouble("the window that was open as the agent ended last is lost".to_string(), say);
            }
        }
    }

    /// Makes the folder of a window that begins now.
    fn open(&mut self) -> Result<PathBuf, AgentError> {
        let now = micros(SystemTime::now());
        let name = format!("{now:020}-{}", self.cuts);
        let folder = self.settings.state.join("windows").join(name);
        let spool = folder.join(SPOOL);
        for path in [&folder, &spool] {
            files::create_folder(path).map_err(|source| AgentError::State { path: path.clone(), source })?;
        }
        let rest = rest_of(now, self.settings.length().as_micros() as i64);
        (self.opened, self.folder) = (Instant::now(), folder);
        self.boundary = self.opened + Duration::from_micros(rest as u64);
        Ok(spool)
    }

    fn begin_session(&mut self) -> Result<(), RecordError> {
        let pids = self.watched.all_now();
        self.status.targets = in_words(&self.settings, pids.len(), &self.watched.missing);
        self.status.processes = pids.len();
        if pids.is_empty() && !self.settings.all {
            return Ok(());
        }
        let spool = self.folder.join(SPOOL);
        self.session = Some(Session::start(options(&self.settings, self.shedding.detail, pids, spool))?);
        (self.spooled, self.holds_start) = (0, true);
        (self.status.detail, self.status.shed) =
            (self.shedding.detail, self.shedding.detail.shed().map(str::to_string));
        Ok(())
    }

    fn look(&mut self, say: &mut dyn FnMut(&str)) {
        self.reap(say);
        let now = Instant::now();
        if now >= self.sampled + Duration::from_secs(self.settings.host_every.into()) {
            self.sampled = now;
            self.samples.extend(self.sampler.as_mut().map(Sampler::sample));
        }
        if now < self.ticked + TICK {
            return;
        }
        self.ticked = now;
        let Some(session) = &mut self.session else {
            // Somebody may have come.
            if now >= self.retry
                && let Err(why) = self.begin_anew()
            {
                self.fail(&why, say);
            }
            return;
        };
        let joined = self.watched.joined();
        let result = match joined.is_empty() {
            true => Ok(()),
            false => session.watch(&joined),
        };
        match result.and_then(|()| session.tick()) {
            Ok(progress) if progress.bytes.saturating_sub(self.spooled) > MOST_SPOOL => {
                self.trouble(
                    "a window was cut before its time: more came than its spool may have".to_string(),
                    say,
                );
                let is_less = !self.settings.keep_detail && self.shedding.decide(f64::MAX, 0.0);
                self.cut_with(is_less, say);
            }
            Ok(_) => {}
            Err(error) => self.fail(&error.to_string(), say),
        }
    }

    /// Recording failed: it begins anew a little later.
    fn fail(&mut self, why: &str, say: &mut dyn FnMut(&str)) {
        self.end_session();
        self.retry = Instant::now() + RETRY;
        self.trouble(format!("recording failed, and begins anew in {} s: {why}", RETRY.as_secs()), say);
    }

    /// Ends what is recorded, with its threads: none of them may write where the next one does. What was not cut is given up.
    fn end_session(&mut self) {
        if let Some(session) = self.session.take() {
            let _ = session.stop();
        }
    }

    /// Records into the window that is open, of which nothing is kept.
    fn begin_anew(&mut self) -> Result<(), String> {
        self.end_session();
        let spool = self.folder.join(SPOOL);
        // A disk that was full may have left no folder.
        if self.folder.exists() {
            std::fs::remove_dir_all(&self.folder).map_err(|error| error.to_string())?;
        }
        for path in [&self.folder, &spool] {
            files::create_folder(path).map_err(|error| error.to_string())?;
        }
        self.begin_session().map_err(|error| error.to_string())
    }

    fn cut(&mut self, say: &mut dyn FnMut(&str)) {
        self.cut_with(false, say);
    }

    /// Ends the window and begins the next one; `renew`: what is recorded is another then.
    fn cut_with(&mut self, renew: bool, say: &mut dyn FnMut(&str)) {
        let (done, opened) = (self.folder.clone(), self.opened);
        self.samples.extend(self.sampler.as_mut().map(Sampler::sample));
        self.sampled = Instant::now();
        let spool = match self.open() {
            Ok(spool) => spool,
            Err(error) => {
                // The open window has no folder of its own to go on in.
                self.boundary = Instant::now() + self.settings.length();
                self.fail(&error.to_string(), say);
                let _ = std::fs::remove_dir_all(&done);
                self.status.windows_lost += 1;
                self.samples.clear();
                self.write_status(say);
                return;
            }
        };
        let cut = match self.session.as_mut().map(|session| session.cut(&spool)) {
            Some(Ok(cut)) => Some(cut),
            Some(Err(error)) => {
                self.fail(&error.to_string(), say);
                None
            }
            None => None,
        };
        self.cuts += 1;
        let used = self.meter.look(std::mem::take(&mut self.telling_cpu));
        match cut {
            Some(cut) => {
                if let Some(why) = &cut.trouble {
                    self.trouble(format!("a window is not whole: {why}"), say);
                }
                self.spooled =
                    self.session.as_mut().and_then(|session| session.tick().ok()).map_or(0, |now| now.bytes);
                self.keep_window(&done, opened, &cut, used.cpu_share, used.memory, say);
            }
            None => {
                // Nobody was there to be recorded, or it failed.
                let _ = std::fs::remove_dir_all(&done);
            }
        }
        self.samples.clear();
        self.cpu_sum += used.cpu_share;
        self.status.cpu_share = used.cpu_share;
        self.status.cpu_share_mean = self.cpu_sum / self.cuts as f64;
        self.status.memory = used.memory;
        // A window with the start of a recording says nothing of those that follow: programs are loaded, and code is looked at.
        let changed = !std::mem::take(&mut self.holds_start)
            && !self.settings.keep_detail
            && self.shedding.decide(
                used.cpu_share / (self.settings.cpu / 100.0),
                used.memory as f64 / (self.settings.memory << 20) as f64,
            );
        if changed || renew {
            self.status.shed_changes += 1;
            let now = self.shedding.detail.shed().map_or("nothing".to_string(), str::to_string);
            say(&format!(
                "took {:.2} % of a CPU and {} MiB: gives up {now}",
                used.cpu_share * 100.0,
                used.memory >> 20
            ));
            self.renew(say);
        }
        self.write_status(say);
        self.tell_next(say);
    }

    /// The same with other options: in the window that is open.
    fn renew(&mut self, say: &mut dyn FnMut(&str)) {
        if let Err(why) = self.begin_anew() {
            self.fail(&why, say);
        }
        // Loading programs is no window's cost.
        self.meter = OwnMeter::start();
    }

    fn keep_window(
        &mut self,
        folder: &Path,
        opened: Instant,
        cut: &whyslow_record::CutWindow,
        cpu_share: f64,
        memory_bytes: u64,
        say: &mut dyn FnMut(&str),
    ) {
        let length = self.settings.length().as_micros() as i64;
        let began = cut.began.get().unwrap_or(0);
        let start = begin_of((began / 1_000) as i64, length);
        if start <= self.last_start && length == 60_000_000 {
            // The clock went back, or a second window of this minute: other names, so that no part takes another's place.
            self.run = run_id();
            self.status.run.clone_from(&self.run);
        }
        self.last_start = start;
        let id = match length {
            60_000_000 => self.run.clone(),
            _ => format!("{}{:05}", self.run, self.cuts % 100_000),
        };
        let seconds = match (cut.began.get(), cut.ended.get()) {
            (Some(from), Some(to)) => to.saturating_sub(from) as f64 / 1e9,
            _ => opened.elapsed().as_secs_f64(),
        };
        self.status.calls = cut.calls;
        self.status.events = cut.events;
        self.status.lost += cut.lost;
        self.status.processes = cut.processes;
        let about = WindowAbout {
            start,
            seconds,
            began,
            host: self.host.clone(),
            id,
            recorder: std::process::id(),
            severity: self.settings.severity.clone(),
            close_after: self.settings.close_after,
            disk: self.settings.disk << 20,
            kernel: self.kernel.clone(),
            mode: "counts".to_string(),
            cpu_share,
            memory_bytes,
            events: cut.events,
            lost: cut.lost,
            shed: self.status.shed.clone(),
        };
        if let Err(why) = write_samples(&folder.join(SAMPLES), &self.samples) {
            self.trouble(format!("the host's samples of a window are lost: {why}"), say);
        }
        match about.write(folder) {
            Ok(()) => self.waiting.push_back(folder.into()),
            Err(error) => {
                self.status.windows_lost += 1;
                self.trouble(format!("{}: {error}", visible::path(folder)), say);
                let _ = std::fs::remove_dir_all(folder);
            }
        }
        while self.waiting.len() > MOST_WINDOWS {
            if let Some(oldest) = self.waiting.pop_front() {
                let _ = std::fs::remove_dir_all(oldest);
                self.status.windows_lost += 1;
                self.trouble("a window was given up: those before it are not told yet".to_string(), say);
            }
        }
    }

    /// Starts the process that tells the oldest window, unless one is under way.
    fn tell_next(&mut self, say: &mut dyn FnMut(&str)) {
        if self.telling.is_some() {
            return;
        }
        let Some(folder) = self.waiting.pop_front() else { return };
        // The program that runs, also where another one has taken its place.
        let child = Command::new("/proc/self/exe")
            .arg0("whyslow")
            .args(["agent", "window", "--state"])
            .arg(&self.settings.state)
            .arg(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn();
        match child {
            Ok(child) => self.telling = Some(Telling { child, folder, began: Instant::now() }),
            Err(error) => {
                self.trouble(format!("a window cannot be told now: {error}"), say);
                self.waiting.push_front(folder);
            }
        }
    }

    /// Takes what the process that tells a window says, once it has ended.
    fn reap(&mut self, say: &mut dyn FnMut(&str)) {
        let longest = (self.settings.length() * LONGEST_TELLING).max(SHORTEST_TELLING);
        let Some(telling) = &mut self.telling else { return self.tell_next(say) };
        let ended = match telling.child.try_wait() {
            Ok(None) if telling.began.elapsed() < longest => return,
            Ok(None) => {
                // Its folder goes with it: told again it would take as long.
                let _ = telling.child.kill();
                let _ = telling.child.wait();
                Err(format!("it took more than {} s", longest.as_secs()))
            }
            Ok(Some(status)) if status.success() => {
                let mut text = String::new();
                let read = telling.child.stdout.as_mut().map(|out| out.read_to_string(&mut text));
                match (read, serde_json::from_str::<WindowOutcome>(&text)) {
                    (_, Ok(outcome)) => Ok(outcome),
                    (_, Err(error)) => Err(format!("its answer is not understood: {error}")),
                }
            }
            Ok(Some(status)) => Err(format!("the process that told it ended with {status}")),
            Err(error) => Err(error.to_string()),
        };
        let folder = std::mem::take(&mut telling.folder);
        self.telling = None;
        match ended {
            Ok(outcome) => {
                self.telling_cpu += Duration::from_millis(outcome.cpu_ms);
                self.status.windows += 1;
                self.status.memory_of_windows = self.status.memory_of_windows.max(outcome.memory);
                self.status.parts_removed += outcome.removed.0;
                if outcome.removed.0 > 0 {
                    let text = format!(
                        "{} parts ({} KiB) were removed before they were taken elsewhere: no more than {} MiB may wait",
                        outcome.removed.0,
                        outcome.removed.1 >> 10,
                        self.settings.disk
                    );
                    self.trouble(text, say);
                }
                outcome.notes.iter().for_each(|note| self.trouble(note.clone(), say));
                self.status.last = outcome;
            }
            Err(why) => {
                self.status.windows_lost += 1;
                self.trouble(format!("a window is lost: {why}"), say);
                let _ = std::fs::remove_dir_all(folder);
            }
        }
        self.write_status(say);
        self.tell_next(say);
    }

    fn reload(&mut self, settings: AgentSettings, say: &mut dyn FnMut(&str)) {
        if settings.state != self.settings.state {
            self.trouble("`state` stays as it was until the agent is started anew".to_string(), say);
        }
        let state = self.settings.state.clone();
        self.cut(say);
        self.settings = AgentSettings { state, ..settings };
        self.outward.restart(&self.settings);
        self.host = self.settings.host_name();
        (self.status.host, self.status.window) = (self.host.clone(), self.settings.window);
        self.watched = Watched::of(&self.settings);
        self.shedding = Shedding::at(AgentDetail::Whole);
        self.renew(say);
        let rest = rest_of(micros(SystemTime::now()), self.settings.length().as_micros() as i64);
        self.boundary = Instant::now() + Duration::from_micros(rest as u64);
        say(&format!("reads its settings again: records {}", self.status.targets));
        self.write_status(say);
    }

    /// Ends the window that is open, and waits until all are told.
    fn finish(&mut self, say: &mut dyn FnMut(&str)) {
        if self.session.is_some() && self.opened.elapsed() >= Duration::from_millis(500) {
            self.cut(say);
        }
        if let Some(session) = self.session.take()
            && let Err(error) = session.stop()
        {
            self.trouble(error.to_string(), say);
        }
        let _ = std::fs::remove_dir_all(&self.folder);
        while self.telling.is_some() || !self.waiting.is_empty() {
            self.reap(say);
            std::thread::sleep(Duration::from_millis(20));
        }
        self.outward.finish();
        self.write_status(say);
    }

    fn trouble(&mut self, text: String, say: &mut dyn FnMut(&str)) {
        say(&text);
        self.status.trouble(text);
    }

    fn write_status(&mut self, say: &mut dyn FnMut(&str)) {
        self.outward.tell(&self.status).into_iter().for_each(|text| self.trouble(text, say));
        self.status.at = micros(SystemTime::now());
        if let Err(error) = self.status.write(&self.settings.state) {
            // Nothing but the report of it is lost.
            say(&format!("{}: {error}", visible::path(&self.settings.state)));
        }
    }
}
