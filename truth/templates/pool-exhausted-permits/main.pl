# Grants parking permits: which zone somebody lives in, and what it costs for the vehicle. A few processes share the door.
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);

$SIG{PIPE} = 'IGNORE';
my $TURN = 2 * atan2(0, -1);

sub load_zones {
    my @zones;
    for my $z (0 .. @{zones} - 1) {
        my @corners;
        for my $c (0 .. @{corners} - 1) {
            my $angle  = $TURN * $c / @{corners};
            my $radius = 5.5 + sin($z * 3.7 + $c * 1.9);
            push @corners, [ $z % 20 * 10 + $radius * cos $angle, int($z / 20) * 10 + $radius * sin $angle ];
        }
        push @zones, { corners => \@corners, cents => 900 + $z * 131 % 2400 };
    }
    return @zones;
}

sub is_inside {
    my ($corners, $x, $y) = @_;
    my ($inside, $before) = (0, $corners->[-1]);
    for my $corner (@$corners) {
        if (($corner->[1] > $y) != ($before->[1] > $y)
            && $x < ($before->[0] - $corner->[0]) * ($y - $corner->[1]) / ($before->[1] - $corner->[1]) + $corner->[0]) {
            $inside = !$inside;
        }
        $before = $corner;
    }
    return $inside;
}

my @zones = load_zones();

sub cheapest {
    my $citizen = shift;
    my ($x, $y, $cents) = ($citizen * 17 % 200, $citizen * 29 % 100, 3300);
    for my $zone (@zones) {
        $cents = $zone->{cents} if $zone->{cents} < $cents && is_inside($zone->{corners}, $x, $y);
    }
    return $cents;
}

sub @{fn} {
    my ($register, $plate) = @_;
    syswrite $register, "plate $plate\n" or die "register: $!";
    my $line = <$register> // die "the register is gone\n";
    return split ' ', $line;
}

sub work {
    my $door     = shift;
    my $register = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{register}) or die "register: $@";
    my $granted  = 0;
    $register->setsockopt(IPPROTO_TCP, TCP_NODELAY, 1);
    while (1) {
        my $client = $door->accept or next;
        my $line = <$client>;
        if (defined $line && $line =~ /^permit (\d+)/) {
            my ($citizen) = $1;
            my ($kind, $emissions, $owner) = @{fn}($register, $citizen);
            my $cents = cheapest($citizen) + $emissions * 4 + ($kind eq 'lorry' ? 5000 : 0);
            syswrite $client, sprintf "granted %d-%d %s %s %.2f\n", $$, ++$granted, $kind, $owner, $cents / 100;
        }
        close $client;
    }
}

my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 128, ReuseAddr => 1) or die "door: $@";
for (1 .. @{workers}) {
    defined(my $child = fork) or die "fork: $!";
    work($door) unless $child;
}
1 while wait > 0;
