//! Stacks of real Perl programs, against what their own text says.

mod lists;
mod scripts;

use scripts::Script;

fn start(text: &str) -> Option<Script> {
    Script::start("Perl", &["perl"], "shop.pl", text)
}

#[test]
fn one_that_waits_for_a_file_and_a_timer() {
    let text = r#"
use utf8;
package Store;
sub new { return bless {}, shift }
sub save {
    my ($self, $n) = @_;
    for my $i (1) {
        if ($n) {
            my $next = $n - 1;
            $self->save($next); # saves
        }
        else {
            sleep 1; # sleeps
            open(my $file, "<", "FIFO"); # opens
        }
    }
}
package main;
my $größe = sub {
    eval { Store->new->save(1); }; # anonymous
};
sub grün { $größe->(); # calls
}
$| = 1;
print "ready\n";
grün(); # runs
"#;
    let Some(mut script) = start(text) else { return };
    let rest = ["Store::save@# saves", "main::__ANON__@# anonymous", "main::grün@# calls", "main@# runs"];
    let asleep: Vec<&str> = ["Store::save@# sleeps"].into_iter().chain(rest).collect();
    let stack = script.until(&asleep);
    assert_eq!(stack.len(), 5);
    assert_eq!(script.copied(script.pid()), (stack, true));
    let opens: Vec<&str> = ["Store::save@# opens"].into_iter().chain(rest).collect();
    script.until(&opens);
    script.cost(script.pid());
}

#[test]
fn sorting_evaluated_text_and_signals() {
    let text = r#"
$| = 1;
sub order { sleep 1; # orders
    return $a <=> $b;
}
$SIG{USR1} = sub { sleep 100; # signal
};
print "ready\n";
my @sorted = sort order 2, 1; # sorts
kill "USR1", $$;
print ""; # last
"#;
    let Some(mut script) = start(text) else { return };
    script.until(&["main::order@# orders", "main@# sorts"]);
    script.until(&["main::__ANON__@# signal"]);
    // Outer stacks of contexts are not in a copy.
    let (copied, whole) = script.copied(script.pid());
    assert!(!whole && copied == [format!("main::__ANON__:{}", script.line("# signal"))], "{copied:?}");
}

#[test]
fn one_that_computes_and_deep_recursion() {
    let text = r#"
no warnings "recursion";
sub burn { my $x = 0;
    while (1) { $x = $x + 1 } # burns
}
sub down { my $n = shift;
    if ($n == 0) { burn(); # begins
    }
    down($n - 1); # deeper
}
$| = 1;
print "ready\n";
down(600);
"#;
    let Some(mut script) = start(text) else { return };
    let stack = script.until(&["main::burn@# burns", "main::down@# begins", "main::down@# deeper"]);
    assert_eq!(stack.len(), 256);
    let (copied, whole) = script.copied(script.pid());
    assert!(!whole && copied.len() > 20 && stack[1..].starts_with(&copied[1..]), "{copied:?}");
    script.cost(script.pid());
}
