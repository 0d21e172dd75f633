//! What happens on the TCP connections of the watched threads.

use super::{Program, at_end, at_start, by_section, kind, object};
use crate::bpf::layout::Fields;
use crate::bpf::spool::SpoolRecord;
use crate::clock::Clock;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use whyslow_model::{Nanos, NetEvent, NetKind, Tid};

pub(super) static NET: Program = Program {
    name: "net",
    summary: "TCP connections: set up, accepted, retransmits, resets, full backlogs, ended",
    cost: "about 0.5 us a change of a TCP connection's state or a reset, 3 us a retransmit; nothing a byte",
    tables: &["net"],
    rare: &[("net", &[kind::NET])],
    wanted: |options| options.net,
    needed: false,
    object: object!("net"),
    attach: &[
        &[by_section("net_state")],
        &[by_section("net_retransmit")],
        &[by_section("net_reset")],
        &[at_start("net_open")],
        &[at_end("net_drops")],
    ],
};

/// `AF_INET6` (include/linux/socket.h).
const INET6: u64 = 10;

/// One record, read, and how many such events it stands for; `None` where it is not whole.
pub(crate) fn decode(record: &SpoolRecord<'_>, clock: Clock) -> Option<(NetEvent, u64)> {
    let kind = match record.header.flags {
        0 => NetKind::Connected,
        1 => NetKind::Accepted,
        2 => NetKind::Retransmit,
        3 => NetKind::Reset,
        4 => NetKind::ListenOverflow,
        5 => NetKind::Closed,
        _ => return None,
    };
    let mut fields = Fields(record.body());
    let pid = fields.u32()? as Tid;
    let (local_port, peer_port) = (fields.u16()?, fields.u16()?);
    let known = |value: u64| if value == u64::MAX { Nanos::UNKNOWN } else { Nanos::new(value) };
    let took = known(fields.u64()?);
    let rtt = match fields.u64()? {
        u64::MAX => Nanos::UNKNOWN,
        microseconds => Nanos::new(microseconds.saturating_mul(1000)),
    };
    let count = fields.u64()?;
    let (local, peer): ([u8; 16], [u8; 16]) =
        (fields.bytes(16)?.try_into().ok()?, fields.bytes(16)?.try_into().ok()?);
    let family = fields.u64()?;
    let address = |bytes: [u8; 16], port| SocketAddr::new(ip(family, bytes), port).to_string();
    let peer = if kind == NetKind::ListenOverflow { String::new() } else { address(peer, peer_port) };
    let local = address(local, local_port);
    let event = NetEvent { ts: clock.epoch(record.header.ts), kind, pid: Some(pid), local, peer, took, rtt };
    Some((event, count))
}

/// As addresses are written: that of a socket for both families which talks to an IPv4 peer is the peer's.
pub(super) fn ip(family: u64, bytes: [u8; 16]) -> IpAddr {
    if family != INET6 {
        return Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).into();
    }
    let v6 = Ipv6Addr::from(bytes);
    v6.to_ipv4_mapped().map_or(IpAddr::V6(v6), IpAddr::V4)
}
