//! The flight recorder beside a session: it feeds the ring, asks the triggers, and writes a window out when one has fired.

use crate::ask::{Asked, Asks, Wish};
use crate::cool::Cool;
use crate::detail::{Detail, DetailOrder};
use crate::error::FlightError;
use crate::fired::Fired;
use crate::keep::{FlightNews, KeptWindow, Shelf};
use crate::pending::{Pending, PendingHead};
use crate::triggers::{Trigger, TriggerKind, trigger};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use whyslow_model::{Event, Timestamp, figures};
use whyslow_record::{Clock, CutWindow, FlightRing, FlightState, RingBounds, Session, Sight, SightsWanted};
use whyslow_store::{KeptMeta, Meta};

/// What is kept, when, and where.
pub struct FlightOptions {
    /// So long before a trigger, at least.
    pub before: Duration,
    /// So long after it.
    pub after: Duration,
    /// Bytes of the ring.
    pub memory: u64,
    /// Triggers as they are typed.
    pub on: Vec<String>,
    /// Between two recordings of the same trigger, at least.
    pub cool_down: Duration,
    /// Where they are kept.
    pub shelf: Shelf,
    /// The head of the recordings: tool, command, host.
    pub meta: Meta,
    /// The command that finishes what waits in the folder that is given as its last word. It runs as a process of its own: its memory is
    /// given back, and what it takes is not taken from the recording.
    pub finish: Vec<OsString>,
    /// The command that records in detail, where somebody asks for it: whom, for how long (`-d`), and the folder (`--asked`) are given as its last
    /// words. It runs as a process of its own, which [`DetailFolder`](crate::DetailFolder) helps.
    pub record: Vec<OsString>,
    /// Who else may ask for a window.
    pub asks: Asks,
}

struct Armed {
    text: String,
    kind: &'static TriggerKind,
    trigger: Box<dyn Trigger>,
    cool: Cool,
}

/// The number of a trigger that fired, why, and when.
type Fires = (usize, String, Timestamp);

/// Shows a sight to all triggers.
fn show(armed: &mut [Armed], sight: &Sight<'_>, fires: &mut Vec<Fires>) {
    for (number, one) in armed.iter_mut().enumerate() {
        if let Some(reason) = one.trigger.see(sight) {
            fires.push((number, reason, at(sight)));
        }
    }
}

/// A trigger has fired, and what comes after it is waited for.
struct Waiting {
    fired: Fired,
    until: Instant,
    /// What else fired meanwhile.
    also: Vec<String>,
    passed_over: u64,
    asked: Vec<Asked>,
}

/// A window is being finished by a process.
struct Finishing {
    window: KeptWindow,
    child: Child,
    asked: Vec<Asked>,
}

/// The flight recorder.
pub struct Flight {
    options: FlightOptions,
    ring: FlightRing,
    watched: SightsWanted,
    armed: Vec<Armed>,
    open_for: Option<Duration>,
    waiting: Option<Waiting>,
    /// Those who asked while one was waiting already.
    finishing: Vec<Finishing>,
    detail: Detail,
    looked: Instant,
    clock: Clock,
    /// Figures of the host, with their time.
    figures: VecDeque<Event<'static>>,
    kept: u64,
}

/// Between two looks of triggers at the host.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// As a recording ends, its records are looked at so often more, with such a pause before: the drain writes what it took every 10 ms.
const LAST_LOOKS: u32 = 3;
const LAST_PAUSE: Duration = Duration::from_millis(20);
/// Other triggers that are named in a recording.
const MOST_ALSO: usize = 8;
/// Tables of figures that are kept: of some 20 a second.
const MOST_FIGURES: usize = 4_000;

impl Flight {
    /// What the session's options must have.
    pub fn bounds(options: &FlightOptions) -> RingBounds {
        RingBounds { length: options.before + options.after, memory: options.memory }
    }

