#!/usr/bin/perl
# Finds the numbers of tickets that were sold twice: a bit map of all numbers, for each day.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

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

my $size = @{mb} * 1024 * 1024;
my $map;

sub @{fn} {
    my ($tickets) = @_;
    $map = "\0" x $size if !defined $map;
    my $twice = 0;
    for my $ticket (@$tickets) {
        $twice++ if vec($map, $ticket, 8);
        vec($map, $ticket, 8) = 1;
    }
    return $twice;
}

my ($units, $busy, $culprit, $all) = (0, 0, 0, 0);
if ('@{mode}' eq 'kept') { $all += @{fn}([]) }
my $began = now();
while (now() - $began < @{seconds}) {
    my $start = now();
    my @tickets = map { int(rand($size)) } 1 .. @{touched} / 4;
    my $asked = now();
    $all += @{fn}(\@tickets);
    if ('@{mode}' eq 'kept') {
        vec($map, $_, 8) = 0 for @tickets;
    } else {
        undef $map;
    }
    $culprit += now() - $asked;
    for my $i (1 .. @{mb} * 30 * @{spins}) { $all = ($all * 31 + $i) % 1000003 }
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
report($units, $busy, $culprit);
