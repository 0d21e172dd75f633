//! `whyslow top`: the live host on a screen: what is full, who takes it, who waits for it, and on into one process.
//!
//! A thread samples; this one waits for samples, keys and answers, and draws when one came: nothing changes on the
//! screen that did not change in fact.

mod about;
mod app;
mod columns;
mod draw;
mod keys;
mod look;
mod once;

use crate::cli::{Global, Status};
use about::Answer;
use anyhow::{Context, bail};
use app::{Action, App, Page};
use look::Look;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, Event, KeyCode, KeyModifiers,
};
use ratatui::crossterm::execute;
use signal_hook::consts::{SIGHUP, SIGTERM, SIGTSTP};
use std::io::{IsTerminal, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::time::Duration;
use whyslow_host::{Options, Sampler, own_cpu};
use whyslow_model::Nanos;

/// Watch the live host: which resource is full, who takes it, who waits for it
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  whyslow top                        the host, each second; ? lists the keys
  whyslow top -i 5s --sort waits     each five seconds, who waits most first
  whyslow top --once                 one look, as text
  whyslow top --once --json          one look, for scripts")]
pub(crate) struct Top {
    /// How often to look: 500ms, 1s, 10s
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = crate::live::duration)]
    interval: Duration,
    /// Sort by this column: pid, name, state, cpu, system, waits, read, write, rss, faults, switches, threads, command
    #[arg(short = 'S', long, value_name = "COLUMN")]
    sort: Option<String>,
    /// Print one look, over one interval, and end
    #[arg(long)]
    once: bool,
}

/// Looking more often than this costs more than it tells.
const SHORTEST: Duration = Duration::from_millis(200);
/// An hour: longer is another tool's work.
const LONGEST: Duration = Duration::from_secs(3600);
/// How long a key may wait until it is seen, at most.
const TICK: Duration = Duration::from_millis(100);

/// Carries the command out.
pub(crate) fn run(args: &Top, global: &Global) -> anyhow::Result<Status> {
    let sort = match &args.sort {
        None => app::usual_order(),
        Some(name) => columns::named(name).with_context(|| {
            let names: Vec<&str> = columns::COLUMNS.iter().map(|column| column.name).collect();
            format!("--sort {name}: no such column\nnext: one of {}", names.join(", "))
        })?,
    };
    let interval = args.interval.clamp(SHORTEST, LONGEST);
    let sampler = Sampler::new(Options::default())?;
    if args.once || global.json {
        return once(sampler, interval, sort, global);
    }
    if !stdout().is_terminal() {
        bail!("standard output is no terminal\nnext: whyslow top --once, with --json for scripts");
    }
    watch(sampler, interval, sort, global.colored(true))
}

fn once(mut sampler: Sampler, interval: Duration, sort: usize, global: &Global) -> anyhow::Result<Status> {
    sampler.sample();
    let before = own_cpu();
    std::thread::sleep(interval);
    let sample = sampler.sample();
    let look = Look::of(sample, since(before));
    if global.json {
        once::json(&look)?
    } else {
        once::text(look, sort)?
    }
    Ok(Status::Done)
}

/// CPU time of ours since then.
fn since(before: Nanos) -> Nanos {
    match (own_cpu().get(), before.get()) {
        (Some(now), Some(before)) => Nanos::new(now.saturating_sub(before)),
        _ => Nanos::UNKNOWN,
    }
}

/// What the sampling thread is told.
struct Pace(Duration);

fn watch(sampler: Sampler, interval: Duration, sort: usize, colour: bool) -> anyhow::Result<Status> {
    let (tell_pace, pace) = mpsc::channel();
    let (tell_look, looks) = mpsc::channel();
    let sampling = std::thread::Builder::new()
        .name("sampler".to_string())
        .spawn(move || sample(sampler, interval, &pace, &tell_look))
        .context("a thread for sampling")?;
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&ended)).context("signals")?;
    }
    // Gives the terminal back on a panic too.
    let mut terminal = ratatui::try_init().context("the terminal")?;
    let _ = execute!(stdout(), EnableMouseCapture);
    let mut screen = Screen { app: App::new(sort), interval, colour, tell_pace };
    let result = screen.run(&mut terminal, &looks, &ended);
    let _ = execute!(stdout(), DisableMouseCapture);
    ratatui::restore();
    // Ends the sampling thread, which may be asleep for an interval: it is left to itself.
    drop(screen);
    drop(sampling);
    result.map(|()| Status::Done)
}

