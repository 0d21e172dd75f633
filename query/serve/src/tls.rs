//! TLS: with a certificate of the server's own, made as it starts (browsers warn of it, and its fingerprint is printed to compare), or with one
//! of a file.

use axum::serve::Listener;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use sha2::{Digest, Sha256};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

/// Who has not said hello by then is let go.
const HELLO: Duration = Duration::from_secs(10);
/// Connections that are greeted and wait to be served.
const WAITING: usize = 64;

/// Connections after their handshake.
pub struct TlsListener {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    at: SocketAddr,
}

/// What the server says it is, and the fingerprint of that.
///
/// # Errors
/// If no certificate can be made for these names.
pub(crate) fn identity(names: Vec<String>) -> Result<(TlsAcceptor, String), String> {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(names).map_err(|error| error.to_string())?;
    let print: Vec<String> = Sha256::digest(cert.der()).iter().map(|byte| format!("{byte:02X}")).collect();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).map_err(str::to_string)?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key))
        .map_err(|error| error.to_string())?;
    Ok((TlsAcceptor::from(Arc::new(config)), print.join(":")))
}

/// What the server says it is: the certificates of a file (PEM, its own first), and their key.
///
/// # Errors
/// What is wrong with which file.
pub fn tls_of_files(certificates: &Path, key: &Path) -> Result<TlsAcceptor, String> {
    let wrong = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let chain: Result<Vec<CertificateDer<'static>>, _> =
        CertificateDer::pem_file_iter(certificates).and_then(Iterator::collect);
    let chain = chain.map_err(|error| wrong(certificates, &error))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, &error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private))
        .map_err(|error| wrong(certificates, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

impl TlsListener {
    /// Greets whoever comes, each on its own: one that says nothing keeps nobody waiting.
    ///
    /// # Errors
    /// If the listener has no address.
    pub fn new(listener: TcpListener, acceptor: TlsAcceptor) -> io::Result<TlsListener> {
        let at = listener.local_addr()?;
        let (greeted, ready) = mpsc::channel(WAITING);
        tokio::spawn(async move {
            while !greeted.is_closed() {
                let Ok((stream, from)) = listener.accept().await else {
                    // No descriptors are left: some will be.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                };
                let (acceptor, greeted) = (acceptor.clone(), greeted.clone());
                tokio::spawn(async move {
                    if let Ok(Ok(stream)) = tokio::time::timeout(HELLO, acceptor.accept(stream)).await {
                        let _ = greeted.send((stream, from)).await;
                    }
                });
            }
        });
        Ok(TlsListener { ready, at })
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(next) => next,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.at)
    }
}
