//! The recordings that were asked for: their index, their diagnosis, and what became of them since.
//!
//! A diagnosis is made by `whyslow report`, in a process of its own that gives up its rights before it reads: what a stranger's file may
//! do there ends with it. It is kept on disk by what the recording's files are, so that the second view is quick.

use crate::cache::Cache;
use crate::found::{Found, for_each_file};
use crate::index::Index;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The files of a recording are not looked at more often.
const AGAIN: Duration = Duration::from_millis(500);
/// A diagnosis that takes longer is given up.
const MOST_TIME: Duration = Duration::from_secs(3_600);
/// A recording that grows is diagnosed anew this long after the last time, and after twice as long as it took.
const BREATH: Duration = Duration::from_secs(2);
/// A recording that was written to within this time, and is not said to be complete, grows.
const GROWS: Duration = Duration::from_secs(8);
/// How nice the process is that diagnoses.
const GIVES_WAY: i32 = 10;
/// Indexes in memory.
const MOST_INDEXES: usize = 3;
/// Bytes of what the program says that are told.
const SAID: u64 = 4 << 10;

/// What a browser is told of a recording.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Status {
    pub(crate) name: String,
    /// Another one: what was shown is old.
    pub(crate) generation: u64,
    /// `waiting`, `diagnosing`, `ready`, `failed` or `gone`.
    pub(crate) state: &'static str,
    /// How long the diagnosis has taken, or took, s.
    pub(crate) seconds: f64,
    /// Why it failed.
    pub(crate) said: Option<String>,
    pub(crate) grows: bool,
    /// The part of the index that is there; null where there is none.
    pub(crate) indexed: Option<f64>,
    /// What is shown is the diagnosis of the files as they were some time ago.
    pub(crate) is_old: bool,
    pub(crate) bytes: u64,
}

/// How far the diagnosis is.
#[derive(Clone, Debug)]
enum Diagnosis {
    None,
    Running { since: Instant },
    Ready { took: Duration },
    Failed { took: Duration, said: String },
}

/// What is known of a recording.
struct Run {
    print: String,
    bytes: u64,
    looked: Instant,
    changed: SystemTime,
    generation: u64,
    is_gone: bool,
    index: Option<Result<Arc<Index>, String>>,
    /// Of which files the index is, and when it was begun.
    indexed: (String, Instant),
    diagnosis: Diagnosis,
    /// The diagnosis that is shown: of which files, in which file of the cache.
    shown: Option<(String, PathBuf)>,
    ended: Option<Instant>,
    verdict: Option<String>,
    used: Instant,
}

/// All runs.
pub(crate) struct Runs {
    whyslow: PathBuf,
    cache: Cache,
    show_secrets: bool,
    runs: Mutex<HashMap<u32, Run>>,
    /// Held while one is diagnosed: the next one waits.
    one: Mutex<()>,
    ends: AtomicBool,
}

/// What the page of a recording is to be made of.
pub(crate) enum PageOf {
    /// A packed file.
    Ready(PathBuf),
    /// The index.
    Index(Arc<Index>),
    /// Nothing yet.
    Nothing,
}

