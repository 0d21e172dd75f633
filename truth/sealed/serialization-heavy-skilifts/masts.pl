#!/usr/bin/perl
# The masts of the lifts: tell wind, queue and whether a lift runs, to whoever connects.
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY SOL_SOCKET SO_SNDBUF);
use Time::HiRes qw(time sleep);

$SIG{PIPE} = 'IGNORE';
$SIG{CHLD} = 'IGNORE';
my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{feed}, Listen => 8, ReuseAddr => 1) or die "door: $!";
while (my $line = $door->accept) {
    setsockopt $line, IPPROTO_TCP, TCP_NODELAY, 1;
    setsockopt $line, SOL_SOCKET, SO_SNDBUF, 8192;
    next if fork;
    my ($number, $began) = (0, time);
    while (1) {
        # Every other message says what was said before.
        my $round = $number >> 1;
        my $text = sprintf "%d %d %d %d\n", $round * 7919 % @{lifts}, $round * 31 % 90, $round * 17 % 60, $round % 9 ? 1 : 0;
        last unless defined syswrite $line, $text;
        $number++;
        my $rest = $began + $number / @{rate} - time;
        sleep $rest if $rest > 0;
    }
    exit;
}
