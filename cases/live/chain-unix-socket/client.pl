# Posts entries, one after the other over one connection: what takes long is not here.
use strict;
use warnings;
use IO::Socket::UNIX;
use Time::HiRes qw(sleep);

my $connection = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "$ARGV[0]: $!";
$connection->autoflush(1);
for (my $number = 1;; $number++) {
    print $connection "post $number\n";
    defined readline($connection) or die "the gateway left";
    sleep 0.03;
}
