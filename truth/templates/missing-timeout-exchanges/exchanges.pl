# Three exchanges, each behind a port of its own: "RATE dollar 12" is answered by "RATE 1.0823". The third has a process for each line; some of them get stuck.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;

my @ports = (@{first}, @{second}, @{third});
my %doors = map { fileno($_->[1]) => $_ } map {
    [$_, IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $_, Listen => 100, ReuseAddr => 1, Proto => 'tcp') || die "$_: $!\n"]
} @ports;
$SIG{CHLD} = 'IGNORE';

sub serve {
    my ($desk, $is_last) = @_;
    srand($$);
    my $answered = 0;
    while (defined(my $line = <$desk>)) {
        my (undef, $currency, $number) = split ' ', $line;
        select undef, undef, undef, @{taking} / 1000;
        if ($is_last && $answered++ && @{stuck} && rand(@{stuck}) < 1) {
            # It waits for somebody who does not come; what is asked on this line is still received.
            1 while sysread $desk, my $more, 512;
            last;
        }
        syswrite $desk, sprintf "RATE %.4f\n", 1 + (length($currency) * 37 + $number * 13) % 200 / 1000;
    }
}

my $select = IO::Select->new(map { $_->[1] } values %doors);
while (1) {
    for my $ready ($select->can_read) {
        my $desk = $ready->accept or next;
        my $port = $doors{fileno $ready}[0];
        if (!fork) {
            serve($desk, $port == $ports[2]);
            exit;
        }
        close $desk;
    }
}
