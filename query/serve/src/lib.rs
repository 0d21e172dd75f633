//! Serves the pages of recordings of any size to a browser of this machine: the page that `whyslow report X -o x.html` writes, with its
//! data by pages from the recording's Parquet.
//!
//! What a page shows first comes from an index of the calls, which takes a pass over a few columns ([`index`]); the diagnosis follows when it is
//! there ([`runs`]). Zooms read the rows that they show. Questions in SQL are answered by what implements [`Questions`]. Who may ask is
//! judged in [`access`]; docs/SERVE.md tells it for users.

mod access;
mod api;
mod cache;
mod calls;
mod found;
mod index;
mod live;
mod pages;
mod questions;
mod runs;
mod tls;

pub use api::seal;
pub use cache::usual_cache;
pub use pages::{PagesOptions, RecordingPages, ServedRecording};
pub use questions::{AnswerFuture, QuestionLimits, Questions};
pub use tls::{TlsListener, tls_of_files};

use access::Access;
use api::Site;
use cache::Cache;
use found::Served;
use live::Live;
use runs::Runs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;

/// What is served, to whom.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Recordings, captures, and directories of them.
    pub paths: Vec<PathBuf>,
    /// Where to listen; port 0 takes a free one.
    pub bind: SocketAddr,
    /// Further names that the server is known by.
    pub hosts: Vec<String>,
    /// Speak TLS, with a certificate of our own.
    pub tls: bool,
    /// Listen to others without TLS.
    pub insecure: bool,
    /// Recordings may be begun from the page.
    pub allow_record: bool,
    /// Do not replace secrets in what the diagnosis shows.
    pub show_secrets: bool,
    /// The program that diagnoses and records.
    pub whyslow: PathBuf,
    /// Where diagnoses are kept; the user's cache where it is not given.
    pub cache: Option<PathBuf>,
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    site: Arc<Site>,
    access: Access,
    acceptor: Option<tokio_rustls::TlsAcceptor>,
    /// The address to open, with its token.
    pub url: String,
    /// The fingerprint of its certificate (SHA-256), with TLS.
    pub fingerprint: Option<String>,
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    /// What is refused, or cannot be.
    pub async fn open(options: ServeOptions, questions: Arc<dyn Questions>) -> Result<Server, String> {
        let is_loopback = options.bind.ip().is_loopback();
        if !is_loopback && !options.tls && !options.insecure {
            return Err(format!(
                "{} is an address that others reach, and the token and all data would go to it unencrypted\n\
                 next: --tls, or --insecure where the network is your own",
                options.bind.ip()
            ));
        }
        for path in &options.paths {
            if let Err(error) = path.metadata() {
                return Err(format!("{}: {error}", whyslow_model::visible::path(path)));
            }
        }
        let listener =
            TcpListener::bind(options.bind).await.map_err(|error| format!("{}: {error}", options.bind))?;
        let at = listener.local_addr().map_err(|error| error.to_string())?;
        let mut names = options.hosts.clone();
        if !is_loopback && !at.ip().is_unspecified() {
            names.push(match at {
                SocketAddr::V4(at) => at.ip().to_string(),
                SocketAddr::V6(at) => format!("[{}]", at.ip()),
            });
        }
        let token = Access::new_token()?;
        let scheme = if options.tls { "https" } else { "http" };
        let shown = match names.first().filter(|_| !is_loopback) {
            Some(name) => name.clone(),
            None if at.is_ipv6() => "[::1]".to_string(),
            None => "127.0.0.1".to_string(),
        };
        let url = format!("{scheme}://{shown}:{}/?token={token}", at.port());
        let (acceptor, fingerprint) = match options.tls {
            true => {
                let mut subjects = vec!["localhost".to_string(), "127.0.0.1".to_string(), "::1".to_string()];
                subjects.extend(names.iter().map(|name| name.trim_matches(['[', ']']).to_string()));
                let (acceptor, print) = tls::identity(subjects)?;
                (Some(acceptor), Some(print))
            }
            false => (None, None),
        };
        let served = Served::new(options.paths);
        let folder = match (options.allow_record, served.folder()) {
            (false, _) => {
                Err("recording from the page is off: start the server with --allow-record".to_string())
            }
            (true, Some(folder)) => Ok(folder.to_path_buf()),
            (true, None) => Err("there is no directory to record into: name one".to_string()),
        };
        let cache = Cache::open(options.cache)?;
        let runs = Runs::new(options.whyslow.clone(), cache, options.show_secrets);
        let live = Live::new(options.whyslow, folder);
        let access = Access::new(token, at.port(), &names, options.tls);
        let site = Arc::new(Site::new(served, runs, live, questions));
        Ok(Server { listener, site, access, acceptor, url, fingerprint })
    }

    /// Serves until `until` is done; then ends the recorder, if there is one, and what is diagnosed.
    ///
    /// # Errors
    /// If connections cannot be taken any more.
    pub async fn run(self, until: impl Future<Output = ()> + Send + 'static) -> Result<(), String> {
        let router = api::router(self.site.clone(), self.access);
        let failed = |error: std::io::Error| error.to_string();
        tokio::pin!(until);
        // Answers that are under way are not waited for: a page asks again and again.
        match self.acceptor {
            Some(acceptor) => {
                let listener = TlsListener::new(self.listener, acceptor).map_err(failed)?;
                tokio::select! {
                    served = async { axum::serve(listener, router).await } => served.map_err(failed)?,
                    () = &mut until => {}
                }
            }
            None => tokio::select! {
                served = async { axum::serve(self.listener, router).await } => served.map_err(failed)?,
                () = &mut until => {}
            },
        }
        let site = self.site;
        site.runs.end();
        let _ = tokio::task::spawn_blocking(move || site.live.end()).await;
        Ok(())
    }
}
