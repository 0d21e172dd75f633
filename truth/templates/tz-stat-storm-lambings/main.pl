# The diary of a sheep farm: which ewe was at the trough at which hour of the farm's day, from the readings of ear tags.
use strict;
use warnings;
use POSIX ();
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

if ("@{zone}") { $ENV{TZ} = "@{zone}"; POSIX::tzset() }
else { delete $ENV{TZ} }

sub now { return clock_gettime(CLOCK_MONOTONIC) }

my (@visits, @eaten, $spent);
$spent = 0;

sub @{fn} {
    my ($readings) = @_;
    for my $reading (@$readings) {
        my ($hour, $day) = (localtime $reading->[0])[2, 7];
        $visits[$hour]++;
        $eaten[$reading->[1]] += $reading->[2];
    }
    return;
}

sub from_the_first {
    my ($readings) = @_;
    my $first = $readings->[0][0];
    my ($second, $minute, $hour) = localtime $first;
    my $offset = $hour * 3600 + $minute * 60 + $second - $first;
    for my $reading (@$readings) {
        $visits[int(($reading->[0] + $offset) / 3600) % 24]++;
        $eaten[$reading->[1]] += $reading->[2];
    }
    return;
}

# What the readers at the troughs have sent.
my $at = 1709251200;
sub received {
    my @readings;
    for (1 .. @{readings}) {
        $at += 1 + int rand @{gap};
        push @readings, [$at, int rand @{ewes}, int rand 400];
    }
    return \@readings;
}

my ($units, $busy, $began) = (0, 0, now());
while (now() - $began < @{seconds}) {
    my $readings = received();
    my $start = now();
    if (@{each}) {
        @{fn}($readings);
        $spent += now() - $start unless "@{zone}";
    }
    else { from_the_first($readings) }
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    Time::HiRes::sleep($rest) if $rest > 0;
}
printf "most come at %d\n", (sort { ($visits[$b] // 0) <=> ($visits[$a] // 0) } 0 .. 23)[0];
open my $out, ">", "@{report}" or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close $out;
