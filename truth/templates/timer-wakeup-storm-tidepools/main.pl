# Evaluates the surveys of tide pools: how even the species are, and which pools are alike. Others work on this machine, too.
use strict;
use warnings;
use List::Util qw(sum0 min max);
use Time::HiRes qw(usleep sleep clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

my ($since, $rested) = (0, 0);

# Leaves the processor to others.
sub @{fn} {
    return if ++$since < @{chunk};
    $since = 0;
    my $start = now();
    usleep @{naps};
    $rested += now() - $start;
}

sub survey {
    my ($number) = @_;
    srand $number + 1;
    my %seen;
    for (1 .. @{counts}) {
        my $species = int rand @{species};
        $seen{$species} += 1 + int(rand 40) / (1 + $species);
        @{fn}();
    }
    return { total => sum0(values %seen), seen => \%seen };
}

sub evenness {
    my ($pool) = @_;
    my $h = -sum0 map { $_ / $pool->{total} * log($_ / $pool->{total}) } values %{ $pool->{seen} };
    return $h / log max(2, scalar keys %{ $pool->{seen} });
}

sub unlike {
    my ($one, $other) = @_;
    my $shared = sum0 map { min($one->{seen}{$_}, $other->{seen}{$_} // 0) } keys %{ $one->{seen} };
    return 1 - 2 * $shared / ($one->{total} + $other->{total});
}

my (@last, %rank);
my ($units, $busy, $began) = (0, 0, now());
while (now() - $began < @{seconds}) {
    my $start = now();
    my $pool = survey($units);
    my $nearest = min(1, map { unlike($pool, $_) } @last);
    $rank{$units} = evenness($pool) * (1 - $nearest);
    push @last, $pool;
    shift @last if @last > 10;
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep $rest if $rest > 0;
}
open my $out, '>', '@{report}' or die;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $rested;
close $out;
