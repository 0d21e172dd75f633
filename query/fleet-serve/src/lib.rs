//! Serves what agents of many hosts stored to browsers: findings over time, services, hosts, the pages of kept recordings. docs/FLEET_SERVE.md tells it
//! for users.
//!
//! A view asks questions that `whyslow fleet` has too ([`answers`]) and renders their answers ([`views`]). Who may ask is judged in [`guard`], by what
//! [`settings`] say.

mod answers;
mod audit;
mod charts;
mod entry;
mod error;
mod guard;
mod handlers;
mod logins;
mod oidc;
mod range;
mod rings;
mod settings;
mod site;
mod text;
mod users;
mod views;

pub use answers::FleetOpener;
pub use error::FleetServeError;
pub use settings::{
    AskedRing, FleetBind, FleetRole, FleetServeSettings, OidcSettings, ProxySettings, RoleGroups, TlsFiles,
    TokenSettings,
};

use answers::Answers;
use audit::Audit;
use guard::{Guard, Peer};
use oidc::Oidc;
use rings::Rings;
use site::Site;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use users::{Failures, Sessions, Tokens, hashed, random};
use whyslow_query_serve::{RecordingPages, TlsListener, tls_of_files};

/// Where the server listens.
enum Listener {
    Address(std::net::TcpListener),
    Unix(std::os::unix::net::UnixListener),
}

/// A server that listens and does not answer yet. Files of the settings were read, so that the process may give up its rights.
pub struct FleetServer {
    listener: Listener,
    acceptor: Option<tokio_rustls::TlsAcceptor>,
    parts: Parts,
    /// The address to open. Where no login is set up it has a token that is made for this run.
    pub url: String,
    /// The address that it has; a port 0 was given another number.
    pub at: FleetBind,
}

/// What is made of the settings.
struct Parts {
    settings: FleetServeSettings,
    guard: Guard,
    tokens: Tokens,
    oidc: Option<Oidc>,
    rings: Rings,
    audit: Audit,
    secret: String,
    complain: fn(&str),
}

impl FleetServer {
    /// Checks the settings, reads the files that they name, and listens. `complain` is told what no browser is to hear.
    ///
    /// # Errors
    /// What is refused, or cannot be.
    pub fn open(settings: FleetServeSettings, complain: fn(&str)) -> Result<FleetServer, FleetServeError> {
        settings.check()?;
        let mut tokens = Tokens::read(&settings.token)?;
        let acceptor = match &settings.tls {
            Some(tls) => {
                Some(tls_of_files(&tls.certificate, &tls.key).map_err(|reason| wrong("tls", reason))?)
            }
            None => None,
        };
        let (listener, at) = listen(&settings.place()?)?;
        let guard = Guard::new(&settings, &at).map_err(|reason| wrong("proxy", reason))?;
        let mut url = match (&settings.url, &at) {
            (Some(url), _) => url.to_string(),
            (None, FleetBind::Address(at)) => {
                format!("{}://{}/", if settings.tls.is_some() { "https" } else { "http" }, guard::shown(*at))
            }
            (None, FleetBind::Unix(path)) => format!("unix:{}", path.display()),
        };
        if !settings.has_login() {
            let token = random()?;
            tokens.add(hashed(&token), "who started the server", BTreeSet::from([FleetRole::Record]));
            url = format!("{url}login?token={token}");
        }
        let oidc = match (&settings.oidc, &settings.url) {
            (Some(oidc), Some(url)) => Some(Oidc::new(oidc, url)?),
            _ => None,
        };
        let rings = Rings::read(&settings.ring)?;
        let audit = Audit::open(settings.audit.clone(), settings.audit_bytes())?;
        let parts = Parts { guard, tokens, oidc, rings, audit, secret: random()?, complain, settings };
        Ok(FleetServer { listener, acceptor, parts, url, at })
    }

    /// Whether it connects to others: to a provider, to rings.
    pub fn connects(&self) -> bool {
        !self.parts.settings.ring.is_empty() || self.parts.oidc.is_some()
    }

    /// Answers until `until` is done. `open` opens the fleet for a question, on so many threads.
    ///
    /// # Errors
    /// If connections cannot be taken any more.
    pub async fn run(
        self,
        open: FleetOpener,
        threads: Option<usize>,
        pages: RecordingPages,
        until: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), FleetServeError> {
        let Parts { settings, guard, tokens, oidc, rings, audit, secret, complain } = self.parts;
        let site = Arc::new(Site {
            guard,
            tokens,
            sessions: Sessions::new(Duration::from_secs(settings.session_seconds())),
            failures: Failures::default(),
            oidc,
            rings,
            audit,
            answers: Answers::new(open, threads, settings.sample),
            pages: pages.clone(),
            secret,
            complain,
            settings,
        });
        let service = handlers::router(site).into_make_service_with_connect_info::<Peer>();
        let failed = |error: std::io::Error| FleetServeError::Listen {
            place: self.url.clone(),
            reason: error.to_string(),
        };
        tokio::pin!(until);
        // Answers that are under way are not waited for.
        match (self.listener, self.acceptor) {
            (Listener::Address(listener), Some(acceptor)) => {
                let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
                let listener = TlsListener::new(listener, acceptor).map_err(failed)?;
                tokio::select! {
                    served = async { axum::serve(listener, service).await } => served.map_err(failed)?,
                    () = &mut until => {}
                }
            }
            (Listener::Address(listener), None) => {
                let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
                tokio::select! {
                    served = async { axum::serve(listener, service).await } => served.map_err(failed)?,
                    () = &mut until => {}
                }
            }
            (Listener::Unix(listener), _) => {
                let listener = tokio::net::UnixListener::from_std(listener).map_err(failed)?;
                tokio::select! {
                    served = async { axum::serve(listener, service).await } => served.map_err(failed)?,
                    () = &mut until => {}
                }
            }
        }
        pages.end();
        Ok(())
    }
}

fn wrong(place: &str, reason: String) -> FleetServeError {
    FleetServeError::Settings { place: place.to_string(), reason }
}

fn listen(at: &FleetBind) -> Result<(Listener, FleetBind), FleetServeError> {
    match at {
        FleetBind::Address(address) => {
            let failed = |error: std::io::Error| FleetServeError::Listen {
                place: address.to_string(),
                reason: error.to_string(),
            };
            let listener = std::net::TcpListener::bind(address).map_err(failed)?;
            listener.set_nonblocking(true).map_err(failed)?;
            let at: SocketAddr = listener.local_addr().map_err(failed)?;
            Ok((Listener::Address(listener), FleetBind::Address(at)))
        }
        FleetBind::Unix(path) => {
            let failed = |error: std::io::Error| FleetServeError::Listen {
                place: path.display().to_string(),
                reason: error.to_string(),
            };
            let listener = socket(path).map_err(failed)?;
            listener.set_nonblocking(true).map_err(failed)?;
            Ok((Listener::Unix(listener), at.clone()))
        }
    }
}

/// A socket for its user and group alone. One that nobody listens on any more makes place; anything else at the path stays.
fn socket(path: &Path) -> std::io::Result<std::os::unix::net::UnixListener> {
    let is_socket = path.symlink_metadata().is_ok_and(|about| about.file_type().is_socket());
    if is_socket && std::os::unix::net::UnixStream::connect(path).is_err() {
        std::fs::remove_file(path)?;
    }
    let listener = std::os::unix::net::UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o660))?;
    Ok(listener)
}