impl Runs {
    /// Diagnoses are made by that program, and kept there.
    pub(crate) fn new(whyslow: PathBuf, cache: Cache, show_secrets: bool) -> Runs {
        Runs {
            whyslow,
            cache,
            show_secrets,
            runs: Mutex::default(),
            one: Mutex::new(()),
            ends: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u32, Run>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the files, and begins what they need. It may block for as long as it takes to list them.
    pub(crate) fn look(self: &Arc<Self>, found: &Found) -> Status {
        let fresh = self.lock().get(&found.id).is_some_and(|run| run.looked.elapsed() < AGAIN);
        if !fresh {
            let (print, bytes, changed) = fingerprint(found);
            let mut runs = self.lock();
            let run = runs.entry(found.id).or_insert_with(|| Run {
                print: String::new(),
                bytes: 0,
                looked: Instant::now(),
                changed,
                generation: 0,
                is_gone: false,
                index: None,
                indexed: (String::new(), Instant::now()),
                diagnosis: Diagnosis::None,
                shown: None,
                ended: None,
                verdict: None,
                used: Instant::now(),
            });
            run.looked = Instant::now();
            run.is_gone = bytes == 0 && !found.path.exists();
            (run.print, run.bytes, run.changed) = (print, bytes, changed);
        }
        let grows = grows(found, self.lock().get(&found.id).map(|run| run.changed));
        self.advance(found, grows);
        self.status(found, grows)
    }

    /// Begins an index and a diagnosis where there is none of these files.
    fn advance(self: &Arc<Self>, found: &Found, grows: bool) {
        let mut runs = self.lock();
        let Some(run) = runs.get_mut(&found.id) else { return };
        run.used = Instant::now();
        if run.is_gone {
            return;
        }
        if found.is_recording && run.indexed.0 != run.print {
            let is_busy = matches!(&run.index, Some(Ok(index)) if !index.is_finished());
            // What grows keeps the index that it has for a while.
            if run.index.is_none() || !grows || !is_busy && run.indexed.1.elapsed() > 2 * BREATH {
                if let Some(Ok(old)) = &run.index {
                    old.stop();
                }
                run.indexed = (run.print.clone(), Instant::now());
                let opened = Index::open(&found.path);
                if let Ok(index) = &opened {
                    let (index, runs, id) = (index.clone(), self.clone(), found.id);
                    std::thread::spawn(move || {
                        index.build();
                        // What was shown of it was less.
                        if let Some(run) = runs.lock().get_mut(&id).filter(|run| run.shown.is_none()) {
                            run.generation += 1;
                        }
                    });
                }
                run.index = Some(opened);
            }
        }
        let is_shown = run.shown.as_ref().is_some_and(|(print, _)| *print == run.print);
        let (idle, took, has_failed) = match &run.diagnosis {
            Diagnosis::Running { .. } => (false, Duration::ZERO, false),
            Diagnosis::None => (true, Duration::ZERO, false),
            Diagnosis::Ready { took } => (true, *took, false),
            Diagnosis::Failed { took, .. } => (true, *took, true),
        };
        // Files that could not be diagnosed are not tried again unless they grow.
        let rested = run.ended.is_none_or(|ended| ended.elapsed() > BREATH.max(2 * took));
        if idle && !is_shown && rested && (grows || !has_failed) {
            let file = self.cache.file(&run.print);
            if file.is_file() {
                run.verdict = verdict(&file);
                run.shown = Some((run.print.clone(), file));
                run.diagnosis = Diagnosis::Ready { took: Duration::ZERO };
                run.generation += 1;
            } else {
                run.diagnosis = Diagnosis::Running { since: Instant::now() };
                let (runs, found, print) = (self.clone(), found.clone(), run.print.clone());
                std::thread::spawn(move || runs.diagnose(&found, print));
            }
        }
        // The index that nobody asked for longest makes room.
        let mut with: Vec<(Instant, u32)> =
            runs.iter().filter(|(_, run)| run.index.is_some()).map(|(id, run)| (run.used, *id)).collect();
        with.sort_unstable();
        for (_, id) in with.iter().take(with.len().saturating_sub(MOST_INDEXES)) {
            if let Some(run) = runs.get_mut(id) {
                if let Some(Ok(index)) = run.index.take() {
                    index.stop();
                }
                run.indexed.0.clear();
            }
        }
    }

    fn diagnose(&self, found: &Found, print: String) {
        let one = self.one.lock().unwrap_or_else(PoisonError::into_inner);
        let began = Instant::now();
        if let Some(run) = self.lock().get_mut(&found.id) {
            run.diagnosis = Diagnosis::Running { since: began };
        }
        let file = self.cache.file(&print);
        let made = self.make(&found.path, &file);
        drop(one);
        let told = made.as_ref().ok().and_then(|()| verdict(&file));
        self.cache.trim(&file);
        let mut runs = self.lock();
        let Some(run) = runs.get_mut(&found.id) else { return };
        run.ended = Some(Instant::now());
        let took = began.elapsed();
        match made {
            Ok(()) => {
                run.diagnosis = Diagnosis::Ready { took };
                run.shown = Some((print, file));
                run.verdict = told;
            }
            Err(said) => run.diagnosis = Diagnosis::Failed { took, said },
        }
        run.generation += 1;
    }

    fn make(&self, path: &Path, file: &Path) -> Result<(), String> {
        let temporary = self.cache.temporary()?;
        let mut command = Command::new(&self.whyslow);
        command.arg("report").arg("--page-data").arg("-o").arg(temporary.path());
        if self.show_secrets {
            command.arg("--show-secrets");
        }
        command.arg("--").arg(path);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let name = self.whyslow.display().to_string();
        let child = command.spawn().map_err(|error| format!("{name} cannot be started: {error}"))?;
        // Somebody looks at the page meanwhile: zooms come first.
        let pid = rustix::process::Pid::from_child(&child);
        let _ = rustix::process::setpriority_process(Some(pid), GIVES_WAY);
        let (said, status) = ended(child, MOST_TIME, &|| self.ends.load(Ordering::Relaxed))?;
        if !status.success() {
            return Err(if said.is_empty() { format!("the diagnosis ended with {status}") } else { said });
        }
        temporary.persist(file).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Ends what is under way.
    pub(crate) fn end(&self) {
        self.ends.store(true, Ordering::Relaxed);
        for run in self.lock().values() {
            if let Some(Ok(index)) = &run.index {
                index.stop();
            }
        }
    }

    fn status(&self, found: &Found, grows: bool) -> Status {
        let runs = self.lock();
        let Some(run) = runs.get(&found.id) else {
            return Status {
                name: found.name.clone(),
                generation: 0,
                state: "waiting",
                seconds: 0.0,
                said: None,
                grows,
                indexed: None,
                is_old: false,
                bytes: found.bytes,
            };
        };
        let (state, seconds, said) = match &run.diagnosis {
            Diagnosis::None => ("waiting", 0.0, None),
            Diagnosis::Running { since } => ("diagnosing", since.elapsed().as_secs_f64(), None),
            Diagnosis::Ready { took } => ("ready", took.as_secs_f64(), None),
            Diagnosis::Failed { took, said } => ("failed", took.as_secs_f64(), Some(said.clone())),
        };
        Status {
            name: found.name.clone(),
            generation: run.generation,
            state: if run.is_gone { "gone" } else { state },
            seconds,
            said,
            grows,
            indexed: match &run.index {
                Some(Ok(index)) => Some(index.progress()),
                _ => None,
            },
            is_old: run.shown.as_ref().is_some_and(|(print, _)| *print != run.print),
            bytes: run.bytes,
        }
    }

    /// What the page is made of: the diagnosis, else the index.
    pub(crate) fn page(&self, id: u32) -> PageOf {
        let runs = self.lock();
        let Some(run) = runs.get(&id) else { return PageOf::Nothing };
        if let Some((_, file)) = run.shown.as_ref().filter(|(_, file)| file.is_file()) {
            return PageOf::Ready(file.clone());
        }
        match &run.index {
            Some(Ok(index)) => PageOf::Index(index.clone()),
            _ => PageOf::Nothing,
        }
    }

    /// The index.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn index(&self, id: u32) -> Result<Arc<Index>, String> {
        match self.lock().get(&id).and_then(|run| run.index.clone()) {
            Some(index) => index,
            None => Err("there is no index: captures have none, its page has what was kept".to_string()),
        }
    }

    /// What was found, in a sentence, where that is known.
    pub(crate) fn verdict(&self, id: u32) -> Option<String> {
        self.lock().get(&id)?.verdict.clone()
    }
}

/// Waits for a program, for so long at most and until it is to be given up; what it said, and how it ended.
pub(crate) fn ended(
    mut child: Child,
    most: Duration,
    gives_up: &dyn Fn() -> bool,
) -> Result<(String, std::process::ExitStatus), String> {
    let stderr = child.stderr.take();
    let said = std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut stderr) = stderr {
            let _ = (&mut stderr).take(SAID).read_to_end(&mut text);
            // The rest is taken, or the program would wait for us.
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
        }
        String::from_utf8_lossy(&text).trim().to_string()
    });
    let began = Instant::now();
    let mut pause = Duration::from_millis(2);
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok((said.join().unwrap_or_default(), status));
        }
        if began.elapsed() > most || gives_up() {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("it was given up after {} s", began.elapsed().as_secs()));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}

