//! What can go wrong with the inputs as a whole. Damaged lines are no errors: they are notes.

/// Why nothing could be used.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// Nothing usable was in any of the inputs.
    #[error("nothing could be read: {reasons}")]
    Nothing {
        /// Each input with its reason, separated by `; `.
        reasons: String,
    },
}
