#!/usr/bin/perl
# Counts what the firewall drops, by source and by port, from its log.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

my (%by_port, %by_source);

sub @{fn} {
    my ($line) = @_;
    my ($when, $text) = split / gate kernel: /, $line, 2;
    return if !defined $text;
    my ($month, $day, $hour, $minute, $second) = $when =~ /^<\d+>(\w+) +(\d+) (\d+):(\d+):(\d+)/;
    my %packet = (month => $month, day => $day, at => $hour * 3600 + $minute * 60 + $second);
    for my $word (split / /, $text) {
        my ($key, $value) = split /=/, $word, 2;
        $value = hex $value if $value =~ /^0x/;
        $packet{$key} = $value;
    }
    $packet{octets} = [split /\./, $packet{SRC}];
    return \%packet;
}

# Only what is asked for, and only of the lines that were dropped.
sub places {
    my ($line) = @_;
    return if index($line, 'VERDICT=DROP') < 0;
    my $at = index($line, 'SRC=') + 4;
    my $port = index($line, 'DPT=', $at) + 4;
    return {
        VERDICT => 'DROP',
        SRC => substr($line, $at, index($line, ' ', $at) - $at),
        DPT => substr($line, $port, index($line, ' ', $port) - $port),
    };
}

my $read = '@{way}' eq 'fields' ? \&@{fn} : \&places;
my ($units, $busy, $culprit, $rest) = (0, 0, 0, '');
open my $log, '<', '@{work}/@{log}' or die "log: $!";
my $began = now();
while (now() - $began < @{seconds}) {
    sysread $log, my $more, 65536 or last;
    my $start = now();
    my @lines = split /\n/, $rest . $more, -1;
    $rest = pop @lines;
    my $parsing = now();
    my @packets = grep { $_ && $_->{VERDICT} eq 'DROP' } map { scalar $read->($_) } @lines;
    $culprit += now() - $parsing;
    for my $packet (@packets) {
        $by_port{ $packet->{DPT} }++;
        $by_source{ $packet->{SRC} }++;
    }
    $units += @lines;
    $busy += now() - $start;
}
my $sources = keys %by_source;
open my $out, '>', '@{report}' or die;
print {$out} qq({"units": $units, "sources": $sources, "seconds": $busy, "culprit": $culprit});
close $out;
