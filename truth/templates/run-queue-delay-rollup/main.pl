#!/usr/bin/perl
# Says which rooms are free. What was booked before is summed up at the same time, by jobs of its own, one for each region.
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Digest::MD5 qw(md5_hex);

my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 128, ReuseAddr => 1) or die $!;

sub @{fn} {
    my ($room) = @_;
    my ($at, $free) = ($room + 1, 0);
    for my $night (1 .. @{work_ms} * 9000) {
        $at = ($at * 16807) % 2147483647;
        $free++ if $at & 1;
    }
    return $free;
}

sub @{fn2} {
    my ($region) = @_;
    my (%sums, $key);
    for my $booking (1 .. 200_000) {
        $key = md5_hex("$region/$booking");
        $sums{substr($key, 0, 3)} += hex(substr($key, 3, 4));
    }
    return scalar keys %sums;
}

sub work {
    while (my $client = $server->accept) {
        setsockopt($client, IPPROTO_TCP, TCP_NODELAY, 1);
        while (my $ask = <$client>) {
            while (defined(my $head = <$client>)) { last if $head =~ /^\r?\n$/ }
            my ($room) = $ask =~ m{^GET /rooms/(\d+)} or last;
            my $text = '{"free":' . @{fn}($room) . '}';
            syswrite($client, "HTTP/1.1 200 OK\r\nContent-Length: " . length($text) . "\r\n\r\n" . $text);
        }
        close $client;
    }
}

for my $region (1 .. @{jobs}) {
    next if fork;
    $0 = '@{helper}';
    close $server;
    setpriority(0, 0, @{nice});
    @{fn2}($region) while 1;
}
for (1 .. @{clients} + 1) {
    next if fork;
    work();
    exit;
}
1 while wait > 0;
