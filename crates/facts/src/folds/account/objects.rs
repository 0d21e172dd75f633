//! What time is spent on, each thing named once: a file or the files of one pattern, a peer, a lock.

use crate::folds::graph::{End, Graph, LongCall, Resource};
use crate::folds::peers::{Role, role_of};
use crate::pattern::pattern_of;
use crate::world::fds::FdLife;
use crate::world::ids::{FileId, LifeId, ObjectId, ProcessId};
use crate::world::{Seen, World};
use hashbrown::HashMap;
use std::hash::BuildHasher;
use whyslow_model::{FdKind, Syscall};

/// What kind of thing it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ObjectKind {
    /// Nothing that has a name.
    Nothing,
    /// A file, a directory, a device.
    File,
    /// A terminal.
    Terminal,
    /// A pipe or FIFO.
    Pipe,
    /// An eventfd.
    Event,
    /// A time.
    Timer,
    /// The other end of a connection that this program opened.
    Peer,
    /// Clients of this program.
    Clients,
    /// A listening socket.
    Listener,
    /// A futex: a lock or a condition.
    Lock,
    /// A lock on a file.
    FileLock,
    /// System V semaphores.
    Semaphore,
    /// The end of a child process.
    Child,
    /// The end of a thread.
    Thread,
    /// A signal, or changes in directories.
    Signal,
    /// Several descriptors, of which none is known to have ended the wait.
    Several,
    /// A descriptor of which only the number is known.
    Descriptor,
}

/// One thing.
#[derive(Clone, Debug)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// Its path, address or number; of several that are alike their pattern. Empty where there is none.
    name: Box<str>,
    /// The first of those.
    first: Box<str>,
    several: bool,
}

impl Object {
    /// Its path, address or number; the pattern where there are several; empty where it has none.
    pub fn name(&self) -> &str {
        if self.several { &self.name } else { &self.first }
    }

    /// The first that it stood for: what it was called before there were several.
    pub fn first(&self) -> &str {
        &self.first
    }
}

/// All things. Bounded: past the cap there are no new ones, and time is spent on nothing that has a name.
#[derive(Debug)]
pub struct Objects {
    objects: Vec<Object>,
    index: HashMap<(ObjectKind, Box<str>), ObjectId, foldhash::fast::RandomState>,
    /// Of open file descriptions, and whether they had a name then.
    of_lives: HashMap<LifeId, (ObjectId, (bool, bool)), foldhash::fast::RandomState>,
    /// By the hash of their path.
    of_paths: HashMap<u64, ObjectId, foldhash::fast::RandomState>,
    hasher: foldhash::fast::RandomState,
}

impl Default for Objects {
    fn default() -> Self {
        let none = Object { kind: ObjectKind::Nothing, name: "".into(), first: "".into(), several: false };
        Objects {
            objects: vec![none],
            index: HashMap::default(),
            of_lives: HashMap::default(),
            of_paths: HashMap::default(),
            hasher: Default::default(),
        }
    }
}

impl Objects {
    /// Things told apart; one takes some 150 bytes.
    const MAX: usize = 16_384;
    /// Descriptions and paths whose thing is remembered; past it they are asked again.
    const MAX_REMEMBERED: usize = 32_768;

    /// The thing of that number.
    pub fn get(&self, id: ObjectId) -> &Object {
        self.objects.get(id.0 as usize).unwrap_or(&self.objects[0])
    }

