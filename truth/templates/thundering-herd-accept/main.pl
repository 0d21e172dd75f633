# How many pieces there are: processes that were forked before, as a web server of old.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use Socket qw(SOCK_STREAM SOL_SOCKET SO_REUSEADDR SO_REUSEPORT);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub door {
    my $door = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => @{port}, Listen => 200, ReuseAddr => 1, ReusePort => 1, Proto => "tcp")
        or die "@{port}: $!";
    $door->blocking(0);
    return $door;
}

my @tariff = (0 .. 299);
my ($changed, $served) = (0, 0);
my $state = "";

sub note { $state = sprintf "%s since %s, %d served", $_[0], scalar localtime, $served }

sub @{fn} {
    my $door = shift;
    note("accepting");
    my $client = $door->accept or return note("waiting");
    note("answering " . $client->peerport);
    $client->blocking(1);
    my $line = <$client>;
    if (defined $line) {
        my ($start, $pieces) = (now(), 0);
        $pieces += $tariff[length($line) % 300] while now() - $start < @{effort} / 1000;
        print $client $pieces % 1000, " pieces\n";
    }
    close $client;
    $served++;
    note("waiting");
}

sub work {
    my $door = shift;
    syscall 157, 1, 9, 0, 0, 0;    # goes with its parent
    $SIG{HUP} = sub { $changed = 1 };
    my $ready = IO::Select->new($door);
    while (1) {
        @{fn}($door) if $ready->can_read;
        if ($changed) {
            $changed = 0;
            @tariff = map { $_ * 3 % 1009 } @tariff;
        }
    }
}

my ($door, @crew);
$door = door() if @{shared};
for (1 .. @{crew}) {
    # Of its own, if they do not share one.
    my $own = $door || door();
    my $pid = fork;
    work($own) unless $pid;
    push @crew, $pid;
}
while (1) {
    Time::HiRes::sleep(@{news} || 5);
    kill HUP => @crew if @{news};
}
