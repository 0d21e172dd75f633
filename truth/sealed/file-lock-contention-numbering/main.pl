# Writes invoices: each gets the next number.
use strict;
use warnings;
use Fcntl qw(:flock :seek);
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

open my $numbers, '+<', '@{work}/@{numbers}' or die $!;

sub @{fn2} {
    flock $numbers, LOCK_EX or die $!;
    sysseek $numbers, 0, SEEK_SET;
    sysread $numbers, my $text, 32;
    my $number = $text + 1;
    sysseek $numbers, 0, SEEK_SET;
    syswrite $numbers, $number;
    flock $numbers, LOCK_UN;
    return $number;
}

sub invoice {
    my $number = shift;
    return join "\n", map { sprintf '%d;%d;article %d;%d', $number, $_, $number * 31 % 9973, $number % 300 } 1 .. @{lines};
}

my ($units, $busy, $culprit, $size) = (0, 0, 0, 0);
my $began = now();
while ((my $start = now()) - $began < @{seconds}) {
    my $number = @{fn2}();
    $culprit += now() - $start;
    $size += length invoice($number);
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep $rest if $rest > 0;
}
open my $out, '>', '@{report}' or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit;
close $out;
