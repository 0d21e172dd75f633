#!/usr/bin/perl
# Rotates the lines of a gateway's log: each gets the local hour in front.
use strict;
use warnings;
use POSIX ();
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

if ('@{zone}') {
    $ENV{TZ} = '@{zone}';
    POSIX::tzset();
}

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub @{fn} {
    my ($times) = @_;
    my ($kept, @hours) = (-1);
    my $hour = 0;
    for my $at (@$times) {
        if ($kept < 0 || $at >= $kept + @{span}) {
            $hour = (localtime($at))[2];
            $kept = $at;
        }
        push @hours, $hour;
    }
    return \@hours;
}

sub @{fn2} {
    my ($hours, $n) = @_;
    my %sizes;
    my $i = 0;
    for my $hour (@$hours) {
        next if $i++ % 8;
        $sizes{sprintf('access.%02d', $hour)} += length("GET /item/$i HTTP/1.1") * $n % 91;
    }
    return \%sizes;
}

my ($units, $busy, $culprit) = (0, 0, 0);
my $began = now();
my $first = 1709300000 + @{day} * 86400;
while (now() - $began < @{seconds}) {
    my $start = now();
    my @times = map { $first + $_ * @{step} } 1 .. @{rows};
    my $asked = now();
    my $hours = @{fn}(\@times);
    $culprit += now() - $asked;
    @{fn2}($hours, $units);
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep($rest) if $rest > 0;
}
open(my $out, '>', '@{report}') or die $!;
print $out sprintf('{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit);
close($out);
