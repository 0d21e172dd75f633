//! The views, a file each: HTML of answers. Whatever hosts wrote is text here; `maud` escapes it, addresses are encoded by [`crate::range::Range::link`].

mod finding;
mod frame;
mod host;
mod hosts;
mod login;
mod overview;
mod parts;
mod recordings;
mod service;
mod versions;
mod why;

pub(crate) use finding::finding;
pub(crate) use frame::{Frame, trouble};
pub(crate) use host::{HostMay, host};
pub(crate) use hosts::hosts;
pub(crate) use login::{login, sent_on};
pub(crate) use overview::overview;
pub(crate) use recordings::recordings;
pub(crate) use service::service;
pub(crate) use versions::versions;
pub(crate) use why::why;
