# Stores the plates of a night: levels them, finds the stars, writes them beside an index.
use strict;
use warnings;
use IO::Handle;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

use constant SYS_SYNC => 162;
my ($storing, %index) = (0);
my $folder = '@{work}/@{plates}';

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub expose {
    my ($number) = @_;
    srand($number);
    my $tile = pack 'C*', map { int rand 256 } 1 .. 4096;
    return $tile x int(@{kilobytes} / 4);
}

sub level {
    my ($pixels) = @_;
    my $stars = () = $$pixels =~ /[\xf0-\xff]{2}/g;
    $$pixels =~ tr/\x00-\x0f/\x10/;
    return $stars;
}

sub @{fn} {
    my ($out) = @_;
    my $start = now();
    if ('@{durable}' eq 'all') {
        syscall SYS_SYNC;
    } elsif ('@{durable}' eq 'file') {
        $out->sync or die "sync: $!";
    }
    $storing += now() - $start;
}

sub store {
    my ($number, $pixels, $stars) = @_;
    my $name = sprintf '%s/plate-%03d.raw', $folder, $number % 60;
    open my $out, '>:raw', $name or die "$name: $!";
    $out->autoflush(1);
    syswrite $out, $pixels;
    $index{$name} = $stars;
    @{fn}($out);
    close $out;
}

mkdir $folder;
my ($units, $busy, $began) = (0, 0, now());
while (now() - $began < @{seconds}) {
    my $pixels = expose($units);
    my $start = now();
    my $stars = level(\$pixels);
    store($units, $pixels, $stars);
    $busy += now() - $start;
    $units++;
    my $rest = $began + $units / @{rate} - now();
    sleep($rest) if $rest > 0;
}
syscall SYS_SYNC if '@{durable}' eq 'night';
open my $report, '>', '@{report}' or die;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $storing;
close $report;
