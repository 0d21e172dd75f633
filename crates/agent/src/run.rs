//! The loop: records, cuts windows at the begin of each minute, has them told, and keeps to the budget.

mod notes;

use crate::error::AgentError;
use crate::keeper::Keeper;
use crate::outbox::PARTS;
use crate::outcome::WindowOutcome;
use crate::outward::Outward;
use crate::own::{OwnMeter, OwnUse};
use crate::plan::{WindowNames, begin_of, in_words, micros, options, rest_of, run_id, write_samples};
use crate::settings::AgentSettings;
use crate::shed::{AgentDetail, Shedding};
use crate::status::AgentStatus;
use crate::teller::Teller;
use crate::upload::Upload;
use crate::watched::Watched;
use crate::window::{SAMPLES, SPOOL, WindowAbout, hand_over};
use std::path::{Path, PathBuf};
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
/// As the agent ends, what waits is uploaded for so long at most; systemd gives it 90 s in all.
const LAST_UPLOADS: Duration = Duration::from_secs(20);

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

struct Agent {
    settings: AgentSettings,
    host: String,
    kernel: String,
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
    cpu_sum: f64,
    outward: Outward,
    teller: Teller,
    /// `None` where no ring is wanted.
    keeper: Option<Keeper>,
    /// Names of recordings that the ring kept since the last window was cut.
    kept: Vec<String>,
    /// `None` where nothing is uploaded.
    upload: Option<Upload>,
    names: WindowNames,
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
            cpu_sum: 0.0,
            outward: Outward::start(&settings),
            teller: Teller::new(&state),
            keeper: Keeper::start(&settings, say),
            kept: Vec::new(),
            upload: None,
            names: WindowNames::new(run_id(), settings.window == 60),
            settings,
        };
        agent.status = AgentStatus {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            host: agent.host.clone(),
            run: agent.names.run.clone(),
            since: micros(SystemTime::now()),
            window: agent.settings.window,
            ..AgentStatus::default()
        };
        agent.take_up_windows(say);
        agent.begin_uploads(say);
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
                let news = self.teller.add(window);
                self.told(news, say);
            } else {
                let _ = std::fs::remove_dir_all(&window);
                self.status.windows_lost += 1;
                self.trouble("the window that was open as the agent ended last is lost".to_string(), say);
            }
        }
    }

    /// Uploads as the settings say, from now on.
    fn begin_uploads(&mut self, say: &mut dyn FnMut(&str)) {
        if self.upload.as_ref().is_some_and(|upload| upload.is_of(&self.settings)) {
            return;
        }
        // What waits goes to the store that is meant now.
        self.upload = None;
        match Upload::start(&self.settings) {
            Ok(upload) => self.upload = upload,
            Err(why) => self.trouble(why, say),
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
        let session = Session::start(options(&self.settings, self.shedding.detail, pids, spool))?;
        if let Some(keeper) = &mut self.keeper {
            keeper.begin(&session, &self.status.targets)?;
        }
        self.session = Some(session);
        (self.spooled, self.holds_start) = (0, true);
        (self.status.detail, self.status.shed) =
            (self.shedding.detail, self.shedding.detail.shed().map(str::to_string));
        Ok(())
    }

    fn look(&mut self, say: &mut dyn FnMut(&str)) {
        let news = self.teller.look(self.settings.length());
        self.told(news, say);
        let now = Instant::now();
        if now >= self.sampled + Duration::from_secs(self.settings.host_every.into()) {
            self.sample();
        }
        if now < self.ticked + TICK {
            return;
        }
        self.ticked = now;
        let Some(session) = &mut self.session else {
            // Somebody may have come.
            if now >= self.retry
                && let Err(why) = self.begin_anew(say)
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
        let ticked = result.and_then(|()| session.tick()).and_then(|progress| {
            let news = self.keeper.as_mut().map(|keeper| keeper.tick(session)).transpose()?;
            Ok((progress, news.unwrap_or_default()))
        });
        let ticked = ticked.map(|(progress, news)| {
            self.keep(news, say);
            progress
        });
        match ticked {
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

    /// Looks at the host.
    fn sample(&mut self) {
        self.sampled = Instant::now();
        let Some(sample) = self.sampler.as_mut().map(Sampler::sample) else { return };
        if let Some(keeper) = &mut self.keeper {
            keeper.sample(&sample);
        }
        self.samples.push(sample);
    }

    /// Recording failed: it begins anew a little later.
    fn fail(&mut self, why: &str, say: &mut dyn FnMut(&str)) {
        self.end_session(say);
        self.retry = Instant::now() + RETRY;
        self.trouble(format!("recording failed, and begins anew in {} s: {why}", RETRY.as_secs()), say);
    }

    /// Ends what is recorded, with its threads: none of them may write where the next one does. What was not cut is given up.
    fn end_session(&mut self, say: &mut dyn FnMut(&str)) {
        if let Some(mut session) = self.session.take() {
            let news = self.keeper.as_mut().map(|keeper| keeper.let_go(&mut session)).unwrap_or_default();
            self.keep(news, say);
            let _ = session.stop();
        }
    }

    /// Records into the window that is open, of which nothing is kept.
    fn begin_anew(&mut self, say: &mut dyn FnMut(&str)) -> Result<(), String> {
        self.end_session(say);
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
        self.sample();
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
        let cut = self.session.as_mut().map(|session| match &mut self.keeper {
            Some(keeper) => keeper.cut(session, &spool),
            None => session.cut(&spool, None),
        });
        let cut = match cut {
            Some(Ok(cut)) => Some(cut),
            Some(Err(error)) => {
                self.fail(&error.to_string(), say);
                None
            }
            None => None,
        };
        self.cuts += 1;
        let used = self.meter.look();
        match cut {
            Some(cut) => {
                if let Some(why) = &cut.trouble {
                    self.trouble(format!("a window is not whole: {why}"), say);
                }
                self.spooled =
                    self.session.as_mut().and_then(|session| session.tick().ok()).map_or(0, |now| now.bytes);
                self.keep_window(&done, opened, &cut, used, say);
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
    }

    /// The same with other options: in the window that is open.
    fn renew(&mut self, say: &mut dyn FnMut(&str)) {
        if let Err(why) = self.begin_anew(say) {
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
        used: OwnUse,
        say: &mut dyn FnMut(&str),
    ) {
        let length = self.settings.length().as_micros() as i64;
        let began = cut.began.get().unwrap_or(0);
        let start = begin_of((began / 1_000) as i64, length);
        let id = self.names.of(start, self.cuts);
        self.status.run.clone_from(&self.names.run);
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
            cpu_share: used.cpu_share,
            memory_bytes: used.memory,
            events: cut.events,
            lost: cut.lost,
            shed: self.status.shed.clone(),
            kept: std::mem::take(&mut self.kept),
            uploads: self.upload.is_some(),
            clock_skew_ns: self.upload.as_ref().and_then(|upload| upload.status().clock_skew_ns),
        };
        if let Err(why) = write_samples(&folder.join(SAMPLES), &self.samples) {
            self.trouble(format!("the host's samples of a window are lost: {why}"), say);
        }
        match about.write(folder) {
            Ok(()) => {
                let news = self.teller.add(folder.into());
                self.told(news, say);
            }
            Err(error) => {
                self.status.windows_lost += 1;
                self.trouble(format!("{}: {error}", visible::path(folder)), say);
                let _ = std::fs::remove_dir_all(folder);
            }
        }
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
        self.names = WindowNames::new(run_id(), self.settings.window == 60);
        (self.status.host, self.status.window) = (self.host.clone(), self.settings.window);
        self.watched = Watched::of(&self.settings);
        self.shedding = Shedding::at(AgentDetail::Whole);
        self.end_session(say);
        match &mut self.keeper {
            Some(keeper) if self.settings.ring.seconds > 0 => keeper.reload(&self.settings),
            keeper => *keeper = Keeper::start(&self.settings, say),
        }
        self.begin_uploads(say);
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
        if let Some(mut session) = self.session.take() {
            let news = self.keeper.as_mut().map(|keeper| keeper.finish(&mut session)).unwrap_or_default();
            self.keep(news, say);
            if let Err(error) = session.stop() {
                self.trouble(error.to_string(), say);
            }
        }
        let _ = std::fs::remove_dir_all(&self.folder);
        while !self.teller.is_idle() {
            let news = self.teller.look(self.settings.length());
            self.told(news, say);
            std::thread::sleep(Duration::from_millis(20));
        }
        if self.upload.is_some() {
            // Whether this host comes back is not known: the hour that is under way goes, too.
            let mut outcome = WindowOutcome::default();
            hand_over(&self.settings.state, None, self.settings.disk << 20, &mut outcome);
            outcome.notes.into_iter().for_each(|note| self.trouble(note, say));
            self.parts_came(say);
        }
        if let Some(upload) = self.upload.take() {
            let last = upload.stop(LAST_UPLOADS);
            self.status.upload = Some(last);
        }
        self.outward.finish();
        self.write_status(say);
    }
}
