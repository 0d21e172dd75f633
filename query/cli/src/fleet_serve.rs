//! `whyslow fleet serve`: what agents of many hosts stored, for browsers.

use crate::confined::{self, Needs};
use anyhow::{Context, anyhow};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use whyslow_query_fleet::FleetStore;
use whyslow_query_fleet_serve::{FleetServeSettings, FleetServer};
use whyslow_query_serve::{PagesOptions, RecordingPages, usual_cache};

/// What `fleet serve` takes; the settings have the rest.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow fleet serve --root /var/lib/whyslow/parts                 for a browser of this machine; the address has a token
  whyslow fleet serve --root s3://bucket/prefix --settings fleet.toml   with logins, as the settings say

It listens on 127.0.0.1 alone where nothing else is said, and to others only once somebody has to log in (docs/FLEET_SERVE.md).")]
pub(crate) struct FleetServeArguments {
    /// The settings: logins, roles, TLS, the audit log (TOML)
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Listen here: ADDRESS:PORT, or unix:PATH for a proxy (default: 127.0.0.1:8470)
    #[arg(long, value_name = "PLACE")]
    bind: Option<String>,
    /// Serve the pages of these recordings, and of those in these directories
    #[arg(long, value_name = "FILE|DIR")]
    recordings: Vec<PathBuf>,
    /// Append who asked for what to this file
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
}

/// Serves until it is told to end.
pub(crate) fn run(
    args: &FleetServeArguments,
    root: &str,
    threads: Option<usize>,
    show_secrets: bool,
) -> anyhow::Result<ExitCode> {
    let mut settings = match &args.settings {
        Some(file) => FleetServeSettings::read(file)?,
        None => FleetServeSettings::default(),
    };
    settings.bind = args.bind.clone().or(settings.bind);
    settings.audit = args.audit.clone().or(settings.audit);
    settings.recordings.extend(args.recordings.iter().cloned());
    for path in &settings.recordings {
        path.metadata().with_context(|| format!("{}", path.display()))?;
    }
    let (recordings, audit) = (settings.recordings.clone(), settings.audit.clone());
    let whyslow = crate::serve::whyslow()?;
    // It listens, and has read its secrets, before it gives up its rights.
    let server = FleetServer::open(settings, crate::complain)?;
    let _temporary = confine(root, &recordings, audit.as_deref(), &whyslow, server.connects())?;
    let pages = PagesOptions { paths: recordings, show_secrets, whyslow, cache: None };
    let pages =
        RecordingPages::open(pages, crate::serve::questions(show_secrets)).map_err(|why| anyhow!(why))?;
    let store = FleetStore::open(root)?;
    let open = Arc::new(move |options| store.fleet(options));
    let runtime = tokio::runtime::Runtime::new().context("no threads can be started")?;
    println!("{}", server.url);
    eprintln!("whyslow: serving; Ctrl-C ends it");
    runtime.block_on(server.run(open, threads, pages, crate::serve::ends()))?;
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

/// What reads a directory opens nothing else but the recordings, the log and the cache. What reads over the network cannot be confined so.
fn confine(
    root: &str,
    recordings: &[PathBuf],
    audit: Option<&Path>,
    whyslow: &Path,
    connects: bool,
) -> anyhow::Result<Option<tempfile::TempDir>> {
    if root.contains("://") {
        return Ok(None);
    }
    let mut reads = vec![PathBuf::from(root)];
    reads.extend(recordings.iter().cloned());
    let log = audit.map(|file| match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    });
    let writes = [usual_cache(), log];
    let needs = Needs { reads: &reads, writes: &writes, runs: Some(whyslow), listens: true, connects };
    confined::confine(&needs).map(Some)
}
