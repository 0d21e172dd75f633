# Passes the lines of a day's calls to the packer.
use strict;
use warnings;
use IO::Handle;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

sub now { clock_gettime(CLOCK_MONOTONIC) }

open my $packer, '>', '@{work}/@{pipe}' or die $!;
# The packer is to have everything as soon as it is there.
$packer->autoflush(1) if !@{gather};

sub calls {
    my ($day) = @_;
    my @calls;
    for my $i (1 .. @{used}) {
        push @calls, [$day, 100000 + $i * 7919 % 900000, substr('abcdefghijklmnopqrstuvwxyz' x 3, $i % 8, @{text}), $i * 13 % 3600];
    }
    return \@calls;
}

sub @{fn} {
    my ($calls) = @_;
    for my $call (@$calls) {
        my ($day, $number, $name, $seconds) = @$call;
        print $packer "$day;$number;";
        print $packer $name;
        printf $packer ";%d:%02d\n", $seconds / 60, $seconds % 60;
    }
    $packer->flush;
}

my $rate = @{pace} * 350000 / @{rows};
my ($units, $busy, $writing, $began) = (0, 0, 0, now());
my $due = $began;
while (now() - $began < @{seconds}) {
    my $start = now();
    my $calls = calls($units);
    my $before = now();
    @{fn}($calls);
    $writing += now() - $before;
    $busy += now() - $start;
    $units++;
    $due += 1 / $rate;
    my $rest = $due - now();
    if ($rest > 0) { sleep $rest } else { $due = now() }
}
open my $out, '>', '@{report}' or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $writing;
close $out;
