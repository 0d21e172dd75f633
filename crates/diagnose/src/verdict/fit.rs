//! Makes a sentence short enough to be read at a glance: names lose their middle, clauses at the end go, the culprit stays.

use whyslow_model::Diagnosis;
use whyslow_privacy::redact;

/// Names are shortened to these many characters, the first length that makes the sentence fit.
const NAME_LENGTHS: [usize; 6] = [48, 40, 32, 26, 20, 16];
/// What is told beside a culprit that is named goes before names become shorter than this.
const LEGIBLE: usize = 32;
/// A sentence without its last clauses still has to say something beside its names: characters.
const SHORTEST: usize = 20;

/// A sentence before it is made to fit.
#[derive(Default)]
pub(super) struct Sentence {
    /// Whose it is: `app (pid 7): `, or nothing.
    pub(super) who: String,
    /// What is said.
    pub(super) what: String,
    /// Names of culprits in `what`: clauses that hold them stay.
    pub(super) names: Vec<String>,
    /// The culprit, where `what` does not name it: ` (/srv/a.db)`, `, in save_row`. The most telling first.
    pub(super) culprits: Vec<String>,
    /// What is left out first.
    pub(super) aside: String,
}

impl Sentence {
    /// At most [`Diagnosis::MAX_VERDICT`] characters, with a full stop.
    pub(super) fn fit(&self) -> String {
        self.within(Diagnosis::MAX_VERDICT)
    }

