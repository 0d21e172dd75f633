//! What most of a thread's computing is, as far as its samples name it.

use crate::gate::gated;
use whyslow_facts::samples::{FunctionTime, Weight};
use whyslow_facts::{Facts, ProcessId, ProfileOrigin};
use whyslow_model::Nanos;
use whyslow_profile::kinds::{CostKind, Holder, short};

/// A function with this part of the samples is a hot path, not a profile without a peak.
pub(super) const HOT: f64 = 0.25;
/// Where a kind of cost that has a rule of its own (regex-backtracking, gc-pressure) takes this part of the CPU time, that rule says it.
const OF_A_KIND: f64 = 0.50;

/// What most of a thread's computing is, as far as its samples name it.
pub(super) struct Hot {
    /// In words, for the title: the function with its line.
    pub(super) what: String,
    /// The kind of work that most of it is, where that is another than the program's own code.
    pub(super) kind: Option<CostKind>,
    /// It is the runtime's compiler at work, which has threads of its own.
    pub(super) compiles: bool,
    pub(super) function: Option<String>,
    /// Of the thread's samples.
    pub(super) part: f64,
}

impl Hot {
    /// The program's own function with what it calls in libraries and the runtime; else the function in which most samples were taken;
    /// else what the runtime does for the program (sorting); else the file whose code has no names.
    #[gated]
    pub(super) fn of(
        facts: &Facts,
        process: ProcessId,
        functions: &[FunctionTime<'_>],
        samples: Weight,
    ) -> Option<Hot> {
        let part = |ns: Nanos| ns.or_zero() as f64 / samples.ns.max(1) as f64;
        let is_nameless = |name: &str| name.starts_with('[');
        let flat = functions.first().filter(|function| part(function.flat) >= HOT);
        let profile =
            facts.profiles.of_cpu().find(|profile| profile.origin == ProfileOrigin::Samples(process));
        let account = profile.map(|profile| &profile.step.account);
        let holder_of = |name: &str| {
            account.and_then(|account| account.holders.iter().find(|holder| holder.function == name))
        };
        let is_own = |name: &str| holder_of(name).is_some();
        let named = |name: &str, part: f64| Hot {
            what: holder_of(name).map_or_else(|| short(name), |holder| holder.site(|_| true)),
            kind: holder_of(name).and_then(kind_of),
            compiles: false,
            function: Some(name.to_string()),
            part,
        };
        // Of many threads the program's function may be another one's.
        let is_here =
            |name: &str| functions.iter().any(|function| function.name == name && part(function.cum) >= HOT);
        let holder = account.and_then(|account| {
            let hot = account.holders.iter().take_while(|holder| account.part(holder.value) >= HOT);
            let mut here = hot.filter(|holder| is_here(&holder.function));
            here.next().map(|holder| named(&holder.function, account.part(holder.value)))
        });
        if holder.is_some() {
            return holder;
        }
        if let Some(flat) = flat.filter(|flat| is_own(flat.name)) {
            return Some(named(flat.name, part(flat.flat)));
        }
        if let Some(flat) = flat.filter(|flat| !is_nameless(flat.name)) {
            return Some(named(flat.name, part(flat.flat)));
        }
        let purposes = account.into_iter().flat_map(|account| {
            account
                .kinds
                .iter()
                .filter(|share| is_purpose(share.kind))
                .map(|share| (share.kind, account.part(share.asked)))
        });
        if let Some((kind, of_kind)) =
            purposes.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, of_kind)| *of_kind >= HOT)
        {
            let functions = account
                .into_iter()
                .flat_map(|account| account.functions.iter().filter(|function| function.kind == Some(kind)));
            let most = functions.max_by(|a, b| a.cum.total_cmp(&b.cum).then(b.name.cmp(&a.name)));
            let at = most.map_or(String::new(), |most| format!(" ({})", short(&most.name)));
            return Some(Hot {
                what: format!("{}{at}", kind.words()),
                kind: None,
                compiles: kind == CostKind::Compilation,
                function: most.map(|most| most.name.clone()),
                part: of_kind,
            });
        }
        let flat = flat?;
        let what = match flat.name.trim_matches(['[', ']']) {
            "anon" => "code that was compiled while it ran, and has no names,".to_string(),
            module => format!("code of {module} without names"),
        };
        Some(Hot { what, kind: None, compiles: false, function: None, part: part(flat.flat) })
    }
}

/// Where no function is hot: the innermost function of the program below which half of the samples were taken, as a whole name. Where a
/// program begins is none: all of it is below that.
#[gated]
pub(super) fn around<'f>(
    facts: &Facts,
    process: ProcessId,
    functions: &[FunctionTime<'f>],
    samples: Weight,
) -> Option<&'f str> {
    const BEGINNINGS: [&str; 8] =
        ["main", "<module>", "<main>", "main.main", "{main}", "(anonymous)", "_start", "std::rt::lang_start"];
    let mut profiles =
        facts.profiles.of_cpu().filter(|profile| profile.origin == ProfileOrigin::Samples(process));
    let account = &profiles.next()?.step.account;
    let is_meant = |name: &str| {
        let is_beginning = BEGINNINGS.contains(&name) || name.ends_with("::main") || name.ends_with(".main");
        !is_beginning && account.functions.iter().any(|function| function.is_own && function.name == name)
    };
    let half =
        functions.iter().filter(|function| function.cum.or_zero() as f64 >= OF_A_KIND * samples.ns as f64);
    let most = half.filter(|function| is_meant(function.name));
    most.min_by(|a, b| (a.cum, a.name).cmp(&(b.cum, b.name))).map(|function| function.name)
}

/// What most of a function's time is, where it is something that the program asks a library or its runtime for.
#[gated]
fn kind_of(holder: &Holder) -> Option<CostKind> {
    let (kind, of_kind) = holder.kind();
    let is_told =
        !matches!(kind, CostKind::Program | CostKind::Unknown) && of_kind >= OF_A_KIND * holder.value;
    is_told.then_some(kind)
}

/// True where a rule about a kind of cost says what the process computes.
#[gated]
pub(super) fn is_told(facts: &Facts, process: ProcessId) -> bool {
    use CostKind::*;
    let mut profiles =
        facts.profiles.of_cpu().filter(|profile| profile.origin == ProfileOrigin::Samples(process));
    let kinds = [GarbageCollection, Allocation, TextParsing, Serialization, Compression, Crypto, Regex];
    profiles.any(|profile| {
        let account = &profile.step.account;
        kinds.iter().any(|kind| account.asked_share(*kind).max(account.share(*kind)) >= OF_A_KIND)
    })
}

/// What a program asks a library or runtime for: more than how it is done.
fn is_purpose(kind: CostKind) -> bool {
    use CostKind::*;
    matches!(
        kind,
        TextParsing
            | Formatting
            | Serialization
            | Compression
            | Crypto
            | Regex
            | Sorting
            | Compilation
            | GarbageCollection
    )
}
