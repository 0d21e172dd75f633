#!/usr/bin/perl
# Posts the claims of the day by the insurer's program.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub wait_until {
    my ($due) = @_;
    while ((my $rest = $due - now()) > 0) { sleep($rest) }
}

sub report {
    my ($units, $seconds) = @_;
    open(my $out, '>', '@{report}') or die "report: $!";
    printf $out '{"units": %d, "seconds": %f}', $units, $seconds;
    close $out;
}

open(my $conf, '<', '@{work}/search.conf') or die "search.conf: $!";
chomp(my @folders = <$conf>);
close $conf;
$ENV{PATH} = join(':', @folders);

sub @{fn} {
    my ($claim) = @_;
    return system('@{program}', $claim) == 0;
}

my ($units, $busy, $began) = (0, 0, now());
while (now() - $began < @{seconds}) {
    my $start = now();
    @{fn}("claim-$units") or die "not posted: $!";
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
report($units, $busy);
