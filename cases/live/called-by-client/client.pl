# Asks for the price of a basket, again and again: PORT.
use strict;
use warnings;
use IO::Socket::INET;
use Time::HiRes qw(sleep);

my $shop = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ARGV[0]", Proto => "tcp") or die "no server: $!";
binmode $shop;
for (my $number = 0; ; $number++) {
    my $basket = "basket " . $number % 8;
    syswrite $shop, pack("N", length $basket) . $basket;
    my ($head, $answer);
    sysread($shop, $head, 4) or last;
    sysread($shop, $answer, unpack("N", $head)) or last;
    sleep 0.02;
}
