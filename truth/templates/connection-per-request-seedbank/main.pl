#!/usr/bin/perl
# Seed lots from the drying room: reckons how many will come up, and enters them with the registry.
use strict;
use warnings;

package Registry;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(time);

sub new {
    my ($class, %with) = @_;
    return bless { %with, spent => 0 }, $class;
}

sub expect {
    my ($self, $code) = @_;
    my $line = readline($self->{line}) // die "the registry hung up\n";
    $line =~ s/\r?\n\z//;
    die "the registry says: $line\n" if substr($line, 0, 3) ne $code;
    return substr($line, 4);
}

sub @{fn} {
    my ($self) = @_;
    return if $self->{line};
    my $start = time;
    $self->{line} = IO::Socket::INET->new(PeerAddr => $self->{host}, PeerPort => $self->{port}) or die "registry: $!\n";
    setsockopt($self->{line}, IPPROTO_TCP, TCP_NODELAY, 1);
    $self->{line}->autoflush(1);
    $self->expect(220);
    $self->{line}->print("HELO $self->{name}\r\n");
    $self->expect(250);
    $self->{spent} += time - $start;
}

sub leave {
    my ($self) = @_;
    my $start = time;
    $self->{line}->print("QUIT\r\n");
    $self->expect(221);
    close delete $self->{line};
    $self->{spent} += time - $start;
}

sub enter {
    my ($self, @lots) = @_;
    $self->@{fn};
    $self->{line}->print(map { "LOT $_->{number} $_->{genus} $_->{grams} $_->{share}\r\n" } @lots);
    $_->{accession} = $self->expect(251) for @lots;
    $self->leave if $self->{session} eq 'ends';
}

package main;
use Time::HiRes qw(time sleep);

sub lots_of {
    my ($path) = @_;
    open(my $sheet, '<', $path) or die "$path: $!";
    my @lots;
    while (my $row = <$sheet>) {
        chomp $row;
        my ($number, $genus, $grams, @days) = split /;/, $row;
        push @lots, { number => $number, genus => $genus, grams => $grams, days => \@days };
    }
    return @lots;
}

# The share that comes up: the curve that fits the days' counts best.
sub share_of {
    my ($days) = @_;
    my ($best, $error) = (0, 1e18);
    for my $step (1 .. @{fits} * 4) {
        my ($top, $sum) = ($step * 100 / (@{fits} * 4), 0);
        for my $day (0 .. $#$days) {
            my $off = $days->[$day] - $top / (1 + exp(6 - $day));
            $sum += $off * $off;
        }
        ($best, $error) = ($top, $sum) if $sum < $error;
    }
    return sprintf '%.1f', $best;
}

my @sheet = lots_of('@{work}/@{sheet}');
my $registry = Registry->new(host => '127.0.0.1', port => @{port}, name => 'drying-room', session => '@{session}');
my ($units, $busy, @tray) = (0, 0);
my $began = time;
while (time - $began < @{seconds}) {
    my $start = time;
    my %lot = %{ $sheet[$units % @sheet] };
    $lot{share} = share_of($lot{days});
    push @tray, \%lot;
    $units++;
    $registry->enter(splice @tray) if @tray >= @{lots};
    $busy += time - $start;
    my $rest = $began + $units / @{rate} - time;
    sleep $rest if $rest > 0;
}
my $start = time;
$registry->enter(@tray) if @tray;
$busy += time - $start;
print "$units lots\n";
open(my $out, '>', '@{report}') or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $registry->{spent};
close $out;