/// Samples until nobody listens. The first sample, of levels and of rates since boot, is followed by a short one.
fn sample(mut sampler: Sampler, mut interval: Duration, pace: &Receiver<Pace>, tell: &Sender<Look>) {
    let mut wait = SHORTEST;
    sampler.sample();
    let mut before = own_cpu();
    loop {
        match pace.recv_timeout(wait) {
            Ok(Pace(new)) => interval = new,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let sample = sampler.sample();
        let used = since(before);
        before = own_cpu();
        let look = Look::of(sample, used);
        if tell.send(look).is_err() {
            return;
        }
        wait = interval;
    }
}

struct Screen {
    app: App,
    interval: Duration,
    colour: bool,
    tell_pace: Sender<Pace>,
}

impl Screen {
    fn run(
        &mut self,
        terminal: &mut DefaultTerminal,
        looks: &Receiver<Look>,
        ended: &AtomicBool,
    ) -> anyhow::Result<()> {
        let (tell, answers) = mpsc::channel();
        let mut place = draw::Place::default();
        let mut changed = true;
        loop {
            if changed {
                let interval = humantime(self.interval);
                terminal.draw(|frame| place = draw::draw(frame, &self.app, &interval, self.colour))?;
            }
            changed = false;
            if event::poll(TICK)? {
                let event = event::read()?;
                changed = true;
                if is_suspend(&event) {
                    suspend(terminal)?;
                } else if let Some(action) = keys::action(&event, self.app.typing, place.top, place.offset)
                    && !self.act(&action, &tell)
                {
                    return Ok(());
                }
            }
            if ended.load(Ordering::Relaxed) {
                return Ok(());
            }
            loop {
                match looks.try_recv() {
                    Ok(look) => self.app.see(look),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => bail!("the sampling thread ended"),
                }
                changed = true;
            }
            for answer in answers.try_iter() {
                changed = true;
                match answer {
                    Answer::Table(pid, view, table) => self.app.fill(pid, view, table),
                    Answer::Remark(remark) => self.app.remark = remark,
                }
            }
        }
    }

    /// Carries an action out; false to end.
    fn act(&mut self, action: &Action, tell: &Sender<Answer>) -> bool {
        self.app.act(action);
        match action {
            Action::Quit => return false,
            Action::Interval(by) => {
                let new = if *by < 0 { self.interval / 2 } else { self.interval * 2 };
                self.interval = new.clamp(SHORTEST, LONGEST);
                // The thread is there as long as the screen is.
                let _ = self.tell_pace.send(Pace(self.interval));
            }
            Action::About(view) => {
                if let Some(pid) = self.app.process() {
                    let table = Err("looking …".to_string());
                    self.app.open(Page::About { pid, view, table });
                    about::ask(pid, view, tell.clone());
                }
            }
            Action::Record => {
                if let Some(pid) = self.app.process() {
                    let look = self.app.look.as_ref();
                    let task = look.and_then(|look| look.processes.iter().find(|task| task.pid == pid));
                    let name = task.map_or("process", |task| task.name()).to_string();
                    self.app.remark = about::keep(pid, &name, tell.clone());
                }
            }
            _ => {}
        }
        true
    }
}

fn is_suspend(event: &Event) -> bool {
    matches!(event, Event::Key(key)
        if key.code == KeyCode::Char('z') && key.modifiers.contains(KeyModifiers::CONTROL))
}

/// Ctrl-Z: the terminal is the shell's until we are called back.
fn suspend(terminal: &mut DefaultTerminal) -> anyhow::Result<()> {
    let _ = execute!(stdout(), DisableMouseCapture);
    ratatui::restore();
    signal_hook::low_level::emulate_default_handler(SIGTSTP)?;
    *terminal = ratatui::try_init()?;
    let _ = execute!(stdout(), EnableMouseCapture);
    terminal.clear()?;
    Ok(())
}

/// `1 s`, `500 ms`.
fn humantime(interval: Duration) -> String {
    match interval.as_millis() {
        ms if ms % 1000 == 0 => format!("{} s", ms / 1000),
        ms => format!("{ms} ms"),
    }
}
