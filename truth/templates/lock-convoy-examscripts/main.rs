// Marks the scripts of an exam with some graders, and keeps the statistics that the board looks at.
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// In a bundle of scripts.
const ANSWERS: usize = @{answers};
const QUESTIONS: usize = @{questions};

/// A lock that is handed on in the order of asking, so that no grader is kept from it.
#[derive(Default)]
struct Turn {
    line: Mutex<(bool, VecDeque<(Thread, Arc<AtomicBool>)>)>,
}

impl Turn {
    fn take(&self) {
        let mine = Arc::new(AtomicBool::new(false));
        {
            let mut line = self.line.lock().unwrap();
            if !line.0 {
                line.0 = true;
                return;
            }
            line.1.push_back((thread::current(), mine.clone()));
        }
        while !mine.load(Ordering::Acquire) {
            thread::park();
        }
    }

    fn pass(&self) {
        let mut line = self.line.lock().unwrap();
        match line.1.pop_front() {
            None => line.0 = false,
            Some((next, turn)) => {
                drop(line);
                turn.store(true, Ordering::Release);
                next.unpark();
            }
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Question {
    points: u64,
    squares: u64,
    given: u64,
}

/// How each question went so far.
struct Statistics {
    turn: Turn,
    questions: UnsafeCell<Vec<Question>>,
}

unsafe impl Sync for Statistics {}

impl Statistics {
    #[inline(never)]
    fn @{fn}(&self, marks: &[(usize, u64)]) {
        self.turn.take();
        let questions = unsafe { &mut *self.questions.get() };
        for (question, points) in marks {
            questions[*question].points += points;
            questions[*question].squares += points * points;
            questions[*question].given += 1;
        }
        self.turn.pass();
    }
}

/// Points for the words of the key that are in an answer.
fn mark(script: u64, question: usize) -> u64 {
    let mut text = script.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(question as u64);
    (0..@{words})
        .filter(|_| {
            text = text.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("{:x}", text >> 30).contains((b'a' + (question % 6) as u8) as char)
        })
        .count() as u64
}

fn grade(statistics: &Statistics, number: u64, began: Instant) -> (u64, f64, f64) {
    let (mut units, mut busy, mut culprit) = (0u64, 0.0, 0.0);
    let mut marks = Vec::new();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        for answer in 0..ANSWERS {
            let question = answer % QUESTIONS;
            marks.push((question, mark((units * @{graders} + number) * ANSWERS as u64 + answer as u64, question)));
            if marks.len() == @{together} || answer == ANSWERS - 1 {
                let marked = Instant::now();
                statistics.@{fn}(&marks);
                culprit += marked.elapsed().as_secs_f64();
                marks.clear();
            }
        }
        busy += start.elapsed().as_secs_f64();
        units += 1;
        let due = units as f64 / @{rate} as f64 - began.elapsed().as_secs_f64();
        if due > 0.0 {
            thread::sleep(Duration::from_secs_f64(due));
        }
    }
    (units, busy, culprit)
}

fn main() {
    let began = Instant::now();
    let statistics = Arc::new(Statistics { turn: Turn::default(), questions: UnsafeCell::new(vec![Question::default(); QUESTIONS]) });
    let graders: Vec<_> = (0..@{graders})
        .map(|number| {
            let statistics = statistics.clone();
            thread::Builder::new().name(format!("grader-{number}")).spawn(move || grade(&statistics, number, began)).expect("a grader")
        })
        .collect();
    let (mut units, mut busy, mut culprit) = (0, 0.0, 0.0);
    for grader in graders {
        let (marked, took, waited) = grader.join().expect("a grader");
        units += marked;
        busy += took;
        culprit += waited;
    }
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {culprit}}}")).expect("the report");
}
