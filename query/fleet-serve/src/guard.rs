//! Who may ask: by which name, from which site, as whom.
//!
//! - The **Host** must be a name that the server is known by: a stranger's name that was made to point here (DNS rebinding) is none.
//! - The **Origin** of what is not a plain visit must be the server's own: another site's page can send requests, and must not be heard.
//! - **Who** it is says a token, a session (a cookie that no script reads and no other site sends), or a header of a proxy at a listed address.
//! - What **changes** something brings the form's own secret besides, unless it is asked for with a token.

use crate::settings::{FleetBind, FleetServeSettings};
use crate::users::FleetUser;
use axum::extract::connect_info::Connected;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::serve::IncomingStream;
use std::net::{IpAddr, SocketAddr};
use tokio::net::{TcpListener, UnixListener};
use whyslow_query_serve::TlsListener;

/// The other end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Peer {
    Address(IpAddr),
    Unix,
}

impl Connected<IncomingStream<'_, TcpListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Peer {
        Peer::Address(stream.remote_addr().ip().to_canonical())
    }
}

impl Connected<IncomingStream<'_, TlsListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, TlsListener>) -> Peer {
        Peer::Address(stream.remote_addr().ip().to_canonical())
    }
}

impl Connected<IncomingStream<'_, UnixListener>> for Peer {
    fn connect_info(_: IncomingStream<'_, UnixListener>) -> Peer {
        Peer::Unix
    }
}

/// A proxy that says who asks.
struct Proxy {
    from: Vec<Peer>,
    user: HeaderName,
    groups: Option<HeaderName>,
}

/// What requests are checked against.
pub(crate) struct Guard {
    /// `127.0.0.1:8470` and others, in lower case.
    hosts: Vec<String>,
    /// The origins that browsers may name beside `SCHEME://HOST`.
    origin: Option<String>,
    scheme: &'static str,
    cookie: String,
    secure: bool,
    proxy: Option<Proxy>,
}