    pub(super) fn within(&self, most: usize) -> String {
        let what = self.what.trim_end_matches('.');
        let all: String = self.culprits.concat();
        let whole = format!("{}{what}{all}{}", self.who, self.aside);
        if length(&whole) < most {
            return format!("{whole}.");
        }
        // A secret without its middle would not be recognised any more.
        let clean = |text: &str| redact(text).into_owned();
        let (who, what) = (clean(&self.who), clean(what));
        let names: Vec<String> = self.names.iter().map(|name| clean(name)).collect();
        let culprits: Vec<String> = self.culprits.iter().map(|culprit| clean(culprit)).collect();
        let mut shown = Vec::new();
        // Rather a clause less than no culprit; rather a culprit less than half a sentence.
        for kept in (0..=culprits.len()).rev() {
            let is_more = kept + names.len().min(1) > 1;
            for longest in NAME_LENGTHS.into_iter().filter(|longest| !is_more || *longest >= LEGIBLE) {
                let who = shorten_words(&who, longest);
                let culprits: String =
                    culprits[..kept].iter().map(|culprit| shorten_words(culprit, longest)).collect();
                let short_names: Vec<String> = names.iter().map(|name| middle_out(name, longest)).collect();
                let mut what = what.clone();
                for (name, short) in names.iter().zip(&short_names).filter(|(name, _)| !name.is_empty()) {
                    what = what.replace(name.as_str(), short);
                }
                shown = std::iter::once(what.clone()).chain(without_clauses(&what, &short_names)).collect();
                let bare = without_asides(&what, &short_names);
                let without_line = bare.as_deref().and_then(without_line).map(str::to_string);
                shown.extend(bare.into_iter().chain(without_line));
                let mut sentences = shown.iter().map(|what| format!("{who}{what}{culprits}"));
                if let Some(sentence) = sentences.find(|sentence| length(sentence) < most) {
                    return format!("{sentence}.");
                }
            }
        }
        let shortest = shown.last().map_or("", String::as_str);
        let who = shorten_words(&who, NAME_LENGTHS[NAME_LENGTHS.len() - 1]);
        cut(&format!("{who}{shortest}"), most)
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// The text without its last clause, without its last two, and so on: as long as all names are in it and something is said.
fn without_clauses(text: &str, names: &[String]) -> Vec<String> {
    let ends = |name: &String| text.find(name.as_str()).map(|at| at + name.len());
    let last_name = names.iter().filter(|name| !name.is_empty()).filter_map(ends).max().unwrap_or(0);
    // What is said beside the names. One name may hold another.
    let said = |end: usize| {
        let mut bare = text[..end].to_string();
        names.iter().filter(|name| !name.is_empty()).for_each(|name| bare = bare.replace(name.as_str(), ""));
        length(&bare)
    };
    let inside = |at: usize| {
        let mut found =
            names.iter().filter(|name| !name.is_empty()).flat_map(|name| text.match_indices(name.as_str()));
        found.any(|(from, name)| at > from && at < from + name.len())
    };
    let mut ends: Vec<usize> = ["; ", ", ", ": ", " ("]
        .iter()
        .flat_map(|mark| text.match_indices(mark))
        .map(|(at, _)| at)
        .filter(|at| *at >= last_name && !inside(*at) && is_balanced(&text[..*at]) && said(*at) >= SHORTEST)
        .collect();
    ends.sort_unstable();
    ends.dedup();
    ends.into_iter().rev().map(|end| text[..end].to_string()).collect()
}

/// The text without the clauses in its middle that hold no name, where a name stands behind them: rather that than half a name.
fn without_asides(text: &str, names: &[String]) -> Option<String> {
    // What the process at the end of the waits does is what the sentence is about.
    let has_name = |part: &str| {
        part.starts_with("which ")
            || names.iter().any(|name| !name.is_empty() && part.contains(name.as_str()))
    };
    let mut parts: Vec<&str> = Vec::new();
    let mut from = 0;
    for (at, mark) in text.match_indices(", ") {
        if is_balanced(&text[from..at]) {
            parts.push(&text[from..at]);
            from = at + mark.len();
        }
    }
    parts.push(&text[from..]);
    let kept: Vec<&str> = parts
        .iter()
        .enumerate()
        .filter(|(at, part)| *at == 0 || has_name(part))
        .map(|(_, part)| *part)
        .collect();
    (kept.len() > 1 && kept.len() < parts.len()).then(|| kept.join(", "))
}

/// The text without the source line at its end, `save_row (store.py:88)`: the function tells where to look.
fn without_line(text: &str) -> Option<&str> {
    let (rest, line) = text.strip_suffix(')')?.rsplit_once(" (")?;
    let (_, number) = line.rsplit_once(':')?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(rest)
}

fn is_balanced(text: &str) -> bool {
    text.matches('(').count() == text.matches(')').count()
}

/// Each word of a text at most so long.
fn shorten_words(text: &str, longest: usize) -> String {
    text.split(' ').map(|word| middle_out(word, longest)).collect::<Vec<_>>().join(" ")
}

/// Last parts of names that stay whole where they are no longer than so many characters: half a file name or function is found nowhere.
const WHOLE: usize = 24;
/// The begin of a path in fewer characters says nothing.
const HEAD: usize = 4;

/// A name without its middle: `/srv/…/orders.db`. As many of its last parts stay as there is room for. The last one stays whole: of a path
/// what is behind its last slash, a method without its class, an address.
pub(super) fn middle_out(name: &str, longest: usize) -> String {
    let count = length(name);
    if count <= longest {
        return name.to_string();
    }
    if let Some(bare) = without_parameters(name) {
        return middle_out(bare, longest);
    }
    let room = longest.saturating_sub(1);
    let tails = last_parts(name);
    // The begin of a path stays to be seen, too, where that leaves its last part whole.
    let is_path = name.contains('/');
    let fits =
        |spare: usize| tails.iter().filter(|tail| length(tail) + spare <= room).max_by_key(|tail| tail.len());
    if let Some(tail) = fits(HEAD).filter(|_| is_path) {
        let head: String = name.chars().take(room - length(tail)).collect();
        return format!("{head}…{tail}");
    }
    let last = tails.iter().filter(|tail| length(tail) <= WHOLE).min_by_key(|tail| tail.len());
    if let Some(tail) = fits(0).or(last) {
        return format!("…{tail}");
    }
    let tail = room.div_ceil(2);
    let head: String = name.chars().take(room - tail).collect();
    let tail: String = name.chars().skip(count - tail).collect();
    format!("{head}…{tail}")
}

/// `Cache::find` of `Cache::find(std::string const&) const::{lambda()#1}`; `None` of other names.
fn without_parameters(name: &str) -> Option<&str> {
    let at = name.find('(').filter(|at| *at > 0 && name.contains(' ') && name[..*at].contains("::"))?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '~' | '<' | '>');
    Some(&name[..at]).filter(|bare| bare.chars().all(is_name))
}

/// The ends of a name that say something by themselves: of a path each from a slash on; of a qualified name, `payments::Cabinet::get`, each from
/// an identifier on; an address with its port.
fn last_parts(name: &str) -> Vec<&str> {
    if name.contains('/') {
        return name.match_indices('/').map(|(at, _)| &name[at..]).filter(|tail| tail.len() > 1).collect();
    }
    let number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ':');
    let address = name[name.trim_end_matches(number).len()..].trim_start_matches(['.', ':']);
    if address.matches('.').count() == 3 && address.contains(':') {
        return vec![address];
    }
    if name.contains(' ') {
        return Vec::new();
    }
    let is_name = |tail: &&str| tail.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let tails = name.match_indices(['.', ':', '#', '$']).map(|(at, mark)| &name[at + mark.len()..]);
    tails.filter(is_name).collect()
}

