# Takes orders of knitting patterns: finds the newest revision of a design's chart, and counts its stitches for the price.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

my ($folder, $every) = ("@{work}/@{charts}", @{every});
my ($names, $orders, $looking) = (undef, 0, 0);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub @{fn} {
    opendir(my $charts, $folder) or die "$folder: $!";
    my @all = readdir $charts;
    closedir $charts;
    return \@all;
}

sub newest {
    my ($design) = @_;
    if (!$names || $every && $orders % $every == 0) {
        my $start = now();
        $names = @{fn}();
        $looking += now() - $start;
    }
    $orders++;
    my $best = '';
    for my $name (@$names) {
        $best = $name if index($name, $design) == 0 && $name gt $best;
    }
    return "$folder/$best";
}

sub price {
    my ($path) = @_;
    open(my $file, '<', $path) or die "$path: $!";
    local $/;
    my $text = <$file>;
    my $stitches = 0;
    $stitches += length for split ' ', $text;
    return { chart => $path, stitches => $stitches, mark => unpack('%32C*', $text) };
}

my (%bills, $units, $busy);
($units, $busy) = (0, 0);
my $began = now();
while (now() - $began < @{seconds}) {
    my $start = now();
    my $design = sprintf 'd%04d-', $units * 37 % @{designs};
    $bills{$design} = price(newest($design));
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep($rest) if $rest > 0;
}
open(my $out, '>', "@{report}") or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $looking;
close $out;
