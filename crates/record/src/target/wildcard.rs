//! Patterns as a shell has them: `*` and `?`, neither of which crosses a slash (glob(7)).

/// True where `text` holds a sign of a pattern.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// True where `pattern` is all of `text`. Takes at most as many steps as the product of their lengths.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut seen) = (0, 0);
    // Behind the last star, and how much of the text it has taken.
    let mut star: Option<(usize, usize)> = None;
    while seen < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                at += 1;
                star = Some((at, seen));
                continue;
            }
            Some(b'?') if text[seen] != b'/' => {}
            Some(byte) if *byte == text[seen] && *byte != b'?' => {}
            _ => {
                let Some((behind, taken)) = star.filter(|(_, taken)| text[*taken] != b'/') else {
                    return false;
                };
                star = Some((behind, taken + 1));
                (at, seen) = (behind, taken + 1);
                continue;
            }
        }
        at += 1;
        seen += 1;
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text, expected) in [
            ("nginx*", "nginx.service", true),
            ("*.service", "nginx.service", true),
            ("*.service", "/a/nginx.service", false),
            ("/system.slice/*", "/system.slice/a", true),
            ("/system.slice/*", "/system.slice/a/b", false),
            ("/kube*/*/pod?", "/kubepods/burstable/pod1", true),
            ("/a?b", "/a/b", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("**", "a", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_matches_itself_and_a_star(text in "[a-c.]{0,30}", pattern in "[a-c.*?/]{0,30}") {
            prop_assert!(matches(&text, &text) && matches("*", &text));
            let cut = text.len() / 2;
            let holed = format!("{}*{}", &text[..cut], &text[cut..]);
            prop_assert!(matches(&holed, &text), "{}", holed);
            let _ = matches(&pattern, &text);
        }
    }
}
