#!/usr/bin/perl
# Keeps the last state that the race office has told, for the case that the office's machine fails.
use strict;
use warnings;
use IO::Socket::UNIX;

my $door = IO::Socket::UNIX->new(Type => SOCK_STREAM, Local => '@{work}/@{standby}', Listen => 8) or die "standby: $!";

sub take {
    my ($from, $size) = @_;
    my $text = '';
    while (length $text < $size) {
        sysread($from, $text, $size - length $text, length $text) or return;
    }
    return $text;
}

my %last;
while (1) {
    my $office = $door->accept or next;
    while (defined(my $head = take($office, 8))) {
        my ($number, $size) = unpack 'NN', $head;
        my $state = take($office, $size) // last;
        %last = (number => $number, state => $state);
        syswrite($office, pack('N', $number)) or last;
    }
}
