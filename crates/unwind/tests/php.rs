//! Stacks of real PHP programs, against what their own text says.

mod lists;
mod scripts;

use scripts::Script;

fn start(text: &str) -> Option<Script> {
    Script::start("PHP", &["php"], "shop.php", text)
}

#[test]
fn one_that_waits_for_a_file() {
    let text = r#"<?php
namespace Shop;
class Orders {
    public function load($n) {
        if ($n == 0) {
            return fopen("FIFO", "r"); // opens
        }
        return array_map(function ($x) use ($n) { // maps
            return $this->load($n - 1); // loads
        }, [1]);
    }
}
function größe() {
    (new Orders)->load(1); // begins
}
echo "ready\n";
größe(); // runs
"#;
    let Some(mut script) = start(text) else { return };
    let stack = script.until(&[
        "fopen",
        "Shop\\Orders::load@// opens",
        "Shop\\Orders::{closure}@// loads",
        "array_map",
        "Shop\\Orders::load@// maps",
        "Shop\\größe@// begins",
        "main@// runs",
    ]);
    assert_eq!(stack.len(), 7);
    assert!(script.cost(script.pid()) < 1000);
}

#[test]
fn one_that_waits_for_a_timer_a_socket_and_in_deep_recursion() {
    let text = r#"<?php
function down($n) {
    if ($n == 0) {
        usleep(300000); // sleeps
        $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        return fread($pair[0], 1); // reads
    }
    return down($n - 1); // deeper
}
echo "ready\n";
down(1000);
"#;
    let Some(mut script) = start(text) else { return };
    script.until(&["usleep", "down@// sleeps", "down@// deeper", "down@// deeper"]);
    let stack = script.until(&["fread", "down@// reads", "down@// deeper"]);
    assert_eq!(stack.len(), 256);
    script.cost(script.pid());
}

#[test]
fn generators_included_files_and_classes_without_a_name() {
    let text = r#"<?php
function rows() {
    yield 1;
    flock(fopen(__FILE__, "r"), LOCK_SH);
    yield fopen("FIFO", "r"); // opens
}
$it = new class {
    function walk() {
        foreach (rows() as $row) { // walks
        }
    }
};
echo "ready\n";
$it->walk(); // runs
"#;
    let Some(mut script) = start(text) else { return };
    let stack = script.until(&["fopen", "rows@// opens", "class@anonymous::walk@// walks", "main@// runs"]);
    // Out of a copy of its list it is the same.
    assert_eq!(script.copied(script.pid()), (stack, true));
}

#[test]
fn one_that_computes_with_and_without_jit() {
    let text = r#"<?php
function burn($n) {
    $s = "";
    while (true) {
        $s = md5($s . $n); // burns
    }
}
echo "ready\n";
burn(1); // runs
"#;
    let jit =
        ["-d", "opcache.enable_cli=1", "-d", "opcache.jit_buffer_size=32M", "-d", "opcache.jit=tracing"];
    for options in [&[][..], &jit[..]] {
        let command: Vec<&str> = ["php"].iter().chain(options).copied().collect();
        let Some(mut script) = Script::start("PHP", &command, "shop.php", text) else { return };
        script.until(&["burn@// burns", "main@// runs"]);
        // While it runs every stack is one of these, or ends early.
        let inner = format!("burn:{}", script.line("// burns"));
        let pid = script.pid();
        let is_right = |_: &usize| {
            // On a full machine it may have no CPU for some milliseconds: then all samples in a row are one.
            std::thread::sleep(std::time::Duration::from_micros(500));
            script.stack(pid).contains(&inner)
        };
        let right = (0..1000).filter(is_right).count();
        // Between two of its instructions a frame may be of no function.
        assert!(right >= 800, "{right} of 1000");
    }
}
