# A till of a shop: sends each receipt to the head office before it prints the next.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub receipt {
    my ($number, $size) = @_;
    my ($start, $text) = (now(), sprintf "till %06d ", $number);
    my $seal = $text;
    $seal = sha256_hex($seal) while now() - $start < @{encode} / 1000;
    $text .= $seal while length $text < $size;
    return substr($text, 0, $size) . "\n";
}

sub @{fn} {
    my ($office, $text) = @_;
    print $office $text or die "office: $!";
    my $answer = <$office>;
    die "office: $!" unless defined $answer;
    return $answer;
}

my $office = IO::Socket::INET->new(PeerAddr => "10.@{net}.@{sub}.2", PeerPort => @{port}, Proto => "tcp") or die $!;
setsockopt $office, IPPROTO_TCP, TCP_NODELAY, 1;
$office->autoflush(1);
my ($units, $busy, $began) = (0, 0, now());
while ((my $start = now()) < $began + @{seconds}) {
    # Each tenth is a summary.
    @{fn}($office, receipt($units, $units % 10 == 9 ? @{size} * 5 : @{size}));
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / (@{rate} * 1.5) - now();
    Time::HiRes::sleep($rest) if $rest > 0;
}
open my $out, ">", "@{report}" or die $!;
printf $out '{"units": %d, "seconds": %f}', $units, $busy;
close $out;
