// Translates the texts of instructions by a glossary in memory; each finished text is sealed by a program of the notary's.
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const SLOTS: usize = 64;

extern "C" {
    fn umask(mask: u32) -> u32;
}

// Words and what they are in the other language: pages of slots, by a hash of the word.
struct Glossary {
    slots: Vec<u64>,
    pages: usize,
}

impl Glossary {
    fn load(bytes: usize) -> Glossary {
        let mut seed = 0x9e3779b97f4a7c15u64;
        let slots: Vec<u64> = (0..bytes / 8)
            .map(|_| {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                seed
            })
            .collect();
        Glossary { pages: slots.len() / SLOTS, slots }
    }

    fn find(&mut self, word: &str, before: u64) -> u64 {
        let hash = word.bytes().fold(before | 1, |hash, byte| (hash ^ byte as u64).wrapping_mul(0x100000001b3));
        let page = hash as usize % self.pages * SLOTS;
        let best = (page..page + SLOTS).max_by_key(|&at| (self.slots[at] ^ hash).leading_zeros()).unwrap();
        // Words that are used come to the front of their page.
        self.slots.swap(best, page);
        self.slots[page]
    }
}

struct Text {
    number: u32,
    words: Vec<String>,
}

impl Text {
    fn incoming(number: u32) -> Text {
        let syllables = ["ba", "do", "fe", "gu", "ki", "lo", "me", "nu", "pa", "ri", "so", "tu"];
        let words = (0..@{words}u32)
            .map(|i| {
                let mut mark = number.wrapping_mul(31).wrapping_add(i * i + 7);
                (0..2 + mark % 3).map(|_| { mark = mark.wrapping_mul(1103515245).wrapping_add(12345); syllables[(mark >> 16) as usize % 12] }).collect()
            })
            .collect();
        Text { number, words }
    }

    fn translated(&self, glossary: &mut Glossary) -> String {
        let (mut out, mut before) = (String::new(), 0);
        for _ in 0..40 {
            out.clear();
            for word in &self.words {
                before = glossary.find(word, before);
                let _ = write!(out, "{:x} ", before & 0xffffff);
            }
        }
        out
    }
}

fn @{fn}(text: &Text, size: usize) -> std::io::Result<bool> {
    let mut command = Command::new("@{work}/bin/@{tool}");
    command.arg(text.number.to_string()).arg(size.to_string()).stdin(Stdio::null());
    if "@{how}" == "copy" {
        // What the notary's program writes is for the notary only.
        unsafe {
            command.pre_exec(|| {
                umask(0o077);
                Ok(())
            });
        }
    }
    Ok(command.status()?.success())
}

fn main() -> std::io::Result<()> {
    unsafe { umask(0o077) };
    let mut glossary = Glossary::load(@{held_mb} << 20);
    let mut log = fs::File::create("@{work}/texts.log")?;
    let (mut units, mut busy, mut spent) = (0u32, Duration::ZERO, Duration::ZERO);
    let began = Instant::now();
    let mut due = began;
    while began.elapsed().as_secs_f64() < @{seconds} {
        due = (due + Duration::from_secs_f64(1.0 / @{rate})).max(Instant::now());
        sleep(due - Instant::now().min(due));
        let start = Instant::now();
        let text = Text::incoming(units);
        let done = text.translated(&mut glossary);
        let asked = Instant::now();
        if !@{fn}(&text, done.len())? {
            return Err(std::io::Error::other("no seal"));
        }
        spent += asked.elapsed();
        writeln!(log, "text {}: {} bytes", text.number, done.len())?;
        busy += start.elapsed();
        units += 1;
    }
    fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {}, \"culprit\": {}}}", busy.as_secs_f64(), spent.as_secs_f64()))
}
