# Tells prices: store.pl PORT. A frame: how long the rest is (4 bytes), then keys or prices (8 bytes each). A process a connection.
use strict;
use warnings;
use IO::Socket::INET;

$SIG{CHLD} = 'IGNORE';
my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $ARGV[0], Listen => 16, ReuseAddr => 1) or die $!;
while (my $client = $door->accept) {
    next if fork;
    setsockopt($client, 6, 1, 1);
    while (sysread($client, my $head, 4)) {
        my ($size, $rest) = (unpack('N', $head), '');
        while (length($rest) < $size) { sysread($client, $rest, $size - length($rest), length($rest)) or exit; }
        select(undef, undef, undef, 0.002);
        my @keys = unpack('Q>*', $rest);
        syswrite($client, pack('NQ>*', $size, map { $_ * 31 % 997 } @keys));
    }
    exit;
}
