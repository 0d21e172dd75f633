#!/usr/bin/perl
# Takes the scans of a depot's belts, and keeps a trace of where each parcel was seen.
use strict;
use warnings;
use IO::Handle;
use Time::HiRes qw(clock_gettime sleep CLOCK_MONOTONIC);

my $path = '@{work}/@{folder}/@{trace}';
my $hold = '@{hold}';
my ($trace, %lane, %spent);
$spent{trace} = 0;

sub now { clock_gettime(CLOCK_MONOTONIC) }

sub open_trace {
    open(my $file, '>>', $path) or die "$path: $!";
    return $file;
}

# The last digit of a parcel's number is made of the others.
sub is_valid {
    my ($code) = @_;
    my ($sum, $weight) = (0, 3);
    for my $digit (split //, substr($code, 0, 9)) {
        $sum += $digit * $weight;
        $weight = 4 - $weight;
    }
    return (10 - $sum % 10) % 10 == substr($code, 9, 1);
}

sub @{fn} {
    my ($line) = @_;
    my $start = now();
    if ($hold eq 'scan') {
        my $file = open_trace();
        print $file $line;
        close($file);
    } else {
        print $trace $line;
    }
    $spent{trace} += now() - $start;
}

sub take_scan {
    my ($text) = @_;
    my ($code, $belt, $grams) = split /;/, $text;
    my $state = is_valid($code) ? 'ok' : 'check';
    $lane{$belt}{count}++;
    $lane{$belt}{grams} += $grams;
    @{fn}("$code lane=$belt weight=$grams $state\n");
}

# What a lorry brought, as the belts tell it.
sub lorry {
    my ($number) = @_;
    return map { sprintf("%010d;%d;%d", ($number * 7919 + $_ * 104729) % 9999999967, $_ % @{lanes}, 200 + $_ * 37 % 29000) } 1 .. @{scans};
}

my ($units, $busy) = (0, 0);
my $began = my $due = now();
$trace = open_trace() if $hold eq 'always';
while (now() - $began < @{seconds}) {
    my @scans = lorry($units);
    my $start = now();
    $trace = open_trace() if $hold eq 'lorry';
    take_scan($_) for @scans;
    if ($hold eq 'lorry') { close($trace) } elsif ($hold eq 'always') { $trace->flush }
    $units++;
    $busy += now() - $start;
    $due += 1 / @{rate};
    $due = now() if $due < now();
    sleep($due - now()) if $due > now();
}
open(my $out, '>', '@{report}') or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent{trace};
