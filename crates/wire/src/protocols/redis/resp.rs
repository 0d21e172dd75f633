//! Values of RESP2 and RESP3 (redis.io/docs/reference/protocol-spec): where one ends.

/// In a value: how many are to come until the whole is complete.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// Values to come.
    open: u64,
    /// Bytes of a string to come, its line end included.
    skip: u64,
    /// A line that is not whole, no more than [`Value::MAX_LINE`] of it.
    line: Vec<u8>,
}

/// What became of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    /// It goes on.
    More,
    /// So many bytes belong to it, those that are missing included.
    Ended(u64),
    /// Where it ends is not known any more.
    Lost,
}

impl Value {
    const MAX_LINE: usize = 64;

    /// One that begins.
    pub(super) fn new() -> Value {
        Value { open: 1, skip: 0, line: Vec::new() }
    }

    /// Takes bytes, behind which so many are missing.
    pub(super) fn take(&mut self, bytes: &[u8], missing: u64) -> Progress {
        let mut at = 0;
        loop {
            let here = self.skip.min((bytes.len() - at) as u64);
            self.skip -= here;
            at += here as usize;
            if self.skip > 0 {
                return self.jump(at, missing);
            }
            if self.open == 0 {
                return Progress::Ended(at as u64);
            }
            let rest = &bytes[at..];
            let Some(end) = find(b'\n', rest) else {
                let room = Self::MAX_LINE.saturating_sub(self.line.len()).min(rest.len());
                self.line.extend_from_slice(&rest[..room]);
                return if missing > 0 { Progress::Lost } else { Progress::More };
            };
            at += end + 1;
            let understood = if self.line.is_empty() {
                self.line(&rest[..end])
            } else {
                let mut line = std::mem::take(&mut self.line);
                let room = Self::MAX_LINE.saturating_sub(line.len()).min(end);
                line.extend_from_slice(&rest[..room]);
                self.line(&line)
            };
            if understood.is_none() {
                return Progress::Lost;
            }
        }
    }

    /// In a string that goes on behind the bytes.
    fn jump(&mut self, at: usize, missing: u64) -> Progress {
        if self.skip < missing {
            // What follows it is missing.
            return if self.open == 0 { Progress::Ended(at as u64 + self.skip) } else { Progress::Lost };
        }
        self.skip -= missing;
        if self.skip == 0 && self.open == 0 { Progress::Ended(at as u64 + missing) } else { Progress::More }
    }

    fn line(&mut self, line: &[u8]) -> Option<()> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let (mark, rest) = line.split_first()?;
        self.open -= 1;
        match mark {
            b'+' | b'-' | b':' | b'_' | b',' | b'#' | b'(' => {}
            b'$' | b'!' | b'=' => {
                if let Some(length) = length(rest)? {
                    self.skip = length + 2;
                }
            }
            b'*' | b'~' | b'>' => self.open = self.open.checked_add(length(rest)?.unwrap_or(0))?,
            b'%' => self.open = self.open.checked_add(length(rest)?.unwrap_or(0) * 2)?,
            // Attributes stand before the value that they belong to.
            b'|' => self.open = self.open.checked_add(length(rest)?.unwrap_or(0) * 2 + 1)?,
            _ => return None,
        }
        Some(())
    }
}

/// The first such byte. Most lines are a few bytes long: these are looked at before a search is set up.
pub(super) fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    const FEW: usize = 8;
    let near = bytes.iter().take(FEW).position(|other| *other == byte);
    near.or_else(|| Some(FEW + memchr::memchr(byte, bytes.get(FEW..)?)?))
}

/// A length: `Some(None)` for -1, which is no value.
pub(super) fn length(digits: &[u8]) -> Option<Option<u64>> {
    if digits == b"-1" {
        return Some(None);
    }
    if digits.is_empty() || digits.len() > 12 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(Some(digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'))))
}

/// The number in the first line, which begins with `mark`, and what follows the line.
pub(super) fn counted(bytes: &[u8], mark: u8) -> Option<(u64, &[u8])> {
    let rest = bytes.strip_prefix(&[mark])?;
    let end = rest.iter().take(16).position(|byte| *byte == b'\n')?;
    let digits = rest[..end].strip_suffix(b"\r")?;
    Some((length(digits)??, &rest[end + 1..]))
}

/// True where a value may begin so.
pub(super) fn begins(bytes: &[u8]) -> bool {
    let Some((mark, rest)) = bytes.split_first() else { return false };
    let end = find(b'\r', rest);
    let line = &rest[..end.unwrap_or(rest.len())];
    match mark {
        b'+' | b'-' => line.iter().all(|byte| matches!(byte, b' '..=b'~')),
        b'$' | b'*' | b'%' | b'~' | b'>' | b'!' | b'=' | b'|' | b':' => {
            let digits = line.strip_prefix(b"-").unwrap_or(line);
            digits.len() <= 20
                && digits.iter().all(u8::is_ascii_digit)
                && (end.is_none() || !digits.is_empty())
        }
        b'_' => line.is_empty(),
        b'#' => matches!(line, b"t" | b"f" | b""),
        b',' | b'(' => line.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)),
        _ => false,
    }
}
