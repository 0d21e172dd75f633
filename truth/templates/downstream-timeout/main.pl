#!/usr/bin/perl
use strict;
use warnings;
use IO::Socket::INET;
use IO::Select;
use Time::HiRes qw(time sleep);
use Digest::MD5 qw(md5);

# Asks the stock of each article of a feed; without an answer in time the old figure stays.
my ($line, $spent) = (undef, 0);

sub @{fn} {
    my ($article) = @_;
    my $began = time;
    $line //= IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{back}) or die "stock: $!";
    syswrite($line, "GET /stock/$article HTTP/1.1\r\nHost: stock\r\n\r\n");
    my ($got, $end) = ('', $began + @{limit} / 1000);
    while ($got !~ /\r\n\r\n.*\}/s) {
        my $left = $end - time;
        if ($left <= 0 || !IO::Select->new($line)->can_read($left)) {
            close $line;
            ($line, $got) = (undef, '');
            last;
        }
        sysread($line, $got, 65536, length $got) or last;
    }
    $spent += time - $began;
    return $got;
}

if (@{hold} && !fork) {
    my $parent = getppid;
    my $news = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{back}) or exit 1;
    while (getppid == $parent) { syswrite($news, "watch\n"); defined(<$news>) or last }
    exit;
}
my ($began, $units, $busy, %stock) = (time, 0, 0);
while (time - $began < @{seconds}) {
    my $start = time;
    my $sum = @{fn}($units % 300) || 'old';
    $sum = md5($sum) for 1 .. @{rounds};
    $stock{$units % 300} = $sum;
    $units++;
    $busy += time - $start;
    my $rest = $began + $units / @{pace} - time;
    sleep $rest if $rest > 0;
}
open(my $out, '>', '@{report}') or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close $out;
