//! The account of a profile: how much each kind of cost has, and which functions of the program hold most.

use super::{
    CostKind, FlatRow, FunctionRef, Holder, Measure, Measured, Part, ProfileStacks, Roles, Runtime, Stacks,
    TableRows, Verdict, decide,
};
use crate::formats::ProfileData;
use hashbrown::HashMap;
use whyslow_model::profile::{Listing, TopReport};

/// What a kind has.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KindShare {
    /// The kind.
    pub kind: CostKind,
    /// What counts for it and for no other kind. All kinds add up to the total.
    pub value: f64,
    /// What the program called for: the kind nearest to its own frame, with all that is done for it. All kinds add up to the
    /// total here, too.
    pub asked: f64,
}

/// A function's own and whole cost.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionCost {
    /// Its name.
    pub name: String,
    /// Where it was the innermost.
    pub flat: f64,
    /// Where it was anywhere on the stack; in a table, as printed.
    pub cum: f64,
    /// True for the program's own code.
    pub is_own: bool,
    /// The kind that it has by itself.
    pub kind: Option<CostKind>,
}

/// The account of one value of one profile.
#[derive(Clone, PartialEq, Debug)]
pub struct Account {
    /// The sum of all values.
    pub total: f64,
    /// One entry a kind, in the order of [`CostKind::ALL`].
    pub kinds: Vec<KindShare>,
    /// What counts for each kind, by what the program called for; empty for a table.
    within: Vec<[f64; CostKind::COUNT]>,
    /// Functions of the program, by what they hold. The first are enough for a report: 32 at most.
    pub holders: Vec<Holder>,
    /// Functions by flat.
    pub functions: Vec<FunctionCost>,
    /// Runtimes seen.
    pub runtimes: Vec<Runtime>,
    /// True where there are no stacks, only a table of functions: then kinds are by flat, and at least what they say.
    pub is_table: bool,
}

impl Account {
    /// Holders kept.
    pub(crate) const MAX_HOLDERS: usize = 32;
    /// Parts kept of one.
    const MAX_PARTS: usize = 16;
    /// Functions kept.
    const MAX_FUNCTIONS: usize = 65_536;
    /// Places where cost goes in that are told apart.
    const MAX_PLACES: usize = 262_144;

    /// What a kind has.
    pub fn kind(&self, kind: CostKind) -> KindShare {
        self.kinds[kind.index()]
    }

    /// The part of the total that counts for a kind, 0 to 1.
    pub fn share(&self, kind: CostKind) -> f64 {
        self.part(self.kind(kind).value)
    }

    /// The part of the total that the program called for as that kind, 0 to 1.
    pub fn asked_share(&self, kind: CostKind) -> f64 {
        self.part(self.kind(kind).asked)
    }

    /// The part of the total that counts for a kind, without what was called for as one of `others`, 0 to 1.
    pub fn share_beside(&self, kind: CostKind, others: &[CostKind]) -> f64 {
        let within = self.within.get(kind.index());
        let theirs = others.iter().filter_map(|other| within.map(|within| within[other.index()]));
        self.part((self.kind(kind).value - theirs.sum::<f64>()).max(0.0))
    }

    /// The part of the total that counts for a kind, with the system calls and the page faults that were made for it alone; without what was
    /// called for as one of `others`, 0 to 1.
    pub fn share_with_kernel(&self, kind: CostKind, others: &[CostKind]) -> f64 {
        let of_kernel = [CostKind::SystemCall, CostKind::PageFault].into_iter().filter(|of| *of != kind);
        let made_for =
            of_kernel.filter_map(|of| self.within.get(of.index()).map(|within| within[kind.index()]));
        (self.share_beside(kind, others) + self.part(made_for.sum())).min(1.0)
    }

    /// A value as a part of the total.
    pub fn part(&self, value: f64) -> f64 {
        if self.total > 0.0 { value / self.total } else { 0.0 }
    }

