//! Takes numbers and words off the front of a line.

/// What is left of a line.
#[derive(Clone, Copy)]
pub(super) struct Scan<'a>(pub(super) &'a str);

impl<'a> Scan<'a> {
    /// Takes a literal, after spaces.
    pub(super) fn literal(&mut self, text: &str) -> Option<()> {
        self.0 = self.0.trim_start().strip_prefix(text)?;
        Some(())
    }

    /// Takes a number, after spaces.
    pub(super) fn number(&mut self) -> Option<i64> {
        let text = self.0.trim_start();
        let digits = text.strip_prefix('-').unwrap_or(text);
        let length = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
        let (number, rest) = text.split_at(text.len() - digits.len() + length);
        self.0 = rest;
        number.parse().ok()
    }

    /// Takes letters, digits and `_`, after spaces.
    pub(super) fn word(&mut self) -> &'a str {
        let text = self.0.trim_start();
        let is_end = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
        let (word, rest) = text.split_at(text.find(is_end).unwrap_or(text.len()));
        self.0 = rest;
        word
    }
}

/// `0x106cd1e`.
pub(super) fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// The estimate for what was not sampled: `heap_v2` takes a block of S bytes with the probability 1 - exp(-S/rate).
pub(super) fn unsample(count: i64, size: i64, rate: i64) -> (i64, i64) {
    if count == 0 || size == 0 {
        return (0, 0);
    }
    // 1: everything was taken; less: unknown.
    if rate <= 1 {
        return (count, size);
    }
    let average = size as f64 / count as f64;
    let scale = 1.0 / (1.0 - (-average / rate as f64).exp());
    ((count as f64 * scale) as i64, (size as f64 * scale) as i64)
}
