#!/usr/bin/perl
# Books passages through the toll gates at the clearing house. Its firewall knows us by our address and our source ports.
use strict;
use warnings;
use Errno qw(EADDRNOTAVAIL);
use Socket qw(:DEFAULT IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(sleep time clock_gettime CLOCK_MONOTONIC);

use constant { IP_BIND_ADDRESS_NO_PORT => 24, IP_LOCAL_PORT_RANGE => 51 };

my ($line, $booked, $lost) = (undef, 0, 0);
my %tariff = (car => 390, van => 540, lorry => 1870, bus => 1210);
my %day;

sub now { clock_gettime(CLOCK_MONOTONIC) }

sub @{fn} {
    socket(my $new, PF_INET, SOCK_STREAM, 0) or die "socket: $!";
    setsockopt($new, IPPROTO_TCP, TCP_NODELAY, 1);
    setsockopt($new, 0, IP_BIND_ADDRESS_NO_PORT, pack("i", 1));
    setsockopt($new, 0, IP_LOCAL_PORT_RANGE, pack("L", @{lowest} | (@{lowest} + @{ports} - 1) << 16)) or die "range: $!";
    bind($new, pack_sockaddr_in(0, inet_aton("127.0.@{net}.1"))) or die "bind: $!";
    return $new if connect($new, pack_sockaddr_in(@{house}, INADDR_LOOPBACK));
    die "connect: $!" if $! != EADDRNOTAVAIL;
    close $new;
    return;
}

sub exact {
    my ($count) = @_;
    my $all = "";
    while (length $all < $count) {
        sysread($line, $all, $count - length $all, length $all) or die "the clearing house hung up";
    }
    return $all;
}

sub @{fn2} {
    my ($record) = @_;
    if (!$line) {
        my $began = now();
        my $tries = 0;
        until ($line = @{fn}()) {
            $tries++;
            sleep(@{pause} / 1000);
        }
        $lost += now() - $began if $tries;
    }
    syswrite($line, pack("n/a", $record));
    my ($size) = unpack("n", exact(2));
    my ($mark) = unpack("N", exact($size));
    if (++$booked % @{each} == 0) {
        close $line;
        undef $line;
    }
    return $mark;
}

# What each gate took today, with the discount for those who come often.
sub charge {
    my ($gate, $plate, $kind) = @_;
    my $cents = $tariff{$kind};
    my $often = ++$day{$plate}{count};
    $cents = int($cents * (100 - ($often > 20 ? 20 : $often)) / 100);
    my $check = 0;
    $check = ($check * 31 + ord substr($plate, $_ % length $plate, 1)) % 97 for 1 .. @{digits};
    return sprintf("%03d;%s;%s;%d;%02d", $gate, $plate, $kind, $cents, $check);
}

my ($began, $units, $busy) = (now(), 0, 0);
my @kinds = sort keys %tariff;
while (now() - $began < @{seconds}) {
    my $start = now();
    my $record = charge($units % @{gates}, sprintf("KX%04d", $units * 37 % 4000), $kinds[$units % @kinds]);
    $day{marks} = @{fn2}($record);
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{pace} - now();
    sleep($rest) if $rest > 0;
}
open(my $out, ">", "@{report}") or die;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $lost;