    /// Of what a file holds: the value that it says is to be shown; with what that measures. `None`: it has no value.
    pub fn of_data(data: &ProfileData) -> Option<(Account, Measured)> {
        match data {
            ProfileData::Stacks(profile) => {
                let sample_type = Measure::default_type(profile)?;
                let account = Account::of(&ProfileStacks::new(profile, sample_type));
                Some((account, Measured::of(profile, sample_type)))
            }
            ProfileData::Table(report) => Some((Account::of_report(report), Measured::of_table(report))),
        }
    }

    /// Of a printed table or listing.
    pub fn of_report(report: &TopReport) -> Account {
        let rows = report.rows.iter().map(|row| FlatRow {
            name: &row.name,
            flat: row.flat.value as f64,
            cum: row.cum.value as f64,
        });
        let total = report.total.as_ref().map_or(0, |total| total.value) as f64;
        let mut account = Account::of_table(&TableRows { rows: rows.collect(), total });
        if let Some(listing) = report.listings.iter().max_by_key(|listing| listing.cum.value) {
            account.holders.insert(0, holder_of_listing(listing));
        }
        account
    }

    /// Of stacks.
    pub fn of(stacks: &dyn Stacks) -> Account {
        let count = stacks.function_count();
        let roles = Roles::of((0..count).map(|index| stacks.function(index)));
        let mut sums = Sums::new(count);
        stacks.each(&mut |frames, value| {
            let of = |function: u32| roles.role(function as usize);
            let verdict = match frames.is_empty() {
                true => Verdict { kind: CostKind::Unknown, asked_for: CostKind::Unknown, own: None },
                false => decide(frames.iter().map(|frame| of(frame.function))),
            };
            sums.add(frames, value as f64, verdict, |function| roles.is_own(function as usize));
        });
        sums.finish(stacks, &roles)
    }

    /// Of a table of functions: each row's own cost counts for the function's kind; pseudo frames that stand for a whole
    /// (`GC`) count with all below them, where that is more than the rows of their kind have.
    pub fn of_table(table: &TableRows<'_>) -> Account {
        let name = |index: usize| FunctionRef { name: table.rows[index].name, ..FunctionRef::default() };
        let roles = Roles::of((0..table.rows.len()).map(name));
        let mut values = [0.0; CostKind::COUNT];
        let mut whole = [0.0f64; CostKind::COUNT];
        let mut functions = Vec::new();
        for (index, row) in table.rows.iter().enumerate() {
            let kind = roles.kind(index);
            let unlisted = if roles.is_nameless(index) { CostKind::Unknown } else { CostKind::Program };
            values[kind.unwrap_or(unlisted).index()] += row.flat;
            if let super::Role::Overrides(kind) = roles.role(index) {
                whole[kind.index()] = whole[kind.index()].max(row.cum);
            }
            functions.push(FunctionCost {
                name: row.name.to_string(),
                flat: row.flat,
                cum: row.cum,
                is_own: roles.is_own(index),
                kind,
            });
        }
        for kind in CostKind::ALL {
            values[kind.index()] = values[kind.index()].max(whole[kind.index()]);
        }
        let known: f64 = values.iter().sum();
        values[CostKind::Unknown.index()] += (table.total - known).max(0.0);
        let kinds = CostKind::ALL.map(|kind| {
            let value = values[kind.index()];
            KindShare { kind, value, asked: value }
        });
        functions.sort_by(by_flat);
        Account {
            total: table.total.max(known),
            kinds: kinds.to_vec(),
            within: Vec::new(),
            holders: holder_of_table(&functions),
            functions,
            runtimes: roles.runtimes().collect(),
            is_table: true,
        }
    }
}

