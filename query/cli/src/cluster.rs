//! Clusters on the command line: whom `whyslow fleet --cluster` asks, and the processes that answer.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// The folder of keys, where `--keys` does not say it.
#[cfg(feature = "cluster")]
const KEYS: &str = "WHYSLOW_CLUSTER_KEYS";

/// Who answers.
#[derive(Args)]
pub(crate) struct ClusterArguments {
    /// Ask a Ballista cluster by its scheduler, instead of reading the parts here
    #[arg(long, global = true, value_name = "HOST:PORT", hide = cfg!(not(feature = "cluster")))]
    pub(crate) cluster: Option<String>,
    /// The keys of the cluster, a folder (default: $WHYSLOW_CLUSTER_KEYS); without them it is on this machine
    #[arg(long, global = true, value_name = "DIR", hide = cfg!(not(feature = "cluster")))]
    pub(crate) keys: Option<PathBuf>,
}

/// The processes of a cluster.
#[derive(Subcommand)]
pub(crate) enum ClusterCommand {
    /// Run the scheduler of a cluster: it hands out what executors do
    #[command(hide = cfg!(not(feature = "cluster")))]
    Scheduler {
        /// Where to listen
        #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
        bind: std::net::SocketAddr,
        /// Tell all that it does
        #[arg(long)]
        verbose: bool,
    },
    /// Run an executor of a cluster: it reads the parts in --root, with --threads tasks at once in --memory
    #[command(hide = cfg!(not(feature = "cluster")))]
    Executor {
        /// The scheduler
        #[arg(long, value_name = "HOST:PORT")]
        scheduler: String,
        /// Where others fetch results
        #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
        bind: std::net::SocketAddr,
        /// The name by which others reach it (default: the address of --bind)
        #[arg(long, value_name = "HOST")]
        advertise: Option<String>,
        /// Where intermediate results are put, in a folder of its own
        #[arg(long, value_name = "DIR")]
        work: Option<PathBuf>,
        /// Tell all that it does
        #[arg(long)]
        verbose: bool,
    },
    /// Make keys for a cluster of several machines
    #[command(hide = cfg!(not(feature = "cluster")))]
    ClusterKeys {
        /// The folder to make: process.pem is for scheduler and executors, asker.pem for who asks
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

#[cfg(feature = "cluster")]
mod processes {
    use super::{ClusterArguments, ClusterCommand, KEYS};
    use crate::confined;
    use anyhow::bail;
    use std::path::{Path, PathBuf};
    use std::process::ExitCode;
    use tokio::runtime::Runtime;
    use tokio::signal::unix::{SignalKind, signal};
    use whyslow_query_cluster::{
        ClusterError, ClusterExecutorOptions, ClusterKeys, ClusterOptions, ClusterRole,
        ClusterSchedulerOptions, run_executor, run_scheduler, tell_problems,
    };

    /// Pieces into which a question is cut, where `--threads` does not say it.
    const PIECES: usize = 16;

    fn keys(args: &ClusterArguments, role: ClusterRole) -> Result<Option<ClusterKeys>, ClusterError> {
        let folder = args.keys.clone().or_else(|| std::env::var_os(KEYS).map(PathBuf::from));
        folder
            .filter(|folder| !folder.as_os_str().is_empty())
            .map(|folder| ClusterKeys::read(&folder, role))
            .transpose()
    }

    /// The cluster that is to answer, where one is named. Its keys are read, which lie elsewhere than what is read later.
    pub(crate) fn asked(
        args: &ClusterArguments,
        threads: Option<u8>,
    ) -> anyhow::Result<Option<ClusterOptions>> {
        let Some(scheduler) = &args.cluster else { return Ok(None) };
        Ok(Some(ClusterOptions {
            scheduler: scheduler.parse()?,
            keys: keys(args, ClusterRole::Asker)?,
            pieces: threads.map_or(PIECES, usize::from),
        }))
    }

    /// Confines one who asks a cluster about parts in a directory: it reads the ends of these itself.
    pub(crate) fn confine(root: &Path) -> anyhow::Result<tempfile::TempDir> {
        confined::confine_in_cluster(&[root], None)
    }

    /// Ends when the process is asked to.
    async fn stopped() {
        let Ok(mut end) = signal(SignalKind::terminate()) else {
            let _ = tokio::signal::ctrl_c().await;
            return;
        };
        tokio::select! {
            _ = end.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    }

    /// Runs one process, or makes keys.
    pub(crate) fn run(
        command: &ClusterCommand,
        args: &ClusterArguments,
        root: Option<&str>,
        threads: Option<u8>,
        memory: usize,
    ) -> anyhow::Result<ExitCode> {
        match command {
            ClusterCommand::ClusterKeys { folder } => {
                ClusterKeys::create(folder)?;
                println!(
                    "{} has keys: copy it to each machine; process.pem is for the scheduler and executors, asker.pem for who asks",
                    folder.display()
                );
            }
            ClusterCommand::Scheduler { bind, verbose } => {
                let options =
                    ClusterSchedulerOptions { bind: *bind, keys: keys(args, ClusterRole::Process)? };
                tell_problems(*verbose);
                let _temporary = confined::confine_in_cluster(&[], None)?;
                let listening = |at| eprintln!("whyslow: scheduler listens on {at}");
                Runtime::new()?.block_on(run_scheduler(options, listening, stopped()))?;
            }
            ClusterCommand::Executor { scheduler, bind, advertise, work, verbose } => {
                let Some(root) = root else { bail!("no place of parts is named\nnext: name it with --root") };
                let (scheduler, keys) = (scheduler.parse()?, keys(args, ClusterRole::Process)?);
                tell_problems(*verbose);
                let threads = threads
                    .map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
                let temporary = match root.contains("://") {
                    // What reads over the network also reads what its libraries want of this machine.
                    true => confined::temporary_folder(work.as_deref())?,
                    false => confined::confine_in_cluster(&[Path::new(root)], work.as_deref())?,
                };
                let options = ClusterExecutorOptions {
                    scheduler,
                    bind: *bind,
                    advertise: advertise.clone(),
                    root: root.to_string(),
                    work: temporary.path().to_path_buf(),
                    threads,
                    memory,
                    keys,
                };
                let runtime = Runtime::new()?;
                let tell = |text: &str| eprintln!("whyslow: executor {text}");
                let done = runtime.block_on(run_executor(options, tell, stopped()));
                // Tasks may still be at a step that takes long.
                runtime.shutdown_background();
                done?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[cfg(feature = "cluster")]
pub(crate) use processes::{asked, confine, run};
#[cfg(feature = "cluster")]
pub(crate) use whyslow_query_cluster::Cluster;

#[cfg(not(feature = "cluster"))]
mod absent {
    use super::{ClusterArguments, ClusterCommand};
    use anyhow::bail;
    use std::path::Path;
    use std::process::ExitCode;
    use std::time::Duration;

    /// Nothing can be asked.
    pub(crate) enum Cluster {}

    impl Cluster {
        pub(crate) async fn connect(none: Cluster) -> anyhow::Result<Cluster> {
            match none {}
        }

        pub(crate) fn engine(&self) -> datafusion::prelude::SessionContext {
            match *self {}
        }

        pub(crate) async fn close(&self, _: Duration) {
            match *self {}
        }
    }

    fn none<T>() -> anyhow::Result<T> {
        bail!(
            "this program was built without clusters\nnext: build it with --features cluster (docs/FLEET.md)"
        )
    }

    pub(crate) fn asked(args: &ClusterArguments, _: Option<u8>) -> anyhow::Result<Option<Cluster>> {
        if args.cluster.is_some() || args.keys.is_some() { none() } else { Ok(None) }
    }

    pub(crate) fn confine(_: &Path) -> anyhow::Result<tempfile::TempDir> {
        none()
    }

    pub(crate) fn run(
        _: &ClusterCommand,
        _: &ClusterArguments,
        _: Option<&str>,
        _: Option<u8>,
        _: usize,
    ) -> anyhow::Result<ExitCode> {
        none()
    }
}

#[cfg(not(feature = "cluster"))]
pub(crate) use absent::{Cluster, asked, confine, run};