    /// Begins, with a session that has just begun.
    ///
    /// # Errors
    /// Where a trigger is not typed as one, or there is no memory.
    pub fn start(session: &Session, options: FlightOptions) -> Result<Flight, FlightError> {
        let mut watched = SightsWanted::default();
        let mut armed = Vec::new();
        for text in &options.on {
            let made = trigger(text).map_err(std::io::Error::other);
            let (kind, made) = made.map_err(FlightError::file(text))?;
            made.watch(&mut watched);
            armed.push(Armed { text: text.clone(), kind, trigger: made, cool: Cool::default() });
        }
        let ring = session.ring(Flight::bounds(&options), watched.clone())?;
        let open_for = armed.iter().filter_map(|armed| armed.trigger.open_for()).min();
        Ok(Flight {
            options,
            ring,
            watched,
            armed,
            open_for,
            waiting: None,
            finishing: Vec::new(),
            detail: Detail::default(),
            looked: Instant::now(),
            clock: Clock::now(),
            figures: VecDeque::new(),
            kept: 0,
        })
    }

    /// How the ring stands.
    pub fn state(&self) -> FlightState {
        self.ring.state()
    }

    /// Windows that were kept, and recordings in detail.
    pub fn kept(&self) -> u64 {
        self.kept + self.detail.kept()
    }

    /// How often triggers fired and were passed over since the last recording of theirs.
    pub fn passed_over(&self) -> u64 {
        self.armed.iter().map(|armed| armed.cool.passed_over()).sum()
    }

    /// The recording in detail that is under way, since somebody asked for it.
    pub fn recording(&self) -> Option<&KeptWindow> {
        self.detail.under_way()
    }

    /// CPU time that recordings in detail took which ended since this was asked last: the kernel counts it as that of our children.
    pub fn take_cpu_of_recordings(&mut self) -> Duration {
        self.detail.take_cpu()
    }

    /// Ends it, of a session that has ended; who may ask for a window may ask the next one. A recording in detail is given up.
    pub fn into_asks(self) -> Asks {
        self.options.asks
    }

    /// Takes a figure of the host; anything else is passed over.
    pub fn figure(&mut self, event: Event<'_>) {
        if let Event::Figures(table) = event {
            self.figures.push_back(Event::Figures(table));
            while self.figures.len() > MOST_FIGURES {
                self.figures.pop_front();
            }
        }
    }

    /// Somebody asks for a window, by `kind` (`signal`, `dump`, `http`).
    pub fn ask(&mut self, kind: &'static str, reason: String) {
        let fired = Fired { trigger: kind.to_string(), kind, reason, at: self.clock.now_epoch() };
        self.fire(fired, 0, None);
    }

    /// To be called with each tick of the session.
    ///
    /// # Errors
    /// Where the recording cannot go on.
    pub fn tick(&mut self, session: &mut Session) -> Result<Vec<FlightNews>, FlightError> {
        self.see(session)?;
        let mut news = Vec::new();
        while let Some(asked) = self.options.asks.take() {
            if let Wish::Detail(length) = asked.wish() {
                self.record(session, asked, length, &mut news);
                continue;
            }
            let fired = Fired {
                trigger: asked.kind().to_string(),
                kind: asked.kind(),
                reason: asked.reason(),
                at: self.clock.now_epoch(),
            };
            self.fire(fired, 0, Some(asked));
        }
        if self.waiting.as_ref().is_some_and(|waiting| Instant::now() >= waiting.until) {
            self.write(session, &mut news);
        }
        self.reap(false, &mut news);
        self.detail.look(&mut news);
        Ok(news)
    }

    /// Begins a recording in detail of what the session records now.
    fn record(&mut self, session: &Session, asked: Asked, length: Duration, news: &mut Vec<FlightNews>) {
        let order = DetailOrder {
            command: &self.options.record,
            whom: session.watched_now(&self.ring),
            shelf: &self.options.shelf,
            meta: &self.options.meta,
            at: self.clock.now_epoch(),
            length,
        };
        self.detail.begin(asked, &order, news);
    }

    /// Takes what was recorded, and fires what is seen in it.
    fn see(&mut self, session: &mut Session) -> Result<(), FlightError> {
        let mut fired = Vec::new();
        let armed = &mut self.armed;
        let mut see = |sight: Sight<'_>| show(armed, &sight, &mut fired);
        session.fill(&mut self.ring, &mut see)?;
        if let Some(bound) = self.open_for {
            self.ring.open(bound, &mut see);
        }
        if self.looked.elapsed() >= LOOK_EVERY {
            self.looked = Instant::now();
            self.clock = Clock::now();
            for (number, one) in self.armed.iter_mut().enumerate() {
                if let Some(reason) = one.trigger.look() {
                    fired.push((number, reason, self.clock.now_epoch()));
                }
            }
            self.forget_figures();
        }
        self.fire_all(fired);
        Ok(())
    }

