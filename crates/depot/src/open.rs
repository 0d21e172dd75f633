//! A store by its address.

use crate::clock::{ClockConnector, ServerClock};
use crate::error::DepotError;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path as StorePath;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// How a store is reached.
#[derive(Clone, Debug)]
pub struct DepotOptions {
    /// A file with lines `KEY=VALUE`, as systemd's `EnvironmentFile`: the names are those of the environment
    /// (`AWS_ACCESS_KEY_ID`, `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME` and so on), which it goes before.
    pub credentials: Option<PathBuf>,
    /// Let the store be spoken to without encryption: for tests, and for servers on this machine.
    pub plain_http: bool,
    /// How long one request may take.
    pub timeout: Duration,
    /// How often a request is repeated at once; the uploader repeats on its own.
    pub retries: usize,
}

impl Default for DepotOptions {
    fn default() -> DepotOptions {
        DepotOptions { credentials: None, plain_http: false, timeout: Duration::from_secs(60), retries: 5 }
    }
}

pub(crate) struct Opened {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) root: StorePath,
    /// Of a directory.
    pub(crate) directory: Option<PathBuf>,
}

/// Opens the store at `url`. No network is used yet.
pub(crate) fn open(url: &str, options: &DepotOptions, clock: &ServerClock) -> Result<Opened, DepotError> {
    let Some((scheme, rest)) = url.split_once("://") else { return directory(url, Path::new(url)) };
    if scheme == "file" {
        return directory(url, Path::new(rest));
    }
    let address = |reason: &str| DepotError::Address { url: url.to_string(), reason: reason.to_string() };
    let settings = |reason: String| DepotError::Settings { url: url.to_string(), reason };
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.is_empty() {
        return Err(address("it names no bucket"));
    }
    let root = StorePath::parse(prefix.trim_matches('/')).map_err(|error| address(&error.to_string()))?;
    let file = match &options.credentials {
        Some(file) => read_settings(file).map_err(settings)?,
        None => Vec::new(),
    };
    let client = ClientOptions::new()
        .with_allow_http(options.plain_http)
        .with_timeout(options.timeout)
        .with_connect_timeout(Duration::from_secs(10).min(options.timeout));
    let retry = RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: options.retries,
        retry_timeout: options.timeout,
    };
    let connector = ClockConnector(clock.clone());
    macro_rules! built {
        ($builder:expr, $key:ty) => {{
            let mut builder = $builder;
            for (name, value) in &file {
                // A file may be shared with other programs: what is no setting of this store is theirs.
                if let Ok(key) = <$key>::from_str(&name.to_ascii_lowercase()) {
                    builder = builder.with_config(key, value);
                }
            }
            builder
                .with_client_options(client)
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map_err(|error| settings(error.to_string()))?
        }};
    }
    let store: Arc<dyn ObjectStore> = match scheme {
        "s3" | "s3a" => {
            Arc::new(built!(AmazonS3Builder::from_env().with_bucket_name(bucket), AmazonS3ConfigKey))
        }
        "gs" => {
            Arc::new(built!(GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket), GoogleConfigKey))
        }
        "az" | "azure" | "abfs" => {
            Arc::new(built!(MicrosoftAzureBuilder::from_env().with_container_name(bucket), AzureConfigKey))
        }
        _ => return Err(address("that kind of store is not known")),
    };
    Ok(Opened { store, root, directory: None })
}

fn directory(url: &str, path: &Path) -> Result<Opened, DepotError> {
    if url.is_empty() {
        return Err(DepotError::Address { url: url.to_string(), reason: "it is empty".to_string() });
    }
    let missing = |reason: String| DepotError::NoBucket { url: url.to_string(), reason };
    let path = path.canonicalize().map_err(|error| missing(error.to_string()))?;
    if !path.is_dir() {
        return Err(missing("it is no directory".to_string()));
    }
    let store = LocalFileSystem::new_with_prefix(&path).map_err(|error| missing(error.to_string()))?;
    let store = Arc::new(store.with_automatic_cleanup(true));
    Ok(Opened { store, root: StorePath::default(), directory: Some(path) })
}

/// The lines of a file of settings. It holds secrets: others may not read it.
fn read_settings(file: &Path) -> Result<Vec<(String, String)>, String> {
    use std::os::unix::fs::PermissionsExt;
    let told = |error: std::io::Error| format!("{}: {error}", file.display());
    let mode = std::fs::metadata(file).map_err(told)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(format!("{}: others may read it: chmod 600 it", file.display()));
    }
    let text = std::fs::read_to_string(file).map_err(told)?;
    let mut settings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((key, value)) = line.strip_prefix("export ").unwrap_or(line).split_once('=') else {
            return Err(format!("{}: line {} is not KEY=VALUE", file.display(), at + 1));
        };
        let value = value.trim();
        let unquoted = |quote: char| value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote));
        let value = unquoted('"').or_else(|| unquoted('\'')).unwrap_or(value);
        settings.push((key.trim().to_string(), value.to_string()));
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn refused(url: &str, options: &DepotOptions) -> String {
        open(url, options, &ServerClock::default()).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_wrong_address_is_told_with_the_right_ones() {
        let options = DepotOptions::default();
        assert!(refused("ftp://x/y", &options).contains("give a directory, s3://BUCKET/PREFIX"));
        assert!(refused("s3:///y", &options).contains("it names no bucket"));
        assert!(refused("", &options).contains("it is empty"));
        assert!(refused("/nowhere/at/all", &options).contains("make it, or mend the address"));
    }

    #[test]
    fn a_file_of_credentials_is_private_and_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("store.env");
        std::fs::write(
            &file,
            "# ours\nexport AWS_REGION = \"eu-1\"\nAWS_SECRET_ACCESS_KEY='a=b'\nAWS_ACCESS_KEY_ID=k\n\n",
        )
        .unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
        let options = DepotOptions { credentials: Some(file.clone()), ..DepotOptions::default() };
        assert!(refused("s3://bucket/x", &options).contains("chmod 600"));
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        assert_eq!(refused("s3://bucket/x", &options), "");
        let pair = |key: &str, value: &str| (key.to_string(), value.to_string());
        assert_eq!(
            read_settings(&file).unwrap(),
            [
                pair("AWS_REGION", "eu-1"),
                pair("AWS_SECRET_ACCESS_KEY", "a=b"),
                pair("AWS_ACCESS_KEY_ID", "k")
            ]
        );
        std::fs::write(&file, "AWS_REGION\n").unwrap();
        assert!(refused("s3://bucket/x", &options).contains("line 1 is not KEY=VALUE"));
    }
}
