//! Fields by name: JSON, LTSV and `name=value`. Which name means what, in which family of logs.

use super::times::{self, Doubts};
use super::{Entry, Not, status, tokens, value};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use whyslow_model::Nanos;

/// Which names a log uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Family {
    /// nginx's variables, and what people call them in a `log_format`.
    Nginx,
    /// The labels of LTSV (ltsv.org, "Labels for Web server's Log").
    Ltsv,
}

/// Fields of a line, by name.
pub(super) struct Fields;

impl Fields {
    /// An object of JSON; those inside it count as `outer.inner`.
    pub(super) fn json<'a>(line: &'a [u8], doubts: &mut Doubts) -> Result<Entry<'a>, Not> {
        let mut entry = Entry::default();
        let mut json = serde_json::Deserializer::from_slice(line);
        let object = Object { entry: &mut entry, doubts: &mut *doubts, inside: None };
        let read = object.deserialize(&mut json).and_then(|()| json.end());
        match read {
            Ok(()) => complete(entry, doubts).ok_or(Not::Request),
            Err(_) => Err(Not::Damaged("an object of JSON, whole and on one line")),
        }
    }

    /// Labels and values, with tabs between them; `None` where it is no such line.
    pub(super) fn ltsv<'a>(line: &'a [u8], doubts: &mut Doubts) -> Option<Result<Entry<'a>, Not>> {
        let field = |part: &'a [u8]| {
            let at = part.iter().position(|byte| *byte == b':')?;
            Some((part.get(..at)?, part.get(at + 1..)?))
        };
        let mut parts = line.split(|byte| *byte == b'\t').filter(|part| !part.is_empty());
        if !line.contains(&b'\t') || parts.clone().any(|part| field(part).is_none()) {
            return None;
        }
        let mut entry = Entry::default();
        parts
            .by_ref()
            .take(256)
            .filter_map(field)
            .for_each(|(name, value)| set(&mut entry, name, Cow::Borrowed(value), Family::Ltsv, doubts));
        Some(complete(entry, doubts).ok_or(Not::Request))
    }

    /// `name=value`, with spaces between them.
    pub(super) fn pairs<'a>(line: &'a [u8], doubts: &mut Doubts) -> Result<Entry<'a>, Not> {
        let mut entry = Entry::default();
        for (name, value) in tokens::pairs(line) {
            set(&mut entry, name, Cow::Borrowed(value), Family::Nginx, doubts);
        }
        complete(entry, doubts).ok_or(Not::Request)
    }
}

/// A request has a target and a status, or it is a line about something else.
fn complete<'a>(entry: Entry<'a>, doubts: &mut Doubts) -> Option<Entry<'a>> {
    doubts.whole_seconds += u64::from(entry.whole_second);
    (entry.status.is_some() && !entry.target.is_empty()).then_some(entry)
}

/// Takes one field in.
pub(super) fn set<'a>(
    entry: &mut Entry<'a>,
    name: &[u8],
    text: Cow<'a, [u8]>,
    family: Family,
    doubts: &mut Doubts,
) {
    let Some(what) = value(&text) else { return };
    let mut lower = [0; 40];
    let Some(lower) = lower.get_mut(..name.len()) else { return };
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    let name = lower.strip_prefix(b"$").unwrap_or(lower);
    match name {
        // The finest of several times: $msec stands beside $time_local.
        b"time" | b"time_local" | b"time_iso8601" | b"timestamp" | b"@timestamp" | b"msec" | b"ts"
        | b"startutc" | b"datetime" | b"date" => {
            let what = what.strip_prefix(b"[").and_then(|what| what.strip_suffix(b"]")).unwrap_or(what);
            if let Some((at, whole_second)) = times::timestamp(what)
                && (!entry.at.is_known() || entry.whole_second && !whole_second)
            {
                (entry.at, entry.whole_second) = (at, whole_second);
            }
        }
        b"request" | b"req" | b"request_line" => entry.set_request(text),
        b"request_method" | b"method" | b"verb" | b"requestmethod" | b"request.method" => entry.method = text,
        b"request_uri" | b"uri" | b"url" | b"path" | b"requestpath" | b"request_path" | b"request.uri" => {
            // The whole line tells the target too; a name of its own is surer only where there was none.
            if entry.target.is_empty() || name == b"request_uri" {
                entry.target = text;
            }
        }
        b"status" | b"status_code" | b"code" | b"downstreamstatus" | b"response_code" => {
            entry.status = status(what)
        }
        b"remote_addr" | b"remote_ip" | b"client_ip" | b"client" | b"clienthost" | b"request.remote_ip"
        | b"request.client_ip" => entry.client = Some(text),
        b"host" if family == Family::Ltsv => entry.client = Some(text),
        b"vhost" | b"host" | b"http_host" | b"server_name" | b"requesthost" | b"request.host" => {
            entry.host = Some(text)
        }
        b"trace_id" | b"traceid" | b"trace" => entry.trace_id = Some(text),
        b"pid" => {
            entry.pid = times::number(what).and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0)
        }
        b"request_length" | b"reqsize" | b"request_size" | b"bytes_received" => {
            entry.request_bytes = times::number(what)
        }
        b"body_bytes_sent" | b"bytes_sent" | b"size" | b"bytes" | b"downstreamcontentsize" => {
            entry.answer_bytes = entry.answer_bytes.max(times::number(what))
        }
        b"upstream_addr" | b"upstream" | b"ua" | b"upstream_address" | b"serviceaddr" => {
            entry.upstream.addresses = text
        }
        b"upstream_status" | b"us" => entry.upstream.statuses = text,
        b"upstream_response_time" | b"ut" | b"urt" | b"apptime" => entry.upstream.times = text,
        b"request_time" | b"rt" | b"reqtime" => entry.dur = seconds(name, what, doubts),
        _ => {
            if let Some((dur, is_behind)) = named(name, what, doubts) {
                let part = if is_behind { &mut entry.upstream.dur } else { &mut entry.dur };
                *part = dur;
            }
        }
    }
}

