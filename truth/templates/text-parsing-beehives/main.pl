#!/usr/bin/perl
# Watches the weights of the hives: tells which of them has lost a swarm, and which is ready for the harvest.
use strict;
use warnings;
use Time::HiRes qw(time);
use Time::Local qw(timegm);

my ($log) = @ARGV;
my (%hives, @notes);
my ($units, $busy, $spent) = (0, 0, 0);

sub @{fn} {
    my ($line) = @_;
    if (!@{whole}) {
        return unless substr($line, 36, 5) eq 'scale';
        return { device => substr($line, 42, 4), hub => substr($line, 24, 5), weight => substr($line, 55, 6) + 0 };
    }
    my ($stamp, $hub, $level, $who, @rest) = split /\s+/, $line;
    my ($year, $month, $day, $hour, $minute, $second) = $stamp =~ /^(\d+)-(\d+)-(\d+)T(\d+):(\d+):([\d.]+)$/ or return;
    my %record = (hub => $hub, level => lc $level, at => timegm(int $second, $minute, $hour, $day, $month - 1, $year));
    @record{qw(kind device)} = $who =~ /^(\w+)\[(\d+)\]$/;
    for my $field (@rest) {
        my ($name, $value) = split /=/, $field, 2;
        $record{$name} = $value =~ /,/ ? [map { $_ + 0 } split /,/, $value] : $value =~ /^-?[\d.]+$/ && $name ne 'fw' ? $value + 0 : $value;
    }
    return unless $record{kind} eq 'scale';
    return \%record;
}

sub weighed {
    my ($record) = @_;
    my $hive = $hives{ $record->{device} } //= { mean => $record->{weight}, drift => 0, seen => 0, best => 0 };
    my $change = $record->{weight} - $hive->{mean};
    $hive->{mean} += $change / 16;
    $hive->{drift} += (abs($change) - $hive->{drift}) / 32;
    $hive->{best} = $hive->{mean} if $hive->{mean} > $hive->{best};
    $hive->{seen}++;
    return if $hive->{seen} < 40 || abs($change) < 3 * $hive->{drift} + 2;
    push @notes, sprintf '%s at %s: %s by %.1f kg', $record->{device}, $record->{hub}, $change < 0 ? 'lost' : 'gained', abs $change;
    splice @notes, 0, 100 if @notes > 200;
}

open(my $in, '<:raw', $log) or die "$log: $!";
my ($began, $rest) = (time, '');
while (time - $began < @{seconds}) {
    sysread($in, my $block, 65536) or last;
    my $start = time;
    my @lines = split /\n/, $rest . $block, -1;
    $rest = pop @lines;
    my $from = time;
    my @records = map { @{fn}($_) // () } @lines;
    $spent += time - $from;
    weighed($_) for @records;
    $units += @lines;
    $busy += time - $start;
}
my @ready = grep { $hives{$_}{best} > 44 } sort keys %hives;
printf "%d hives, %d for the harvest; last: %s\n", scalar(keys %hives), scalar(@ready), $notes[-1] // 'nothing';
open(my $out, '>', '@{report}') or die "report: $!";
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close $out;
