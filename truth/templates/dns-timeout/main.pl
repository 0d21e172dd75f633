use IO::Select;
use IO::Socket::INET;
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub wait_until {
    my $rest = $_[0] - now();
    Time::HiRes::sleep($rest) if $rest > 0;
}

sub report {
    my ($units, $busy, $culprit) = @_;
    open my $out, ">", "@{report}" or die $!;
    printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit;
    close $out;
}

my $socket = IO::Socket::INET->new(Proto => "udp", PeerAddr => "@{ns}", PeerPort => 53) or die $!;
my $select = IO::Select->new($socket);
my ($units, $busy, $asking, $id) = (0, 0, 0, $$ & 0x7fff);

sub question {
    my ($name, $type) = @_;
    return join("", map { pack "C/a", $_ } split /\./, $name) . pack "xnn", $type, 1;
}

sub @{fn} {
    my ($name) = @_;
    $id = ($id + 1) & 0xffff;
    for my $try (1 .. 4) {
        $socket->send(pack("n6", $id, 0x0100, 1, 0, 0, 0) . question($name, 1));
        while ($select->can_read(@{patience})) {
            $socket->recv(my $answer, 1500);
            my ($of, $flags, undef, $count) = unpack "n4", $answer;
            next if $of != $id;
            return $count ? join(".", unpack "C4", substr $answer, -4) : undef;
        }
    }
    return undef;
}

my $began = now();
while (now() - $began < @{seconds}) {
    my $start = now();
    my $address = @{fn}("relay$units.@{zone}");
    $asking += now() - $start;
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
report($units, $busy, $asking);
