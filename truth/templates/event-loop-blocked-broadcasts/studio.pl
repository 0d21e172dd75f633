#!/usr/bin/perl
# The studio: sends its programmes to the play-out server. A line "programme NUMBER BYTES TITLE", and then the samples, 16 bits each.
use strict;
use warnings;
use IO::Socket::UNIX;
use Socket qw(SOCK_STREAM);
use Time::HiRes qw(sleep);

my @TITLES = ('Morning Tide', 'Letters Read Aloud', 'The Allotment', 'Shipping News', 'Choirs of the County', 'Late Waltz');
srand 11;
my $seconds = @{length};
my $tape = pack 's<*', map { 7000 * sin($_ / 31) + 2500 * sin($_ / 7.3) + rand(350) } 1 .. 44100;
$SIG{PIPE} = 'DEFAULT';

my $line;
until ($line = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => '@{work}/@{sock}')) {
    sleep 0.05;
}
for (my $number = 1; ; $number++) {
    my $bytes = 2 * int(22050 * $seconds * (0.85 + rand 0.3));
    my $sound = substr $tape x (1 + int($bytes / length $tape)), 0, $bytes;
    print {$line} "programme $number $bytes $TITLES[$number % @TITLES]\n", $sound;
    $line->flush;
    sleep @{every} / 1000;
}
