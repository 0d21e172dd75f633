#!/usr/bin/perl
# Expires the pages of a cache that nobody has asked for.
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

my $folder = '@{work}/@{folder}';
mkdir $folder;
for my $i (1 .. @{files}) { open(my $out, '>', "$folder/page-$i") or die; close $out }

sub @{fn} {
    my $old = 0;
    for my $i (1 .. @{files}) {
        my $path = "$folder/page-$i";
        next unless -e $path;
        $old++ if utime(undef, undef, $path);
    }
    return $old;
}

open(my $own, '>', '@{work}/service.pid') or die;
print $own "$$\n";
close $own;
sleep(0.15);
my ($units, $busy, $culprit, $sum, $began) = (0, 0, 0, 0, now());
while (now() - $began < @{seconds}) {
    my $start = now();
    $sum += @{fn}();
    $culprit += now() - $start;
    for my $i (1 .. @{spins} * 250) { $sum = ($sum * 31 + $i) % 1000003 }
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
report($units, $busy, $culprit);
