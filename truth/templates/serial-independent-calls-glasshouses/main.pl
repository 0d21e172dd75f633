#!/usr/bin/perl
# The computer of a nursery: asks the controllers of its glasshouses round by round, and sets the vents, the heating and the water of each bed.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

my $WATER = 2400;
my $LIMIT = 2;
my @houses = map { { name => $_->[0], line => IO::Socket::INET->new(Proto => 'udp', PeerAddr => '127.0.0.1', PeerPort => $_->[1]) // die "$_->[0]: $!" } }
    ['palms', @{palms}], ['herbs', @{herbs}], ['cacti', @{cacti}], ['ferns', @{ferns}], ['roses', @{roses}], ['seeds', @{seeds}];

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub put {
    my ($house, $number, $water) = @_;
    delete $house->{climate};
    send $house->{line}, pack('Cnn', 3, $number, $water), 0;
}

# Waits until all of these houses have told their climate, or it is too late.
sub hear {
    my ($number, @asked) = @_;
    my $waiting = IO::Select->new(map { $_->{line} } @asked);
    my $late = now() + $LIMIT;
    while ($waiting->count && now() < $late) {
        for my $line ($waiting->can_read($LIMIT)) {
            defined recv($line, my $text, 64, 0) or next;
            my (undef, $said, @values) = unpack 'Cnnnnn', $text;
            next if $said != $number;
            my ($house) = grep { $_->{line} == $line } @asked;
            $house->{climate} = { celsius => $values[0] / 100, humidity => $values[1] / 1000, light => $values[2], water => $values[3] };
            $waiting->remove($line);
        }
    }
}

sub @{fn} {
    my ($number) = @_;
    if ('@{order}' eq 'once') {
        put($_, $number, $WATER / @houses) for @houses;
        return hear($number, @houses);
    }
    my $left = $WATER;
    for my $house (@houses) {
        put($house, $number, '@{order}' eq 'water' ? $left : $WATER / @houses);
        hear($number, $house);
        $left = $house->{climate}{water} // 0;
    }
}

# How far a bed's vent is opened: by how dry the air is above it.
sub vent {
    my ($climate, $bed) = @_;
    my $celsius = $climate->{celsius} - $bed % 7 * 0.1;
    my $pressure = 0.61094 * exp(17.625 * $celsius / ($celsius + 243.04));
    return $pressure * (1 - $climate->{humidity}) * (1 + $climate->{light} / 20000);
}

open my $journal, '>', '@{work}/vents.csv' or die $!;
my ($begun, $rounds, $busy, $asking) = (now(), 0, 0, 0);
while (now() - $begun < @{seconds}) {
    my $began = now();
    @{fn}($rounds % 65536);
    $asking += now() - $began;
    for my $house (@houses) {
        my $climate = $house->{climate} or next;
        my $sum = 0;
        $sum += vent($climate, $_) for 1 .. @{beds};
        printf $journal "%d;%s;%.1f;%.3f\n", $rounds, $house->{name}, $climate->{celsius}, $sum / @{beds};
    }
    $rounds++;
    $busy += now() - $began;
    my $rest = $begun + $rounds / @{rate} - now();
    sleep $rest if $rest > 0;
}
close $journal;
open my $report, '>', '@{report}' or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $rounds, $busy, $asking;
close $report;
