//! Numbers and words out of the kernel's files. Nothing here can fail on any bytes: what is no number is `None`.

/// The words between blanks and tabs.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty())
}

/// The lines.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// A decimal number that makes up all of `word`; `None` where it does not fit.
pub fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() || word.len() > 20 {
        return None;
    }
    word.iter().try_fold(0u64, |sum, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { sum.checked_mul(10)?.checked_add(u64::from(digit)) }
    })
}

/// A hexadecimal number that makes up all of `word`.
pub fn hexadecimal(word: &[u8]) -> Option<u64> {
    word.first().filter(|byte| byte.is_ascii_hexdigit())?;
    u64::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()
}

/// A number that may be negative.
pub fn signed(word: &[u8]) -> Option<i64> {
    match word.strip_prefix(b"-") {
        Some(digits) => i64::try_from(number(digits)?).ok().map(|value| -value),
        None => i64::try_from(number(word)?).ok(),
    }
}

/// A number with decimals: `0.15`.
pub fn decimal(word: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(word).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// The first number of a file that holds one.
pub fn only_number(text: &[u8]) -> Option<u64> {
    number(text.trim_ascii())
}

/// The one of `[always] madvise never` in brackets.
pub fn bracketed(text: &[u8]) -> Option<String> {
    let open = text.iter().position(|byte| *byte == b'[')?;
    let inside = text.get(open + 1..)?;
    let close = inside.iter().position(|byte| *byte == b']')?;
    Some(whyslow_model::text::bounded(inside.get(..close)?))
}

/// How many numbers a list such as `0-3,8` holds; `None` where it is damaged.
pub fn count_in_list(list: &[u8]) -> Option<u64> {
    let mut sum = 0u64;
    for part in list.trim_ascii().split(|byte| *byte == b',') {
        let mut ends = part.splitn(2, |byte| *byte == b'-');
        let first = number(ends.next()?)?;
        let last = ends.next().map_or(Some(first), number)?;
        sum = sum.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(sum)
}

/// The numbers of a list of ports: `8080,9148-9150`; what is damaged is passed over.
pub fn numbers_of_list(list: &[u8]) -> impl Iterator<Item = u16> {
    list.trim_ascii().split(|byte| *byte == b',').flat_map(|part| {
        let mut ends = part.splitn(2, |byte| *byte == b'-').map(|end| u16::try_from(number(end)?).ok());
        let first = ends.next().flatten();
        let last = ends.next().unwrap_or(first);
        first.zip(last).into_iter().flat_map(|(first, last)| first..=last)
    })
}

/// The list of such numbers, in order: `0-3,8`.
pub fn list_of(numbers: &[u32]) -> String {
    let mut out = String::new();
    let mut rest = numbers;
    while let Some(&first) = rest.first() {
        let run = rest.iter().zip(first..).take_while(|(number, expected)| *number == expected).count();
        if !out.is_empty() {
            out.push(',');
        }
        out.push_str(&first.to_string());
        if run > 1 {
            out.push_str(&format!("-{}", first + run as u32 - 1));
        }
        rest = &rest[run..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none() {
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        for wrong in [&b"18446744073709551616"[..], b"", b"-1", b"1x", b"999999999999999999999999"] {
            assert_eq!(number(wrong), None);
        }
        assert_eq!((signed(b"-20"), signed(b"7"), signed(b"--1")), (Some(-20), Some(7), None));
        assert_eq!((decimal(b"0.15"), decimal(b"nan"), decimal(b"x")), (Some(0.15), None, None));
    }

    #[test]
    fn lists_both_ways() {
        assert_eq!(
            (count_in_list(b"0-3,8\n"), count_in_list(b"3-0"), count_in_list(b"")),
            (Some(5), None, None)
        );
        assert_eq!(count_in_list(b"0-18446744073709551615"), None);
        assert_eq!(list_of(&[0, 1, 2, 3, 8]), "0-3,8");
        assert_eq!(list_of(&[]), "");
        assert_eq!(numbers_of_list(b"80,90-92,x,9-99999\n").collect::<Vec<_>>(), [80, 90, 91, 92]);
        assert_eq!(bracketed(b"always [madvise] never").as_deref(), Some("madvise"));
    }
}
