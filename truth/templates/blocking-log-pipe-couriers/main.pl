# Plans the tours of milk lorries: farms, tanks, and the way between them.
use strict;
use warnings;
use POSIX ();
use Time::HiRes qw(time sleep);

my ($spent, $number) = (0, 0);
my $farms = int(@{stops} / 4) + 20;

# The platform reads what a service prints from here.
open(STDOUT, '>', '@{work}/@{pipe}') or die "no output: $!";
$| = 1;

sub @{fn} {
    my ($text) = @_;
    my $line = sprintf '%10d tours[%6d] INFO %8d %s', time, $$, ++$number, $text;
    $line .= ' ' x (@{width} + 39 - length $line) if length $line < @{width} + 39;
    my $start = time;
    print "$line\n" or exit 1;
    $spent += time - $start;
}

sub farms {
    my ($district) = @_;
    return map {
        my $mixed = ($district * 7919 + $_) * 2654435761 & 0xffffffff;
        { farm => $district * 1000 + $_, x => $mixed >> 20, y => $mixed >> 8 & 0xfff, litres => $mixed % 900 };
    } 1 .. $farms;
}

sub plan {
    my ($district) = @_;
    my ($at, @open) = farms($district);
    my @tour = ($at);
    my ($length, $tank) = (0, 0);
    while (@open) {
        my ($best, $least) = (0, 9e9);
        for my $i (0 .. $#open) {
            my $way = ($at->{x} - $open[$i]{x})**2 + ($at->{y} - $open[$i]{y})**2;
            ($best, $least) = ($i, $way) if $way < $least;
        }
        $at = splice @open, $best, 1;
        $length += sqrt $least;
        $tank += $at->{litres};
        push @tour, $at;
    }
    for my $i (0 .. @{lines} - 1) {
        my $farm = $tour[$i * @tour / @{lines}];
        @{fn}("district $district farm $farm->{farm} litres $farm->{litres} tank $tank");
    }
    return $length;
}

open(my $tours, '>', '@{work}/tours.csv') or die $!;
my ($units, $busy, $began, $due) = (0, 0, time, time);
while (time - $began < @{seconds}) {
    $due += 1 / @{rate};
    my $rest = $due - time;
    $rest > 0 ? sleep($rest) : ($due = time);
    my $start = time;
    printf $tours "%d;%d\n", $units, plan($units);
    $busy += time - $start;
    $units++;
}
close $tours;
open(my $report, '>', '@{report}') or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close $report;
POSIX::_exit(0);
