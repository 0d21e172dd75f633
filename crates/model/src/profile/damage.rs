//! Why a profile holds nothing, or nothing that can be trusted.

/// What is wrong with a profile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ProfileDamage {
    /// The file has no bytes: nobody ever wrote the profile.
    Empty,
    /// The gzip or zstd stream ends early.
    CutCompressed {
        /// How many bytes it had before, decompressed.
        decoded: u64,
    },
    /// The profile ends in the middle.
    Cut {
        /// How many bytes there are, decompressed.
        bytes: u64,
    },
    /// It is whole, and has no samples.
    NoSamples,
    /// It breaks the rules of its format.
    Malformed,
    /// It is larger than the limit that was set.
    TooLarge,
    /// It is of no known format.
    Unrecognized,
    /// The file could not be read at all.
    Unreadable,
}
