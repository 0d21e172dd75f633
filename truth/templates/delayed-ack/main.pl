#!/usr/bin/perl
use strict;
use warnings;
use Socket;
use Time::HiRes qw(time sleep);
use Digest::SHA qw(sha1_hex);

# Announces sold tickets.
socket(my $line, PF_INET, SOCK_STREAM, getprotobyname('tcp')) or die $!;
connect($line, sockaddr_in(@{back}, inet_aton('127.0.0.1'))) or die "broker: $!";
my $spent = 0;

sub @{fn} {
    my @parts = @_;
    my $began = time;
    syswrite($line, $_) // die "broker: $!" for @parts;
    sysread($line, my $answer, 100) or die 'broker: gone';
    $spent += time - $began;
    return $answer =~ /^OK (\d+)/;
}

my ($began, $units, $busy) = (time, 0, 0);
while (time - $began < @{seconds}) {
    my $start = time;
    my $seal = "ticket $units";
    $seal = sha1_hex($seal) for 1 .. @{rounds};
    my $body = substr("$seal " x (1 + @{bytes} / 41), 0, @{bytes});
    my $head = 'PUT tickets ' . length($body) . "\n";
    @{fn}(@{split} ? ($head, $body) : ($head . $body));
    $units++;
    $busy += time - $start;
    my $rest = $began + $units / @{pace} - time;
    sleep $rest if $rest > 0;
}
open(my $out, '>', '@{report}') or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
