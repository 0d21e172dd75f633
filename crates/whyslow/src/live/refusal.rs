//! Whether this machine, and this whyslow, can record by BPF.

/// Of a whyslow that was built with `--no-default-features`.
#[cfg(not(feature = "bpf"))]
pub(super) const WITHOUT: &str = "this whyslow was built without BPF";

/// Why there is no recording by BPF here; nothing where there is.
pub(super) fn refusal() -> Option<String> {
    #[cfg(feature = "bpf")]
    return whyslow_record::Session::probe().err().map(|error| error.to_string());
    #[cfg(not(feature = "bpf"))]
    Some(WITHOUT.to_string())
}
