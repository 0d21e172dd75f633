//! Sockets: addresses, types, options, messages.

use super::constants as c;
use super::data;
use super::printer::{Printer, constant_or_number, u16_at, u32_at, u64_at};
use super::put::{MAX_TEXT, Put};
use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

// include/linux/socket.h
const AF_UNIX: u32 = 1;
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;
const AF_NETLINK: u32 = 16;
const AF_VSOCK: u32 = 40;

/// `{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}`
pub(super) fn address(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let family = u16_at(bytes, 0)? as u32;
    out.put("{sa_family=");
    c::FAMILY.constant(family as u64, out);
    match family {
        AF_INET if bytes.len() >= 16 => {
            out.put(", sin_port=htons(");
            out.unsigned(u16_at(bytes, 2)?.to_be() as u64);
            out.put("), sin_addr=inet_addr(\"");
            ip(Ipv4Addr::from(u32_at(bytes, 4)?.to_ne_bytes()), out);
            out.put("\")");
        }
        AF_INET6 if bytes.len() >= 24 => {
            out.put(", sin6_port=htons(");
            out.unsigned(u16_at(bytes, 2)?.to_be() as u64);
            out.put("), sin6_flowinfo=htonl(");
            out.unsigned(u32_at(bytes, 4)?.to_be() as u64);
            out.put("), inet_pton(AF_INET6, \"");
            ip(Ipv6Addr::from(<[u8; 16]>::try_from(bytes.get(8..24)?).ok()?), out);
            out.put("\", &sin6_addr)");
            if let Some(scope) = u32_at(bytes, 24) {
                out.put(", sin6_scope_id=");
                out.unsigned(scope as u64);
            }
        }
        AF_UNIX if bytes.len() > 2 => {
            out.put(", sun_path=");
            match &bytes[2..] {
                // The abstract name space: all of the bytes are the name.
                [0, name @ ..] => {
                    out.put("@");
                    out.quoted(name, false);
                }
                path => {
                    let end = memchr::memchr(0, path).unwrap_or(path.len());
                    out.quoted(&path[..end], false);
                }
            }
        }
        AF_UNIX => {}
        AF_NETLINK if bytes.len() >= 12 => {
            out.put(", nl_pid=");
            out.signed(u32_at(bytes, 4)? as i32 as i64);
            out.put(", nl_groups=");
            netlink_groups(u32_at(bytes, 8)?, out);
        }
        AF_VSOCK if bytes.len() >= 16 => {
            out.put(", svm_cid=");
            out.hex(u32_at(bytes, 8)? as u64);
            out.put(", svm_port=");
            out.hex(u32_at(bytes, 4)? as u64);
            out.put(", svm_flags=");
            out.hex(bytes[12] as u64);
        }
        _ => {
            out.put(", sa_data=");
            out.quoted(&bytes[2..], false);
        }
    }
    out.put("}");
    Some(())
}

/// Written as text without allocation.
fn ip(address: impl std::fmt::Display, out: &mut Vec<u8>) {
    // More than an address of the Internet takes.
    const LONGEST: usize = 64;
    if out.len() + LONGEST <= MAX_TEXT {
        // Writing to a vector does not fail.
        let _ = write!(out, "{address}");
    }
}

/// C's `%#08x`.
fn netlink_groups(groups: u32, out: &mut Vec<u8>) {
    if groups == 0 { out.put("00000000") } else { ip(format_args!("{groups:#08x}"), out) }
}

/// `SOCK_STREAM|SOCK_CLOEXEC`
pub(super) fn socket_type(value: u32, out: &mut Vec<u8>) {
    // include/linux/net.h: SOCK_TYPE_MASK
    let (kind, flags) = (value & 15, value & !15);
    c::SOCKET_TYPE.constant(kind as u64, out);
    if flags != 0 {
        out.put("|");
        c::SOCKET_TYPE_FLAGS.flags(flags as u64, out);
    }
}

/// The third argument of `socket`.
pub(super) fn protocol(family: u32, value: u32, out: &mut Vec<u8>) {
    match family {
        AF_INET | AF_INET6 => c::IP_PROTOCOL.constant(value as u64, out),
        AF_NETLINK => c::NETLINK_PROTOCOL.constant(value as u64, out),
        _ => out.unsigned(value as u64),
    }
}

// include/linux/socket.h, include/uapi/asm-generic/socket.h
const SOL_SOCKET: u32 = 1;
const SOL_TCP: u32 = 6;
const SOL_UDP: u32 = 17;
const SOL_IPV6: u32 = 41;
const SOL_PACKET: u32 = 263;
const SOL_NETLINK: u32 = 270;

/// The name of an option of a level.
pub(super) fn option_name(level: u32, option: u32, out: &mut Vec<u8>) {
    let table = match level {
        0 => &c::IP_OPTION,
        SOL_SOCKET => &c::SO_OPTION,
        SOL_TCP => &c::TCP_OPTION,
        SOL_UDP => &c::UDP_OPTION,
        SOL_IPV6 => &c::IPV6_OPTION,
        SOL_PACKET => &c::PACKET_OPTION,
        SOL_NETLINK => &c::NETLINK_OPTION,
        _ => return out.hex(option as u64),
    };
    table.constant(option as u64, out);
}

