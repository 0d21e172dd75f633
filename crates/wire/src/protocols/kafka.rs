//! Kafka (Apache Kafka, "Protocol Guide"; the schemas of its messages are in `clients/src/main/resources/common/message`).

#[cfg(test)]
#[allow(clippy::octal_escapes, reason = "bytes as they were recorded")]
pub(super) mod tests;

use crate::exchange::{Exchange, Exchanged};
use crate::mask::Mask;
use crate::pairing::Pairing;
use crate::text::{is_token, key_pattern};
use crate::turn::{Out, failed, fine};
use crate::{Direction, Key, MAX_REDUCED, Protocol, Request, Sniff, Status, Step};

/// Kafka.
pub(super) static KAFKA: Protocol = Protocol {
    name: "Kafka",
    ports: &[9092, 9093, 9094, 29092],
    sniff,
    decoder: || Box::new(Exchanged::<Kafka>::default()),
    reduce,
};

/// Length.
const HEADER: usize = 4;
/// `socket.request.max.bytes`.
const MAX_MESSAGE: u32 = 100 << 20;
const PRODUCE: u16 = 0;
const FETCH: u16 = 1;

/// Requests by their numbers.
const NAMES: &[&str] = &[
    "Produce",
    "Fetch",
    "ListOffsets",
    "Metadata",
    "LeaderAndIsr",
    "StopReplica",
    "UpdateMetadata",
    "ControlledShutdown",
    "OffsetCommit",
    "OffsetFetch",
    "FindCoordinator",
    "JoinGroup",
    "Heartbeat",
    "LeaveGroup",
    "SyncGroup",
    "DescribeGroups",
    "ListGroups",
    "SaslHandshake",
    "ApiVersions",
    "CreateTopics",
    "DeleteTopics",
    "DeleteRecords",
    "InitProducerId",
    "OffsetForLeaderEpoch",
    "AddPartitionsToTxn",
    "AddOffsetsToTxn",
    "EndTxn",
    "WriteTxnMarkers",
    "TxnOffsetCommit",
    "DescribeAcls",
    "CreateAcls",
    "DeleteAcls",
    "DescribeConfigs",
    "AlterConfigs",
    "AlterReplicaLogDirs",
    "DescribeLogDirs",
    "SaslAuthenticate",
    "CreatePartitions",
    "CreateDelegationToken",
    "RenewDelegationToken",
    "ExpireDelegationToken",
    "DescribeDelegationToken",
    "DeleteGroups",
    "ElectLeaders",
    "IncrementalAlterConfigs",
    "AlterPartitionReassignments",
    "ListPartitionReassignments",
    "OffsetDelete",
    "DescribeClientQuotas",
    "AlterClientQuotas",
    "DescribeUserScramCredentials",
    "AlterUserScramCredentials",
    "Vote",
    "BeginQuorumEpoch",
    "EndQuorumEpoch",
    "DescribeQuorum",
    "AlterPartition",
    "UpdateFeatures",
    "Envelope",
    "FetchSnapshot",
    "DescribeCluster",
    "DescribeProducers",
    "BrokerRegistration",
    "BrokerHeartbeat",
    "UnregisterBroker",
    "DescribeTransactions",
    "ListTransactions",
    "AllocateProducerIds",
    "ConsumerGroupHeartbeat",
    "ConsumerGroupDescribe",
    "ControllerRegistration",
    "GetTelemetrySubscriptions",
    "PushTelemetry",
    "AssignReplicasToDirs",
    "ListConfigResources",
    "DescribeTopicPartitions",
    "ShareGroupHeartbeat",
    "ShareGroupDescribe",
    "ShareFetch",
    "ShareAcknowledge",
    "AddRaftVoter",
    "RemoveRaftVoter",
    "UpdateRaftVoter",
];

/// Answers that begin with an error code: the number of the request, the first version in which a time of throttling
/// stands before the code (`NEVER`: none does), and the first with tagged fields.
const CODED: &[(u16, u16, u16)] = &[
    (10, 1, 3),
    (11, 2, 6),
    (12, 1, 4),
    (13, 1, 4),
    (14, 1, 4),
    (17, NEVER, NEVER),
    // The answer to ApiVersions has no tagged fields in its header.
    (18, NEVER, NEVER),
    (22, 0, 2),
    (24, 0, NEVER),
    (25, 0, 3),
    (26, 0, 3),
    (36, NEVER, 2),
    (68, 0, 0),
];
const NEVER: u16 = u16::MAX;

