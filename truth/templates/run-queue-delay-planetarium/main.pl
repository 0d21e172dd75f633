#!/usr/bin/perl
# Says where the planets stand, and draws the pictures of the dome ahead of the show.
use strict;
use warnings;
use IO::Socket::INET;
use POSIX ();

my @planets = (["Mercury", 87.97, 0.2056, 0.387], ["Venus", 224.7, 0.0068, 0.723], ["Mars", 686.98, 0.0934, 1.524],
    ["Jupiter", 4332.6, 0.0485, 5.203], ["Saturn", 10759, 0.0555, 9.537]);
my $turn = 2 * 3.14159265358979;

# The way of each planet through the night, and when it is highest.
sub sky {
    my ($day) = @_;
    my @lines;
    for my $planet (@planets) {
        my ($name, $period, $e, $axis) = @$planet;
        my ($best, $highest) = (0, -1e9);
        for my $step (0 .. @{effort} * 20) {
            my $t = $day + $step / (@{effort} * 20);
            my $mean = $turn * $t / $period;
            my $angle = $mean;
            $angle -= ($angle - $e * sin($angle) - $mean) / (1 - $e * cos($angle)) for 1 .. 4;
            my $height = $axis * (1 - $e * cos $angle) * sin($turn * $t + $angle);
            ($best, $highest) = ($step, $height) if $height > $highest;
        }
        push @lines, sprintf "%s %.4f %.2f", $name, $highest, $best * 24 / (@{effort} * 20);
    }
    return join("\n", @lines) . "\n";
}

# One picture of the dome after the other, until the server is gone.
sub @{fn} {
    my ($picture, $server) = @_;
    while (getppid() == $server) {
        my @line = (0) x @{width};
        for my $y (0 .. @{width} - 1) {
            $line[$_] += exp(-(($_ * 7919 + $y * 104729 + $picture) % 997) / 90) for 0 .. @{width} - 1;
        }
        $picture++;
    }
}

my $server = $$;
for my $number (1 .. @{painters}) {
    my $child = fork;
    die "fork: $!" unless defined $child;
    next if $child;
    $0 = "@{painter}";
    POSIX::nice(@{nice});
    @{fn}($number * 1000, $server);
    POSIX::_exit(0);
}
my $listen = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => @{port}, Listen => 64, ReuseAddr => 1) or die "port: $!";
while (1) {
    my $client = $listen->accept or next;
    my $path;
    while (defined(my $line = <$client>)) {
        $path = $1 if $line =~ m{^GET (\S+)};
        next if $line =~ /\S/;
        my ($day) = $path =~ /(\d+)$/;
        my $body = sky($day // 0);
        syswrite $client, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " . length($body) . "\r\n\r\n$body";
    }
}
