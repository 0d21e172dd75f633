#!/usr/bin/perl
# Counts the words of claims.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID sleep);

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

my @words = qw(water fire storm hail theft glass roof car house garden);

sub @{fn} {
    my ($n) = @_;
    my %count;
    for my $i (1 .. @{work_ms} * 11000) {
        $count{$words[($n * 31 + $i * 7) % 10]} += 1;
    }
    return $count{water} || 0;
}

my ($units, $busy, $culprit, $sum, $began) = (0, 0, 0, 0, now());
while (now() - $began < @{seconds}) {
    my ($start, $used) = (now(), clock_gettime(CLOCK_PROCESS_CPUTIME_ID));
    $sum += @{fn}($units++);
    my $took = now() - $start;
    my $waited = $took - (clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $used);
    $busy += $took;
    $culprit += $waited if $waited > 0;
    wait_until($began + $units * @{work_ms} / 1000 / @{load});
}
report($units, $busy, $culprit);
