//! Stacks of real Ruby programs, against what their own text says.

mod lists;
mod scripts;

use scripts::Script;

fn start(text: &str) -> Option<Script> {
    Script::start("Ruby", &["ruby"], "shop.rb", text)
}

#[test]
fn one_that_waits_for_a_file() {
    let text = r#"
class Store
  def save(n)
    if n == 0
      File.open("FIFO") do |f| # opens
        f.gets
      end
    else
      [1].each do |x| # maps
        save(n - 1) # saves
      end
    end
  end
end
puts "ready"
$stdout.flush
Store.new.save(1) # runs
"#;
    let Some(mut script) = start(text) else { return };
    let stack = script.until(&["save@# opens", "block in save@# saves", "save@# maps", "<main>@# runs"]);
    assert_eq!(stack.len(), 4);
    assert_eq!(script.copied(script.pid()), (stack, true));
    assert!(script.cost(script.pid()) < 1000);
}

#[test]
fn several_threads() {
    let text = r#"
require "socket"
lock = Mutex.new
lock.lock
Thread.new { lock.synchronize { 1 } } # locks
Thread.new do
  sleep 100 # sleeps
end
a, b = UNIXSocket.pair
reader = Thread.new { a.read } # reads
def größe
  i = 0
  while true
    i += [1, 2].sum # computes
  end
end
Thread.new { größe } # burns
puts "ready"
$stdout.flush
reader.join # joins
"#;
    let Some(mut script) = start(text) else { return };
    script.until(&["block in <main>@# locks"]);
    script.until(&["block in <main>@# sleeps"]);
    script.until(&["block in <main>@# reads"]);
    script.until(&["<main>@# joins"]);
    script.until(&["größe@# computes", "block in <main>@# burns"]);
}

#[test]
fn deep_recursion_and_long_functions() {
    let filler = "  x = [x].first\n".repeat(700);
    let text = format!(
        "def down(n)\n  x = 0\n{filler}  if n == 0\n    sleep 100 # sleeps\n  end\n  down(n - 1) # deeper\nend\n\
         puts 'ready'\n$stdout.flush\ndown(600)\n"
    );
    let Some(mut script) = start(&text) else { return };
    let stack = script.until(&["down@# sleeps", "down@# deeper", "down@# deeper"]);
    assert_eq!(stack.len(), 256);
    script.cost(script.pid());
}

#[test]
fn a_process_that_forked() {
    let text = r#"
child = fork do
  Thread.new { sleep 100 } # other
  sleep 100 # child
end
puts "ready"
$stdout.flush
Process.wait(child) # waits
"#;
    let Some(mut script) = start(text) else { return };
    script.until(&["<main>@# waits"]);
    let child = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", script.pid())).expect("read");
    let child: u32 = child.split_whitespace().next().and_then(|pid| pid.parse().ok()).expect("a child");
    let parent = std::mem::replace(&mut script.process, whyslow_unwind::Process::open(child).expect("ours"));
    script.until(&["block in <main>@# child"]);
    script.until(&["block (2 levels) in <main>@# other"]);
    script.process = parent;
    drop(script);
    let _ = rustix::process::kill_process(
        rustix::process::Pid::from_raw(child as i32).expect("no zero"),
        rustix::process::Signal::KILL,
    );
}