/// What tells files from those that were there before; their bytes; when they changed last.
fn fingerprint(found: &Found) -> (String, u64, SystemTime) {
    let mut entries = Vec::new();
    let (mut bytes, mut changed) = (0, SystemTime::UNIX_EPOCH);
    for_each_file(&found.path, found.is_recording, &mut |path, about| {
        let modified = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let is_part = path.extension().is_none_or(|ending| ending != "tmp");
        // What a recorder writes beside its tables is no change of these.
        if is_part && (!found.is_recording || path.parent().is_some_and(|parent| !parent.ends_with("spool")))
        {
            entries.push(format!("{}\0{}\0{modified:?}", path.display(), about.len()));
        }
        bytes += about.len();
        changed = changed.max(modified);
    });
    entries.sort_unstable();
    let mut hash = Sha256::new();
    hash.update(env!("CARGO_PKG_VERSION"));
    entries.iter().for_each(|entry| {
        hash.update(entry);
        hash.update([0]);
    });
    let print = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    (print, bytes, changed)
}

fn grows(found: &Found, changed: Option<SystemTime>) -> bool {
    let recently = changed.and_then(|changed| changed.elapsed().ok()).is_some_and(|since| since < GROWS);
    found.is_recording && recently && !whyslow_store::read_meta(&found.path).is_ok_and(|meta| meta.complete)
}

/// The verdict in a packed page.
fn verdict(file: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Page {
        page: Runs,
    }
    #[derive(Deserialize)]
    struct Runs {
        runs: Vec<One>,
    }
    #[derive(Deserialize)]
    struct One {
        diagnosis: Verdict,
    }
    #[derive(Deserialize)]
    struct Verdict {
        verdict: String,
    }
    let packed = std::io::BufReader::new(std::fs::File::open(file).ok()?);
    let page: Page =
        serde_json::from_reader(std::io::BufReader::new(flate2::read::GzDecoder::new(packed))).ok()?;
    page.page.runs.into_iter().next().map(|run| run.diagnosis.verdict)
}
