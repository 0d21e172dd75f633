# The counter of a parcel shop: what do these parcels cost together? A process for each customer.
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);

$SIG{CHLD} = 'IGNORE';

sub exactly {
    my ($socket, $size) = @_;
    my $bytes = '';
    while (length $bytes < $size) {
        sysread($socket, $bytes, $size - length $bytes, length $bytes) or exit 0;
    }
    return $bytes;
}

my $number = 0;

sub quote {
    my ($pricing, @parcels) = @_;
    syswrite $pricing, join '', map { pack 'NNNn', 10, ++$number, $_->{grams}, $_->{zone} } @parcels;
    my $total = 0;
    $total += $_ for unpack '(x8N)*', exactly($pricing, 12 * @parcels);
    return $total;
}

sub parcels {
    my $order = shift;
    return map { my $n = $order * 31 + $_ * 7919; { grams => 150 + $n * 37 % 30000, zone => $n % @{zones} } } 0 .. @{parcels} - 1;
}

sub serve {
    my $client = shift;
    my $pricing = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{pricing}) or die $@;
    $_->setsockopt(IPPROTO_TCP, TCP_NODELAY, 1) for $pricing, $client;
    while (my $line = <$client>) {
        my ($order) = $line =~ /(\d+)/;
        syswrite $client, sprintf "total %.2f\n", quote($pricing, parcels($order // 0)) / 100;
    }
}

my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 64, ReuseAddr => 1) or die $@;
while (1) {
    my $client = $listener->accept or next;
    if (!fork) {
        close $listener;
        serve($client);
        exit 0;
    }
    close $client;
}
