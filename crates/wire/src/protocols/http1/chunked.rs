//! Bodies in chunks (RFC 9112, 7.1): where they end.

/// How far a body in chunks is read.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Chunked {
    at: At,
    /// Bytes of the present chunk that are to come, or its length as far as it is read.
    left: u64,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
enum At {
    /// The digits of a length; the flag: there was one.
    #[default]
    Length,
    Digits,
    /// What may stand behind a length.
    Extension,
    Data,
    /// The line end behind a chunk.
    DataEnd,
    /// The beginning of a line behind the last chunk.
    Trailer,
    TrailerLine,
}

/// What became of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    /// It goes on.
    More,
    /// It ended before this index.
    Ended(usize),
    /// Where its chunks begin is not known any more.
    Lost,
}

impl Chunked {
    /// Takes bytes, behind which so many are missing.
    pub(super) fn take(&mut self, bytes: &[u8], missing: u64) -> Progress {
        let mut at = 0;
        while at < bytes.len() {
            if self.at == At::Data {
                let here = self.left.min((bytes.len() - at) as u64);
                self.left -= here;
                at += here as usize;
                if self.left == 0 {
                    self.at = At::DataEnd;
                }
                continue;
            }
            let byte = bytes[at];
            at += 1;
            self.at = match (self.at, byte) {
                (At::Length | At::Digits, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                    if self.left >> 56 != 0 {
                        return Progress::Lost;
                    }
                    let digit = (byte as char).to_digit(16).unwrap_or(0);
                    self.left = self.left << 4 | u64::from(digit);
                    At::Digits
                }
                (At::Digits | At::Extension, b'\n') if self.left > 0 => At::Data,
                (At::Digits | At::Extension, b'\n') => At::Trailer,
                (At::Digits, b'\r' | b';' | b' ' | b'\t') | (At::Extension, _) => At::Extension,
                (At::DataEnd, b'\r') => At::DataEnd,
                (At::DataEnd, b'\n') => At::Length,
                (At::Trailer, b'\r') => At::Trailer,
                (At::Trailer, b'\n') => return Progress::Ended(at),
                (At::TrailerLine, b'\n') => At::Trailer,
                (At::Trailer | At::TrailerLine, _) => At::TrailerLine,
                _ => return Progress::Lost,
            };
        }
        match missing {
            0 => Progress::More,
            _ if self.at == At::Data && self.left >= missing => {
                self.left -= missing;
                if self.left == 0 {
                    self.at = At::DataEnd;
                }
                Progress::More
            }
            _ => Progress::Lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends() {
        let body = b"5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\nTrailer: x\r\n\r\nnext";
        for cut in 0..body.len() - 4 {
            let mut chunked = Chunked::default();
            assert_eq!(chunked.take(&body[..cut], 0), Progress::More, "{cut}");
            assert_eq!(chunked.take(&body[cut..], 0), Progress::Ended(body.len() - 4 - cut), "{cut}");
        }
        let mut chunked = Chunked::default();
        assert_eq!(chunked.take(b"ff\r\nabc", 252), Progress::More);
        assert_eq!(chunked.take(b"\r\n0\r\n\r\n", 0), Progress::Ended(7));
        assert_eq!(Chunked::default().take(b"ff\r\nabc", 253), Progress::Lost);
        assert_eq!(Chunked::default().take(b"zz", 0), Progress::Lost);
        assert_eq!(Chunked::default().take(b"fffffffffffffffff\r\n", 0), Progress::Lost);
    }
}
