//! `perfetto`: Perfetto's own trace (`protos/perfetto/trace/trace_packet.proto` of github.com/google/perfetto), of track events.
//!
//! An item is a begin and an end on a track; those of one track must nest. What overlaps gets a lane of its own, so that no end
//! closes another's begin: requests do, and calls in logs whose times are rounded. Tracks are described at the end, when all names
//! are known: readers sort packets by time, and take descriptions before anything else.

use super::{ExportFormat, ExportHow};
use crate::text::{name_of_process, name_of_thread, shown};
use crate::timeline::{Detail, TimelineItem, TimelineWriter, Track};
use hashbrown::HashMap;
use std::io::{self, Write};
use whyslow_facts::Facts;
use whyslow_model::Tid;
use whyslow_profile::protobuf::ProtoMessage;

/// The format.
pub(super) static FORMAT: ExportFormat = ExportFormat {
    name: "perfetto",
    about: "timeline: calls, states of threads, wake-ups, requests, disks, counters",
    opened_by: "ui.perfetto.dev, trace_processor",
    is_binary: true,
    escapes: true,
    how: ExportHow::Timeline(|out| {
        Box::new(PerfettoTrace {
            out,
            tracks: HashMap::new(),
            counters: HashMap::new(),
            last: 0,
            is_begun: false,
        })
    }),
};

/// Lanes of one track: of what overlaps beyond that, only the beginning is drawn.
const MAX_LANES: usize = 4_096;
/// Counters told apart.
const MAX_COUNTERS: usize = 65_536;
/// Processes have their number in their track's: above all others, which count from 1.
const PROCESS: u64 = 1 << 48;
/// The number of our only sequence of packets.
const SEQUENCE: u64 = 1;

/// Numbers of fields.
mod field {
    pub(super) const PACKET: u64 = 1;
    pub(super) const TIMESTAMP: u64 = 8;
    pub(super) const SEQUENCE: u64 = 10;
    pub(super) const TRACK_EVENT: u64 = 11;
    pub(super) const SEQUENCE_FLAGS: u64 = 13;
    pub(super) const TRACK_DESCRIPTOR: u64 = 60;
    /// Of a track event.
    pub(super) const DEBUG_ANNOTATION: u64 = 4;
    pub(super) const TYPE: u64 = 9;
    pub(super) const TRACK: u64 = 11;
    pub(super) const CATEGORY: u64 = 22;
    pub(super) const NAME: u64 = 23;
    pub(super) const DOUBLE_VALUE: u64 = 44;
    pub(super) const FLOW: u64 = 47;
    pub(super) const END_OF_FLOW: u64 = 48;
    /// Of an annotation.
    pub(super) const INT_VALUE: u64 = 4;
    pub(super) const STRING_VALUE: u64 = 6;
    pub(super) const KEY: u64 = 10;
    /// Of a description.
    pub(super) const UUID: u64 = 1;
    pub(super) const TRACK_NAME: u64 = 2;
    pub(super) const OF_PROCESS: u64 = 3;
    pub(super) const OF_THREAD: u64 = 4;
    pub(super) const PARENT: u64 = 5;
    pub(super) const COUNTER: u64 = 8;
}

/// `TrackEvent.Type`.
#[derive(Clone, Copy)]
enum Type {
    Begin = 1,
    End = 2,
    Instant = 3,
    Counter = 4,
}

/// The lanes of a track.
struct Lanes {
    pid: Tid,
    /// Number and end of what is on it.
    lanes: Vec<(u64, u64)>,
}

struct PerfettoTrace<'w> {
    out: &'w mut (dyn Write + Send),
    tracks: HashMap<Track, Lanes>,
    counters: HashMap<Box<str>, u64>,
    /// The last number given to a track.
    last: u64,
    is_begun: bool,
}

/// The lanes of a track, of which the first is made here.
fn lanes<'t>(
    tracks: &'t mut HashMap<Track, Lanes>,
    last: &mut u64,
    track: &Track,
    pid: Tid,
) -> &'t mut Vec<(u64, u64)> {
    let of_track = tracks.entry(track.clone()).or_insert_with(|| {
        *last += 1;
        Lanes { pid, lanes: vec![(*last, 0)] }
    });
    &mut of_track.lanes
}

