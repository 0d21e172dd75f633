#!/usr/bin/perl
# The tariff: "chapter value" is answered by the duty in cents. One child a line.
use strict;
use warnings;
use IO::Socket::UNIX;

$SIG{CHLD} = 'IGNORE';
my %rate = map { $_ => 2 + $_ * 37 % 19 } 1 .. 99;
my $door = IO::Socket::UNIX->new(Type => SOCK_STREAM, Local => '@{work}/@{sock}', Listen => 32) or die "door: $!";
while (1) {
    my $desk = $door->accept or next;
    if (fork()) {
        close $desk;
        next;
    }
    $desk->autoflush(1);
    while (my $line = <$desk>) {
        my ($chapter, $value) = split ' ', $line;
        printf $desk "%d\n", $value * ($rate{$chapter % 99 + 1} // 5) / 100;
    }
    exit 0;
}
