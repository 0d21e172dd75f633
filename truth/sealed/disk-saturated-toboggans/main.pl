# Makes the results' sheets: each run's log has its own checksum, and a line on the sheet.
use strict;
use warnings;
use Digest::SHA qw(sha1_hex);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

sub now { clock_gettime(CLOCK_MONOTONIC) }

my ($units, $busy, $reading) = (0, 0, 0);
my @sheet;

sub @{fn} {
    my ($number) = @_;
    my $start = now();
    my $name = sprintf '@{work}/@{volume}/@{run}-%04d', $number % @{count};
    open my $log, '<:raw', $name or die "$name: $!";
    sysread $log, my $text, -s $log;
    close $log;
    $reading += now() - $start;
    return $text;
}

sub line {
    my ($number, $text) = @_;
    my $mark = sha1_hex($text);
    $mark = sha1_hex($mark . $_) for 1 .. @{rounds};
    my @speeds = unpack 'n40', $text;
    my $mean = 0;
    $mean += $_ / 40 for @speeds;
    return sprintf '%4d %7.1f %s', $number, $mean, substr $mark, 0, 8;
}

my $began = now();
while (now() - $began < @{seconds}) {
    my $start = now();
    push @sheet, line($units, @{fn}($units));
    shift @sheet if @sheet > 60;
    $units++;
    $busy += now() - $start;
    my $rest = $start + 1 / @{rate} - now();
    sleep $rest if $rest > 0;
}
open my $report, '>', '@{report}' or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $reading;
close $report;