/// Functions of the program that call each other stand in a table by cum; without stacks the innermost that still has
/// most of the largest one's is taken for the one that spends.
fn holder_of_table(functions: &[FunctionCost]) -> Vec<Holder> {
    /// Of the largest function's cum.
    const MOST: f64 = 2.0 / 3.0;
    let mut own: Vec<&FunctionCost> =
        functions.iter().filter(|function| function.is_own && function.cum > 0.0).collect();
    own.sort_by(|a, b| b.cum.total_cmp(&a.cum));
    let Some(first) = own.first() else { return Vec::new() };
    let mut chain: Vec<&&FunctionCost> =
        own.iter().take_while(|function| function.cum >= MOST * first.cum).collect();
    // What spends nothing itself only calls: it may stand beside the one before it, not below.
    while chain.len() > 1 && chain.last().is_some_and(|last| last.flat == 0.0) {
        chain.pop();
    }
    let Some((last, callers)) = chain.split_last() else { return Vec::new() };
    let name = |function: &str| function.trim_end_matches(" (inline)").to_string();
    vec![Holder {
        function: name(&last.name),
        file: String::new(),
        value: last.cum,
        cum: last.cum,
        callers: callers.iter().map(|function| name(&function.name)).collect(),
        parts: Vec::new(),
    }]
}

/// A listed function says by line where its cost goes in.
fn holder_of_listing(listing: &Listing) -> Holder {
    let lines = listing.lines.iter().filter_map(|line| Some((line, line.cum.as_ref()?.value as f64)));
    let calls: Vec<_> = lines
        .map(|(line, value)| (called_on(&line.source), u32::try_from(line.number).unwrap_or(0), value))
        .collect();
    let name = |callee: &Option<String>| callee.clone().unwrap_or_default();
    let roles =
        Roles::of(calls.iter().map(|(callee, ..)| FunctionRef {
            name: callee.as_deref().unwrap_or(""),
            ..FunctionRef::default()
        }));
    let mut parts: Vec<Part> = Vec::new();
    for (index, (callee, line, value)) in calls.iter().enumerate() {
        let kind = roles.kind(index).unwrap_or(CostKind::Program);
        parts.push(Part { callee: name(callee), line: *line, kind, value: *value });
    }
    parts.sort_by(|a, b| b.value.total_cmp(&a.value).then(a.line.cmp(&b.line)));
    parts.truncate(Account::MAX_PARTS);
    Holder {
        function: listing.function.clone(),
        file: listing.file.clone(),
        value: listing.cum.value as f64,
        cum: listing.cum.value as f64,
        callers: Vec::new(),
        parts,
    }
}

/// The function of another package that a line of Go source calls first: `strings.Fields(scanner.Text())`.
fn called_on(source: &str) -> Option<String> {
    let call = source.find('(')?;
    let before = &source[..call];
    let begin = before.rfind(|c: char| !(c.is_alphanumeric() || c == '.' || c == '_')).map_or(0, |at| at + 1);
    let name = before[begin..].trim();
    match name {
        // The usual names of variables of these types.
        "scanner.Scan" => Some("bufio.(*Scanner).Scan".to_string()),
        name => name.contains('.').then(|| name.to_string()),
    }
}

fn by_flat(a: &FunctionCost, b: &FunctionCost) -> std::cmp::Ordering {
    b.flat.total_cmp(&a.flat).then(b.cum.total_cmp(&a.cum)).then_with(|| a.name.cmp(&b.name))
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    own: u32,
    callee: u32,
    line: u32,
    kind: CostKind,
}

#[derive(Default)]
struct Held {
    value: f64,
    heaviest: f64,
    callers: Vec<u32>,
}

struct Sums {
    total: f64,
    values: [f64; CostKind::COUNT],
    within: [[f64; CostKind::COUNT]; CostKind::COUNT],
    flat: Vec<f64>,
    cum: Vec<f64>,
    /// The last stack that a function was seen in: one that calls itself counts once.
    seen_in: Vec<u32>,
    stack: u32,
    places: HashMap<Place, f64, foldhash::fast::RandomState>,
    held: HashMap<u32, Held, foldhash::fast::RandomState>,
}

/// No function.
const NONE: u32 = u32::MAX;

