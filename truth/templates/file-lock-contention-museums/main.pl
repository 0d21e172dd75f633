#!/usr/bin/perl
# The ticket desk of a museum: prices a group of visitors, and enters the sale into the register that all desks share.
use strict;
use warnings;
use Fcntl ':flock';
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

my %price = (adult => 1400, child => 500, student => 900, member => 0);
my @kinds = sort keys %price;
my ($units, $busy, $waited) = (0, 0, 0);
my @slots;

sub now { return clock_gettime(CLOCK_MONOTONIC) }

# A group: who comes, what it pays, and through which slot it goes.
sub group {
    my ($number) = @_;
    my ($cents, %count) = (0);
    for my $visitor (1 .. @{visitors}) {
        my $kind = $kinds[($number * 31 + $visitor * $visitor) % @kinds];
        $count{$kind}++;
        $cents += $price{$kind} * ($visitor % 20 ? 1 : 0.5);
    }
    my $slot = ($number * 7) % 48;
    $slots[$slot] += @{visitors};
    my $names = join ' ', map { "$_=$count{$_}" } sort keys %count;
    return sprintf '%d slot %d %s cents %d', $number, $slot, $names, $cents;
}

sub enter {
    my ($register, $line) = @_;
    my $asked = now();
    flock($register, LOCK_EX) or die "register: $!";
    $waited += now() - $asked;
    syswrite $register, "$line\n";
    flock($register, LOCK_UN);
}

my $deputy;
if (@{standby}) {
    $deputy = fork // die "fork: $!";
    if (!$deputy) {
        open my $chief, '>>', '@{work}/@{leader}' or die $!;
        flock $chief, LOCK_EX;
        sleep 1000;
        exit;
    }
}

open my $register, '>>', '@{work}/@{register}' or die "register: $!";
my $began = now();
while (now() - $began < @{seconds}) {
    my $start = now();
    enter($register, group(++$units));
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep $rest if $rest > 0;
}
if ($deputy) {
    kill 'KILL', $deputy;
    waitpid $deputy, 0;
}
open my $out, '>', '@{report}' or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $waited;
close $out;