    fn fire_all(&mut self, fires: Vec<Fires>) {
        for (number, reason, at) in fires {
            let armed = &mut self.armed[number];
            let Some(passed_over) = armed.cool.take(Instant::now(), self.options.cool_down) else { continue };
            let fired = Fired { trigger: armed.text.clone(), kind: armed.kind.name, reason, at };
            self.fire(fired, passed_over, None);
        }
    }

    /// Ends the window that the session records, and goes on in `spool`, as [`Session::cut`] does: the ring goes on through it.
    ///
    /// # Errors
    /// Where the recording cannot go on.
    pub fn cut(&mut self, session: &mut Session, spool: &Path) -> Result<CutWindow, FlightError> {
        let mut fires = Vec::new();
        let armed = &mut self.armed;
        let mut see = |sight: Sight<'_>| show(armed, &sight, &mut fires);
        let window = session.cut(spool, Some((&mut self.ring, &mut see)))?;
        self.fire_all(fires);
        Ok(window)
    }

    /// Another session takes the place of one that ended ([`Flight::let_go`]): the ring begins anew. Triggers keep what they have learned.
    ///
    /// # Errors
    /// Where there is no memory.
    pub fn renew(&mut self, session: &Session) -> Result<(), FlightError> {
        self.ring = session.ring(Flight::bounds(&self.options), self.watched.clone())?;
        Ok(())
    }

    /// The session ends, and this goes on with another one: what waits for its time is written now.
    pub fn let_go(&mut self, session: &mut Session) -> Vec<FlightNews> {
        let mut news = Vec::new();
        if self.waiting.is_some() {
            self.write(session, &mut news);
        }
        news
    }

    /// What waits for its time is written now, and all is finished.
    pub fn finish(&mut self, session: &mut Session) -> Vec<FlightNews> {
        let mut news = Vec::new();
        // The last records are in the spool a moment later. Among them is the death of the target, where that is why the recording ends.
        for _ in 0..LAST_LOOKS {
            std::thread::sleep(LAST_PAUSE);
            let _ = self.see(session);
        }
        if self.waiting.is_some() {
            self.write(session, &mut news);
        }
        self.detail.end(&mut news);
        self.reap(true, &mut news);
        news
    }

    fn fire(&mut self, fired: Fired, passed_over: u64, asked: Option<Asked>) {
        match &mut self.waiting {
            Some(waiting) => {
                if waiting.also.len() < MOST_ALSO {
                    waiting.also.push(fired.reason);
                }
                waiting.asked.extend(asked);
            }
            None => {
                let until = Instant::now() + self.options.after;
                let asked = asked.into_iter().collect();
                self.waiting = Some(Waiting { fired, until, also: Vec::new(), passed_over, asked });
            }
        }
    }

    fn forget_figures(&mut self) {
        let long = Flight::bounds(&self.options).length + Duration::from_secs(6);
        let now = self.clock.now_epoch();
        while let Some(Event::Figures(table)) = self.figures.front()
            && now.since(table.at).get().is_some_and(|ns| u128::from(ns) > long.as_nanos())
        {
            self.figures.pop_front();
        }
    }

    fn write(&mut self, session: &mut Session, news: &mut Vec<FlightNews>) {
        let Some(waiting) = self.waiting.take() else { return };
        let removed = self.options.shelf.make_place();
        if !removed.is_empty() {
            news.push(FlightNews::Removed(removed));
        }
        let path = self.options.shelf.path_for(&waiting.fired);
        let done =
            Pending::begin(&path).and_then(|pending| match self.write_into(session, &pending, &waiting) {
                Ok(()) => self.start_finishing(&path, pending.folder()),
                Err(error) => {
                    pending.drop();
                    Err(error)
                }
            });
        match done {
            Ok(child) => {
                let Fired { trigger, at, .. } = &waiting.fired;
                let why = waiting.fired.sentence();
                let window = KeptWindow { path, why, trigger: trigger.clone(), at: *at };
                self.finishing.push(Finishing { window, child, asked: waiting.asked });
            }
            Err(error) => {
                let told = format!("{} It could not be kept: {error}", waiting.fired.sentence());
                waiting.asked.into_iter().for_each(|asked| asked.answer(Err(error.to_string())));
                news.push(FlightNews::Failed(told));
            }
        }
    }

