#!/usr/bin/perl
# The indicator of a weighbridge's scale: a datagram with a truck's number is answered by its kilogrammes, once the scale is steady.
use strict;
use warnings;
use IO::Socket::INET;
use Time::HiRes qw(sleep);

my $line = IO::Socket::INET->new(Proto => 'udp', LocalAddr => '127.0.0.1', LocalPort => @{scale}) or die "scale: $!";

sub @{fn2} {
    my ($truck) = @_;
    sleep(@{settle} / 1000);
    return 7000 + $truck * 7919 % 33000;
}

open my $ready, '>', '@{work}/scale.ready' or die $!;
close $ready;
while (defined(my $who = $line->recv(my $truck, 200))) {
    $line->send(@{fn2}($truck) . "\n", 0, $who) if $truck =~ /^\d+/;
}
