#!/usr/bin/perl
# The controller of a wine cellar's tanks: reads the thermometers, reckons for each tank how far the valve of its cooling is to be opened, and how far the must is.
use strict;
use warnings;
use IO::Handle;
use POSIX qw(strftime);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep gettimeofday);

package Logger;

my %rank = (DEBUG => 0, INFO => 1);

sub open_at {
    my ($class, $path, $level) = @_;
    open my $out, '>>', $path or die "$path: $!";
    return bless { out => $out, level => $rank{$level}, took => 0, kept => '' }, $class;
}

sub @{fn} {
    my ($self, $level, $format, @values) = @_;
    return if $rank{$level} < $self->{level};
    my $start = main::now();
    my ($second, $micro) = Time::HiRes::gettimeofday();
    my $when = POSIX::strftime('%Y-%m-%dT%H:%M:%S', gmtime $second);
    $self->{kept} .= sprintf "%s.%06dZ %-5s cellar $format\n", $when, $micro, $level, @values;
    $self->{took} += main::now() - $start;
}

sub scan_done {
    my $self = shift;
    return if $self->{kept} eq '';
    my $start = main::now();
    syswrite $self->{out}, $self->{kept};
    $self->{kept} = '';
    $self->{took} += main::now() - $start;
}

package main;

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub within {
    my ($low, $value, $high) = @_;
    return $value < $low ? $low : $value > $high ? $high : $value;
}

sub read_config {
    open my $in, '<', shift or die "configuration: $!";
    return map { /^(\w+)\s*=\s*(\S+)/ ? ($1, $2) : () } <$in>;
}

sub read_tanks {
    open my $in, '<', shift or die "tanks: $!";
    my @tanks;
    while (<$in>) {
        my ($number, $wanted, $litres) = split;
        push @tanks, { number => $number, wanted => $wanted, litres => $litres, read => $wanted + 3, sugar => 190 + $number % 40, sum => 0, last => 0, valve => 0 };
    }
    return @tanks;
}

# What the thermometer says: the must warms itself by what ferments, and is cooled by what the valve lets through.
sub read_tank {
    my ($tank, $scan) = @_;
    for (1 .. 3) {
        my $rate = 0.00002 * $tank->{sugar} * exp(($tank->{read} - 18) / 9);
        $tank->{sugar} -= $rate / 3;
        $tank->{read} += ($rate * 6 - $tank->{valve} * 90 / $tank->{litres}) / 3;
    }
    $tank->{read} += 0.02 * sin($scan * 0.7 + $tank->{number});
    $tank->{sugar} = 190 if $tank->{sugar} < 20;
}

sub control {
    my ($log, $tank) = @_;
    my $off = $tank->{read} - $tank->{wanted};
    my $slope = $off - $tank->{last};
    $log->@{fn}('DEBUG', 'tank=%d read temperature=%.4f wanted=%.2f sugar=%.3f litres=%.0f', @$tank{qw(number read wanted sugar litres)});
    $tank->{sum} = within(-50, $tank->{sum} + $off, 50);
    $tank->{last} = $off;
    my @terms = ($off * @{gain}, $tank->{sum} * 0.02, $slope * 0.5);
    $log->@{fn}('DEBUG', 'tank=%d control proportional=%.5f integral=%.5f differential=%.5f', $tank->{number}, @terms);
    $tank->{valve} = within(0, $terms[0] + $terms[1] + $terms[2], 1);
    $log->@{fn}('DEBUG', 'tank=%d valve position=%.4f alcohol=%.3f left_hours=%.1f', $tank->{number}, $tank->{valve}, (230 - $tank->{sugar}) / 17, $tank->{sugar} / 0.4);
}

my %config = read_config('@{work}/cellar.conf');
my @tanks = read_tanks('@{work}/tanks.txt');
my $log = Logger->open_at('@{work}/@{log}', $config{level});
my ($units, $busy, $began) = (0, 0, now());
while (now() - $began < @{seconds}) {
    my $start = now();
    my ($warmest, $valves) = (0, 0);
    for my $tank (@tanks) {
        read_tank($tank, $units);
        control($log, $tank);
        $warmest = $tank->{read} if $tank->{read} > $warmest;
        $valves += $tank->{valve};
    }
    $units++;
    $log->@{fn}('INFO', 'scan=%d tanks=%d warmest=%.2f cooling=%.2f', $units, scalar @tanks, $warmest, $valves / @tanks) if $units % $config{summary} == 0;
    $log->scan_done;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep $rest if $rest > 0;
}
open my $out, '>', '@{report}' or die "report: $!";
printf {$out} '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $log->{took};
close $out;