impl Sums {
    fn new(functions: usize) -> Sums {
        Sums {
            total: 0.0,
            values: [0.0; CostKind::COUNT],
            within: [[0.0; CostKind::COUNT]; CostKind::COUNT],
            flat: vec![0.0; functions],
            cum: vec![0.0; functions],
            seen_in: vec![0; functions],
            stack: 0,
            places: HashMap::default(),
            held: HashMap::default(),
        }
    }

    fn add(&mut self, frames: &[super::Frame], value: f64, verdict: Verdict, is_own: impl Fn(u32) -> bool) {
        self.total += value;
        self.values[verdict.kind.index()] += value;
        self.within[verdict.kind.index()][verdict.asked_for.index()] += value;
        self.stack += 1;
        for (depth, frame) in frames.iter().enumerate() {
            let function = frame.function as usize;
            if function >= self.cum.len() {
                continue;
            }
            if depth == 0 {
                self.flat[function] += value;
            }
            if self.seen_in[function] != self.stack {
                self.seen_in[function] = self.stack;
                self.cum[function] += value;
            }
        }
        let Some(depth) = verdict.own else { return };
        let own = frames[depth];
        let callee = if depth == 0 { NONE } else { frames[depth - 1].function };
        let place = Place { own: own.function, callee, line: own.line, kind: verdict.asked_for };
        if self.places.len() < Account::MAX_PLACES || self.places.contains_key(&place) {
            *self.places.entry(place).or_default() += value;
        }
        let held = self.held.entry(own.function).or_default();
        held.value += value;
        if value > held.heaviest {
            held.heaviest = value;
            held.callers.clear();
            let outer = frames[depth + 1..].iter().rev().map(|frame| frame.function);
            held.callers.extend(outer.filter(|function| *function != own.function && is_own(*function)));
            held.callers.dedup();
        }
    }

    fn finish(self, stacks: &dyn Stacks, roles: &Roles) -> Account {
        let name = |function: u32| stacks.function(function as usize).name.to_string();
        let mut held: Vec<(u32, Held)> = self.held.into_iter().collect();
        held.sort_by(|a, b| b.1.value.total_cmp(&a.1.value).then(a.0.cmp(&b.0)));
        held.truncate(Account::MAX_HOLDERS);
        let holders = held.into_iter().map(|(function, held)| {
            let places = self.places.iter().filter(|(place, _)| place.own == function);
            let parts = places.map(|(place, value)| Part {
                callee: if place.callee == NONE { String::new() } else { name(place.callee) },
                line: place.line,
                kind: place.kind,
                value: *value,
            });
            let mut parts: Vec<Part> = parts.collect();
            parts.sort_by(|a, b| {
                b.value.total_cmp(&a.value).then_with(|| (&a.callee, a.line).cmp(&(&b.callee, b.line)))
            });
            parts.truncate(Account::MAX_PARTS);
            Holder {
                function: name(function),
                file: stacks.function(function as usize).file.to_string(),
                value: held.value,
                cum: self.cum.get(function as usize).copied().unwrap_or(held.value),
                callers: held.callers.into_iter().map(name).collect(),
                parts,
            }
        });
        let holders = holders.collect();
        let with_cost = (0..self.flat.len()).filter(|at| self.cum[*at] != 0.0);
        let functions = with_cost.map(|at| FunctionCost {
            name: stacks.function(at).name.to_string(),
            flat: self.flat[at],
            cum: self.cum[at],
            is_own: roles.is_own(at),
            kind: roles.kind(at),
        });
        let mut functions: Vec<FunctionCost> = functions.collect();
        functions.sort_by(by_flat);
        functions.truncate(Account::MAX_FUNCTIONS);
        let kinds = CostKind::ALL.map(|kind| KindShare {
            kind,
            value: self.values[kind.index()],
            asked: self.within.iter().map(|of_kind| of_kind[kind.index()]).sum(),
        });
        Account {
            total: self.total,
            kinds: kinds.to_vec(),
            within: self.within.to_vec(),
            holders,
            functions,
            runtimes: roles.runtimes().collect(),
            is_table: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FlatRow, Frame};
    use super::*;

    /// Stacks as people write them: `root;…;leaf value`.
    struct Written {
        functions: Vec<String>,
        stacks: Vec<(Vec<Frame>, i64)>,
    }

    impl Written {
        fn of(text: &str) -> Written {
            let mut written = Written { functions: Vec::new(), stacks: Vec::new() };
            for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
                let (stack, value) = line.rsplit_once(' ').unwrap();
                let mut frames = Vec::new();
                for name in stack.split(';').rev() {
                    let known = written.functions.iter().position(|function| function == name);
                    let function = known.unwrap_or_else(|| {
                        written.functions.push(name.to_string());
                        written.functions.len() - 1
                    });
                    frames.push(Frame { function: function as u32, line: 0 });
                }
                written.stacks.push((frames, value.parse().unwrap()));
            }
            written
        }
    }

