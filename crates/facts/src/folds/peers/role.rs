//! Who is at the other end of a connection: by how it was made, by the names of both ends, by ports.

use super::{Role, port_of};
use crate::world::World;
use crate::world::fds::{FdLife, Origin};
use whyslow_model::FdKind;

/// The first port that the kernel gives to outgoing connections (`ip_local_port_range`, 32768 to 60999).
const FIRST_EPHEMERAL_PORT: u16 = 32_768;

/// Whether the other end of `life` is a server or a client of this program. Where the connection was made
/// before the capture, the ports tell: a port that this process listens on is a server's, and one the kernel
/// gives out is a client's.
pub fn role_of(life: &FdLife, world: &World) -> Role {
    match life.origin {
        Origin::Accept => return Role::Client,
        Origin::Socket => return Role::Server,
        _ => {}
    }
    if let Some(role) = role_by_path(life) {
        return role;
    }
    let local = life.local().and_then(port_of);
    let peer = life.peer().and_then(port_of);
    match (local, peer) {
        (Some(local), Some(peer)) if local >= FIRST_EPHEMERAL_PORT && peer < FIRST_EPHEMERAL_PORT => {
            Role::Server
        }
        (Some(local), Some(peer)) if local < FIRST_EPHEMERAL_PORT && peer >= FIRST_EPHEMERAL_PORT => {
            Role::Client
        }
        (Some(local), _) if listens(life, world, Some(local)) => Role::Client,
        // Of a server's connection that shows the other end alone, a port that the kernel gave out is a client's.
        (None, Some(peer)) if peer >= FIRST_EPHEMERAL_PORT && listens(life, world, None) => Role::Client,
        _ => Role::Server,
    }
}

/// True where the process listens, on that port where one is given.
fn listens(life: &FdLife, world: &World, port: Option<u16>) -> bool {
    let is_it = |other: &FdLife| {
        let own = other.local().and_then(port_of);
        other.process == life.process && other.listening && own.is_some() && (port.is_none() || own == port)
    };
    world.fds.open().any(|(_, other)| is_it(other))
}

/// The other end of a unix socket, by the names of both: the socket with which a server takes a connection keeps the name that it listens
/// at, and a client's has none (unix(7)). `None` where that tells nothing.
pub(crate) fn role_by_path(life: &FdLife) -> Option<Role> {
    let is_unix = life.kind == FdKind::Unix;
    let is_path =
        |name: &str| name.starts_with(['/', '@']) || is_unix && !name.is_empty() && !is_holder(name);
    match (life.local().is_some_and(is_path), life.peer().is_some_and(is_path)) {
        (true, false) => Some(Role::Client),
        (false, true) if is_unix || life.local().is_none() => Some(Role::Server),
        _ => None,
    }
}

/// True for what says who holds the other end of a unix socket, which has no name: `77,nginx,5u`, `INO=8123`.
fn is_holder(end: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_descriptor = |text: &str| text.strip_suffix('u').is_some_and(is_number);
    end.starts_with("INO=")
        || end.split_once(',').is_some_and(|(pid, _)| is_number(pid))
            && end.rsplit_once(',').is_some_and(|(_, fd)| is_descriptor(fd))
}

#[cfg(test)]
mod tests {
    use super::{Role, role_of};
    use crate::Facts;
    use whyslow_model::{Call, Event, Nanos, Ret, Sink, Timestamp};

    #[test]
    fn who_listens_is_asked_on_a_connection_that_shows_a_port_of_the_kernel_alone() {
        let role = |listens: bool, port: u16| {
            let mut facts = Facts::default();
            let bound = "3, {sa_family=AF_INET, sin_port=htons(7000), sin_addr=inet_addr(\"0.0.0.0\")}, 16";
            let peer = format!(
                "5, {{sa_family=AF_INET, sin_port=htons({port}), sin_addr=inet_addr(\"127.0.0.1\")}}, [16]"
            );
            let calls =
                [("socket", "AF_INET, SOCK_STREAM, 0", 3), ("bind", bound, 0), ("listen", "3, 128", 0)];
            let calls = calls.iter().filter(|_| listens);
            for (at, (name, args, ret)) in calls.chain(&[("getpeername", &*peer, 0)]).enumerate() {
                let mut call = Call::new(name, args);
                (call.tid, call.pid, call.ret) = (1, Some(1), Ret::Value(*ret));
                (call.ts, call.dur) = (Timestamp::new(1 + at as u64), Nanos::new(1));
                facts.push(Event::Call(&call));
            }
            facts.finish();
            let life = facts.world.fds.iter().map(|(_, life)| life).find(|life| life.fd == 5).unwrap();
            assert!(life.peer().is_some() && life.local().is_none());
            role_of(life, &facts.world)
        };
        assert_eq!([role(true, 44_098), role(false, 44_098)], [Role::Client, Role::Server]);
        assert_eq!(role(true, 5_432), Role::Server);
    }
}
