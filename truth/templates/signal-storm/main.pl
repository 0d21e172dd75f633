#!/usr/bin/perl
# Checks the entries of a ledger, and shows how far it is.
use strict;
use warnings;
use List::Util qw(min max);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep ualarm);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub wait_until {
    my ($due) = @_;
    while ((my $rest = $due - now()) > 0) { sleep($rest) }
}

sub report {
    my ($units, $seconds, $culprit) = @_;
    open(my $out, '>', '@{report}') or die "report: $!";
    printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $seconds, $culprit;
    close $out;
}

my ($at, $of, $shown, $due) = (0, 0, '', 1e18);
my %by_account = map { $_ => 0 } 1 .. @{depth} * 3;

sub @{fn} {
    my @top = sort { $by_account{$b} <=> $by_account{$a} } keys %by_account;
    $shown = sprintf('%d of %d, most: %s', $at, $of, join(', ', @top));
    # Where it comes late the next one has more time, so that the work goes on.
    my $late = max(0, min(5000, (now() - $due) * 1e6));
    my $gap = int(min(@{gap_us} * 3 + ($late > 150 ? 2 * $late : 0), 900_000));
    $due = now() + $gap / 1e6;
    ualarm($gap);
}

sub @{fn2} {
    my ($first) = @_;
    $of = int(@{rows} / 10);
    for ($at = 0; $at < $of; $at++) {
        my $entry = ($first * 31 + $at * 7919) % 1009;
        $by_account{1 + $entry % (@{depth} * 3)} += $entry;
    }
}

my $alone = min(map { my $start = now(); @{fn2}($_); now() - $start } 1 .. 8);
$SIG{ALRM} = \&@{fn};
ualarm(1000);
my ($units, $busy, $began) = (0, 0, now());
while (now() - $began < @{seconds}) {
    my $start = now();
    @{fn2}($units);
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
ualarm(0);
report($units, $busy, max(0, $busy - $units * $alone));
