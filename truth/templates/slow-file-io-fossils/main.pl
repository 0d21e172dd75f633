#!/usr/bin/perl
# Prints the labels of fossils: from each scan the size, the age by the colour of the stone, and the sample that it is most like.
use strict;
use warnings;
use Digest::SHA qw(sha1_hex);
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

my $culprit = 0;

sub now { clock_gettime(CLOCK_MONOTONIC) }

sub @{fn} {
    my ($folder, $number) = @_;
    my $start = now();
    open my $file, "<:raw", sprintf("%s/scan-%05d", $folder, $number) or die "scan $number: $!";
    my $scan = "";
    1 while sysread $file, $scan, 65536, length $scan;
    close $file;
    $culprit += now() - $start;
    return $scan;
}

# How often each brightness comes about, in a part of the scan.
sub shades {
    my ($scan) = @_;
    my @counts = (0) x 16;
    $counts[$_ >> 4]++ for unpack "C2000", $scan;
    return \@counts;
}

sub likeness {
    my ($one, $other) = @_;
    my $sum = 0;
    $sum -= abs($one->[$_] - $other->[$_]) for 0 .. 15;
    return $sum;
}

sub label {
    my ($number, $scan, $samples) = @_;
    my $own = shades($scan);
    my ($best) = sort { likeness($own, $samples->[$b]) <=> likeness($own, $samples->[$a]) } 0 .. $#$samples;
    return sprintf "No. %d  %.1f cm, %d million years, like sample %d  [%s]\n",
        $number, $own->[3] / 100, 60 + $own->[7] % 40, $best, substr(sha1_hex($scan), 0, 8);
}

my @samples = map { shades(@{fn}("@{work}/@{first}/@{scans}", $_)) } 0 .. @{samples} - 1;
$culprit = 0;
my ($labels, $units, $busy) = ("", 0, 0);
my $began = now();
my $due = $began;
while (now() - $began < @{seconds}) {
    my $start = now();
    # The visitors' order is that of the rooms.
    my $number = @{samples} + $units * 389 % (@{count} - @{samples});
    $labels .= label($number, @{fn}("@{work}/@{disk}/@{scans}", $number), \@samples);
    $units++;
    $busy += now() - $start;
    $due += 1 / @{rate};
    my $rest = $due - now();
    sleep $rest if $rest > 0;
}
open my $out, ">", "@{work}/labels.txt" or die "labels: $!";
print $out $labels;
close $out;
open $out, ">", "@{report}" or die "report: $!";
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit;
close $out;
