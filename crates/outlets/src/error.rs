//! Why an outlet cannot be opened.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use whyslow_model::visible;

/// Why an outlet cannot be opened.
#[derive(thiserror::Error, Debug)]
pub enum OutletError {
    /// The settings say what cannot be.
    #[error("{0}")]
    Settings(String),
    /// Nobody can listen there.
    #[error(
        "openmetrics: {address}: nothing can listen there: {source}\nnext: choose another address by `listen`, or end who has it"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// A token cannot be read.
    #[error(
        "{outlet}: {}: {reason}\nnext: write a token of 16 characters or more into the first line of that file",
        visible::path(path)
    )]
    Token {
        /// The outlet.
        outlet: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Headers of the environment are none.
    #[error(
        "otlp: the variable {variable} has no headers as NAME=VALUE,NAME=VALUE: {reason}\nnext: set it anew, or unset it"
    )]
    Headers {
        /// The variable.
        variable: String,
        /// What is wrong.
        reason: String,
    },
    /// No certificates of authorities are known, without which nobody can be trusted.
    #[error(
        "{url}: there are no certificates to know it by: {reason}\nnext: install the package ca-certificates, or set SSL_CERT_FILE"
    )]
    Certificates {
        /// The receiver.
        url: String,
        /// What is wrong.
        reason: String,
    },
    /// A thread, or the folder of windows, cannot be made.
    #[error("outlets cannot run: {0}\nnext: whyslow agent check")]
    Run(#[from] io::Error),
}
