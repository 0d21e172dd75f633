//! The descriptor that a poll or select asks about.

use whyslow_model::text;

/// The descriptor that a poll or select of a single one waits for: `[{fd=669, events=POLLIN|POLLERR}], 1, 2000`,
/// `4, [3], NULL, NULL, {tv_sec=2, tv_usec=0}`.
pub(crate) fn polled_fd(args: &[u8]) -> Option<i32> {
    if let Some(rest) = args.strip_prefix(b"[{fd=") {
        let (fd, _) = text::decimal(rest)?;
        // What the descriptor leads to (`-yy`) may hold brackets: look for another one in all of the rest.
        let several = memchr::memmem::find(rest, b"{fd=").is_some();
        return i32::try_from(fd).ok().filter(|_| !several);
    }
    let (_, digits) = text::decimal(args)?;
    let set = args[digits..].strip_prefix(b", [")?;
    let (fd, used) = text::decimal(set)?;
    let behind = match set.get(used) {
        Some(b'<') => text::annotation_end(set, used)? + 1,
        _ => used,
    };
    i32::try_from(fd).ok().filter(|_| set.get(behind) == Some(&b']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_for_one_descriptor_is_told_from_one_for_several() {
        for (args, expected) in [
            (&b"[{fd=669, events=POLLIN|POLLERR}], 1, 2000"[..], Some(669)),
            (b"[{fd=3<TCP:[1.2.3.4:5->6.7.8.9:80]>, events=POLLIN}], 1, 5000", Some(3)),
            (b"[{fd=3<TCP:[1.2.3.4:5->6.7.8.9:80]>, events=POLLIN}, {fd=4, events=POLLIN}], 2, 5000", None),
            (b"4, [3], NULL, NULL, {tv_sec=2, tv_usec=0}", Some(3)),
            (b"4, [3<TCP:[1.2.3.4:5->6.7.8.9:80]>], NULL, NULL, NULL", Some(3)),
            (b"5, [3 4], NULL, NULL, NULL", None),
            (b"0x7f0012, FUTEX_WAIT_PRIVATE, 2, NULL", None),
            (b"", None),
        ] {
            assert_eq!(polled_fd(args), expected, "{}", String::from_utf8_lossy(args));
        }
    }
}
