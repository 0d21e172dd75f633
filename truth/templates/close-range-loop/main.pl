#!/usr/bin/perl
# Prints the labels of parcels: a printer's program for each, as a daemon of its own.
use strict;
use warnings;
use POSIX ();
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

my $spent = 0;

sub @{fn} {
    my ($label) = @_;
    pipe(my $from, my $to) or die "pipe: $!";
    my $child = fork();
    die "fork: $!" unless defined $child;
    if (!$child) {
        my $start = now();
        my $keep = fileno($to);
        for my $fd (3 .. @{top}) {
            POSIX::close($fd) if $fd != $keep;
        }
        syswrite($to, pack('d', now() - $start));
        exec {'@{work}/bin/@{tool}'} '@{tool}', $label;
        POSIX::_exit(127);
    }
    close $to;
    sysread($from, my $took, 8);
    waitpid($child, 0);
    $spent += unpack('d', $took);
    return $? == 0;
}

my ($units, $busy, $began) = (0, 0, now());
while (now() - $began < @{seconds}) {
    my $start = now();
    @{fn}("label-$units") or die "not printed";
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
report($units, $busy, $spent);
