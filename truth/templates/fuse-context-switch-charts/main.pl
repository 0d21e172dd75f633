# Finds anchorages for a charter company: looks at the cells of the sea chart around each place that is asked for.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

my ($cell, $wide, $count) = (@{cell}, @{wide}, @{cells});
my ($units, $busy, $reading) = (0, 0, 0);
sub now { clock_gettime(CLOCK_MONOTONIC) }

open my $chart, '<:raw', '@{work}/@{mount}/@{chart}' or die "no chart: $!";
my $size = int((-s $chart) / $cell);

sub @{fn} {
    my ($x, $y) = @_;
    my $start = now();
    my @cells;
    for my $n (0 .. $count - 1) {
        my $place = (($y + int($n / 10)) * $wide + $x + $n % 10) % $size;
        sysseek $chart, $place * $cell, 0;
        sysread $chart, $cells[$n], $cell;
    }
    $reading += now() - $start;
    return @cells;
}

# How even the ground is: fewer different depths are better.
sub evenness {
    my %depths;
    $depths{ unpack 'C', $_ }++ for @_;
    return scalar keys %depths;
}

my $began = now();
my %best = (place => -1, evenness => 999);
while (now() - $began < @{seconds}) {
    my $start = now();
    my $found = evenness(@{fn}($units * 7 % 22, $units % 20));
    %best = (place => $units, evenness => $found) if $found < $best{evenness};
    $units++;
    $busy += now() - $start;
    my $rest = $start + 1 / @{per_s} - now();
    sleep $rest if $rest > 0;
}
print "best: $best{place}\n";
open my $report, '>', '@{report}' or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $reading;
close $report;