/// Codes that clients meet (`org.apache.kafka.common.protocol.Errors`).
const ERRORS: &[(i16, &str)] = &[
    (1, "OFFSET_OUT_OF_RANGE"),
    (3, "UNKNOWN_TOPIC_OR_PARTITION"),
    (5, "LEADER_NOT_AVAILABLE"),
    (6, "NOT_LEADER_OR_FOLLOWER"),
    (7, "REQUEST_TIMED_OUT"),
    (10, "MESSAGE_TOO_LARGE"),
    (14, "COORDINATOR_LOAD_IN_PROGRESS"),
    (15, "COORDINATOR_NOT_AVAILABLE"),
    (16, "NOT_COORDINATOR"),
    (19, "NOT_ENOUGH_REPLICAS"),
    (22, "ILLEGAL_GENERATION"),
    (25, "UNKNOWN_MEMBER_ID"),
    (27, "REBALANCE_IN_PROGRESS"),
    (29, "TOPIC_AUTHORIZATION_FAILED"),
    (35, "UNSUPPORTED_VERSION"),
    (58, "SASL_AUTHENTICATION_FAILED"),
    (79, "MEMBER_ID_REQUIRED"),
];

/// Reads what comes one after another.
#[derive(Clone)]
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    fn int16(&mut self) -> Option<i16> {
        self.number().map(i16::from_be_bytes)
    }

    fn int32(&mut self) -> Option<i32> {
        self.number().map(i32::from_be_bytes)
    }

    /// Seven bits a byte, the lowest first; lengths only, which are small.
    fn varint(&mut self) -> Option<usize> {
        let mut value = 0;
        for shift in [0, 7, 14, 21] {
            let [byte] = self.number()?;
            value |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A text, in a version with tagged fields or without; empty where it is null.
    fn text(&mut self, is_flexible: bool) -> Option<&'a [u8]> {
        let len = if is_flexible {
            self.varint()?.saturating_sub(1)
        } else {
            usize::try_from(self.int16()?).unwrap_or(0)
        };
        self.bytes(len)
    }

    /// The number of elements of an array.
    fn count(&mut self, is_flexible: bool) -> Option<usize> {
        if is_flexible {
            Some(self.varint()?.saturating_sub(1))
        } else {
            self.int32().map(|count| usize::try_from(count).unwrap_or(0))
        }
    }
}

/// The head of a request.
#[derive(Clone, Copy)]
struct Head {
    api: u16,
    version: u16,
    correlation: u32,
    /// Where the body begins, behind the client's name; behind what is there where that is cut.
    body: usize,
}

fn request_head(head: &[u8]) -> Option<Head> {
    let mut reader = Reader(head.get(HEADER..)?);
    let api = u16::from_be_bytes(reader.number()?);
    let version = u16::from_be_bytes(reader.number()?);
    let correlation = u32::from_be_bytes(reader.number()?);
    let client = reader.clone().int16().map_or(0, |len| usize::try_from(len).unwrap_or(0));
    Some(Head { api, version, correlation, body: HEADER + 10 + client })
}

fn is_flexible(head: Head) -> bool {
    match head.api {
        PRODUCE => head.version >= 9,
        FETCH => head.version >= 12,
        _ => false,
    }
}

fn len_of(head: &[u8]) -> Option<u32> {
    head.first_chunk().map(|len| u32::from_be_bytes(*len)).filter(|len| (4..=MAX_MESSAGE).contains(len))
}

