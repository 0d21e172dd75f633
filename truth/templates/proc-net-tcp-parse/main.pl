#!/usr/bin/perl
# Lets a customer in only if there are not yet too many of his address.
use strict;
use warnings;
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

my $culprit = 0;

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub @{fn} {
    my $summary = '@{counted}' eq 'summary';
    my %by_address;
    if ($summary) {
        open(my $in, '<', '/proc/net/sockstat') or die $!;
        while (my $line = <$in>) {
            $by_address{all} = $1 if $line =~ /^TCP: inuse (\d+)/;
        }
        close($in);
        return \%by_address;
    }
    my $asked = now();
    open(my $in, '<', '/proc/net/tcp') or die $!;
    while (my $line = <$in>) {
        my (undef, $number, $local, $remote, $state) = split ' ', " x$line";
        $by_address{substr($remote, 0, 8)}++ if $state eq '01';
    }
    close($in);
    $culprit += now() - $asked;
    return \%by_address;
}

sub @{fn2} {
    my ($counts, $n) = @_;
    my $sum = 0;
    $sum = ($sum * 31 + $_ + $n) % 65521 for 1 .. @{extra} * 300;
    return $sum + keys %$counts;
}

my ($units, $busy) = (0, 0);
my $began = now();
while (now() - $began < @{seconds}) {
    my $start = now();
    @{fn2}(@{fn}(), $units);
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep($rest) if $rest > 0;
}
open(my $out, '>', '@{report}') or die $!;
print $out sprintf('{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit);
close($out);