/// The value of an option.
pub(super) fn option_value(p: &mut Printer<'_>, n: usize) {
    let Some(piece) = p.part(n, 0) else {
        return p.address(n);
    };
    let bytes = piece.bytes;
    let (level, option) = (p.call.args[1] as u32, p.call.args[2] as i32);
    let limit = p.options.string_limit;
    let out = &mut *p.out;
    let printed = match (level, option) {
        (SOL_SOCKET, libc::SO_LINGER) if bytes.len() == 8 => linger(bytes, out),
        (SOL_SOCKET, libc::SO_PEERCRED) if bytes.len() == 12 => credentials(bytes, out),
        (SOL_SOCKET, libc::SO_ATTACH_FILTER) => None,
        _ if bytes.len() == 4 && !piece.cut => {
            out.put("[");
            out.signed(u32_at(bytes, 0).unwrap_or(0) as i32 as i64);
            out.put("]");
            Some(())
        }
        _ => {
            let shown = bytes.len().min(limit);
            out.quoted(&bytes[..shown], piece.cut || shown < bytes.len());
            Some(())
        }
    };
    if printed.is_none() {
        p.address(n);
    }
}

fn linger(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.put("{l_onoff=");
    out.signed(u32_at(bytes, 0)? as i32 as i64);
    out.put(", l_linger=");
    out.signed(u32_at(bytes, 4)? as i32 as i64);
    out.put("}");
    Some(())
}

fn credentials(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    for (k, name) in ["{pid=", ", uid=", ", gid="].iter().enumerate() {
        out.put(name);
        out.signed(u32_at(bytes, 4 * k)? as i32 as i64);
    }
    out.put("}");
    Some(())
}

/// Parts of a message, as [`crate::spec::Size::Message`] numbers them.
const ADDRESS: u8 = 1;
const BUFFERS: u8 = 2;
const CONTROL: u8 = 3;
const FIRST_BUFFER: u8 = 4;

/// `{msg_name=…, msg_namelen=16, msg_iov=[…], msg_iovlen=1, msg_controllen=0, msg_flags=0}`
pub(super) fn message(p: &mut Printer<'_>, n: usize, received: bool) {
    let Some(header) = p.first(n).filter(|header| header.len() >= 56) else {
        return p.address(n);
    };
    // struct user_msghdr of include/linux/socket.h, by 8 bytes.
    let word = |k: usize| u64_at(header, 8 * k).unwrap_or(0);
    let (name, name_length) = (word(0), word(1) as u32);
    if received && !p.succeeded() {
        p.out.put("{msg_namelen=");
        p.out.unsigned(name_length as u64);
        p.out.put("}");
        return;
    }
    p.out.put("{msg_name=");
    let start = p.out.len();
    let known = p.part(n, ADDRESS).filter(|_| name_length > 0);
    if known.and_then(|piece| address(piece.bytes, p.out)).is_none() {
        p.out.truncate(start);
        p.out.pointer(name);
    }
    p.out.put(", msg_namelen=");
    p.out.unsigned(name_length as u64);
    p.out.put(", msg_iov=");
    let (array, count) = (word(2), word(3));
    match p.part(n, BUFFERS) {
        Some(piece) if array != 0 => {
            let moved = if received { p.returned().unwrap_or(0) } else { u64::MAX };
            data::buffer_array(p, n, piece.bytes, FIRST_BUFFER, count, moved);
        }
        _ => p.out.pointer(array),
    }
    p.out.put(", msg_iovlen=");
    p.out.unsigned(count);
    let (control, control_length) = (word(4), word(5));
    if control_length != 0 {
        p.out.put(", msg_control=");
        let start = p.out.len();
        if p.part(n, CONTROL).and_then(|piece| control_data(p, piece.bytes)).is_none() {
            p.out.truncate(start);
            p.out.pointer(control);
        }
    }
    p.out.put(", msg_controllen=");
    p.out.unsigned(control_length);
    p.out.put(", msg_flags=");
    c::MESSAGE.flags(word(6) as u32 as u64, p.out);
    p.out.put("}");
}

/// The first of the control messages: `[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[5]}]`.
fn control_data(p: &mut Printer<'_>, bytes: &[u8]) -> Option<()> {
    const RIGHTS: u32 = 1;
    const CREDENTIALS: u32 = 2;
    let (length, level, kind) = (u64_at(bytes, 0)?, u32_at(bytes, 8)?, u32_at(bytes, 12)?);
    let data = &bytes[16..bytes.len().min(usize::try_from(length).unwrap_or(usize::MAX)).max(16)];
    p.out.put("[{cmsg_len=");
    p.out.unsigned(length);
    p.out.put(", cmsg_level=");
    c::SOCKET_LEVEL.constant(level as u64, p.out);
    p.out.put(", cmsg_type=");
    if level != SOL_SOCKET {
        p.out.hex(kind as u64);
    } else {
        constant_or_number(&c::CONTROL_TYPE, kind, p.out);
    }
    match (level, kind) {
        (SOL_SOCKET, RIGHTS) => {
            p.out.put(", cmsg_data=[");
            for (k, fd) in data.chunks_exact(4).enumerate() {
                p.out.put(if k > 0 { ", " } else { "" });
                p.fd(u32_at(fd, 0)? as i32);
            }
            p.out.put("]");
        }
        (SOL_SOCKET, CREDENTIALS) => {
            p.out.put(", cmsg_data=");
            credentials(data, p.out)?;
        }
        _ => {}
    }
    p.out.put("}");
    let more = length.next_multiple_of(8) < bytes.len() as u64;
    p.out.put(if more { ", ...]" } else { "]" });
    Some(())
}

/// `[{msg_hdr={…}}, ...]`: of the messages of one call only the first is kept.
pub(super) fn messages(p: &mut Printer<'_>, n: usize, received: bool) {
    let count = p.call.args[n + 1] as u32;
    if p.first(n).is_none() || count == 0 || received && !p.succeeded() {
        return p.address(n);
    }
    p.out.put("[{msg_hdr=");
    message(p, n, received);
    p.out.put(if count > 1 { "}, ...]" } else { "}]" });
}
