//! TCP: 23 connections set up, 23 refused, and 23 that find a full backlog, in a network of their own, held against the
//! kernel's counters of that network.

use super::{TIMES, only, record};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::Duration;
use whyslow_model::{NetEvent, NetKind};

/// A network of this thread's own, with a loopback device that works.
fn own_network() {
    // SAFETY: changes this thread alone.
    assert_eq!(unsafe { libc::unshare(libc::CLONE_NEWNET) }, 0, "{}", std::io::Error::last_os_error());
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    // SAFETY: all zeroes are a valid request; its name is shorter than its room.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
        assert_eq!(libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request), 0);
    }
}

/// A counter of this thread's network, of /proc/net/snmp or netstat.
fn counter(file: &str, name: &str) -> usize {
    let text = std::fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap();
    let mut lines = text.lines();
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        if let Some(at) = names.split_ascii_whitespace().position(|known| known == name) {
            return values.split_ascii_whitespace().nth(at).unwrap().parse().unwrap();
        }
    }
    panic!("no {name} in {file}");
}

fn of(events: &[NetEvent], kind: NetKind) -> Vec<&NetEvent> {
    events.iter().filter(|event| event.kind == kind).collect()
}

#[test]
fn connections_are_told_from_both_ends() {
    for address in [SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), SocketAddr::from((Ipv6Addr::LOCALHOST, 0))] {
        let work = move || {
            own_network();
            let listener = TcpListener::bind(address).unwrap();
            for _ in 0..TIMES {
                let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
                let (server, _) = listener.accept().unwrap();
                drop((client, server));
            }
            let closed = listener.local_addr().unwrap();
            drop(listener);
            let refused = (0..TIMES).filter(|_| TcpStream::connect(closed).is_err()).count();
            assert_eq!(refused, TIMES);
            (closed.to_string(), counter("snmp", "ActiveOpens"), counter("snmp", "PassiveOpens"))
        };
        let Some((seen, (server, active, passive), _)) =
            record(only(|options| options.net = true), work, |_| ())
        else {
            return;
        };
        assert_eq!((active, passive), (2 * TIMES, TIMES), "as the kernel counts");
        let connected = of(&seen.net, NetKind::Connected);
        assert_eq!(connected.len(), TIMES, "{:?}", seen.net);
        for event in connected {
            assert_eq!((event.peer.as_str(), event.pid), (server.as_str(), Some(std::process::id())));
            assert!(!event.local.ends_with(":0"), "{event:?}");
            assert!(event.took.is_known() && event.rtt.is_known(), "{event:?}");
        }
        let accepted = of(&seen.net, NetKind::Accepted);
        assert_eq!(accepted.len(), TIMES);
        assert!(accepted.iter().all(|event| event.local == server), "{accepted:?}");
        let refused = of(&seen.net, NetKind::Reset);
        assert_eq!(refused.len(), TIMES);
        assert!(refused.iter().all(|event| event.peer == server), "{refused:?}");
        let closed = of(&seen.net, NetKind::Closed);
        assert_eq!(closed.len(), 2 * TIMES, "both ends");
        assert!(
            closed.iter().all(|event| event.took.is_known() && !event.local.ends_with(":0")),
            "{closed:?}"
        );
        seen.assert_whole("net", seen.net.len());
    }
}

#[test]
fn full_backlogs_and_retransmits_are_told() {
    let work = || {
        own_network();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // SAFETY: a listening socket of ours; its backlog is made short.
        assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 1) }, 0);
        let address = listener.local_addr().unwrap();
        // One more than the backlog is taken (tcp(7), sk_acceptq_is_full).
        let _full = [TcpStream::connect(address).unwrap(), TcpStream::connect(address).unwrap()];
        let before = counter("netstat", "ListenOverflows");
        let waiting: Vec<_> = (0..TIMES)
            .map(|_| TcpStream::connect_timeout(&address, Duration::from_millis(1)).is_err())
            .collect();
        assert_eq!(waiting, [true; TIMES]);
        // One that stays until it sent its SYN again: after a second (TCP_TIMEOUT_INIT).
        assert!(TcpStream::connect_timeout(&address, Duration::from_millis(1500)).is_err());
        let overflows = counter("netstat", "ListenOverflows") - before;
        (address.to_string(), overflows, counter("snmp", "RetransSegs"))
    };
    let Some((seen, (address, overflows, retransmits), _)) =
        record(only(|options| options.net = true), work, |_| ())
    else {
        return;
    };
    assert!(overflows > TIMES, "{overflows}");
    let drops = of(&seen.net, NetKind::ListenOverflow);
    assert_eq!(drops.len(), overflows);
    assert!(drops.iter().all(|event| event.local == address && event.peer.is_empty()), "{drops:?}");
    let again = of(&seen.net, NetKind::Retransmit);
    assert!(retransmits > 0);
    assert_eq!(again.len(), retransmits, "{:?} {:?}", seen.losses, seen.net);
    assert!(again.iter().all(|event| event.peer == address), "{again:?}");
}