fn sniff(head: &[u8], direction: Direction) -> Sniff {
    if direction == Direction::Response {
        // A length and a small number: much looks so.
        let is_answer = len_of(head).is_some() && head.get(HEADER) == Some(&0) && head.len() >= HEADER + 4;
        return if is_answer { Sniff::Maybe } else { Sniff::No };
    }
    let (Some(len), Some(request)) = (len_of(head), request_head(head)) else { return Sniff::No };
    let mut client = Reader(&head[HEADER + 8..]);
    let name_len = client.int16();
    let is_sound = usize::from(request.api) < NAMES.len()
        && request.version < 20
        && request.correlation < 1 << 31
        && len as usize + HEADER >= request.body
        && name_len.is_none_or(|len| (-1..256).contains(&len))
        && client.0.iter().take(name_len.map_or(0, |len| len.max(0) as usize)).all(u8::is_ascii_graphic)
        && topic(head, request).0.is_none_or(is_topic);
    // Without the client's name it is a length and small numbers: many protocols look so.
    match (is_sound, name_len) {
        (true, Some(1..)) => Sniff::Yes,
        (true, _) => Sniff::Maybe,
        (false, _) => Sniff::No,
    }
}

/// True for what topics may be called.
fn is_topic(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}

/// The first topic of a request, and whether no answer is wanted; `None` for what is not there.
fn topic(head: &[u8], request: Head) -> (Option<&[u8]>, bool) {
    let flexible = is_flexible(request);
    let mut reader = Reader(head.get(request.body..).unwrap_or_default());
    let mut one_way = false;
    let mut read = || {
        if flexible && reader.varint()? != 0 {
            return None;
        }
        match request.api {
            // Their topics are numbers.
            PRODUCE if request.version < 13 => {
                if request.version >= 3 {
                    reader.text(flexible)?;
                }
                one_way = reader.int16()? == 0;
                reader.int32()?;
            }
            FETCH if request.version < 13 => {
                let fixed = match request.version {
                    0..=2 => 12,
                    3 => 16,
                    4..=6 => 17,
                    _ => 25,
                };
                reader.bytes(fixed)?;
            }
            _ => return None,
        }
        if reader.count(flexible)? == 0 {
            return None;
        }
        reader.text(flexible)
    };
    (read(), one_way)
}

fn status(head: &[u8], request: Head) -> Option<Status> {
    let mut reader = Reader(head.get(HEADER + 4..)?);
    let code = match request.api {
        PRODUCE if request.version < 13 => {
            let flexible = is_flexible(request);
            if flexible && reader.varint()? != 0 {
                return None;
            }
            if reader.count(flexible)? == 0 {
                return Some(fine("OK"));
            }
            reader.text(flexible)?;
            if reader.count(flexible)? == 0 {
                return Some(fine("OK"));
            }
            reader.int32()?;
            reader.int16()?
        }
        FETCH if request.version >= 7 => {
            if is_flexible(request) && reader.varint()? != 0 {
                return None;
            }
            reader.int32()?;
            reader.int16()?
        }
        api => {
            let (_, throttles, tags) = CODED.iter().find(|(coded, ..)| *coded == api)?;
            if request.version >= *tags && reader.varint()? != 0 {
                return None;
            }
            // From version 4 on, FindCoordinator answers for several groups.
            if request.version >= *throttles {
                reader.int32()?;
            }
            if api == 10 && request.version >= 4 {
                return None;
            }
            reader.int16()?
        }
    };
    Some(match ERRORS.iter().find(|(known, _)| *known == code) {
        _ if code == 0 => fine("OK"),
        Some((_, name)) => failed((*name).to_owned()),
        None => failed(format!("ERROR {code}")),
    })
}

/// The requests that wait for their answers.
#[derive(Default)]
struct Kafka {
    open: Pairing<Head>,
}

impl Exchange for Kafka {
    const HEADER: usize = HEADER;

    fn length(&self, head: &[u8], direction: Direction, is_resync: bool) -> Option<u64> {
        let is_one = !is_resync
            || match direction {
                Direction::Request => sniff(head, Direction::Request) == Sniff::Yes,
                Direction::Response => self.waits_for(head).is_some(),
            };
        len_of(head).filter(|_| is_one).map(|len| u64::from(len) + HEADER as u64)
    }