impl PerfettoTrace<'_> {
    /// The lane that is free from then on; `None` where there are too many.
    fn lane(&mut self, item: &TimelineItem<'_>) -> Option<u64> {
        // A thread's track stands above its states.
        if let Track::States(tid) = item.track {
            lanes(&mut self.tracks, &mut self.last, &Track::Calls(*tid), item.pid);
        }
        let lanes = lanes(&mut self.tracks, &mut self.last, item.track, item.pid);
        let Some(took) = item.took else { return lanes.first().map(|(uuid, _)| *uuid) };
        let until = item.from.saturating_add(took);
        if let Some((uuid, end)) = lanes.iter_mut().find(|(_, end)| *end <= item.from) {
            *end = until;
            return Some(*uuid);
        }
        if lanes.len() >= MAX_LANES {
            return None;
        }
        self.last += 1;
        lanes.push((self.last, until));
        Some(self.last)
    }

    fn packet(&mut self, at: Option<u64>, field: u64, inner: &ProtoMessage) -> io::Result<()> {
        let mut packet = ProtoMessage::default();
        if let Some(at) = at {
            packet.some_number(field::TIMESTAMP, at);
        }
        packet.number(field::SEQUENCE, SEQUENCE);
        if !self.is_begun {
            // Nothing before it is referred to.
            packet.number(field::SEQUENCE_FLAGS, 1);
            self.is_begun = true;
        }
        packet.bytes(field, &inner.0);
        packet.emit(field::PACKET, self.out)
    }

    fn event(&mut self, kind: Type, track: u64, item: &TimelineItem<'_>) -> io::Result<()> {
        let mut event = ProtoMessage::default();
        event.number(field::TYPE, kind as u64);
        event.number(field::TRACK, track);
        event.bytes(field::CATEGORY, item.kind.as_bytes());
        event.bytes(field::NAME, item.name.as_bytes());
        for (key, value) in item.details {
            let mut annotation = ProtoMessage::default();
            annotation.bytes(field::KEY, key.as_bytes());
            match value {
                Detail::Text(text) => annotation.bytes(field::STRING_VALUE, text.as_bytes()),
                Detail::Number(number) => annotation.some_number(field::INT_VALUE, *number as u64),
            }
            event.bytes(field::DEBUG_ANNOTATION, &annotation.0);
        }
        if let Some(number) = item.wakes {
            event.fixed64(field::FLOW, number);
        }
        if let Some(number) = item.woken_by {
            event.fixed64(field::END_OF_FLOW, number);
        }
        self.packet(Some(item.from), field::TRACK_EVENT, &event)
    }

    fn describe(
        &mut self,
        uuid: u64,
        name: &str,
        parent: Option<u64>,
        of: Option<(u64, ProtoMessage)>,
    ) -> io::Result<()> {
        let mut track = ProtoMessage::default();
        track.number(field::UUID, uuid);
        track.bytes(field::TRACK_NAME, name.as_bytes());
        if let Some(parent) = parent {
            track.number(field::PARENT, parent);
        }
        if let Some((field, of)) = of {
            track.bytes(field, &of.0);
        }
        self.packet(None, field::TRACK_DESCRIPTOR, &track)
    }
}

impl TimelineWriter for PerfettoTrace<'_> {
    fn item(&mut self, item: &TimelineItem<'_>) -> io::Result<()> {
        let lane = self.lane(item);
        let (Some(lane), Some(took)) = (lane, item.took) else {
            let first = || self.tracks.get(item.track).and_then(|lanes| lanes.lanes.first());
            let lane = lane.or_else(|| first().map(|(uuid, _)| *uuid));
            return self.event(Type::Instant, lane.unwrap_or(0), item);
        };
        self.event(Type::Begin, lane, item)?;
        let mut end = ProtoMessage::default();
        end.number(field::TYPE, Type::End as u64);
        end.number(field::TRACK, lane);
        self.packet(Some(item.from.saturating_add(took)), field::TRACK_EVENT, &end)
    }

    fn counter(&mut self, at: u64, name: &str, value: f64) -> io::Result<()> {
        let uuid = match self.counters.get(name) {
            Some(uuid) => *uuid,
            None if self.counters.len() < MAX_COUNTERS => {
                self.last += 1;
                self.counters.insert(name.into(), self.last);
                self.last
            }
            None => return Ok(()),
        };
        let mut event = ProtoMessage::default();
        event.number(field::TYPE, Type::Counter as u64);
        event.number(field::TRACK, uuid);
        event.fixed64(field::DOUBLE_VALUE, value.to_bits());
        self.packet(Some(at), field::TRACK_EVENT, &event)
    }

    fn finish(&mut self, facts: &Facts) -> io::Result<()> {
        let mut tracks: Vec<(Track, Lanes)> = std::mem::take(&mut self.tracks).into_iter().collect();
        tracks.sort_by_key(|(_, lanes)| lanes.lanes.first().map(|(uuid, _)| *uuid));
        let of_threads: HashMap<Tid, u64> = tracks
            .iter()
            .filter_map(|(track, lanes)| match track {
                Track::Calls(tid) => Some((*tid, lanes.lanes.first()?.0)),
                _ => None,
            })
            .collect();
        let mut pids: Vec<Tid> = tracks.iter().map(|(_, lanes)| lanes.pid).filter(|pid| *pid != 0).collect();
        pids.sort_unstable();
        pids.dedup();
        for pid in pids {
            let name = name_of_process(facts, pid);
            let mut process = ProtoMessage::default();
            process.number(1, pid.into());
            process.bytes(6, name.as_bytes());
            self.describe(PROCESS + u64::from(pid), &name, None, Some((field::OF_PROCESS, process)))?;
        }
        for (track, Lanes { pid, lanes }) in &tracks {
            let process = (*pid != 0).then(|| PROCESS + u64::from(*pid));
            for (at, (uuid, _)) in lanes.iter().enumerate() {
                match track {
                    Track::Calls(tid) if at == 0 => {
                        let name = name_of_thread(facts, *tid);
                        let mut thread = ProtoMessage::default();
                        thread.number(1, (*pid).into());
                        thread.number(2, (*tid).into());
                        thread.bytes(5, name.as_bytes());
                        self.describe(*uuid, &name, process, Some((field::OF_THREAD, thread)))?;
                    }
                    Track::Calls(tid) => self.describe(
                        *uuid,
                        "calls that overlap",
                        of_threads.get(tid).copied().or(process),
                        None,
                    )?,
                    Track::States(tid) => {
                        self.describe(*uuid, "states", of_threads.get(tid).copied().or(process), None)?;
                    }
                    Track::Requests { served, .. } => {
                        let name = if *served { "requests served" } else { "requests made" };
                        self.describe(*uuid, name, process, None)?;
                    }
                    Track::Device(device) => {
                        self.describe(*uuid, &format!("disk {}", shown(device)), process, None)?;
                    }
                }
            }
        }
        let mut counters: Vec<(Box<str>, u64)> = std::mem::take(&mut self.counters).into_iter().collect();
        counters.sort_by_key(|(_, uuid)| *uuid);
        for (name, uuid) in counters {
            self.describe(uuid, &name, None, Some((field::COUNTER, ProtoMessage::default())))?;
        }
        Ok(())
    }
}
