//! The server as browsers, programs and strangers meet it: over a socket, on synthetic fleets.

mod fixture;
#[path = "../../../fleet/examples/synthetic_fleet/generate.rs"]
#[allow(dead_code)]
mod generate;
mod hostile;
mod logins;
mod provider;
mod rings;
mod views;
