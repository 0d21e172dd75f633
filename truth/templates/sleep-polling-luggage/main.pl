#!/usr/bin/perl
# The belt: a bag comes, gets its chute from the planner (a process of its own), and is pushed.
use strict;
use warnings;
use IO::Handle;
use IO::Select;
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

# Where the bag's flight is loaded: the chute with the shortest way for all bags of it.
sub plan {
    my ($flight) = @_;
    my ($best, $chute) = (1e9, 0);
    for my $i (0 .. @{effort} / 10) {
        my $way = ($flight * 7919 + $i * 104729) % 99991 + $i % 40 * 3;
        ($best, $chute) = ($way, $i % 40) if $way < $best;
    }
    return $chute;
}

my @children;

sub child {
    my ($work) = @_;
    my $pid = fork() // die "fork: $!";
    if (!$pid) {
        $work->();
        exit 0;
    }
    push @children, $pid;
    return $pid;
}

pipe(my $bags, my $to_planner) or die;
pipe(my $chutes, my $from_planner) or die;
$to_planner->autoflush(1);
child(sub {
    close $to_planner;
    close $chutes;
    $from_planner->autoflush(1);
    while (my $line = <$bags>) {
        my ($tag, $flight) = split ' ', $line;
        print {$from_planner} "$tag ", plan($flight), "\n";
    }
});
close $bags;
close $from_planner;

if (@{board} > 0) {
    child(sub {
        close $to_planner;
        close $chutes;
        my $turn = 0;
        while (getppid() != 1) {
            sleep(@{board} / 1000);
            $0 = "board " . join ' ', map { ($turn + $_) % 10 } 1 .. 12;
            $turn++;
        }
    });
}

my $answers = IO::Select->new($chutes);

sub @{fn} {
    my ($tag, $flight) = @_;
    print {$to_planner} "$tag $flight\n";
    if ('@{wait}' eq 'look') {
        sleep(@{pause} / 1000) until $answers->can_read(0);
    }
    my ($known, $chute) = split ' ', scalar <$chutes>;
    die "chute of bag $known instead of $tag" if $known != $tag;
    return $chute;
}

my ($units, $busy, $culprit, @pushed) = (0, 0, 0);
my $began = now();
while (now() - $began < @{seconds}) {
    my $start = now();
    my $flight = int rand @{flights};
    my $asked = now();
    my $chute = @{fn}($units, $flight);
    $culprit += now() - $asked;
    $pushed[$chute]++;
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep($rest) if $rest > 0;
}
close $to_planner;
kill 'TERM', @children;
waitpid $_, 0 for @children;
open my $out, '>', '@{report}' or die;
print {$out} qq({"units": $units, "seconds": $busy, "culprit": $culprit});
close $out;
