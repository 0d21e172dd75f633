#!/usr/bin/perl
# Sets the labels of a herbarium, a sheet at a time; each of some children has a line to the cabinet of its own.
use strict;
use warnings;
use IO::Socket::UNIX;
use Text::Wrap qw(wrap);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

my $sheets = '@{work}/sheets';
my $waited = 0;

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub ask {
    my ($cabinet, @keys) = @_;
    my $began = now();
    print $cabinet "get @keys\r\n";
    my %found;
    while (defined(my $head = <$cabinet>)) {
        my ($word, $key, undef, $length) = split ' ', $head;
        last if $word ne 'VALUE';
        read($cabinet, my $text, $length + 2) == $length + 2 or die "the cabinet hung up\n";
        $found{$key} = { map { split /=/, $_, 2 } split /&/, substr($text, 0, -2) };
    }
    $waited += now() - $began;
    return %found;
}

sub @{fn} {
    my ($cabinet, @keys) = @_;
    return ask($cabinet, @keys) if '@{fetch}' eq 'sheet';
    return map { ask($cabinet, $_) } @keys;
}

sub label {
    my ($key, $specimen) = @_;
    local $Text::Wrap::columns = 31;
    my ($north, $east) = split /,/, $specimen->{place};
    my $text = sprintf '%s. %.3f N %.3f E, %d m. Coll. %d, %d. (%s)', $specimen->{name}, $north, $east, @$specimen{qw(height collector year)}, $key;
    my $bar = '+' . '-' x 32 . "+\n";
    return $bar . join('', map { sprintf "| %-30s |\n", $_ } split /\n/, wrap('', '', $text)) . $bar;
}

sub work {
    my ($number, $begun) = @_;
    my $cabinet = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => '@{work}/@{sock}') or die "cabinet: $!";
    $cabinet->autoflush(1);
    my ($units, $busy) = (0, 0);
    while (now() - $begun < @{seconds}) {
        my $began = now();
        my @keys = map { '@{prefix}:' . ($units * 131 + $number * 17 + $_ * 7) % @{kinds} } 1 .. @{size};
        my %specimens = @{fn}($cabinet, @keys);
        open my $sheet, '>', sprintf('%s/%d-%d.txt', $sheets, $number, $units % 50) or die $!;
        print $sheet map { label($_, $specimens{$_}) } @keys;
        close $sheet;
        $units++;
        $busy += now() - $began;
        my $rest = $begun + $units / @{pace} - now();
        sleep $rest if $rest > 0;
    }
    return ($units, $busy, $waited);
}

mkdir $sheets;
my $begun = now();
my @results;
for my $number (1 .. @{workers}) {
    my $child = open(my $result, '-|') // die "fork: $!";
    if (!$child) {
        print join(' ', work($number, $begun)), "\n";
        exit 0;
    }
    push @results, $result;
}
my @sum = (0, 0, 0);
for my $result (@results) {
    my @one = split ' ', <$result>;
    $sum[$_] += $one[$_] for 0 .. 2;
    close $result;
}
open my $report, '>', '@{report}' or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', @sum;
close $report;
