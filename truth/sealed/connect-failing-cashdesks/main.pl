#!/usr/bin/perl
# The till of a department store: prices what was bought, has the receipt signed, and keeps the totals of each desk.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use IO::Socket::UNIX;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

my @desks = map { { total => 0, unsigned => 0, receipts => 0 } } 1 .. @{desks};
my ($waited, $trouble) = (0, '');

sub @{fn} {
    my $start = now();
    my $line;
    TRY: while (now() - $start < @{patience_ms} / 1000) {
        for my $path ('@{work}/@{first}', '@{work}/@{signer}') {
            $line = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $path) and last TRY;
            $trouble = "$path: $!";
        }
    }
    $waited += now() - $start;
    return $line;
}

sub sign {
    my ($text) = @_;
    my $line = @{fn}() or return;
    $line->autoflush(1);
    print $line sha256_hex($text), "\n";
    my $seal = <$line>;
    close $line;
    chomp $seal if defined $seal;
    return $seal;
}

sub sell {
    my ($number) = @_;
    my $desk = $desks[$number % @desks];
    my ($receipt, $sum) = ('', 0);
    for my $item (0 .. @{lines} - 1) {
        my ($article, $many) = (($number * 31 + $item * 17) % 4000, 1 + ($number + $item) % 3);
        my $price = 99 + $article * 7 % 5000;
        $sum += $price * $many;
        $receipt .= sprintf "%04d %2d x %7.2f\n", $article, $many, $price / 100;
    }
    $receipt .= sprintf "total %.2f, of it tax %.2f\n", $sum / 100, $sum * 19 / 11900;
    my $seal = sign($receipt);
    $desk->{unsigned}++ unless defined $seal;
    $desk->{total} += $sum;
    $desk->{receipts}++;
    return $receipt . ($seal // 'SIGNER NOT AVAILABLE') . "\n";
}

my ($began, $busy, $units, $length) = (now(), 0, 0, 0);
while (now() - $began < @{seconds}) {
    my $start = now();
    $length += length sell($units++);
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep($rest) if $rest > 0;
}
warn "signer: $trouble\n" if $trouble;
open(my $out, '>', '@{report}') or die "report: $!";
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $waited;
close $out;
