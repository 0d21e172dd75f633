//! Addresses of the cluster's processes, and which of them need keys.

use crate::error::ClusterError;
use crate::keys::ClusterKeys;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// The port of a scheduler where none is said: Ballista's own.
const PORT: u16 = 50_050;

/// Where a scheduler is: a name or an address, and a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClusterAddress {
    /// The host as it stands in an address: a name, or an IP address, that of IPv6 in brackets.
    host: String,
    port: u16,
}

impl ClusterAddress {
    /// The host: a name, or an IP address, that of IPv6 in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// True where it is this machine, whoever asks.
    fn is_here(&self) -> bool {
        let plain = self.host.trim_start_matches('[').trim_end_matches(']');
        plain == "localhost" || plain.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// What goes over the network goes with keys.
    pub(crate) fn check(&self, keys: Option<&ClusterKeys>) -> Result<(), ClusterError> {
        match keys.is_some() || self.is_here() {
            true => Ok(()),
            false => Err(ClusterError::Unprotected { address: self.to_string() }),
        }
    }
}

impl From<SocketAddr> for ClusterAddress {
    fn from(address: SocketAddr) -> ClusterAddress {
        let host = match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        ClusterAddress { host, port: address.port() }
    }
}

impl fmt::Display for ClusterAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.host, self.port)
    }
}

impl FromStr for ClusterAddress {
    type Err = ClusterError;

    fn from_str(given: &str) -> Result<ClusterAddress, ClusterError> {
        let wrong =
            |reason: &str| ClusterError::Address { given: given.to_string(), reason: reason.to_string() };
        let (host, port) = match given.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => {
                (host, port.parse().map_err(|_| wrong("the port is no number from 1 to 65535"))?)
            }
            _ => (given, PORT),
        };
        let is_ipv6 = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let is_good = match is_ipv6 {
            Some(ip) => ip.parse::<std::net::Ipv6Addr>().is_ok(),
            None => {
                let allowed = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
                !host.is_empty() && host.len() <= 253 && host.chars().all(allowed)
            }
        };
        match is_good && port != 0 {
            true => Ok(ClusterAddress { host: host.to_string(), port }),
            false => Err(wrong("it names no host and port")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        for (given, shown) in [
            ("127.0.0.1:50050", "127.0.0.1:50050"),
            ("localhost", "localhost:50050"),
            ("[::1]:7", "[::1]:7"),
            ("[::1]", "[::1]:50050"),
            ("sched-1.internal:80", "sched-1.internal:80"),
        ] {
            assert_eq!(given.parse::<ClusterAddress>().unwrap().to_string(), shown, "{given}");
        }
        for given in
            ["", ":50050", "host:0", "host:x", "host:99999", "http://host:1", "a b:1", "::1:5", "[::1"]
        {
            assert!(given.parse::<ClusterAddress>().is_err(), "{given}");
        }
    }

    #[test]
    fn what_leaves_the_machine_needs_keys() {
        for (given, is_here) in [
            ("127.0.0.1:1", true),
            ("127.8.8.8:1", true),
            ("[::1]:1", true),
            ("localhost:1", true),
            ("10.0.0.1:1", false),
            ("0.0.0.0:1", false),
            ("localhost.example.org:1", false),
        ] {
            assert_eq!(given.parse::<ClusterAddress>().unwrap().check(None).is_ok(), is_here, "{given}");
        }
    }
}
