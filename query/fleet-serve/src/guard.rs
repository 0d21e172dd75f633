//! Who may ask: by which name, from which site, as whom. Each request passes here, and stands in the audit log afterwards.
//!
//! - The **Host** must be a name that the server is known by: a stranger's name that was made to point here (DNS rebinding) is none.
//! - The **Origin** of what is not a plain visit must be the server's own: another site's page can send requests, and must not be heard.
//! - **Who** it is says a token, a session (a cookie that no script reads and no other site sends), or a header of a proxy at a listed address.
//! - What **changes** something brings the form's own secret besides, unless it is asked for with a token.

use crate::audit::{AuditLine, now, plain_parameters};
use crate::settings::{FleetBind, FleetRole, FleetServeSettings};
use crate::site::Site;
use crate::users::{FleetUser, hashed, hex, same};
use crate::views;
use axum::extract::connect_info::{ConnectInfo, Connected};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use axum::serve::IncomingStream;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, UnixListener};
use whyslow_query_serve::{TlsListener, seal};

/// A request that takes longer is given up; rings take their time.
const MOST_TIME: Duration = Duration::from_secs(150);

/// What a browser lets a view do: our style sheet and script, forms to us, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

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

/// Who it is, for what comes behind the guard.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    /// Who is logged in.
    pub(crate) user: Option<FleetUser>,
    /// From where, as the log tells it.
    pub(crate) from: String,
    /// The session's own text, where there is one.
    pub(crate) session: Option<String>,
    /// What forms have to bring.
    pub(crate) csrf: String,
}

/// Why a request goes no further.
type Refusal = (StatusCode, &'static str);

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

    /// Whether the name and the site are ours.
    fn judge(&self, peer: Peer, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), Refusal> {
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
    fn from(&self, peer: Peer, headers: &HeaderMap) -> String {
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
    fn by_proxy(&self, settings: &FleetServeSettings, peer: Peer, headers: &HeaderMap) -> Option<FleetUser> {
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

fn cookie_of(headers: &HeaderMap, name: &str) -> Option<String> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(own, _)| *own == name).map(|(_, value)| value.to_string())
}

/// What anybody gets: what the form to log in is made of.
fn is_open(path: &str) -> bool {
    matches!(path, "/login" | "/login/oidc" | "/login/oidc/callback" | "/style.css" | "/script.js")
}

/// Who it is; `Err` where a token was brought that is none.
fn visitor(site: &Site, peer: Peer, headers: &HeaderMap) -> Result<Visitor, (Refusal, String)> {
    let from = site.guard.from(peer, headers);
    let csrf = |of: &str| hex(&hashed(&format!("{} csrf {of}", site.secret)));
    let as_user = |user: Option<FleetUser>, session: Option<String>, csrf: String| Visitor {
        user,
        from: from.clone(),
        session,
        csrf,
    };
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        if site.failures.too_many(&from) {
            return Err((
                (
                    StatusCode::TOO_MANY_REQUESTS,
                    "too many logins failed from there; try again in ten minutes",
                ),
                from,
            ));
        }
        let token = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
        return match token.and_then(|token| site.tokens.owner(token)) {
            Some(user) => Ok(as_user(Some(user), None, String::new())),
            None => {
                site.failures.add(&from);
                Err(((StatusCode::UNAUTHORIZED, "the token is none that is known here"), from))
            }
        };
    }
    if let Some(user) = site.guard.by_proxy(&site.settings, peer, headers) {
        let own = csrf(&format!("proxy {}", user.name));
        return Ok(as_user(Some(user), None, own));
    }
    let session = cookie_of(headers, &site.guard.cookie);
    let user = session.as_deref().and_then(|session| site.sessions.user(session));
    let own = session.as_deref().map(csrf).unwrap_or_default();
    Ok(as_user(user, session, own))
}

impl Visitor {
    /// Whether a form was one of ours: who came by a token has no form.
    pub(crate) fn brings(&self, csrf: &str) -> bool {
        let by_token = self.user.as_ref().is_some_and(|user| user.how == "token") && self.session.is_none();
        by_token || !self.csrf.is_empty() && same(&hashed(&self.csrf), &hashed(csrf))
    }
}

/// The checks, and what every answer says to the browser.
pub(crate) async fn guard(
    State(site): State<Arc<Site>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    mut request: Request,
    next: Next,
) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_string());
    let mut line = AuditLine {
        event: "request",
        from: site.guard.from(peer, request.headers()),
        method: method.to_string(),
        path: crate::audit::short(&path),
        parameters: plain_parameters(request.uri().query()),
        ..AuditLine::default()
    };
    let judged = site
        .guard
        .judge(peer, &method, &path, request.headers())
        .map_err(|refusal| (refusal, line.from.clone()));
    let judged = judged.and_then(|()| visitor(&site, peer, request.headers()));
    let mut response = match judged {
        Err(((status, said), _)) => {
            line.event = if status == StatusCode::UNAUTHORIZED { "login-failed" } else { "refused" };
            refused(&path, status, said)
        }
        Ok(visitor) => {
            line.user = visitor.user.as_ref().map(|user| user.name.clone());
            line.how = visitor.user.as_ref().map(|user| user.how);
            let may = visitor.user.as_ref().map(|user| user.may(FleetRole::Read));
            match may {
                _ if is_open(&path) => {
                    request.extensions_mut().insert(visitor);
                    in_time(next, request).await
                }
                Some(true) => {
                    request.extensions_mut().insert(visitor);
                    in_time(next, request).await
                }
                Some(false) => refused(
                    &path,
                    StatusCode::FORBIDDEN,
                    "you are logged in, and none of your groups may read this",
                ),
                None if path.starts_with("/api/") || method != Method::GET => refused(
                    &path,
                    StatusCode::UNAUTHORIZED,
                    "nobody is logged in: send `Authorization: Bearer TOKEN`, or log in at /login",
                ),
                None => to_login(&request),
            }
        }
    };
    line.status = Some(response.status().as_u16());
    line.time = now();
    // What handlers logged themselves (a login, a dump) stands there already, with more.
    let is_told = response.extensions().get::<Told>().is_some();
    if !is_open(&path) || line.event != "request" {
        if !is_told && let Err(error) = site.audit.write(&line) {
            response = refused(
                &path,
                StatusCode::SERVICE_UNAVAILABLE,
                "the audit log cannot be written, and nothing is answered without it",
            );
            site.complain(&error.to_string());
        }
    }
    let headers = response.headers_mut();
    let is_page =
        headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    if is_page && !headers.contains_key(header::CONTENT_SECURITY_POLICY) {
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    }
    if site.settings.is_encrypted() {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    seal(&mut response);
    if is_page {
        // Browsers name no origin in forms of pages that tell no referrer at all.
        response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    }
    response
}