/// Why a request goes no further.
pub(crate) type Refusal = (StatusCode, &'static str);

impl Guard {
    /// For a server that listens there.
    ///
    /// # Errors
    /// If a header of the proxy is none.
    pub(crate) fn new(settings: &FleetServeSettings, at: &FleetBind) -> Result<Guard, String> {
        let secure = settings.is_encrypted();
        let scheme = if secure { "https" } else { "http" };
        let mut hosts: Vec<String> = settings.names.iter().map(|name| name.to_ascii_lowercase()).collect();
        let mut cookie = "whyslow-fleet".to_string();
        if let FleetBind::Address(at) = at {
            for name in ["127.0.0.1", "localhost", "[::1]"] {
                hosts.push(format!("{name}:{}", at.port()));
            }
            if !at.ip().is_unspecified() {
                hosts.push(at.to_string());
            }
            hosts.extend(
                settings.names.iter().map(|name| format!("{}:{}", name.to_ascii_lowercase(), at.port())),
            );
            cookie = format!("whyslow-fleet-{}", at.port());
        }
        let mut origin = None;
        if let Some(url) = &settings.url {
            origin = Some(url.origin().ascii_serialization());
            let host = url.host_str().unwrap_or_default();
            hosts.push(url.port().map_or_else(|| host.to_string(), |port| format!("{host}:{port}")));
        }
        let header =
            |name: &str| HeaderName::try_from(name).map_err(|_| format!("{name} is no name of a header"));
        let proxy = match &settings.proxy {
            None => None,
            Some(proxy) => Some(Proxy {
                from: proxy.from.iter().filter_map(|from| peer(from)).collect(),
                user: header(&proxy.user)?,
                groups: proxy.groups.as_deref().map(header).transpose()?,
            }),
        };
        // A cookie of this kind is taken by browsers from an encrypted page alone, and is of no other path or name.
        let cookie = if secure { "__Host-whyslow-fleet".to_string() } else { cookie };
        Ok(Guard { hosts, origin, scheme, cookie, secure, proxy })
    }

    /// A cookie; `strict` is one that no other site's link brings along. Without a value it is taken away.
    fn cookie(&self, name: &str, value: &str, strict: bool, seconds: u64) -> Option<HeaderValue> {
        let secure = if self.secure { "; Secure" } else { "" };
        let site = if strict { "Strict" } else { "Lax" };
        let text = format!("{name}={value}; Path=/; HttpOnly; SameSite={site}; Max-Age={seconds}{secure}");
        HeaderValue::from_str(&text).ok()
    }

    /// The cookie of a session.
    pub(crate) fn session_cookie(&self, session: &str, seconds: u64) -> Option<HeaderValue> {
        self.cookie(&self.cookie, session, true, seconds)
    }

    /// The cookie of a login at the provider, which the provider's site sends back.
    pub(crate) fn flow_cookie(&self, state: &str, seconds: u64) -> Option<HeaderValue> {
        self.cookie(&format!("{}-login", self.cookie), state, false, seconds)
    }

    /// The state of the login that the browser began.
    pub(crate) fn flow_of(&self, headers: &HeaderMap) -> Option<String> {
        cookie_of(headers, &format!("{}-login", self.cookie))
    }

    /// The name of the cookie of a session.
    pub(crate) fn session_name(&self) -> &str {
        &self.cookie
    }

    /// Whether the name and the site are ours.
    pub(crate) fn judge(
        &self,
        peer: Peer,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<(), Refusal> {
        let host = one(headers, header::HOST).map(str::to_ascii_lowercase);
        // A proxy on this machine that comes by the socket may keep whatever name it was asked by.
        let is_known = |host: &String| peer == Peer::Unix || self.hosts.contains(host);
        let Some(host) = host.filter(is_known) else {
            return Err((StatusCode::MISDIRECTED_REQUEST, "this server is not known by that name"));
        };
        let reads = *method == Method::GET || *method == Method::HEAD;
        let by_token = headers.contains_key(header::AUTHORIZATION);
        let own = format!("{}://{host}", self.scheme);
        match headers.get(header::ORIGIN).map(|_| one(headers, header::ORIGIN)) {
            Some(Some(origin)) if origin == own || Some(origin) == self.origin.as_deref() => {}
            Some(_) => return Err((StatusCode::FORBIDDEN, "the request comes from another site")),
            None if !reads && !by_token => {
                return Err((StatusCode::FORBIDDEN, "the request does not say where it comes from"));
            }
            None => {}
        }
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let is_own = matches!(site, None | Some(b"same-origin") | Some(b"none"));
        let navigates = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
        let is_visit = *method == Method::GET && !path.starts_with("/api/");
        match is_own || is_visit && navigates {
            true => Ok(()),
            false => Err((StatusCode::FORBIDDEN, "the request comes from another site")),
        }
    }

    fn is_proxy(&self, peer: Peer) -> bool {
        self.proxy.as_ref().is_some_and(|proxy| proxy.from.contains(&peer))
    }

    /// From where it comes: what the proxy says, where it is ours.
    pub(crate) fn from(&self, peer: Peer, headers: &HeaderMap) -> String {
        if self.is_proxy(peer) {
            let all: Vec<&str> =
                headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok()).collect();
            // The last one is what our proxy saw; those before it anybody can write.
            let last = all
                .last()
                .and_then(|value| value.rsplit(',').next())
                .and_then(|text| text.trim().parse::<IpAddr>().ok());
            if let Some(address) = last {
                return address.to_string();
            }
        }
        match peer {
            Peer::Address(address) => address.to_string(),
            Peer::Unix => "unix".to_string(),
        }
    }

    /// Who the proxy says that it is.
    pub(crate) fn by_proxy(
        &self,
        settings: &FleetServeSettings,
        peer: Peer,
        headers: &HeaderMap,
    ) -> Option<FleetUser> {
        let (proxy, roles) = (self.proxy.as_ref()?, &settings.proxy.as_ref()?.roles);
        if !self.is_proxy(peer) {
            return None;
        }
        let name = one(headers, proxy.user.clone()).map(str::trim).filter(|name| !name.is_empty())?;
        let groups = proxy.groups.clone().and_then(|header| one(headers, header)).unwrap_or_default();
        let groups: Vec<String> = groups
            .split(',')
            .map(|group| group.trim().to_string())
            .filter(|group| !group.is_empty())
            .collect();
        Some(FleetUser { name: crate::audit::short(name), how: "proxy", roles: roles.of(&groups) })
    }
}

fn peer(text: &str) -> Option<Peer> {
    match text {
        "unix" => Some(Peer::Unix),
        address => address.parse::<IpAddr>().ok().map(|address| Peer::Address(address.to_canonical())),
    }
}

/// The value of a header that is there once.
fn one(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

pub(crate) fn cookie_of(headers: &HeaderMap, name: &str) -> Option<String> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(own, _)| *own == name).map(|(_, value)| value.to_string())
}

/// Where a login leads: a path of ours, and nothing that a browser takes for another site.
pub(crate) fn own_path(next: &str) -> String {
    let is_own = next.starts_with('/')
        && !next.starts_with("//")
        && next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_own && next.len() < 4_096 { next.to_string() } else { "/".to_string() }
}

