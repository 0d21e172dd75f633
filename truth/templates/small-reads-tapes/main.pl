#!/usr/bin/perl
# Checks the backups that come in, and notes the sum of each file of an archive.
use strict;
use warnings;
use Fcntl qw(O_RDONLY SEEK_SET);
use Time::HiRes qw(time);

my ($BLOCK, $FACTOR) = (512, @{factor});
my ($room, $at, $reading) = ('', 0, 0);

sub @{fn} {
    my ($tape, $most) = @_;
    if ($at >= length $room) {
        my $start = time;
        sysread($tape, $room, $FACTOR) or return;
        $at = 0;
        $reading += time - $start;
    }
    my $piece = substr($room, $at, $most);
    $at += length $piece;
    return $piece;
}

sub check {
    my ($tape, $catalogue) = @_;
    ($room, $at) = ('', 0);
    while (defined(my $head = @{fn}($tape, $BLOCK))) {
        my ($name, $size) = unpack 'Z100 x24 Z12', $head;
        last if $name eq '';
        my $sum = 0;
        my $left = int((oct($size) + $BLOCK - 1) / $BLOCK) * $BLOCK;
        while ($left > 0) {
            my $piece = @{fn}($tape, $left);
            $sum = ($sum + unpack '%32L*', $piece) & 0xffffffff;
            $left -= length $piece;
        }
        printf $catalogue "%08x %s\n", $sum, $name;
    }
}

sub sample {
    my ($tape, $catalogue) = @_;
    my $blocks = int((-s $tape) / $BLOCK);
    for (1 .. @{samples}) {
        sysseek $tape, $BLOCK * int(rand $blocks), SEEK_SET;
        sysread $tape, my $block, $BLOCK;
        printf $catalogue "%08x\n", unpack '%32L*', $block;
    }
}

open my $arrivals, '<', '@{work}/arrivals' or die $!;
open my $catalogue, '>', '@{work}/catalogue.txt' or die $!;
my ($units, $busy, $began) = (0, 0, time);
while (time - $began < @{seconds} and defined(my $path = <$arrivals>)) {
    chomp $path;
    my $start = time;
    sysopen my $tape, $path, O_RDONLY or die "$path: $!";
    @{samples} ? sample($tape, $catalogue) : check($tape, $catalogue);
    close $tape;
    $busy += time - $start;
    $units++;
    unlink $path;
}
close $catalogue;
open my $report, '>', '@{report}' or die $!;
print $report qq({"units": $units, "seconds": $busy, "culprit": $reading});
close $report;