/// A time that nginx and LTSV write in seconds, if it is written as one.
fn seconds(name: &[u8], text: &[u8], doubts: &mut Doubts) -> Nanos {
    let dur = times::with_unit(text).unwrap_or_else(|| times::nginx_seconds(text));
    if !dur.is_known() {
        doubts.without_unit(name);
    }
    dur
}

/// Words by which a duration is called, each perhaps with `upstream_` or `origin_` before it and a unit behind.
const DURATIONS: [&[u8]; 11] = [
    b"duration",
    b"elapsed",
    b"latency",
    b"response_time",
    b"responsetime",
    b"request_time",
    b"reqtime",
    b"time_taken",
    b"taken",
    b"took",
    b"process_time",
];

/// A duration in the unit that its name or its value tells, and whether it is that of a server behind.
fn named(name: &[u8], text: &[u8], doubts: &mut Doubts) -> Option<(Nanos, bool)> {
    let behind = name.strip_prefix(b"upstream_").or_else(|| name.strip_prefix(b"origin_"));
    let word = behind.unwrap_or(name);
    let base = DURATIONS.iter().filter(|base| word.starts_with(base)).max_by_key(|base| base.len())?;
    let unit = word.get(base.len()..)?;
    let dur = match unit.strip_prefix(b"_") {
        Some(unit) => times::decimal(text, times::unit_of(unit)?)?,
        None if unit.is_empty() => match times::with_unit(text) {
            Some(dur) => dur,
            None => {
                doubts.without_unit(name);
                return None;
            }
        },
        None => return None,
    };
    Some((dur, behind.is_some()))
}

/// Reads an object of JSON into an entry.
struct Object<'e, 'a> {
    entry: &'e mut Entry<'a>,
    doubts: &'e mut Doubts,
    /// The name of the object that this one is in.
    inside: Option<&'e str>,
}

impl<'a> DeserializeSeed<'a> for Object<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Object<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(mut name) = map.next_key::<String>()? {
            if let Some(outer) = self.inside {
                name = format!("{outer}.{name}");
            }
            map.next_value_seed(Value {
                entry: &mut *self.entry,
                doubts: &mut *self.doubts,
                name: &name,
                is_inner: self.inside.is_some(),
            })?;
        }
        Ok(())
    }
}

/// Reads one value of an object.
struct Value<'e, 'a> {
    entry: &'e mut Entry<'a>,
    doubts: &'e mut Doubts,
    name: &'e str,
    is_inner: bool,
}

impl<'a> Value<'_, 'a> {
    fn take<E>(self, text: Cow<'a, [u8]>) -> Result<(), E> {
        // Traefik's own names (its documentation, "Access Logs"): nanoseconds, whatever the figure.
        match (self.name, times::number(&text)) {
            ("Duration", Some(ns)) => self.entry.dur = Nanos::new(ns),
            ("OriginDuration", Some(ns)) => self.entry.upstream.dur = Nanos::new(ns),
            _ => set(self.entry, self.name.as_bytes(), text, Family::Nginx, self.doubts),
        }
        Ok(())
    }
}

impl<'a> DeserializeSeed<'a> for Value<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for Value<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'a str) -> Result<(), E> {
        self.take(Cow::Borrowed(text.as_bytes()))
    }
    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.take(Cow::Owned(text.as_bytes().to_vec()))
    }
    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.take(Cow::Owned(number.to_string().into_bytes()))
    }
    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        // As many decimals as a double has: seconds since the epoch to the microsecond, durations to the nanosecond.
        let text = if number >= 1e6 { format!("{number:.6}") } else { format!("{number:.9}") };
        self.take(Cow::Owned(text.into_bytes()))
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<S: SeqAccess<'a>>(self, mut list: S) -> Result<(), S::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        if self.is_inner {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        Object { entry: self.entry, doubts: self.doubts, inside: Some(self.name) }.visit_map(map)
    }
}
