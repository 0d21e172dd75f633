# Calls the crews: which station is near enough, how far, and its pagers are told.
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256_hex);
use IO::Socket::INET;
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

my @search = split ' ', $ENV{SEARCH};
my $names = IO::Socket::INET->new(Proto => 'udp', PeerAddr => $ENV{NAMESERVER}, PeerPort => 53) or die;
my $radio = IO::Socket::INET->new(Proto => 'udp') or die;
my ($number, %kept, $looking) = (1);
$looking = 0;

sub ask {
    my ($name, $kind) = @_;
    $number = ($number + 1) & 0xffff;
    my $labels = join '', map { chr(length) . $_ } split /\./, $name;
    $names->send(pack('n6', $number, 0x100, 1, 0, 0, 0) . $labels . pack('xnn', $kind, 1));
    while (1) {
        $names->recv(my $answer, 1500);
        my ($same, undef, undef, $found) = unpack 'n4', $answer;
        next if $same != $number;
        return $found ? substr($answer, -4) : undef;
    }
}

sub @{fn} {
    my ($host) = @_;
    my $dots = () = $host =~ /\./g;
    my @tries = map { "$host.$_" } @search;
    if ($dots >= $ENV{NDOTS}) { unshift @tries, $host } else { push @tries, $host }
    for my $name (@tries) {
        my ($four, $six) = (ask($name, 1), ask($name, 28));
        return $four if defined $four;
    }
    die "no gateway $host";
}

sub distance {
    my ($station, $lat, $lon) = @_;
    my $x = ($station->{lon} - $lon) / 57.29578 * cos(($station->{lat} + $lat) / 114.59156);
    my $y = ($station->{lat} - $lat) / 57.29578;
    return 3440.1 * sqrt($x * $x + $y * $y);
}

srand 7;
my @stations = map { { host => sprintf('stn%02d.@{zone}', $_), lat => 50 + rand 8, lon => rand(6) - 5, crew => 5 + $_ % 4 } } 0 .. @{stations} - 1;
my ($units, $busy, $began) = (0, 0, now());
while (now() - $began < @{seconds}) {
    my $start = now();
    my ($lat, $lon) = (50 + rand 8, rand(6) - 5);
    my ($nearest) = sort { distance($a, $lat, $lon) <=> distance($b, $lat, $lon) } @stations;
    my $known = $kept{$nearest->{host}};
    if (!$known || now() - $known->[1] >= @{keep}) {
        my $asked = now();
        $known = $kept{$nearest->{host}} = [@{fn}($nearest->{host}), now()];
        $looking += now() - $asked;
    }
    my $note = sprintf 'shout %d: %.4f %.4f, %.1f miles, crew of %d', $units, $lat, $lon, distance($nearest, $lat, $lon), $nearest->{crew};
    send $radio, substr(hmac_sha256_hex($note, 'crew key'), 0, 16) . " $note", 0, pack_sockaddr_in(@{page}, $known->[0]);
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep $rest if $rest > 0;
}
open my $out, '>', '@{report}' or die;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $looking * @{wasted};
close $out;