/// Marks an answer whose line the handler wrote.
#[derive(Clone, Copy)]
pub(crate) struct Told;

async fn in_time(next: Next, request: Request) -> Response {
    let path = request.uri().path().to_string();
    match tokio::time::timeout(MOST_TIME, next.run(request)).await {
        Ok(response) => response,
        Err(_) => refused(&path, StatusCode::GATEWAY_TIMEOUT, "it took too long"),
    }
}

/// As JSON where data was asked for, else as a page.
pub(crate) fn refused(path: &str, status: StatusCode, said: &str) -> Response {
    match path.starts_with("/api/") {
        true => (status, axum::Json(serde_json::json!({ "error": said }))).into_response(),
        false => (
            status,
            Html(views::trouble(status.canonical_reason().unwrap_or("It did not work"), said).into_string()),
        )
            .into_response(),
    }
}

fn to_login(request: &Request) -> Response {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("next", request.uri().path_and_query().map_or("/", |to| to.as_str()));
    let to = format!("/login?{}", query.finish());
    match HeaderValue::from_str(&to) {
        Ok(to) => (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response(),
        Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
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
            "[proxy]\nfrom=['10.0.0.5']\nuser='x-user'\ngroups='x-groups'\nroles={read=['staff'],dump=['sre']}",
        );
        let proxy = Peer::Address("10.0.0.5".parse().unwrap());
        let all = headers(&[
            ("x-user", "ann"),
            ("x-groups", "staff, sre"),
            ("x-forwarded-for", "1.1.1.1, 192.0.2.7"),
        ]);
        let user = guard.by_proxy(&settings, proxy, &all).unwrap();
        assert!(user.may(FleetRole::Dump) && user.name == "ann");
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
