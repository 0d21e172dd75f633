//! The numbers by which the parts of a diagnosis know each other.

use serde::{Deserialize, Serialize};

/// A thread id as the kernel numbers it; 0 where the capture shows none (strace without `-f`).
pub type Tid = u32;

/// Number of a source (one input file, or standard input) within one diagnosis.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceId(pub u16);