    impl Stacks for Written {
        fn function_count(&self) -> usize {
            self.functions.len()
        }
        fn function(&self, index: usize) -> FunctionRef<'_> {
            FunctionRef { name: &self.functions[index], ..FunctionRef::default() }
        }
        fn each(&self, take: &mut dyn FnMut(&[Frame], i64)) {
            for (frames, value) in &self.stacks {
                take(frames, *value);
            }
        }
    }

    #[test]
    fn each_stack_counts_once_and_all_kinds_add_up() {
        let stacks = Written::of(
            "runtime.goexit;main.run;nux.readTcp;strings.Fields;strings.FieldsFunc;unicode.IsSpace 20
             runtime.goexit;main.run;nux.readTcp;strings.Fields;runtime.makeslice;runtime.mallocgc;runtime.memclrNoHeapPointers 10
             runtime.goexit;main.run;nux.readTcp;strings.Fields;runtime.mallocgc;runtime.gcAssistAlloc;runtime.gcDrainN;runtime.scanobject 5
             runtime.goexit;main.run;nux.readTcp;bufio.(*Scanner).Scan;os.(*File).Read;syscall.Syscall 15
             runtime.goexit;main.run;nux.readTcp;runtime.mapassign_fast64 3
             runtime.goexit;main.run;main.work;main.inner 7
             runtime.mcall;runtime.park_m;runtime.schedule;runtime.findRunnable;runtime.futex 4
             runtime.goexit;main.run;sync.(*Mutex).Lock;sync.(*Mutex).lockSlow;runtime.futex 6
             runtime.goexit;main.run;encoding/json.Unmarshal;strconv.ParseFloat 8
             runtime.gcBgMarkWorker;runtime.systemstack;runtime.scanobject 12",
        );
        let account = Account::of(&stacks);
        let sum: f64 = account.kinds.iter().map(|share| share.value).sum();
        assert_eq!((account.total, sum), (90.0, 90.0));
        let value = |kind| account.kind(kind).value;
        assert_eq!(value(CostKind::TextParsing), 20.0);
        assert_eq!(value(CostKind::Allocation), 10.0);
        assert_eq!(value(CostKind::GarbageCollection), 17.0);
        assert_eq!(value(CostKind::SystemCall), 15.0);
        assert_eq!(value(CostKind::Hashing), 3.0);
        assert_eq!(value(CostKind::Program), 7.0);
        assert_eq!(value(CostKind::Scheduling), 4.0);
        assert_eq!(value(CostKind::Locking), 6.0);
        assert_eq!(value(CostKind::Serialization), 8.0);
        // Fields and Scan with the memory and calls that they cause; what helps the collector is the collector's.
        assert_eq!(account.kind(CostKind::TextParsing).asked, 45.0);
        assert_eq!(account.kind(CostKind::Serialization).asked, 8.0);
        assert_eq!(account.kinds.iter().map(|share| share.asked).sum::<f64>(), 90.0);
        let beside = account.share_beside(CostKind::Allocation, &[CostKind::TextParsing]);
        assert_eq!((account.share(CostKind::Allocation) * 90.0, beside), (10.0, 0.0));

        let holder = &account.holders[0];
        assert_eq!((holder.function.as_str(), holder.value, holder.cum), ("nux.readTcp", 53.0, 53.0));
        assert_eq!(holder.callers, ["main.run"]);
        assert_eq!(holder.kind(), (CostKind::TextParsing, 45.0));
        assert_eq!((holder.parts[0].callee.as_str(), holder.parts[0].value), ("strings.Fields", 30.0));
    }

    #[test]
    fn what_a_handler_calls_is_not_the_parser_s_that_called_it() {
        let parser = "node;uv_run;node::(anonymous namespace)::Parser::OnStreamRead(long, uv_buf_t const&);llhttp__internal__run";
        let handler = "v8::internal::Execution::Call;Builtins_JSEntry;[unknown]";
        let parse = "Builtins_JsonParse;v8::internal::Builtin_JsonParse;v8::internal::JsonParser<unsigned short>::Parse";
        let account = Account::of(&Written::of(&format!("{parser};{handler};{parse} 60\n{parser} 7")));
        assert_eq!(account.kind(CostKind::Serialization).asked, 60.0);
        assert_eq!(account.kind(CostKind::TextParsing).asked, 7.0);
        assert_eq!(account.kind(CostKind::Serialization).value, 60.0);
    }

    #[test]
    fn native_stacks() {
        let stacks = Written::of(
            "app;main;parse_line;strtol;____strtol_l_internal 10
             app;main;_int_malloc;sysmalloc;__libc_mmap;entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k];vm_mmap_pgoff_[k] 3
             app;main;_int_malloc;asm_exc_page_fault_[k];do_user_addr_fault_[k];clear_page_erms_[k] 4
             app;main;pthread_mutex_lock;__lll_lock_wait;entry_SYSCALL_64_[k];do_futex_[k];futex_wait_[k];schedule_[k];__schedule_[k] 5
             app;main;copy_row;memcpy 6
             swapper;do_idle_[k];cpuidle_enter_[k];intel_idle_[k] 50
             app;[unknown] 2",
        );
        let account = Account::of(&stacks);
        let value = |kind| account.kind(kind).value;
        assert_eq!(value(CostKind::TextParsing), 10.0);
        assert_eq!(value(CostKind::SystemCall), 3.0);
        assert_eq!(value(CostKind::PageFault), 4.0);
        assert_eq!(value(CostKind::Locking), 5.0);
        assert_eq!(value(CostKind::Copying), 6.0);
        assert_eq!(value(CostKind::Idle), 50.0);
        assert_eq!(value(CostKind::Unknown), 2.0);
    }

    #[test]
    fn a_table_counts_by_flat_and_says_what_it_does_not_show() {
        let row = |name, flat, cum| FlatRow { name, flat, cum };
        let rows = vec![
            row("runtime.goexit", 0.02, 101.32),
            row("System", 0.0, 82.89),
            row("GC", 0.0, 77.26),
            row("runtime.futex", 54.47, 54.47),
            row("syscall.Syscall", 47.87, 48.24),
            row("go.intra.xiaojukeji.com/golang/nux.func·001", 1.74, 42.24),
        ];
        let account = Account::of_table(&TableRows { rows, total: 261.51 });
        let sum: f64 = account.kinds.iter().map(|share| share.value).sum();
        assert!((sum - 261.51).abs() < 1e-9, "{sum}");
        let share = |kind| (account.share(kind) * 1e4).round() / 1e2;
        assert_eq!(share(CostKind::GarbageCollection), 29.54);
        assert_eq!(share(CostKind::Locking), 20.83);
        assert_eq!(share(CostKind::SystemCall), 18.31);
        assert_eq!(account.holders[0].function, "go.intra.xiaojukeji.com/golang/nux.func·001");
    }
}
