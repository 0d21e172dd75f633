# The desks of a harbour, each at its own port and a process for each caller: "VESSEL hint" is answered by "LEVEL TREND".
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes 'sleep';

$SIG{CHLD} = 'IGNORE';

sub serve {
    my ($caller, $desk) = @_;
    setsockopt($caller, IPPROTO_TCP, TCP_NODELAY, 1);
    while (my $line = <$caller>) {
        my ($vessel, $hint) = split ' ', $line;
        sleep(@{takes} / 1000 * (0.8 + rand 0.4));
        syswrite $caller, sprintf("%d %.3f\n", ($vessel * 37 + $desk * 11 + $hint) % 1440, sin($vessel + $desk));
    }
}

for my $desk (1 .. 5) {
    my $port = (0, @{tide}, @{wind}, @{lock}, @{berth}, @{pilot})[$desk];
    next if $desk < 5 && fork;
    my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 32, ReuseAddr => 1) or die "$port: $!";
    while (1) {
        my $caller = $door->accept or next;
        next if fork;
        serve($caller, $desk);
        exit;
    }
}
