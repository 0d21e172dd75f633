//! What a process works on while it computes: the file, or the other end of connections, whose content most of its time outside of calls
//! goes to. Rules about CPU time name it.

use crate::gate::gated;
use crate::words;
use whyslow_facts::folds::account::{CallTime, ObjectKind, ThreadAccount};
use whyslow_facts::{Exemplar, Facts, ProcessId, ThreadFacts, WorkedOn};
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{Measurement, Subject};

/// With a smaller part of the time no file or peer stands for the rest.
const MOST: f64 = 0.5;

/// The thing.
pub(crate) struct Content<'f> {
    on: WorkedOn,
    /// As people read it.
    name: String,
    /// What each request brought of it, bytes; `None` where no requests are served, or fewer than it was read for.
    per_request: Option<u64>,
    accounts: Vec<&'f ThreadAccount>,
}

impl<'f> Content<'f> {
    /// `None` where nothing stands out, or where it need not be its content that the time goes to.
    pub(crate) fn of_process(facts: &'f Facts, process: ProcessId) -> Option<Content<'f>> {
        Content::of(facts, |thread| thread.process == process)
    }

    /// The same of one thread.
    pub(crate) fn of_thread(facts: &'f Facts, tid: Tid) -> Option<Content<'f>> {
        Content::of(facts, |thread| thread.tid == tid)
    }

    #[gated]
    fn of(facts: &'f Facts, is_meant: impl Fn(&ThreadFacts) -> bool) -> Option<Content<'f>> {
        let threads = facts.world.threads.iter().filter(|(_, thread)| is_meant(thread));
        let accounts: Vec<&ThreadAccount> = threads
            .filter_map(|(id, thread)| facts.accounts.of(id).filter(|account| account.tid == thread.tid))
            .collect();
        let first = facts.worked_on(accounts.iter().copied()).into_iter().next();
        let on = first.filter(|on| on.part >= MOST && on.is_content())?;
        let name = facts.accounts.objects.get(on.object).name();
        let name = match on.kind {
            ObjectKind::Peer => facts.peer_words(name).into_owned(),
            _ => name.to_string(),
        };
        let requests = facts.work.requests;
        let per_request = (requests > 0 && on.rounds >= requests / 2).then(|| on.bytes / requests);
        (!name.is_empty()).then_some(Content { on, name, per_request, accounts })
    }

    /// For a title, behind what is computed: `, on what it reads of /srv/a.json`.
    pub(crate) fn clause(&self) -> String {
        let name = &self.name;
        match self.on.kind {
            ObjectKind::File => format!(", on what it reads of {name}"),
            ObjectKind::Clients => format!(", on what clients of {name} send"),
            ObjectKind::Pipe => format!(", on what comes through {name}"),
            _ => format!(", on what {name} sends"),
        }
    }

    /// For a cause: how much of the time, how often and how much was read.
    pub(crate) fn sentence(&self) -> String {
        let each = words::bytes(self.on.bytes_each());
        let often = match self.on.rounds {
            0 | 1 => {
                format!("{} in {}", words::bytes(self.on.bytes), words::plural(self.on.reads, "read"))
            }
            rounds => format!("{} times, {each} each", words::count(rounds)),
        };
        let per_request =
            self.per_request.map_or(String::new(), |bytes| format!(", {} a request", words::bytes(bytes)));
        format!(
            " {} of what it computes follows reads of {} ({often}{per_request}).",
            words::percent(self.on.part),
            self.name
        )
    }

    /// The figures of these.
    pub(crate) fn figures(&self) -> Vec<Measurement> {
        let mut figures = vec![
            Measurement::share("share_following_reads", self.on.part).at_least(MOST),
            Measurement::count("times_read", self.on.rounds),
            Measurement::bytes("bytes_per_time", self.on.bytes_each()),
        ];
        figures.extend(self.per_request.map(|bytes| Measurement::bytes("bytes_per_request", bytes)));
        figures
    }

    /// A subject with what is worked on, where it names nothing else.
    pub(crate) fn subject(&self, subject: Subject) -> Subject {
        let name = || Some(self.name.clone());
        match self.on.kind {
            ObjectKind::File if subject.path.is_none() => Subject { path: name(), ..subject },
            ObjectKind::Peer if subject.peer.is_none() => Subject { peer: name(), ..subject },
            _ => subject,
        }
    }

    /// The first read of it, and the longest.
    pub(crate) fn exemplars(&self) -> impl Iterator<Item = &'f Exemplar> {
        let is_read = |time: &&CallTime| {
            time.key.object == self.on.object && time.key.syscall.info().moves == Moves::Read
        };
        let reads = self.accounts.iter().flat_map(|account| &account.calls).find(is_read);
        reads.into_iter().flat_map(|time| time.exemplars.iter())
    }
}
