//! Requests under way: from their first byte to the last of their answer.

use super::endpoints::{UNKNOWN, peer_row, row};
use super::made_in::MadeIn;
use super::record::{Downstream, Ending, Figures, ParentBy, RequestRecord, Side, TimeSplit};
use super::retries::{FailedLately, Try};
use super::serving::Made;
use super::{EndpointId, GroupFacts, Requests};
use crate::SLOW_CALL;
use crate::args::WaitKind;
use crate::exemplar::Exemplar;
use crate::folds::graph::{Graph, HandBack};
use crate::folds::peers::host_of;
use crate::world::ids::ThreadId;
use crate::world::threads::Threads;
use crate::world::{Seen, World};
use whyslow_model::{Nanos, Timestamp};
use whyslow_wire::{Key, Request};

/// One request under way.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) record: RequestRecord,
    pub(super) thread: ThreadId,
    /// What its thread had spent when it began, and at the last byte of the answer.
    from: Figures,
    to: Option<Figures>,
    /// Its thread had other requests too, or another thread answered it: its time is not its own.
    shared: bool,
    handed_over: bool,
    /// Its answer may have been among bytes that the capture does not have.
    unclear: bool,
    /// The place of the request in which it was made.
    parent_place: Option<u32>,
    /// Requests made in it that are under way.
    children: Vec<u32>,
    /// Requests made in it since the last byte of its answer: part of it only if more of the answer follows.
    since_answer: Vec<(EndpointId, Timestamp, Timestamp)>,
    /// The end of the last request made in it.
    covered_until: Timestamp,
    /// Which try it is, where the same request failed just before (client).
    again: Option<Try>,
}

impl Open {
    /// True where the first byte of its answer was moved.
    pub(super) fn is_answered(&self) -> bool {
        self.record.answered_by.is_some()
    }

    /// True where it may have been answered without that being seen: for how long it was open is unknown.
    pub(super) fn is_unclear(&self) -> bool {
        self.unclear
    }

    /// Its client sends no more. Where it has no answer yet, the client may ask the same again.
    pub(super) fn client_left(&mut self, when: Timestamp, lately: &mut FailedLately) {
        if self.record.client_left.is_known() {
            return;
        }
        self.record.client_left = when;
        if !self.is_answered() {
            lately.failed(&self.record, when, self.again.clone());
        }
    }

    /// True where something was asked of others for it.
    pub(super) fn has_asked(&self) -> bool {
        !self.record.downstream.is_empty() || !self.children.is_empty() || !self.since_answer.is_empty()
    }

    /// True where it has no answer, and waits for none of others.
    pub(super) fn is_in_hand(&self) -> bool {
        self.children.is_empty() && !self.is_answered()
    }

    /// The answer had so many bytes. `is_cut`: what its thread did until the last write was not all for it.
    pub(super) fn answer_was(&mut self, bytes: u64, is_cut: bool) {
        self.record.answer_bytes = bytes;
        self.shared |= is_cut;
    }

    /// Requests made between two writes of an answer that are told apart.
    const MOST_SINCE_ANSWER: usize = 1_024;

    /// A request was made in it, from `begin` to `end`.
    fn covers(&mut self, endpoint: EndpointId, begin: Timestamp, end: Timestamp) {
        let begin = later(begin, self.record.begin);
        let from = later(begin, self.covered_until);
        let trips = u64::from(from == begin);
        let ns = end.since(from).or_zero();
        Downstream::add(&mut self.record.downstream, Downstream { endpoint, count: 1, trips, ns });
        self.covered_until = later(self.covered_until, end);
    }

    /// It ended before what it asked for last did, as far as calls tell that overlap: that part is not its time.
    fn cut_covered(&mut self, end: Timestamp) {
        let mut beyond = self.covered_until.since(end).or_zero();
        for part in self.record.downstream.iter_mut().rev() {
            let cut = beyond.min(part.ns);
            part.ns -= cut;
            beyond -= cut;
        }
    }
}

/// All of them, by place.
#[derive(Debug, Default)]
pub(super) struct OpenTable {
    places: Vec<Option<Box<Open>>>,
    free: Vec<u32>,
}

impl OpenTable {
    /// Requests under way at once. One is about 1 KiB.
    const MOST: usize = 16_384;

    pub(super) fn get(&self, place: u32) -> Option<&Open> {
        self.places.get(place as usize)?.as_deref()
    }

