#!/usr/bin/perl
# Reads the inverters of solar parks: readers, a process each, take the next inverter from a common pipe and ask for its registers.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use Time::HiRes qw(time sleep);

my @PORTS = (@{quarry}, @{meadow}, @{heath});
my $LIMIT = @{limit};

package Park {
    sub new {
        my ($class, $port) = @_;
        my $line = IO::Socket::INET->new(Proto => 'udp', PeerAddr => '127.0.0.1', PeerPort => $port) or die "park: $!";
        return bless { line => $line, ready => IO::Select->new($line) }, $class;
    }

    # The registers of an inverter; none if the park says nothing.
    sub @{fn} {
        my ($self, $mark, $inverter) = @_;
        my $question = pack 'nnnCCnn', $mark & 0xffff, 0, 6, $inverter, 4, 0, @{registers};
        for my $try (1 .. 3) {
            $self->{line}->send($question);
            next unless $self->{ready}->can_read($LIMIT || undef);
            $self->{line}->recv(my $answer, 400);
            my ($of, $count, @values) = unpack 'n x6 C n*', $answer;
            return @values if $of == ($mark & 0xffff);
        }
        return;
    }
}

sub reader {
    my ($tasks, $results) = @_;
    my ($units, $busy, $lost, $since, $kilowatts) = (0, 0, 0, 0, 0);
    $SIG{TERM} = sub {
        my $hanging = $since ? time - $since : 0;
        syswrite $results, sprintf("%d %f %f\n", $units, $busy + $hanging, $lost + $hanging);
        exit;
    };
    my @parks = map { Park->new($_) } @PORTS;
    while (sysread $tasks, my $task, 4) {
        my $number = unpack 'N', $task;
        $since = time;
        my @values = $parks[$number % 3]->@{fn}($number, int($number / 3) % 200 + 1);
        $lost += time - $since if $LIMIT && time - $since >= $LIMIT;
        while (@values > 1) {
            my ($volts, $amperes) = splice @values, 0, 2;
            $kilowatts += $volts / 100 * $amperes / 1e6;
        }
        $busy += time - $since;
        $since = 0;
        $units++;
    }
}

# Inverters call by themselves when they burn.
sub alarms {
    my $door = IO::Socket::INET->new(Proto => 'udp', LocalAddr => '127.0.0.1', LocalPort => @{alarm}) or die "door: $!";
    print "alarm: $_\n" while $door->recv($_, 200);
}

sub child(&) {
    my ($work) = @_;
    my $pid = fork // die "fork: $!";
    return $pid if $pid;
    $work->();
    exit;
}

pipe my $tasks, my $to_do or die $!;
pipe my $done, my $results or die $!;
my @readers = map { child { reader($tasks, $results) } } 1 .. @{readers};
my $watch = @{alarms} ? child { alarms() } : 0;
close $results;
my ($number, $began) = (0, time);
while (time - $began < @{seconds}) {
    syswrite $to_do, pack('N', $number++);
    my $rest = $began + $number / @{rate} - time;
    sleep $rest if $rest > 0;
}
kill TERM => @readers, $watch || ();
my @sum = (0, 0, 0);
while (my $line = readline $done) {
    my @one = split ' ', $line;
    $sum[$_] += $one[$_] for 0 .. 2;
}
open my $out, '>', '@{report}' or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', @sum;
close $out;
