# Keeps the ranking of a league: a result moves a player.
use strict;
use warnings;
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

my %points = map { ("player $_" => $_ * 7919 % 1000003) } 0 .. @{players} - 1;
my @ranking = sort { $points{$b} <=> $points{$a} || $a cmp $b } keys %points;

sub place {
    my ($name) = @_;
    my ($low, $high) = (0, scalar @ranking);
    while ($low < $high) {
        my $middle = int(($low + $high) / 2);
        my $order = $points{$name} <=> $points{$ranking[$middle]} || $ranking[$middle] cmp $name;
        if ($order < 0) { $low = $middle + 1 } else { $high = $middle }
    }
    return $low;
}

sub @{fn} {
    my ($at, $points) = @_;
    my $name = $ranking[$at];
    if ('@{keep}' eq 'sort') {
        $points{$name} = $points;
        @ranking = sort { $points{$b} <=> $points{$a} || $a cmp $b } keys %points;
        return;
    }
    splice @ranking, $at, 1;
    $points{$name} = $points;
    splice @ranking, place($name), 0, $name;
}

my ($units, $busy, $culprit, $sum) = (0, 0, 0, 0);
srand 3;
my $began = now();
while ((my $start = now()) - $began < @{seconds}) {
    my ($at, $points) = (int rand @{players}, int rand 1000003);
    my $asked = now();
    @{fn}($at, $points);
    $culprit += now() - $asked;
    for my $i (0 .. @{top} - 1) {
        $sum += $points{$ranking[$i]};
    }
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep $rest if $rest > 0;
}
open my $out, '>', '@{report}' or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit;
close $out;
print "$sum\n";
