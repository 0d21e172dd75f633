#!/usr/bin/perl
use strict;
use warnings;
use Time::HiRes qw(time sleep);

# Records the nets of a trawler: the frames of the sensors, as they come.
package Rolling {
    sub new {
        my ($class, $path) = @_;
        return bless({ path => $path, size => 0 }, $class)->roll;
    }

    sub roll {
        my $self = shift;
        if ($self->{file}) {
            close $self->{file};
            rename $self->{path}, "$self->{path}.1";
        }
        open($self->{file}, ">:raw", $self->{path}) or die "$self->{path}: $!";
        $self->{size} = 0;
        return $self;
    }

    sub put {
        my $self = shift;
        $self->roll if $self->{size} > @{keep_mb} << 20;
        $self->{size} += syswrite($self->{file}, $_[0]) // die "$self->{path}: $!";
    }
}

package main;

my @sinks = (
    { name => "nets", every => 1, sink => Rolling->new("@{work}/@{first}") },
    { name => "bridge", every => @{both} ? 1 : @{marked}, sink => Rolling->new("@{work}/@{second}") },
);
my ($seen, $spent, $depth) = (0, 0, 80);
my $frame = "\0" x (@{chunk_kb} << 10);

sub @{fn} {
    $seen++;
    for my $to (@sinks) {
        next if !$to->{every} || $seen % $to->{every};
        my $began = time;
        $to->{sink}->put($_[0]);
        $spent += time - $began if $to->{name} ne "nets";
    }
}

sub haul {
    my ($number) = @_;
    for my $i (1 .. @{pings} / 3 + 1) {
        $depth += sin($number * $i) * 0.7;
        substr($frame, ($number * 31 + $i * 257) % (length($frame) - 16), 8) = pack("d", $depth);
    }
}

my ($began, $units, $busy) = (time, 0, 0);
while (time - $began < @{seconds}) {
    my $start = time;
    for my $i (1 .. @{chunks}) {
        haul($units * @{chunks} + $i);
        @{fn}($frame);
    }
    $units++;
    $busy += time - $start;
    my $rest = $began + $units / @{wanted} - time;
    sleep($rest) if $rest > 0;
}
open(my $out, ">", "@{report}") or die "report: $!";
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close $out;