    pub(super) fn get_mut(&mut self, place: u32) -> Option<&mut Open> {
        self.places.get_mut(place as usize)?.as_deref_mut()
    }

    /// Which try of a client it is, where the same one is open on its connection. Only for protocols that answer one request behind
    /// the other, and whose clients do not send ahead.
    fn asked_before(&self, places: &[(Key, u32)], record: &RequestRecord) -> Option<Try> {
        let open = places.iter().filter_map(|(_, place)| self.get(*place)).filter(|open| !open.is_answered());
        let last = open.max_by_key(|open| open.record.begin)?;
        FailedLately::before_its_answer(&last.record, last.again.as_ref(), record)
    }

    fn has_room(&self) -> bool {
        !self.free.is_empty() || self.places.len() < Self::MOST
    }

    fn add(&mut self, open: Open) -> u32 {
        let open = Some(Box::new(open));
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = open;
            return place;
        }
        self.places.push(open);
        self.places.len() as u32 - 1
    }

    fn take(&mut self, place: u32) -> Option<Box<Open>> {
        let open = self.places.get_mut(place as usize)?.take()?;
        self.free.push(place);
        Some(open)
    }
}

impl Requests {
    /// A request begins with this call, which moves `len` bytes of it; its place, or `None` where too many are open.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn begin(
        &mut self,
        at: usize,
        protocol: Option<&'static str>,
        request: Request,
        seen: &Seen<'_>,
        world: &World,
        len: u64,
    ) -> Option<u32> {
        let connection = &self.connections[at];
        let side = connection.side?;
        if !self.open.has_room() {
            self.not_followed += 1;
            return None;
        }
        self.count += 1;
        let call = seen.call;
        let is_hidden = request.endpoint == UNKNOWN;
        let address = match side {
            Side::Client => connection.peer.as_ref(),
            Side::Server => connection.local.as_ref().filter(|_| is_hidden),
        };
        let by_fd = connection.by_initiative && address.is_none() && protocol.is_none();
        let fd = seen.fd.filter(|_| by_fd && is_hidden);
        let endpoint = self.endpoints.id(side, protocol, &request.endpoint, address, fd);
        let thread = world.threads.thread(seen.thread);
        let mut from = Figures::default();
        let mut begin = call.ts;
        if side == Side::Server {
            from = Figures::of(thread);
            if call.dur >= SLOW_CALL && call.end().is_known() {
                // The thread waited for work.
                begin = call.end();
            } else {
                let ran = thread.sched.as_deref().is_some_and(|time| time.ran_through(call.ts, call.dur));
                from = from.without(seen.waits.filter(|_| !ran), call.dur);
            }
        }
        let polled = polled(seen, world);
        let made_in = match side {
            Side::Client => self.made_in(at, seen, polled, len),
            Side::Server => MadeIn::Nothing,
        };
        if matches!(made_in, MadeIn::Ambiguous)
            && let Some(row) = self.endpoints.get_mut(endpoint)
        {
            row.ambiguous += 1;
        }
        let (parent_place, by) = made_in.known();
        let parent = parent_place.and_then(|place| self.open.get(place));
        let connection = &self.connections[at];
        let serving = self.serving.of(seen.thread.0, call.tid);
        let shared = side == Side::Server && serving.is_busy() || thread.merged > 1;
        let record = RequestRecord {
            number: self.count,
            side,
            endpoint,
            detail: request.detail,
            host: request.host,
            trace_id: request.trace_id,
            status: None,
            peer: connection.peer.clone(),
            life: connection.life,
            fd: seen.fd.unwrap_or(-1),
            process: seen.process,
            tid: call.tid,
            answered_by: None,
            begin,
            received: Timestamp::UNKNOWN,
            first_byte: Timestamp::UNKNOWN,
            client_left: Timestamp::UNKNOWN,
            end: Timestamp::UNKNOWN,
            dur: Nanos::UNKNOWN,
            ending: Ending::Open,
            request_bytes: 0,
            answer_bytes: 0,
            parent: parent.map(|parent| (parent.record.number, by)),
            downstream: Vec::new(),
            split: None,
            first_line: Exemplar::of(call),
            last_line: None,
        };
        let again = self.failed_lately.again(&record).or_else(|| {
            let one_by_one = protocol.is_some_and(|protocol| protocol.starts_with("HTTP/1"));
            if side == Side::Server && one_by_one {
                self.open.asked_before(&self.connections[at].open, &record)
            } else {
                None
            }
        });
        if let Some(again) = &again
            && let Some(row) = self.endpoints.get_mut(endpoint)
        {
            row.retries.take(again, &record);
        }
        let place = self.open.add(Open {
            record,
            again,
            thread: seen.thread,
            from,
            to: None,
            shared,
            handed_over: false,
            unclear: false,
            parent_place,
            children: Vec::new(),
            since_answer: Vec::new(),
            covered_until: begin,
        });
        if let Some(parent) = parent_place.and_then(|parent| self.open.get_mut(parent)) {
            parent.children.push(place);
        }
        if side == Side::Server {
            if shared && let Some(other) = serving.only().and_then(|other| self.open.get_mut(other)) {
                other.shared = true;
            }
            serving.begins(place, polled);
        }
        Some(place)
    }

    pub(super) fn place_of(&self, at: usize, key: Key) -> Option<u32> {
        self.connections[at].open.iter().find(|(known, _)| *known == key).map(|(_, place)| *place)
    }

    pub(super) fn more_of_request(&mut self, place: u32, seen: &Seen<'_>, world: &World, bytes: u64) {
        if let Some(open) = self.open.get_mut(place) {
            open.record.request_bytes = open.record.request_bytes.saturating_add(bytes);
            open.record.received = seen.call.end();
            if open.record.side == Side::Server {
                self.serving.of(seen.thread.0, seen.call.tid).reads_for(Some(place), polled(seen, world));
            }
        }
    }

    /// Bytes were missed that may have been its answer.
    pub(super) fn unclear(&mut self, place: u32) {
        if let Some(open) = self.open.get_mut(place) {
            open.unclear = true;
        }
    }

    /// Bytes of its answer were moved.
    pub(super) fn answer(&mut self, place: u32, seen: &Seen<'_>, world: &World, bytes: u64) {
        let Some(open) = self.open.get_mut(place) else { return };
        let call = seen.call;
        for (endpoint, begin, end) in std::mem::take(&mut open.since_answer) {
            open.covers(endpoint, begin, end);
        }
        let record = &mut open.record;
        let begins = record.answered_by.is_none();
        if begins {
            record.first_byte = if record.side == Side::Server { call.ts } else { call.end() };
        }
        record.answered_by = Some(call.tid);
        if record.side == Side::Client {
            // What the answer is for, the thread goes on with.
            let parent = open.parent_place;
            self.serving.of(seen.thread.0, call.tid).reads_for(parent, polled(seen, world));
        }
        record.answer_bytes = record.answer_bytes.saturating_add(bytes);
        record.end = if call.end().is_known() { call.end() } else { call.ts };
        let so_far = record.end.since(record.begin).or_zero();
        let failed = record.failed();
        if record.side == Side::Server {
            if call.tid == record.tid && open.thread == seen.thread {
                open.to = Some(Figures::of(world.threads.thread(seen.thread)));
            } else {
                open.shared = true;
                open.handed_over = true;
            }
        }
        if self.endpoints.wants(open.record.endpoint, so_far, failed) {
            open.record.last_line = Some(Exemplar::of(call));
        }
        if begins && open.handed_over {
            let (since, number) = (open.record.received, open.record.number);
            let made = self.serving.of(seen.thread.0, call.tid).take_made(since);
            for made in made {
                self.adopt(place, (number, ParentBy::HandOver), made);
            }
        }
    }

    /// A thread goes on because another one gave it what it waited for. Where it serves one request, and had given that
    /// other one work since, what that one asked of others meanwhile was asked for this request.
    pub(crate) fn handed_back(&mut self, back: &HandBack, threads: &mut Threads, graph: &Graph) {
        let (Some(thread), Some(helper)) = (threads.find(back.tid), threads.find(back.by)) else { return };
        let Some(place) = self.serving.of(thread.0, back.tid).only() else { return };
        let Some(open) = self.open.get(place) else { return };
        let (since, number) = (open.record.received, open.record.number);
        let given =
            graph.given_work(back.by, back.tid, back.ts).filter(|given| since.is_known() && *given >= since);
        let helper = self.serving.of(helper.0, back.by);
        let Some(given) = given.filter(|_| helper.is_idle()) else { return };
        for made in helper.take_made(given) {
            self.adopt(place, (number, ParentBy::Helper), made);
        }
    }

    /// What another thread asked before it answered the request at `place`, or gave something back to who serves it, was
    /// asked for it.
    fn adopt(&mut self, place: u32, parent: (u64, ParentBy), made: Made) {
        if let Some(row) = self.endpoints.get_mut(made.endpoint)
            && let Some(record) = row.kept_mut().find(|record| record.number == made.number)
        {
            record.parent = Some(parent);
        }
        if let Some(open) = self.open.get_mut(place) {
            open.covers(made.endpoint, made.begin, made.end);
        }
    }

    fn add_downstream(&mut self, place: u32, endpoint: EndpointId, begin: Timestamp, end: Timestamp) {
        let Some(open) = self.open.get_mut(place) else { return };
        // Where its own end is seen only later, it may have ended before the answer did.
        if !open.is_answered() || end.is_known() && end <= open.record.end {
            open.covers(endpoint, begin, end);
        } else if open.since_answer.len() < Open::MOST_SINCE_ANSWER {
            open.since_answer.push((endpoint, begin, end));
        }
    }

    pub(super) fn finish_answered(&mut self, at: usize, place: u32, end: Timestamp) {
        self.connections[at].open.retain(|(_, other)| *other != place);
        self.connections[at].answered += 1;
        self.end(place, end, Ending::Answered, None);
    }

    /// It was no request after all.
    pub(super) fn forget(&mut self, at: usize, place: u32) {
        self.connections[at].open.retain(|(_, other)| *other != place);
        if let Some(open) = self.open.take(place) {
            if let Some(parent) = open.parent_place.and_then(|parent| self.open.get_mut(parent)) {
                parent.children.retain(|child| *child != place);
            }
            self.count = self.count.saturating_sub(1);
            self.serving.of(open.thread.0, open.record.tid).ends(place);
        }
    }

    /// It ended at `end`, by the call `last` where that is not the one that moved its last byte.
    pub(super) fn end(&mut self, place: u32, end: Timestamp, ending: Ending, last: Option<&Seen<'_>>) {
        if let Some(open) = self.close(place, end, ending) {
            self.count_closed(open, last);
        }
    }

    /// It ended, and is not counted yet.
    pub(super) fn close(&mut self, place: u32, end: Timestamp, ending: Ending) -> Option<Open> {
        if ending == Ending::Answered {
            self.count_children(place, end);
        }
        let mut open = *self.open.take(place)?;
        self.serving.of(open.thread.0, open.record.tid).ends(place);
        if end > open.record.begin {
            open.cut_covered(end);
        }
        let record = &mut open.record;
        record.ending = ending;
        record.end = end;
        record.dur = end.since(record.begin);
        if !open.shared
            && let (Some(to), Some(wall), Ending::Answered) = (&open.to, record.dur.get(), ending)
        {
            record.split = Some(TimeSplit::between(&open.from, to, wall));
        }
        let has_failed = match record.side {
            Side::Client => record.failed(),
            // Where it was seen to leave, that counted already.
            Side::Server => ending == Ending::Aborted && !record.client_left.is_known(),
        };
        if has_failed {
            self.failed_lately.failed(record, record.end, open.again.take());
        }
        if record.side == Side::Client {
            let made = Made { number: record.number, endpoint: record.endpoint, begin: record.begin, end };
            match (open.parent_place, record.parent) {
                (Some(parent), Some((number, _)))
                    if self.open.get(parent).is_some_and(|open| open.record.number == number) =>
                {
                    if let Some(parent) = self.open.get_mut(parent) {
                        parent.children.retain(|child| *child != place);
                    }
                    self.add_downstream(parent, made.endpoint, made.begin, made.end);
                }
                (_, None) => self.serving.of(open.thread.0, open.record.tid).made(made),
                _ => {}
            }
        }
        Some(open)
    }

    /// Counts what has ended.
    pub(super) fn count_closed(&mut self, open: Open, last: Option<&Seen<'_>>) {
        self.count_ended(&open);
        let mut record = open.record;
        if self.endpoints.wants(record.endpoint, record.dur.or_zero(), record.failed()) {
            if let Some(last) = last {
                record.last_line = Some(Exemplar::of(last.call));
            }
            self.endpoints.keep(record);
        }
    }

    /// What was asked in the request at `place` and has its answer, but perhaps not all of it, counts as far as it came;
    /// what has none counts up to `end`.
    fn count_children(&mut self, place: u32, end: Timestamp) {
        let Some(open) = self.open.get_mut(place) else { return };
        for child in std::mem::take(&mut open.children) {
            let Some(child) = self.open.get_mut(child) else { continue };
            child.parent_place = None;
            if end.is_known() && child.record.begin >= end {
                continue;
            }
            let until = if child.is_answered() { child.record.end.min(end) } else { end };
            let (endpoint, begin) = (child.record.endpoint, child.record.begin);
            if let Some(open) = self.open.get_mut(place) {
                open.covers(endpoint, begin, until);
            }
        }
    }

    /// A request of a decoded protocol waited for its answer until `end`: a turn may be anything.
    fn waited(&mut self, record: &RequestRecord, end: Timestamp) {
        let protocol = self.endpoints.get(record.endpoint).and_then(|row| row.protocol);
        let is_decoded = protocol.is_some_and(|name| name != whyslow_wire::protocols::TLS_NAME);
        if record.side == Side::Server
            && is_decoded
            && (self.waiting.len() < Self::MAX_GROUPS || self.waiting.contains_key(&record.process))
        {
            self.waiting.entry(record.process).or_default().add(record.begin, end);
        }
    }

    fn count_ended(&mut self, open: &Open) {
        let record = &open.record;
        self.waited(record, record.end);
        let (dur, failed, bytes) = (record.dur, record.failed(), record.answer_bytes);
        if let Some(row) = self.endpoints.get_mut(record.endpoint) {
            row.stats.record(dur, failed, bytes);
            row.aborted += u64::from(record.ending == Ending::Aborted);
            row.request_bytes = row.request_bytes.saturating_add(record.request_bytes);
            row.sizes.add(record.request_bytes);
            row.handed_over += u64::from(open.handed_over);
            if !row.first.is_known() {
                row.first = record.begin;
            }
            row.last = later(row.last, record.end);
            if let Some(split) = &record.split {
                row.split.merge(split);
                row.split_count += 1;
            }
            for part in &record.downstream {
                Downstream::add(&mut row.downstream, *part);
            }
        }
        if failed && (self.failed.len() < Self::MAX_GROUPS) {
            *self.failed.entry((record.side, record.process, peer_name(record).into())).or_default() += 1;
        }
        for group in self.groups(record) {
            group.stats.record(dur, failed, bytes);
            group.request_bytes = group.request_bytes.saturating_add(record.request_bytes);
        }
    }

    /// The rows of its peer and its thread.
    fn groups(&mut self, record: &RequestRecord) -> impl Iterator<Item = &mut GroupFacts> {
        let peer = peer_row(&mut self.peers, record.side, peer_name(record));
        let key = (record.side, record.process, record.tid);
        let thread = row(&mut self.threads, key, (record.side, record.process, 0));
        [peer, thread].into_iter()
    }

    /// It was open when the capture ended.
    pub(super) fn leave_open(&mut self, place: u32, end: Timestamp) {
        let Some(open) = self.open.take(place) else { return };
        let mut record = open.record;
        record.dur = end.since(record.begin);
        self.waited(&record, end);
        if let Some(row) = self.endpoints.get_mut(record.endpoint) {
            row.open += 1;
            row.request_bytes = row.request_bytes.saturating_add(record.request_bytes);
        }
        for group in self.groups(&record) {
            group.open += 1;
        }
        self.still_open.push(record);
    }
}

/// What the thread has waited for several descriptors so far, ns.
fn polled(seen: &Seen<'_>, world: &World) -> u64 {
    world.threads.thread(seen.thread).waiting_ns[WaitKind::Poll as usize]
}

/// Whom it asks, or the host that asks.
fn peer_name(record: &RequestRecord) -> &str {
    match (record.peer.as_deref(), record.side) {
        (None, _) => "(unknown)",
        (Some(peer), Side::Server) => host_of(peer),
        (Some(peer), Side::Client) => peer,
    }
}

/// The later of two times; the known one where only one is.
fn later(a: Timestamp, b: Timestamp) -> Timestamp {
    a.get().max(b.get()).map_or(Timestamp::UNKNOWN, Timestamp::new)
}