/// The address of a socket, for what is printed.
pub(crate) fn shown(at: SocketAddr) -> String {
    match at.ip().is_unspecified() {
        true => format!("localhost:{}", at.port()),
        false => at.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::FleetRole;

    fn guard(text: &str) -> (Guard, FleetServeSettings) {
        let settings: FleetServeSettings = toml::from_str(text).unwrap();
        let guard = Guard::new(&settings, &FleetBind::Address("127.0.0.1:8470".parse().unwrap())).unwrap();
        (guard, settings)
    }

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in all {
            map.append(*name, value.parse().unwrap());
        }
        map
    }

    const NEAR: Peer = Peer::Address(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));

    #[test]
    fn other_names_and_other_sites_are_refused() {
        let (guard, _) = guard("url = 'https://fleet.example'");
        let status = |method: Method, path: &str, all: &[(&'static str, &str)]| {
            guard.judge(NEAR, &method, path, &headers(all)).err().map_or(200, |(status, _)| status.as_u16())
        };
        for host in ["fleet.example", "FLEET.example", "127.0.0.1:8470", "localhost:8470"] {
            assert_eq!(status(Method::GET, "/", &[("host", host)]), 200, "{host}");
        }
        for host in ["evil.example", "127.0.0.1", "fleet.example:81", ""] {
            assert_eq!(status(Method::GET, "/", &[("host", host)]), 421, "{host}");
        }
        let host = ("host", "fleet.example");
        assert_eq!(status(Method::POST, "/dump", &[host]), 403);
        assert_eq!(status(Method::POST, "/dump", &[host, ("origin", "https://evil.example")]), 403);
        assert_eq!(status(Method::POST, "/dump", &[host, ("origin", "null")]), 403);
        assert_eq!(status(Method::POST, "/dump", &[host, ("origin", "https://fleet.example")]), 200);
        assert_eq!(status(Method::POST, "/dump", &[host, ("authorization", "Bearer x")]), 200);
        assert_eq!(status(Method::GET, "/api/fleet/hosts", &[host, ("sec-fetch-site", "cross-site")]), 403);
        assert_eq!(
            status(
                Method::GET,
                "/",
                &[host, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]
            ),
            200
        );
    }

    #[test]
    fn a_header_is_believed_of_the_proxy_alone() {
        let (guard, settings) = guard(
            "[proxy]\nfrom=['10.0.0.5']\nuser='x-user'\ngroups='x-groups'\nroles={read=['staff'],dump=['sre'],record=['lead']}",
        );
        let proxy = Peer::Address("10.0.0.5".parse().unwrap());
        let all = headers(&[
            ("x-user", "ann"),
            ("x-groups", "staff, sre"),
            ("x-forwarded-for", "1.1.1.1, 192.0.2.7"),
        ]);
        let user = guard.by_proxy(&settings, proxy, &all).unwrap();
        assert!(user.may(FleetRole::Dump) && !user.may(FleetRole::Record) && user.name == "ann");
        let lead = headers(&[("x-user", "bea"), ("x-groups", "lead")]);
        assert!(guard.by_proxy(&settings, proxy, &lead).is_some_and(|user| user.may(FleetRole::Record)));
        assert_eq!(guard.from(proxy, &all), "192.0.2.7");
        assert_eq!(guard.by_proxy(&settings, NEAR, &all), None);
        assert_eq!(guard.by_proxy(&settings, Peer::Unix, &all), None);
        assert_eq!(guard.from(NEAR, &all), "127.0.0.1");
        let twice = headers(&[("x-user", "ann"), ("x-user", "root")]);
        assert_eq!(guard.by_proxy(&settings, proxy, &twice), None);
        let none = guard.by_proxy(&settings, proxy, &headers(&[("x-user", "bob")])).unwrap();
        assert!(!none.may(FleetRole::Read));
    }

    #[test]
    fn a_login_leads_to_a_path_of_ours() {
        for (next, to) in [
            ("/host?name=a%26b", "/host?name=a%26b"),
            ("//evil.example", "/"),
            ("https://evil.example", "/"),
            ("/\\evil", "/"),
            ("/a\nb", "/"),
            ("", "/"),
        ] {
            assert_eq!(own_path(next), to, "{next:?}");
        }
    }

    #[test]
    fn cookies_are_of_this_server_alone() {
        let (plain, _) = guard("");
        let cookie = plain.session_cookie("abc", 60).unwrap();
        assert_eq!(cookie, "whyslow-fleet-8470=abc; Path=/; HttpOnly; SameSite=Strict; Max-Age=60");
        let (secure, _) = guard("url = 'https://fleet.example'");
        let cookie = secure.session_cookie("abc", 60).unwrap();
        assert_eq!(cookie, "__Host-whyslow-fleet=abc; Path=/; HttpOnly; SameSite=Strict; Max-Age=60; Secure");
        let brought =
            headers(&[("cookie", "a=b; __Host-whyslow-fleet-login=state; __Host-whyslow-fleet=abc")]);
        assert_eq!(secure.flow_of(&brought).as_deref(), Some("state"));
    }
}
