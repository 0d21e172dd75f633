#!/usr/bin/perl
# Takes down the protocol of a sale, and seals each page.
use strict;
use warnings;
use Digest::SHA;
use Time::HiRes qw(sleep);

my $PAGE = 16384;
# A line of the protocol has about 70 letters.
my $pages = @{lots} * 70 / $PAGE;

open(my $protocol, '+<', "@{work}/@{pipe}") or die "protocol: $!";
open(my $ready, '>', "@{work}/notary.ready") or die "ready: $!";
close $ready;
my $seal = Digest::SHA->new(256);
while (sysread($protocol, my $page, $PAGE)) {
    $seal->add($page);
    sleep(@{reading} / 1000 / $pages) if @{reading} > 0;
}