    fn ask(&mut self, head: &[u8], out: Out<'_>) -> Option<Key> {
        let request = request_head(head)?;
        let mut text = NAMES.get(usize::from(request.api)).copied().unwrap_or("(unknown)").to_owned();
        let (topic, one_way) = topic(head, request);
        if let Some(topic) = topic {
            text.push(' ');
            key_pattern(topic, false, &mut text);
        }
        let key = if one_way { self.open.ask_one_way() } else { self.open.ask(request) };
        out(Step::Asked(
            key,
            Request { detail: text.clone(), endpoint: text, one_way, ..Request::default() },
        ));
        Some(key)
    }

    fn answer(&mut self, head: &[u8], out: Out<'_>) -> Option<(Key, bool)> {
        let correlation = self.waits_for(head)?;
        let (key, request) = self.open.take(|request| request.correlation == correlation)?;
        out(Step::Answered(key, status(head, request)));
        Some((key, true))
    }
}

impl Kafka {
    /// The number of the request that this answers, where one with it waits.
    fn waits_for(&self, head: &[u8]) -> Option<u32> {
        let correlation = Reader(head.get(HEADER..)?).number().map(u32::from_be_bytes)?;
        self.open.iter().any(|(_, request)| request.correlation == correlation).then_some(correlation)
    }
}

/// Bytes of an answer up to its error. Which request it answers is not known here: what is kept has the form of an error,
/// perhaps behind the name of a topic, and is too small to be anything worth hiding.
fn until_error(head: &[u8]) -> usize {
    /// A longer time (ms) that a client is to wait is none.
    const MAX_THROTTLE: i32 = 3_600_000;
    let first = HEADER + 4;
    let behind = |read: &dyn Fn(&mut Reader<'_>) -> Option<()>| {
        let mut reader = Reader(head.get(first..)?);
        read(&mut reader).map(|()| head.len() - reader.0.len())
    };
    let tags = |reader: &mut Reader<'_>, flexible: bool| !flexible || reader.varint() == Some(0);
    for flexible in [true, false] {
        let produced = behind(&|reader| {
            let topics = tags(reader, flexible).then(|| reader.count(flexible))??;
            let topic = reader.text(flexible)?;
            let partitions = reader.count(flexible)?;
            reader.int32().filter(|partition| (0..1 << 16).contains(partition))?;
            let has_form = (1..1_000).contains(&topics) && (1..100_000).contains(&partitions);
            (has_form && is_topic(topic) && !is_token(topic) && is_error(reader.int16()?)).then_some(())
        });
        let throttled = behind(&|reader| {
            let throttle = tags(reader, flexible).then(|| reader.int32())??;
            ((0..=MAX_THROTTLE).contains(&throttle) && is_error(reader.int16()?)).then_some(())
        });
        if let Some(until) = produced.or(throttled) {
            return until;
        }
    }
    let plain =
        |flexible| behind(&|reader| (tags(reader, flexible) && is_error(reader.int16()?)).then_some(()));
    plain(true).or(plain(false)).unwrap_or(first)
}

/// True for a number of an error (kafka.apache.org/protocol, "Error Codes").
fn is_error(code: i16) -> bool {
    (-1..200).contains(&code)
}

/// Keeps the heads of requests up to the first topic, and of an answer which request it answers, and its error.
fn reduce(head: &[u8], direction: Direction, out: &mut Vec<u8>) -> bool {
    let sure = sniff(head, direction);
    if direction == Direction::Response && sure == Sniff::Maybe {
        out.extend_from_slice(&head[..until_error(head).min(MAX_REDUCED)]);
        return true;
    }
    if sure != Sniff::Yes {
        return false;
    }
    let mut mask = Mask::new(out);
    while !mask.is_full() {
        let begin = mask.len();
        let rest = &head[begin.min(head.len())..];
        let (Sniff::Yes, Some(len), Some(request)) =
            (sniff(rest, direction), len_of(rest), request_head(rest))
        else {
            break;
        };
        let message = &rest[..(len as usize + HEADER).min(rest.len())];
        let until = match topic(message, request).0 {
            // Behind the topic there are records.
            Some(topic) => topic.as_ptr() as usize - message.as_ptr() as usize + topic.len(),
            None => request.body,
        };
        mask.keep(&message[..until.min(message.len()).min(MAX_REDUCED)]);
        mask.blank_to(begin + message.len());
    }
    true
}
