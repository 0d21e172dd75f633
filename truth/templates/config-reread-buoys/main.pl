#!/usr/bin/perl
# Receives the reports of buoys and counts the values that are outside of their limits.
package Limits;
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

sub new {
    my ($class, @paths) = @_;
    return bless { tables => [map { { path => $_ } } @paths], spent => 0 }, $class;
}

sub @{fn} {
    my ($table) = @_;
    open(my $lines, '<', $table->{path}) or die "$table->{path}: $!";
    my %rows;
    while (<$lines>) {
        my ($name, $low, $high) = split;
        $rows{$name} = [$low, $high];
    }
    close $lines;
    return \%rows;
}

sub of {
    my ($self, $name) = @_;
    my $start = clock_gettime(CLOCK_MONOTONIC);
    my $found;
    for my $table (@{$self->{tables}}) {
        if (!$table->{rows} || $start - $table->{read} >= @{good_for}) {
            $table->{rows} = @{fn}($table);
            $table->{read} = $start;
        }
        last if $found = $table->{rows}{$name};
    }
    $self->{spent} += clock_gettime(CLOCK_MONOTONIC) - $start;
    return $found;
}

package main;
use strict;
use warnings;
use IO::Socket::INET;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my $limits = Limits->new('@{work}/@{deep}/@{own}', '@{work}/@{deep}/@{all}');
my $air = IO::Socket::INET->new(Proto => 'udp', LocalAddr => '127.0.0.1', PeerAddr => '127.0.0.1', PeerPort => @{air}) or die "air: $!";
my ($units, $busy, $alarms, @mean) = (0, 0, 0);

sub look {
    my ($report) = @_;
    my ($number, $buoy, $count, @levels) = unpack 'N n n s>*', $report;
    my $outside = 0;
    for my $i (0 .. $#levels) {
        my $kind = $i % @{entries};
        $mean[$kind] = ($mean[$kind] // $levels[$i]) * 0.98 + $levels[$i] * 0.02;
        my $limit = $limits->of("value$kind") or next;
        $outside++ if $levels[$i] < $limit->[0] || $levels[$i] > $limit->[1];
    }
    $alarms += $outside;
    return pack 'N n', $number, $outside;
}

my $began = clock_gettime(CLOCK_MONOTONIC);
$air->send('here');
while (clock_gettime(CLOCK_MONOTONIC) - $began < @{seconds}) {
    defined $air->recv(my $report, 2048) or last;
    my $start = clock_gettime(CLOCK_MONOTONIC);
    $air->send(look($report));
    $units++;
    $busy += clock_gettime(CLOCK_MONOTONIC) - $start;
}
open(my $out, '>', '@{report}') or die "report: $!";
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $limits->{spent};
close $out;
