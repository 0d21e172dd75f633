# Writes the calendars of a port: for each hour whether a ship of some depth may come in.
use strict;
use warnings;
use POSIX qw(tzset);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

sub now { clock_gettime(CLOCK_MONOTONIC) }

if (length '@{zone}') {
    $ENV{TZ} = '@{zone}';
    tzset();
}
my ($tables, $busy, $times) = (0, 0, 0);

sub @{fn} {
    my ($first, $hours) = @_;
    my (@hours, $hour, $day);
    for my $i (0 .. $hours - 1) {
        if ($i % @{every} == 0) {
            (undef, undef, $hour, $day) = localtime($first + $i * 3600);
        } elsif (++$hour == 24) {
            ($hour, $day) = (0, $day % 28 + 1);
        }
        push @hours, $day * 24 + $hour;
    }
    return \@hours;
}

sub calendar {
    my ($hours, $depth) = @_;
    my %open;
    for my $hour (@$hours) {
        $open{ int $hour / 24 }++ if abs($hour * 100 % 1242 - 621) > $depth;
    }
    return join ';', map { "$_=$open{$_}" } sort { $a <=> $b } keys %open;
}

my $began = now();
while (now() - $began < @{seconds}) {
    my $start = now();
    my $hours = @{fn}(1_780_000_000 + $tables % 365 * 86_400, @{hours});
    $times += now() - $start;
    my $text = calendar($hours, 100 + $tables % 300);
    $tables++;
    my $took = now() - $start;
    $busy += $took;
    sleep 1 / @{per_s} - $took if $took < 1 / @{per_s};
}
open my $report, '>', '@{report}' or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $tables, $busy, $times;
close $report;
