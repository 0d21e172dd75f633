#!/usr/bin/perl
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Digest::SHA qw(sha256);

# A few processes accept from one socket; each holds one line to the rating service.
my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 128, ReuseAddr => 1) or die $!;

sub @{fn} {
    my ($rating, $customer) = @_;
    syswrite($rating, "rate $customer\n") or die "rating: $!";
    my $line = <$rating>;
    return $line;
}

sub weigh {
    my ($line) = @_;
    my $sum = $line;
    $sum = sha256($sum) for 1 .. @{rounds};
    return unpack('H*', $sum);
}

sub work {
    my $rating = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{back}) or die "rating: $!";
    while (my $client = $server->accept) {
        setsockopt($client, IPPROTO_TCP, TCP_NODELAY, 1);
        while (my $ask = <$client>) {
            while (defined(my $head = <$client>)) { last if $head =~ /^\r?\n$/ }
            my ($customer) = $ask =~ m{^GET /quotes/(\d+)} or last;
            my $text = '{"score":"' . weigh(@{fn}($rating, $customer)) . '"}';
            syswrite($client, "HTTP/1.1 200 OK\r\nContent-Length: " . length($text) . "\r\n\r\n" . $text);
        }
        close $client;
    }
}

for (1 .. @{watchers}) {
    next if fork;
    my $news = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{back}) or die;
    while (syswrite($news, "watch\n")) { last unless defined <$news> }
    exit;
}
for (1 .. @{clients} + 1) {
    next if fork;
    work();
    exit;
}
1 while wait > 0;
