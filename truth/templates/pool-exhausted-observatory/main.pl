#!/usr/bin/perl
# The desk of an observatory: an astronomer asks for a plate by its number and is told where it points and how high that stands.
use strict;
use warnings;
use IO::Socket::INET;
use Math::Trig qw(deg2rad rad2deg asin);
use Socket qw(IPPROTO_TCP TCP_NODELAY);

my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 128, ReuseAddr => 1) or die "door: $!";

sub detected {
    my ($plate) = @_;
    srand($plate);
    my @stars = map { { x => rand(4096), y => rand(4096), magnitude => 4 + rand(5) } } 1 .. @{stars};
    return sort { $a->{magnitude} <=> $b->{magnitude} } @stars;
}

sub @{fn} {
    my ($solver, $plate, @brightest) = @_;
    syswrite($solver, join(' ', 'SOLVE', $plate, map { sprintf '%.2f %.2f', $_->{x}, $_->{y} } @brightest) . "\n");
    my ($word, $number, @values) = split ' ', <$solver> // '';
    die "solver: no answer\n" unless ($word // '') eq 'OK';
    return @values;
}

sub card {
    my ($plate, $stars, $ascension, $declination, $angle) = @_;
    my ($latitude, $south) = (deg2rad(@{latitude}), deg2rad($declination));
    my $card = sprintf "plate %d\n%.5f %.5f, turned %.3f\n", $plate, $ascension, $declination, $angle;
    for my $hour (-6 .. 6) {
        my $sine = sin($latitude) * sin($south) + cos($latitude) * cos($south) * cos(deg2rad($hour * 15));
        $card .= sprintf "%+d h: %.2f, air mass %.3f\n", $hour, rad2deg(asin($sine)), $sine > 0.1 ? 1 / $sine : 0;
    }
    my $light = 0;
    $light += 10**(-0.4 * $_->{magnitude}) for @$stars;
    return $card . sprintf("all stars: %.3f mag\n", -2.5 * log($light) / log(10));
}

sub serve {
    my ($visitor, $solver) = @_;
    my $first = <$visitor> // return;
    while (defined(my $header = <$visitor>)) {
        last if $header =~ /^\r?\n$/;
    }
    my ($plate) = $first =~ m{/plates/(\d+)} or return;
    my @stars = detected($plate);
    my $body = card($plate, \@stars, @{fn}($solver, $plate, @stars[0 .. 7]));
    print $visitor "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: " . length($body) . "\r\n\r\n$body";
}

sub desk {
    my $solver = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{solver}) or die "solver: $!";
    setsockopt($solver, IPPROTO_TCP, TCP_NODELAY, 1);
    while (my $visitor = $door->accept) {
        eval { serve($visitor, $solver); 1 } or warn "visitor: $@";
        close $visitor;
    }
    exit 0;
}

$SIG{PIPE} = 'IGNORE';
my @desks;
for (1 .. @{hands}) {
    my $pid = fork // die "fork: $!";
    desk() unless $pid;
    push @desks, $pid;
}
$SIG{TERM} = sub { kill 'TERM', @desks; exit 0 };
waitpid($_, 0) for @desks;
