#!/usr/bin/perl
# An agency that has the sentences of a manual looked up in the memory, one after the other: "near N" is answered by a line.
use strict;
use warnings;
use IO::Socket::INET;
use Time::HiRes qw(sleep);

my $memory;
until ($memory) {
    sleep 0.05;
    $memory = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{port});
}
$memory->autoflush(1);
for (my $number = 5; ; $number += 13) {
    print $memory "near $number\n";
    defined(my $answer = <$memory>) or last;
    sleep @{every} / 1000;
}
