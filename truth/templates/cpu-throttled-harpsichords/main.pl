#!/usr/bin/perl
# Temperaments: for a piece, which tuning of the harpsichord makes its chords the purest.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime sleep CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);

sub enter {
    my ($room) = @_;
    open(my $group, '>', "/sys/fs/cgroup/cpu/$room/cgroup.procs") or die "$room: $!";
    print $group $$;
    close($group) or die "$room: $!";
}

sub chords {
    my ($piece) = @_;
    my @chords;
    for my $bar (0 .. @{partials} - 1) {
        my $root = ($piece * 5 + $bar * 7) % 12;
        push @chords, [$root, ($root + 4 - $bar % 2) % 12, ($root + 7) % 12];
    }
    return \@chords;
}

sub @{fn} {
    my ($piece, $rounds) = @_;
    my ($chords, $best, $chosen) = (chords($piece), 1e9, 0);
    for my $round (1 .. $rounds) {
        my $narrow = 0.02 * ($round % 997) / 997;
        my $beats = 0;
        for my $chord (@$chords) {
            my ($root, $third, $fifth) = map { $_ * 100 + $narrow * (($_ * 7) % 12 - 6) } @$chord;
            $beats += abs(($third - $root) % 1200 - 386.3) * 0.7 + abs(($fifth - $root) % 1200 - 702);
        }
        ($best, $chosen) = ($beats, $narrow) if $beats < $best;
    }
    return ($best, $chosen);
}

my $rounds = int(@{effort_ms} * 900 / @{partials});
enter('@{room}');
my $archive;
if (@{archive}) {
    my $parent = $$;
    $archive = fork() // die "fork: $!";
    if ($archive == 0) {
        enter('@{room}-archive');
        my $piece = 0;
        @{fn}($piece++, 200) while getppid() == $parent;
        exit 0;
    }
}

my ($units, $busy, $held, $began) = (0, 0, 0, clock_gettime(CLOCK_MONOTONIC));
my %used;
while (clock_gettime(CLOCK_MONOTONIC) - $began < @{seconds}) {
    my ($start, $before) = (clock_gettime(CLOCK_MONOTONIC), clock_gettime(CLOCK_PROCESS_CPUTIME_ID));
    my ($beats, $narrow) = @{fn}($units, $rounds);
    my $took = clock_gettime(CLOCK_MONOTONIC) - $start;
    my $rest = $took - (clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $before);
    $held += $rest if $rest > 0;
    $used{ sprintf('%.4f', $narrow) } += $beats;
    $units++;
    $busy += clock_gettime(CLOCK_MONOTONIC) - $start;
    my $pause = 1 / @{per_s} - $took;
    sleep($pause) if $pause > 0;
}
if ($archive) {
    kill 'KILL', $archive;
    waitpid($archive, 0);
}
open(my $out, '>', '@{report}') or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f, "tunings": %d}', $units, $busy, $held, scalar keys %used;
close($out) or die $!;