/// Cut behind a word, with a mark for what is missing.
fn cut(text: &str, most: usize) -> String {
    if length(text) < most {
        return format!("{text}.");
    }
    let head: String = text.chars().take(most.saturating_sub(1)).collect();
    let end = head.rfind(' ').filter(|end| *end > head.len() / 2).unwrap_or(head.len());
    format!("{}…", head[..end].trim_end_matches([',', ';', ':', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sentence(what: &str, names: &[&str], culprits: &[&str]) -> Sentence {
        let owned = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect();
        Sentence {
            who: "app (pid 7): ".to_string(),
            what: what.to_string(),
            names: owned(names),
            culprits: owned(culprits),
            aside: "; 82 % of its time".to_string(),
        }
    }

    #[test]
    fn what_fits_is_said_in_full() {
        let told = sentence("12 slow reads", &[], &[" (/srv/a.db)", ", in save_row"]).fit();
        assert_eq!(told, "app (pid 7): 12 slow reads (/srv/a.db), in save_row; 82 % of its time.");
    }

    #[test]
    fn clauses_go_before_the_culprit() {
        let what = "2,000 fsyncs for 2,000 writes, 4.30 ms each, 83.1 per second, more than the device gives: 61 ms at worst";
        let told = sentence(what, &[], &[" (/srv/orders.db)", ", in save_row"]).fit();
        assert_eq!(
            told,
            "app (pid 7): 2,000 fsyncs for 2,000 writes, 4.30 ms each, 83.1 per second (/srv/orders.db), in save_row."
        );
    }

    #[test]
    fn a_clause_with_the_culprit_stays_and_its_name_loses_its_middle() {
        let name = "/srv/a/very/long/path/of/a/folder/below/another/folder/orders-2026-11-25.db";
        let what = format!("reads wait for a device, and it is read 40 times over: {name}, 91 ms");
        let told = sentence(&what, &[name], &[]).fit();
        assert!(told.contains("orders-2026-11-25.db") && told.contains('…'), "{told}");
    }

    #[test]
    fn a_clause_between_the_cause_and_its_function_goes_before_the_function_does() {
        let function = "main.(*shelf).publishPrice";
        let what = format!(
            "system calls take 67.5 % of the CPU time, 58.3 % in newfstatat, most of it in {function} (sessions.go:57)"
        );
        let told = sentence(&what, &[function, "sessions.go:57"], &[]).fit();
        assert_eq!(
            told,
            "app (pid 7): system calls take 67.5 % of the CPU time, most of it in main.(*shelf).publishPrice (sessions.go:57)."
        );
        let longer = what.replace("system calls", "process 30861: system calls");
        let told = sentence(&longer, &[function, "sessions.go:57"], &[]).fit();
        assert!(told.ends_with("of the CPU time, most of it in main.(*shelf).publishPrice."), "{told}");
    }

    #[test]
    fn the_middle_of_a_name_goes_and_both_ends_stay() {
        assert_eq!(middle_out("/srv/data/of/many/folders/orders.db", 20), "/srv/data…/orders.db");
        assert_eq!(middle_out("short", 20), "short");
        assert_eq!(middle_out("SELECT id, note FROM orders", 11), "SELEC…rders");
        // The last part stays whole, also where there is no room for it.
        assert_eq!(middle_out("/work/run/customer_list.sock", 16), "…/customer_list.sock");
        assert_eq!(middle_out("payments::Cabinet::get_customers", 12), "…get_customers");
        assert_eq!(middle_out("127.0.0.1.53317.example:8080", 16), "…example:8080");
        assert_eq!(middle_out("register.py:127.0.0.1:12176", 20), "…127.0.0.1:12176");
        assert_eq!(middle_out("BillingService$Numbers.checkLetter", 26), "…Numbers.checkLetter");
        assert_eq!(middle_out("main.publishOrder", 16), "…publishOrder");
        assert_eq!(
            middle_out("Checker::reject(std::string const&) const::{lambda()#1}::operator()() const", 20),
            "Checker::reject"
        );
    }

    proptest! {
        #[test]
        fn no_sentence_is_too_long(
            who in ".{0,60}", what in ".{0,300}", names in proptest::collection::vec(".{0,80}", 0..3),
            culprits in proptest::collection::vec(".{0,120}", 0..4), aside in ".{0,30}",
        ) {
            let what = format!("{what}, {}", names.join("; "));
            let told = Sentence { who, what, names, culprits, aside }.fit();
            prop_assert!(length(&told) <= Diagnosis::MAX_VERDICT, "{}: {told}", length(&told));
        }
    }
}
