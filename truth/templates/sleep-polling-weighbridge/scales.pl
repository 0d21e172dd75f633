# The scales of a quarry's weighbridges: "S n" asks for the weight on the platform, n is the number of the axle; answered when it has settled.
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);

$SIG{CHLD} = 'IGNORE';
my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{scales}, Listen => 32, ReuseAddr => 1) or die "listen: $!\n";
while (1) {
    my $bridge = $door->accept or next;
    next if fork;
    close $door;
    $bridge->setsockopt(IPPROTO_TCP, TCP_NODELAY, 1);
    while (my $line = <$bridge>) {
        my ($axle) = $line =~ /^S (\d+)/ or next;
        select undef, undef, undef, @{settle} / 1000;
        syswrite $bridge, sprintf "S S %8d kg\r\n", 3200 + ($axle * 7919) % 6800;
    }
    exit 0;
}
