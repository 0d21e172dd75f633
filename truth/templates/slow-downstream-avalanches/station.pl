#!/usr/bin/perl
# The snow station: asks its masts for the profile of the snow, by radio, slot by slot.
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(sleep);

use constant SLOT => 24;

my %kept;

sub mast {
    my ($slope) = @_;
    my $text = '';
    for my $layer (1 .. @{layers}) {
        my $density = 80 + ($slope * 37 + $layer * 53) % 340;
        $text .= sprintf "%d %d %.1f\n", 3 + ($slope + $layer * 7) % 40, $density, $density / 90;
    }
    return $text;
}

sub @{fn} {
    my ($slope) = @_;
    return $kept{$slope} if exists $kept{$slope};
    my $heard = '';
    my $said = mast($slope);
    for (my $at = 0; $at < length $said; $at += SLOT) {
        sleep @{slot_ms} / 1000;
        $heard .= substr $said, $at, SLOT;
    }
    return $heard;
}

sub serve {
    my ($line) = @_;
    while (my $ask = <$line>) {
        my ($slope) = $ask =~ /^profile (\d+)/ or last;
        syswrite $line, @{fn}($slope) . ".\n";
    }
}

if (@{kept}) {
    $kept{$_} = mast($_) for 0 .. @{slopes} - 1;
}
$SIG{CHLD} = 'IGNORE';
my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{station}, Listen => 64, ReuseAddr => 1) or die $!;
while (1) {
    my $line = $door->accept or next;
    setsockopt($line, IPPROTO_TCP, TCP_NODELAY, 1);
    if (fork) {
        close $line;
        next;
    }
    close $door;
    serve($line);
    exit 0;
}
