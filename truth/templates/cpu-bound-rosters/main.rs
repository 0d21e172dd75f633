//! Imports lists of a club's members: who is known already, by mail address, is not taken again.
use std::collections::HashSet;
use std::time::{Duration, Instant};

struct Member {
    name: String,
    mail: String,
}

#[derive(Default)]
struct Members {
    all: Vec<Member>,
    mails: HashSet<String>,
}

/// A list that somebody has sent: half of it is new.
fn list_of(number: usize) -> Vec<Member> {
    let base = if number == 0 { @{base} } else { @{lines} };
    (0..base)
        .map(|i| {
            let person = if number == 0 { i } else { (number * 7919 + i * 104_729) % (2 * @{base}) };
            Member { name: format!("Member {person}"), mail: format!("Member.{person:06}@Rowing.example") }
        })
        .collect()
}

/// Two addresses, whatever their capitals.
fn same(one: &str, other: &str) -> bool {
    one.chars().flat_map(char::to_lowercase).eq(other.chars().flat_map(char::to_lowercase))
}

impl Members {
    #[inline(never)]
    fn @{fn}(&self, mail: &str) -> bool {
        if "@{search}" == "table" {
            return self.mails.contains(&mail.to_lowercase());
        }
        self.all.iter().any(|member| same(&member.mail, mail))
    }

    fn take(&mut self, member: Member) {
        self.mails.insert(member.mail.to_lowercase());
        self.all.push(member);
    }

    fn import(&mut self, list: Vec<Member>) -> (usize, Duration) {
        let (mut taken, mut searching) = (0, Duration::ZERO);
        for member in list {
            let start = Instant::now();
            let known = self.@{fn}(&member.mail);
            searching += start.elapsed();
            if !known && !member.name.is_empty() {
                taken += 1;
                // The members of this year are kept; guests are only counted.
                if taken % 10 == 0 {
                    self.take(member);
                }
            }
        }
        (taken, searching)
    }
}

fn main() -> std::io::Result<()> {
    let mut members = Members::default();
    list_of(0).into_iter().for_each(|member| members.take(member));
    let begin = Instant::now();
    let (mut units, mut taken) = (0, 0);
    let (mut busy, mut searching) = (Duration::ZERO, Duration::ZERO);
    while begin.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let (new, searched) = members.import(list_of(units + 1));
        (units, taken, searching) = (units + 1, taken + new, searching + searched);
        busy += start.elapsed();
        std::thread::sleep(Duration::from_secs_f64(units as f64 / @{rate}.0).saturating_sub(begin.elapsed()));
    }
    println!("{taken} are new");
    let report = format!("{{\"units\": {units}, \"seconds\": {}, \"culprit\": {}}}", busy.as_secs_f64(), searching.as_secs_f64());
    std::fs::write("@{report}", report)
}
