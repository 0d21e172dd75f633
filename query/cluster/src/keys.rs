//! Who takes part: keys for TLS in both directions.
//!
//! `create` makes an authority, whose own key is not kept, and two keys with its signature: one for the processes of the cluster, one for
//! those who ask. Each side shows its certificate and takes only such of this authority, whatever the names of the machines are.

use crate::error::{ClusterError, told};
use ballista_core::extension::EndpointOverrideFn;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity, ServerTlsConfig};
use whyslow_privacy::files;

/// The name in the certificate of all processes of a cluster: names of machines say nothing there.
const NAME: &str = "whyslow-cluster";
/// The authority's certificate, in the folder of keys.
const AUTHORITY: &str = "authority.pem";
/// Bytes of a file of keys at most.
const MOST_BYTES: u64 = 64 << 10;
/// Who has not answered by then is not there.
const CONNECT: Duration = Duration::from_secs(5);
/// How often a connection without traffic is tried.
const ALIVE: Duration = Duration::from_secs(5);

/// What a key is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClusterRole {
    /// The scheduler and executors.
    Process,
    /// Who asks.
    Asker,
}

impl ClusterRole {
    /// Its file in the folder of keys: a certificate and a key.
    fn file(self) -> &'static str {
        match self {
            ClusterRole::Process => "process.pem",
            ClusterRole::Asker => "asker.pem",
        }
    }
}

/// The authority's certificate, and a certificate and key of one's own.
#[derive(Clone)]
pub struct ClusterKeys {
    authority: String,
    own: String,
}

impl fmt::Debug for ClusterKeys {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ClusterKeys")
    }
}

impl ClusterKeys {
    /// Makes keys for a cluster in a folder, which must not be there yet. Only its owner may read it.
    ///
    /// # Errors
    /// If the folder is there already or cannot be written.
    pub fn create(folder: &Path) -> Result<(), ClusterError> {
        let wrong = |reason: String| ClusterError::Keys { path: folder.to_path_buf(), reason };
        let (authority, process, asker) = signed().map_err(|error| wrong(error.to_string()))?;
        files::create_folder(folder).map_err(|error| wrong(error.to_string()))?;
        for (name, text) in [
            (AUTHORITY, authority),
            (ClusterRole::Process.file(), process),
            (ClusterRole::Asker.file(), asker),
        ] {
            files::write(&folder.join(name), text.as_bytes()).map_err(|error| wrong(error.to_string()))?;
        }
        Ok(())
    }

    /// Reads the keys of a folder that `create` made.
    ///
    /// # Errors
    /// If they are not there, or others may read them.
    pub fn read(folder: &Path, role: ClusterRole) -> Result<ClusterKeys, ClusterError> {
        let text = |name: &str, is_secret: bool| {
            let path = folder.join(name);
            read(&path, is_secret).map_err(|reason| ClusterError::Keys { path, reason })
        };
        Ok(ClusterKeys { authority: text(AUTHORITY, false)?, own: text(role.file(), true)? })
    }

    fn identity(&self) -> Identity {
        Identity::from_pem(&self.own, &self.own)
    }

    fn authority(&self) -> Certificate {
        Certificate::from_pem(&self.authority)
    }

    /// What a process shows, and whom it lets in.
    pub(crate) fn of_server(&self) -> ServerTlsConfig {
        ServerTlsConfig::new().identity(self.identity()).client_ca_root(self.authority()).timeout(CONNECT)
    }

    fn of_client(&self) -> ClientTlsConfig {
        ClientTlsConfig::new().identity(self.identity()).ca_certificate(self.authority()).domain_name(NAME)
    }
}

fn read(path: &Path, is_secret: bool) -> Result<String, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if metadata.len() > MOST_BYTES {
        return Err("it is too large for keys".to_string());
    }
    if is_secret && metadata.permissions().mode() & 0o077 != 0 {
        return Err("others may read it (chmod 600)".to_string());
    }
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let has = |what: &str| text.contains(&format!("-----BEGIN {what}-----"));
    match has("CERTIFICATE") && (!is_secret || has("PRIVATE KEY")) {
        true => Ok(text),
        false => Err("it holds no certificate and key".to_string()),
    }
}

/// The authority's certificate; certificate and key of processes, and of those who ask.
fn signed() -> Result<(String, String, String), rcgen::Error> {
    let named = |name: &str| {
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, name);
        Ok::<_, rcgen::Error>(params)
    };
    let mut params = named("whyslow cluster authority")?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let pair = |mut params: CertificateParams, uses: &[ExtendedKeyUsagePurpose]| {
        params.extended_key_usages = uses.to_vec();
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &authority)?;
        Ok::<_, rcgen::Error>(certificate.pem() + &key.serialize_pem())
    };
    let mut process = CertificateParams::new(vec![NAME.to_string()])?;
    process.distinguished_name.push(DnType::CommonName, "whyslow cluster process");
    let process = pair(process, &[ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth])?;
    let asker = pair(named("whyslow cluster asker")?, &[ExtendedKeyUsagePurpose::ClientAuth])?;
    Ok((authority.pem(), process, asker))
}

/// What makes of an address that Ballista is about to connect to one with our limits, and with TLS where there are keys.
pub(crate) fn connector(keys: Option<ClusterKeys>) -> EndpointOverrideFn {
    Arc::new(move |endpoint| {
        let address = endpoint.uri().to_string();
        let endpoint = limited(match &keys {
            // A client of ours speaks TLS to an address that says so, and else not at all.
            Some(_) => Endpoint::from_shared(address.replacen("http://", "https://", 1))?,
            None => Endpoint::from_shared(address)?,
        });
        Ok(match &keys {
            Some(keys) => endpoint.tls_config(keys.of_client())?,
            None => endpoint,
        })
    })
}

/// The end of a connection to a process of the cluster.
pub(crate) fn endpoint(address: &str, keys: Option<&ClusterKeys>) -> Result<Endpoint, String> {
    let plain = Endpoint::from_shared(format!("http://{address}")).map_err(|error| told(&error))?;
    connector(keys.cloned())(plain).map_err(|error| error.to_string())
}

fn limited(endpoint: Endpoint) -> Endpoint {
    endpoint
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(ALIVE)
        .keep_alive_timeout(ALIVE)
        .keep_alive_while_idle(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_for_their_owner_alone_and_made_once() {
        let place = tempfile::TempDir::new().unwrap();
        let folder = place.path().join("keys");
        ClusterKeys::create(&folder).unwrap();
        let process = ClusterKeys::read(&folder, ClusterRole::Process).unwrap();
        let asker = ClusterKeys::read(&folder, ClusterRole::Asker).unwrap();
        assert!(process.authority == asker.authority && process.own != asker.own);
        assert!(!format!("{process:?}").contains("KEY"));
        assert!(ClusterKeys::create(&folder).unwrap_err().to_string().contains("next: "));
        let file = folder.join("asker.pem");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = ClusterKeys::read(&folder, ClusterRole::Asker).unwrap_err().to_string();
        assert!(error.contains("others may read it"), "{error}");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&file, "nonsense").unwrap();
        let error = ClusterKeys::read(&folder, ClusterRole::Asker).unwrap_err().to_string();
        assert!(error.contains("no certificate and key"), "{error}");
        assert!(ClusterKeys::read(&place.path().join("none"), ClusterRole::Asker).is_err());
    }
}