    fn write_into(
        &mut self,
        session: &mut Session,
        pending: &Pending,
        waiting: &Waiting,
    ) -> Result<(), FlightError> {
        let written = session.write_window(&mut self.ring, &pending.spool())?;
        let within = |event: &&Event<'static>| match event {
            // The rates of a sample are of the time before it.
            Event::Figures(table) => !table.at.is_known() || table.at >= written.began,
            _ => false,
        };
        pending.figures(self.figures.iter().filter(within))?;
        let fired = &waiting.fired;
        let number = |at: Timestamp| at.get().unwrap_or_default();
        let kept = KeptMeta {
            trigger: fired.trigger.clone(),
            reason: fired.reason.clone(),
            at: number(fired.at),
            also: waiting.also.clone(),
            passed_over: waiting.passed_over,
        };
        let meta = Meta { kept: Some(kept), ..self.options.meta.clone() };
        let sentences = self.sentences(waiting, written.began);
        pending.complete(&PendingHead { meta, sentences })
    }

    /// What the report begins with.
    fn sentences(&self, waiting: &Waiting, began: Timestamp) -> String {
        let mut all = vec![waiting.fired.sentence()];
        if !waiting.also.is_empty() {
            all.push(format!("Also {}.", figures::list(&waiting.also, 2)));
        }
        if waiting.passed_over > 0 {
            let times = figures::plural(waiting.passed_over, "time");
            all.push(format!("The same trigger fired {times} more since its last recording."));
        }
        let before = waiting.fired.at.since(began).get().map_or(Duration::ZERO, Duration::from_nanos);
        let state = self.ring.state();
        if before + Duration::from_secs(1) < self.options.before && state.shortened > 0 {
            all.push(format!(
                "The ring's memory of {} held {:.1} s of the {:.0} s before that were asked for.",
                figures::bytes(self.options.memory),
                before.as_secs_f64(),
                self.options.before.as_secs_f64(),
            ));
        }
        all.join(" ")
    }

    fn start_finishing(&self, path: &Path, pending: &Path) -> Result<Child, FlightError> {
        let Some((program, words)) = self.options.finish.split_first() else {
            return Err(FlightError::NotPending(pending.into()));
        };
        let mut command = Command::new(program);
        command.args(words).arg(pending).stdin(Stdio::null()).stdout(Stdio::null());
        // Ctrl-C ends the recorder, which waits for what it has begun to write.
        command.process_group(0);
        command.spawn().map_err(FlightError::file(path))
    }

    /// Tells what was finished; with `all`, waits for the rest.
    fn reap(&mut self, all: bool, news: &mut Vec<FlightNews>) {
        for mut one in std::mem::take(&mut self.finishing) {
            let ended = if all { one.child.wait().map(Some) } else { one.child.try_wait() };
            let failed = match ended {
                Ok(None) => {
                    self.finishing.push(one);
                    continue;
                }
                Ok(Some(status)) => (!status.success()).then(|| status.to_string()),
                Err(error) => Some(error.to_string()),
            };
            match failed {
                None => {
                    self.kept += 1;
                    one.asked.into_iter().for_each(|asked| asked.answer(Ok(one.window.path.clone())));
                    news.push(FlightNews::Kept(one.window));
                }
                Some(why) => {
                    let why = format!("{} It is not finished yet: {why}", one.window.why);
                    one.asked.into_iter().for_each(|asked| asked.answer(Err(why.clone())));
                    news.push(FlightNews::Failed(why));
                }
            }
        }
    }
}

fn at(sight: &Sight<'_>) -> Timestamp {
    match sight {
        Sight::Request(of) => of.at,
        Sight::Call(of) => of.at,
        Sight::Signal { at, .. } | Sight::End { at, .. } => *at,
    }
}
