# Draws invoice numbers and prints: a process for each printer.
use strict;
use warnings;
use Fcntl qw(:flock SEEK_SET);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

my $began = now();
sub now { clock_gettime(CLOCK_MONOTONIC) }

sub @{fn} {
    open my $file, '+<', '@{lockfile}' or die $!;
    my $start = now();
    flock $file, LOCK_EX or die $!;
    my $waited = now() - $start;
    my $number = <$file> + 1;
    seek $file, 0, SEEK_SET;
    print $file "$number\n";
    sleep @{keep} / 1000 if @{keep};
    close $file;
    return ($number, $waited);
}

sub printer {
    my ($which) = @_;
    my ($units, $busy, $waited) = (0, 0, 0);
    while (now() - $began < @{seconds}) {
        my $start = now();
        my ($number, $took) = @{fn}();
        my $setting = now();
        my $text = "invoice $number";
        $text = reverse $text while now() - $setting < @{effort} / 1000;
        $waited += $took;
        $units++;
        $busy += now() - $start;
        my $rest = $units / @{pace} + $which * 0.02 - (now() - $began);
        sleep $rest if $rest > 0;
    }
    return "$units $busy $waited\n";
}

sub lead {
    open my $file, '<', 'leader.pid' or die $!;
    flock $file, LOCK_EX;
    sleep 1 while 1;
}

my (@pipes, @leaders);
for (1 .. 2 * @{standby}) {
    my $pid = fork // die $!;
    lead() if !$pid;
    push @leaders, $pid;
}
for my $which (1 .. @{workers}) {
    my $pid = open my $pipe, '-|';
    if (!$pid) {
        print printer($which);
        exit 0;
    }
    push @pipes, $pipe;
}
my ($units, $busy, $waited) = (0, 0, 0);
for my $pipe (@pipes) {
    my @said = split ' ', <$pipe>;
    $units += $said[0];
    $busy += $said[1];
    $waited += $said[2];
}
kill 'TERM', @leaders if @leaders;
open my $out, '>', '@{report}' or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $waited;
close $out;
