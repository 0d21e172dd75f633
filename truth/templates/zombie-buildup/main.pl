#!/usr/bin/perl
# Fetches the pages of a list, each in a child.
use strict;
use warnings;
use POSIX qw(:sys_wait_h);
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

my $folder = '@{work}/@{outbox}';
mkdir $folder;

sub @{fn} {
    my ($n) = @_;
    my $child = fork();
    die "fork: $!" unless defined $child;
    return $child if $child;
    sleep(@{send_ms} / 1000);
    open(my $out, '>', "$folder/page-" . $n % 35) or POSIX::_exit(1);
    print $out "page $n\n";
    close $out;
    POSIX::_exit(0);
}

my ($units, $busy, $began) = (0, 0, now());
while (now() - $began < @{seconds}) {
    my $start = now();
    my $child = @{fn}($units);
    waitpid($child, 0) if '@{reap}' eq 'at once';
    if ('@{reap}' eq 'sometimes') {
        1 while waitpid(-1, WNOHANG) > 0;
    }
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
report($units, $busy, 0);
