#!/usr/bin/perl
# Bills what the front ends have delivered: from their access log, bytes for each hour and status.
use strict;
use warnings;
use IO::Socket::INET;
use Digest::SHA qw(sha256);
use Time::HiRes qw(time);
use Time::Piece;

my (%bytes, %count);

sub @{fn} {
    my ($lines) = @_;
    my @entries;
    for my $line (@$lines) {
        my ($host, $ident, $user, $when, $ask, $status, $size, $from, $agent, $took) =
            $line =~ /^(\S+) (\S+) (\S+) \[([^\]]+)\] "([^"]*)" (\d+) (\d+|-) "([^"]*)" "([^"]*)" ([\d.]+)$/ or next;
        my ($method, $path, $protocol) = split / /, $ask;
        my $at = Time::Piece->strptime($when, '%d/%b/%Y:%H:%M:%S %z');
        push @entries, [$host, $at->hour, $status, $size];
    }
    return \@entries;
}

sub by_place {
    my ($lines) = @_;
    my @entries;
    for my $line (@$lines) {
        my $hour = substr($line, index($line, '[') + 13, 2);
        my $at = index($line, '" ') + 2;
        my $end = index($line, ' ', $at + 4);
        push @entries, [substr($line, 0, index($line, ' ')), $hour, substr($line, $at, 3), substr($line, $at + 4, $end - $at - 4)];
    }
    return \@entries;
}

my $relay = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{port}) or die "relay: $!";
syswrite($relay, @{lines} * 25 . "\n");
my ($units, $busy, $culprit, $buffer) = (0, 0, 0, '');
my $finish = time + @{seconds};
while (time < $finish) {
    sysread($relay, $buffer, 65536, length $buffer) or last;
    my $start = time;
    my $last = rindex($buffer, "\n");
    my @lines = split /\n/, substr($buffer, 0, $last + 1, '');
    my $parsing = time;
    my $entries = '@{way}' eq 'fields' ? @{fn}(\@lines) : by_place(\@lines);
    $culprit += time - $parsing;
    for my $entry (@$entries) {
        my ($visitor, $hour, $status, $size) = @$entry;
        # The bill has no addresses: each becomes a number that is kept for as long as the bill is.
        $visitor = sha256("of this month$visitor") for 1 .. @{rounds};
        $bytes{$hour}{$status} += $size;
        $count{unpack('S', $visitor)}++;
    }
    $units += @$entries;
    $busy += time - $start;
}
open(my $out, '>', '@{report}') or die "report: $!";
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit;
close $out;
