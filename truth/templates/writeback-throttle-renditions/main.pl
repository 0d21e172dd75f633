#!/usr/bin/perl
# Takes in scans of plans: workers cut them, mark them with their number, and keep them on the volume, with the steps between.
use strict;
use warnings;
use Digest::MD5 qw(md5 md5_hex);
use Time::HiRes qw(time sleep);

my $paper = join '', map { md5("paper $_") x 8 } 1 .. 2048;

sub receive {
    my ($worker, $turn) = @_;
    my $from = ($worker * 7919 + $turn * 104729) % length $paper;
    my $sheet = substr($paper, $from) . substr($paper, 0, $from);
    my $scan = $sheet x (1 + (@{kb} << 10) / length $sheet);
    return substr($scan, 0, @{kb} << 10);
}

# A step of the work: what is nearly white is white; then the edges are looked for.
sub improved {
    my ($scan, $step) = @_;
    my $cut = 0xF0 - 8 * $step;
    eval sprintf('$scan =~ tr/\x%02X-\xFF/\xFF/', $cut);
    my $edges = ($scan =~ tr/\xFF//) . md5_hex($scan);
    return ($scan, $edges);
}

sub @{fn} {
    my ($worker, $turn, $step, $edges, $scan) = @_;
    my $name = sprintf '@{work}/@{volume}/%d-%d-%d-@{rendition}', $worker, $turn % 4, $step;
    open(my $out, '>:raw', $name) or die "$name: $!\n";
    syswrite($out, "P5 $step $edges\n");
    for (my $at = 0; $at < length $scan; $at += 131072) {
        defined syswrite($out, substr($scan, $at, 131072)) or die "$name: $!\n";
    }
    close $out or die "$name: $!\n";
}

sub work {
    my ($worker, $began) = @_;
    my ($turn, $busy, $culprit) = (0, 0, 0);
    while (time - $began < @{seconds}) {
        my $start = time;
        my $scan = receive($worker, $turn);
        for my $step (1 .. @{steps}) {
            ($scan, my $edges) = improved($scan, $step);
            next if $step <= @{steps} - @{kept};
            my $saving = time;
            @{fn}($worker, $turn, $step, $edges, substr($scan, 0, @{size} << 10));
            $culprit += time - $saving;
        }
        $turn++;
        $busy += time - $start;
        my $rest = $began + $turn / @{rate} - time;
        sleep($rest) if $rest > 0;
    }
    return ($turn, $busy, $culprit);
}

my $began = time;
my @from;
for my $worker (1 .. @{workers}) {
    pipe(my $from, my $to) or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        close $from;
        syswrite($to, join(' ', work($worker, $began)) . "\n");
        exit 0;
    }
    close $to;
    push @from, $from;
}
my ($units, $busy, $culprit) = (0, 0, 0);
for my $from (@from) {
    my ($turn, $took, $saving) = split ' ', <$from> // die "a worker is gone\n";
    $units += $turn;
    $busy += $took;
    $culprit += $saving;
}
1 while wait > 0;
open(my $out, '>', '@{report}') or die "report: $!\n";
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit;
close $out;
