# Loads lorries: fills the bays by a greedy rule with looks ahead, within a limit of processor time.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime sleep CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);

my ($asked, $worth) = (0, 0);

package Limit {
    sub new {
        my ($class, $seconds) = @_;
        return bless { end => Time::HiRes::clock_gettime(Time::HiRes::CLOCK_PROCESS_CPUTIME_ID) + $seconds }, $class;
    }

    sub @{fn} {
        return Time::HiRes::clock_gettime(Time::HiRes::CLOCK_PROCESS_CPUTIME_ID) >= $_[0]{end};
    }
}

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub @{fn2} {
    my ($lorry) = @_;
    my @crates = map { [40 + ($lorry * 7919 + $_ * 104729) % 900, 10 + ($lorry * 31 + $_ * 977) % 500] } 1 .. @{crates};
    my $limit = Limit->new(5);
    my ($step, $best) = (0, 0);
    my $steps = int(@{steps} / 4);
    while ($step < $steps) {
        my ($room, $value) = (@{crates} * 200, 0);
        # Another order each time.
        my $at = $step % @{crates};
        for (1 .. 12) {
            last if $step++ >= $steps;
            my $crate = $crates[$at = ($at * 5 + 3) % @{crates}];
            if ($crate->[0] <= $room) {
                $room -= $crate->[0];
                $value += $crate->[1];
            }
            next if $step % @{look};
            my $over;
            # One of 32 is timed for the statistics.
            if (@{look} > 1 || $step % 32 == 0) {
                my $from = now();
                $over = $limit->@{fn};
                $asked += (now() - $from) * (@{look} > 1 ? 1 : 32);
            } else {
                $over = $limit->@{fn};
            }
            die "lorry $lorry takes too long\n" if $over;
        }
        $best = $value if $value > $best;
    }
    return $best;
}

my ($units, $busy, $began) = (0, 0, now());
while (now() - $began < @{seconds}) {
    my $start = now();
    $worth += @{fn2}($units);
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep($rest) if $rest > 0;
}
print "$units lorries, worth $worth\n";
open(my $report, '>', '@{report}') or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $asked;
close $report;