    /// Those whose name is this, or has it as its last word: a lock's is `futex 0x7f10`.
    pub fn of_name<'a>(&'a self, name: &'a str) -> impl Iterator<Item = ObjectId> + 'a {
        let is_its = move |own: &str| {
            own == name || own.strip_suffix(name).is_some_and(|before| before.ends_with(' '))
        };
        let objects = self.objects.iter().enumerate();
        objects.filter(move |(_, object)| is_its(object.name())).map(|(at, _)| ObjectId(at as u32))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Object> {
        self.objects.iter()
    }

    /// What a call was spent on. `long` is what the graph of waits knows of it.
    #[inline]
    pub(super) fn of(
        &mut self,
        seen: &Seen<'_>,
        long: Option<&LongCall>,
        graph: &Graph,
        world: &World,
    ) -> ObjectId {
        if let Some(long) = long {
            return self.of_long(seen, long, graph, world);
        }
        match (seen.life, seen.file) {
            (Some(life), file) => match world.fds.get(life) {
                Some(known) => self.of_life(life, known, world),
                None => file.map_or(ObjectId::NONE, |file| self.of_file(file, world)),
            },
            (None, Some(file)) => self.of_file(file, world),
            (None, None) => ObjectId::NONE,
        }
    }

    /// What made a wait for several descriptors end: what the thread looks at next.
    #[cold]
    pub(super) fn looked_at(&mut self, seen: &Seen<'_>, object: ObjectId, world: &World) -> Option<ObjectId> {
        let life = world.fds.get(seen.life?)?;
        if matches!(seen.call.syscall, Syscall::ACCEPT | Syscall::ACCEPT4) {
            return Some(self.alone(ObjectKind::Listener, life.local().unwrap_or_default()));
        }
        let answers =
            life.kind.is_socket() || matches!(life.kind, FdKind::Pipe | FdKind::Event | FdKind::Timer);
        answers.then_some(object)
    }

    #[cold]
    fn of_long(&mut self, seen: &Seen<'_>, long: &LongCall, graph: &Graph, world: &World) -> ObjectId {
        let process = seen.process;
        match long.what {
            Resource::Lock { .. } if long.slept() => self.alone(ObjectKind::Timer, ""),
            Resource::Lock { address } => self.alone(ObjectKind::Lock, &format!("futex {address:#x}")),
            Resource::Thread { tid } => {
                let thread = world.threads.thread_of(tid).and_then(|thread| thread.comm.as_deref());
                self.alone(ObjectKind::Thread, thread.unwrap_or_default())
            }
            Resource::Child { pid } => {
                let child = pid.and_then(|pid| world.threads.thread_of(pid));
                let name = child.and_then(|child| world.threads.process(child.process).name());
                self.alone(ObjectKind::Child, name.unwrap_or_default())
            }
            Resource::Pipe(end) => self.of_end(ObjectKind::Pipe, end, process, graph, world),
            Resource::Event(end) => self.of_end(ObjectKind::Event, end, process, graph, world),
            Resource::Peer(end) => self.of_end(ObjectKind::Peer, end, process, graph, world),
            Resource::Accept(end) => self.of_end(ObjectKind::Listener, end, process, graph, world),
            Resource::Semaphore(end) => self.of_end(ObjectKind::Semaphore, end, process, graph, world),
            Resource::FileLock(end) => {
                let name = graph.name(end.name).unwrap_or_default();
                self.alike(ObjectKind::FileLock, name)
            }
            Resource::File(end) => match (seen.file, seen.life) {
                (Some(file), _) => self.of_file(file, world),
                _ => self.of_end(ObjectKind::File, end, process, graph, world),
            },
            Resource::Several => self.alone(ObjectKind::Several, ""),
            Resource::Timer => self.alone(ObjectKind::Timer, ""),
            Resource::Signal => self.alone(ObjectKind::Signal, ""),
            Resource::Call | Resource::Unknown => ObjectId::NONE,
        }
    }

    fn of_end(
        &mut self,
        kind: ObjectKind,
        end: End,
        process: ProcessId,
        graph: &Graph,
        world: &World,
    ) -> ObjectId {
        let life = world.threads.process(process).slots.get(end.fd);
        if let Some((life, known)) = life.and_then(|life| Some((life, world.fds.get(life)?))) {
            return self.of_life(life, known, world);
        }
        match (graph.name(end.name), end.fd) {
            (Some(name), _) => self.alike(kind, name),
            (None, -1) => self.alone(kind, ""),
            (None, fd) => self.alone(kind, &format!("fd {fd}")),
        }
    }

    fn of_file(&mut self, file: FileId, world: &World) -> ObjectId {
        let known = world.files.get(file);
        let path = &*known.path;
        let hash = self.hasher.hash_one((path, known.fifo));
        if let Some(known) = self.of_paths.get(&hash) {
            return *known;
        }
        let kind = match FdKind::of_path(path.as_bytes()) {
            _ if known.fifo => ObjectKind::Pipe,
            FdKind::Terminal => ObjectKind::Terminal,
            _ => ObjectKind::File,
        };
        let id = self.alike(kind, path);
        if self.of_paths.len() >= Self::MAX_REMEMBERED {
            self.of_paths.clear();
        }
        self.of_paths.insert(hash, id);
        id
    }

    fn of_life(&mut self, id: LifeId, life: &FdLife, world: &World) -> ObjectId {
        if let Some(file) = life.file {
            return self.of_file(file, world);
        }
        let is_named = (life.ends.is_some() || life.name.is_some(), life.listening);
        if let Some((known, was_named)) = self.of_lives.get(&id)
            && *was_named == is_named
        {
            return *known;
        }
        let object = self.named(life, world);
        if self.of_lives.len() >= Self::MAX_REMEMBERED {
            self.of_lives.clear();
        }
        self.of_lives.insert(id, (object, is_named));
        object
    }

    #[cold]
    fn named(&mut self, life: &FdLife, world: &World) -> ObjectId {
        use ObjectKind::*;
        let kind = match life.kind {
            FdKind::File | FdKind::Directory | FdKind::DevNull | FdKind::Device | FdKind::Proc => File,
            FdKind::Terminal => Terminal,
            FdKind::Pipe => Pipe,
            FdKind::Event => Event,
            FdKind::Timer => Timer,
            FdKind::Signal | FdKind::Inotify => Signal,
            FdKind::Epoll => Several,
            FdKind::Tcp | FdKind::Udp | FdKind::Unix | FdKind::Netlink | FdKind::Socket => {
                let is_unconnected =
                    life.kind == FdKind::Udp && life.peer().is_none() && life.local().is_some();
                match role_of(life, world) {
                    _ if life.listening || is_unconnected => Listener,
                    Role::Client => Clients,
                    Role::Server => Peer,
                }
            }
            FdKind::Anonymous | FdKind::Unknown => Descriptor,
        };
        let name = match kind {
            // Each client has an address of its own: they are alike by the one that they asked.
            Clients | Listener => life.local(),
            Timer | Signal | Several | Event => Some(""),
            _ => life.peer().or(life.name.as_deref()),
        };
        match name {
            Some(name) => self.alike(kind, name),
            None => self.alone(kind, &format!("fd {}", life.fd)),
        }
    }

    /// One of those of its pattern.
    fn alike(&mut self, kind: ObjectKind, name: &str) -> ObjectId {
        match kind {
            ObjectKind::File | ObjectKind::FileLock => self.intern(kind, &pattern_of(name), name),
            _ => self.alone(kind, name),
        }
    }

    fn alone(&mut self, kind: ObjectKind, name: &str) -> ObjectId {
        self.intern(kind, name, name)
    }

    fn intern(&mut self, kind: ObjectKind, pattern: &str, name: &str) -> ObjectId {
        let key = (kind, Box::from(pattern));
        if let Some(known) = self.index.get(&key) {
            if let Some(object) = self.objects.get_mut(known.0 as usize) {
                object.several |= &*object.first != name;
            }
            return *known;
        }
        if self.objects.len() >= Self::MAX {
            return ObjectId::NONE;
        }
        let id = ObjectId(self.objects.len() as u32);
        self.objects.push(Object { kind, name: pattern.into(), first: name.into(), several: false });
        self.index.insert(key, id);
        id
    }
}
