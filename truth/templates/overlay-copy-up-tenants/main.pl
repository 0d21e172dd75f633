# Enters the deliveries of a hosting service's farms: a line at the end of each farm's book.
use strict;
use warnings;
use Digest::MD5 qw(md5_hex);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

sub now { clock_gettime(CLOCK_MONOTONIC) }

my ($number, $busy, $writing) = (0, 0, 0);

sub @{fn} {
    my ($farm, $line) = @_;
    my $start = now();
    open my $book, '>>', "@{work}/@{at}/shop-$farm.book" or die "no book: $!";
    print $book $line;
    close $book;
    $writing += now() - $start;
}

sub deliver {
    my $litres = 0;
    my @cans = map { 18 + ($_ * 7 + $number) % 5 } 1 .. @{lines};
    $litres += $_ for @cans;
    @{fn}($number % @{shops} + 1, join(';', $number, $litres, md5_hex("@cans")) . "\n");
    $number++;
}

my $began = now();
while (now() - $began < @{seconds}) {
    my $start = now();
    deliver();
    my $took = now() - $start;
    $busy += $took;
    sleep 1 / @{rate} - $took if $took < 1 / @{rate};
}
open my $report, '>', '@{report}' or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $number, $busy, $writing;
close $report;
