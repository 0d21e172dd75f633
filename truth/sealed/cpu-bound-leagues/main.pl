# The pages of a league: the ten best, as they are now. A visit counts as a win for the visitor's favourite.
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);

$SIG{CHLD} = 'IGNORE';

sub connected {
    my $ranking = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{ranking}) or die "ranking: $!";
    setsockopt $ranking, IPPROTO_TCP, TCP_NODELAY, 1;
    return $ranking;
}

sub @{fn} {
    my ($ranking, $visit) = @_;
    my $league = $visit % @{leagues};
    syswrite $ranking, sprintf "won %d %d\n", $league, $visit * 7;
    my $place = 0;
    my $rows = '';
    for my $row (split ' ', <$ranking> // '') {
        my ($player, $points) = split /:/, $row;
        $rows .= sprintf '<tr><td>%d<td>player %d<td>%d</tr>', ++$place, $player, $points;
    }
    return "<!doctype html><title>League $league</title><table>$rows</table>";
}

sub serve {
    my $client = shift;
    my $ranking = connected();
    setsockopt $client, IPPROTO_TCP, TCP_NODELAY, 1;
    while (defined(my $request = <$client>)) {
        while (defined(my $header = <$client>)) {
            last if $header =~ /^\r?\n$/;
        }
        my ($visit) = $request =~ m{/league/(\d+)};
        my $page = @{fn}($ranking, $visit // 0);
        syswrite $client, sprintf "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", length $page, $page;
    }
}

my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, ReuseAddr => 1, Listen => 64) or die $!;
while (1) {
    my $client = $door->accept or next;
    if (!fork) {
        close $door;
        serve($client);
        exit 0;
    }
    close $client;
}
