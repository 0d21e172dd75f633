#!/usr/bin/perl
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(time sleep);
use Digest::MD5 qw(md5_hex);

# Saves the state of all seats every now and then.
my $cache = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{cache}) or die "cache: $!";
setsockopt($cache, IPPROTO_TCP, TCP_NODELAY, 1);
my $spent = 0;

sub @{fn} {
    my @keys = @_;
    my %found;
    my $began = time;
    syswrite($cache, "get @keys\r\n");
    while (my $head = <$cache>) {
        last if $head =~ /^END/;
        my (undef, $key, undef, $length) = split ' ', $head;
        read($cache, $found{$key}, $length + 2);
    }
    $spent += time - $began;
    return %found;
}

my ($began, $units, $busy, @saved) = (time, 0, 0);
while (time - $began < @{seconds}) {
    my $start = time;
    my @keys = map { "@{prefix}:$_" } 0 .. @{shown} - 1;
    my %state;
    while (my @some = splice @keys, 0, @{at_once}) {
        my %part = @{fn}(@some);
        @state{keys %part} = values %part;
    }
    my $text = join '', map { $state{$_} } sort keys %state;
    $saved[$units % 50] = md5_hex($text . $_) for 1 .. @{rounds};
    $units++;
    $busy += time - $start;
    my $rest = $began + $units / @{pace} - time;
    sleep $rest if $rest > 0;
}
open(my $out, '>', '@{report}') or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
