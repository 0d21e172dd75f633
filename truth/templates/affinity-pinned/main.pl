#!/usr/bin/perl
# Plans routes: planners are forked when the program starts, and each gets its tours by a pipe.
use strict;
use warnings;
use IO::Handle;
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

sub @{fn} {
    my ($tour) = @_;
    my ($best, $at) = (1e9, $tour);
    for my $i (1 .. @{work_ms} * 22000) {
        $at = ($at * 16807) % 2147483647;
        $best = $at if $at < $best;
    }
    return $best;
}

sub planner {
    my ($tours, $done) = @_;
    my ($units, $busy, $culprit) = (0, 0, 0);
    while (defined(my $tour = <$tours>)) {
        my ($start, $used) = (now(), clock_gettime(CLOCK_PROCESS_CPUTIME_ID));
        @{fn}($tour);
        $units++;
        my $took = now() - $start;
        my $waited = $took - (clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $used);
        $busy += $took;
        $culprit += $waited if $waited > 0;
        print $done "ready\n";
        $done->flush;
    }
    print $done "$units $busy $culprit\n";
}

if (@{pin}) {
    my $mask = pack('Q', 1 << @{cpu});
    # 203: sched_setaffinity
    syscall(203, 0, length $mask, $mask) == 0 or die "affinity: $!";
}
my @planners;
for my $number (0 .. @{workers} - 1) {
    pipe(my $tours, my $give) or die;
    pipe(my $from, my $done) or die;
    my $child = fork();
    die "fork: $!" unless defined $child;
    if (!$child) {
        close $_ for $give, $from, map { ($_->{give}, $_->{from}) } @planners;
        planner($tours, $done);
        close $done;
        exit 0;
    }
    close $_ for $tours, $done;
    $give->autoflush;
    push @planners, { give => $give, from => $from, open => 0 };
}
my ($began, $n) = (now(), 0);
while (now() - $began < @{seconds}) {
    my $one = $planners[$n % @planners];
    if ($one->{open}) { readline $one->{from} }
    print { $one->{give} } "$n\n";
    $one->{open} = 1;
    $n++;
    wait_until($began + $n * @{work_ms} / 1000 / @{load});
}
my @sum = (0, 0, 0);
for my $one (@planners) {
    close $one->{give};
    my $last;
    my $from = $one->{from};
    while (<$from>) { $last = $_ }
    my @each = split ' ', $last;
    $sum[$_] += $each[$_] for 0 .. 2;
}
report(@sum);
