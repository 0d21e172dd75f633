#!/usr/bin/perl
# Packs orders of seeds into crates, by several packers, and keeps the stock of the sorts.
use strict;
use warnings;
use IPC::SysV qw(IPC_PRIVATE IPC_RMID IPC_CREAT SETVAL S_IRUSR S_IWUSR);
use List::Util qw(sum0);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

use constant { PACKERS => @{packers}, BAGS => @{bags}, SORTS => @{sorts}, PLACE => 8 };

my $began = clock_gettime(CLOCK_MONOTONIC);
my $@{card} = shmget(IPC_PRIVATE, SORTS * PLACE, IPC_CREAT | S_IRUSR | S_IWUSR) // die "shmget: $!";
my $turn = semget(IPC_PRIVATE, 1, IPC_CREAT | S_IRUSR | S_IWUSR) // die "semget: $!";
my ($take, $give) = (pack('s3', 0, -1, 0), pack('s3', 0, 1, 0));
my $waited = 0;

sub sweep {
    shmctl($@{card}, IPC_RMID, 0);
    semctl($turn, 0, IPC_RMID, 0);
}

# Takes so many grams of each of these sorts from the stock.
sub @{fn} {
    my (@wanted) = @_;
    my $asked = clock_gettime(CLOCK_MONOTONIC);
    semop($turn, $take) or die "semop: $!";
    $waited += clock_gettime(CLOCK_MONOTONIC) - $asked;
    for my $one (@wanted) {
        my ($sort, $grams) = @$one;
        shmread($@{card}, my $place, $sort * PLACE, PLACE);
        my $left = unpack('q', $place) - $grams;
        $left += 50_000 if $left < 0;
        shmwrite($@{card}, pack('q', $left), $sort * PLACE, PLACE);
    }
    $asked = clock_gettime(CLOCK_MONOTONIC);
    semop($turn, $give) or die "semop: $!";
    $waited += clock_gettime(CLOCK_MONOTONIC) - $asked;
}

sub label {
    my ($order, $sort, $grams) = @_;
    my $text = sprintf 'Order %06d  sort %04d  %4d g  sow from March', $order, $sort, $grams;
    my $check = 0;
    $check = ($check * 31 + unpack('%32C*', substr($text, $_))) % 1_000_003 for 0 .. @{effort} * 4;
    return "$text  $check\n";
}

sub crate {
    my ($order) = @_;
    my (@later, $labels);
    for my $bag (0 .. BAGS - 1) {
        my ($sort, $grams) = (($order * 7919 + $bag * 104_729) % SORTS, 5 + ($order + $bag) % 40);
        if (@{each}) {
            @{fn}([$sort, $grams]);
        } else {
            push @later, [$sort, $grams];
        }
        $labels .= label($order, $sort, $grams);
    }
    @{fn}(@later) if @later;
    return length $labels;
}

sub packer {
    my ($number, $out) = @_;
    my ($crates, $busy) = (0, 0);
    while (clock_gettime(CLOCK_MONOTONIC) - $began < @{seconds}) {
        my $start = clock_gettime(CLOCK_MONOTONIC);
        crate($crates * PACKERS + $number);
        $crates++;
        $busy += clock_gettime(CLOCK_MONOTONIC) - $start;
        my $rest = $began + ($crates + $number / PACKERS) / @{rate} - clock_gettime(CLOCK_MONOTONIC);
        sleep $rest if $rest > 0;
    }
    print $out "$crates $busy $waited\n";
}

$SIG{TERM} = $SIG{INT} = sub { sweep(); exit 1 };
shmwrite($@{card}, pack('q*', (50_000) x SORTS), 0, SORTS * PLACE);
semctl($turn, 0, SETVAL, 1);
pipe my $in, my $out or die $!;
for my $number (0 .. PACKERS - 1) {
    next if fork;
    $SIG{TERM} = $SIG{INT} = 'DEFAULT';
    close $in;
    packer($number, $out);
    exit 0;
}
close $out;
my @all = map { [split] } <$in>;
1 while wait > 0;
sweep();
open my $report, '>', '@{report}' or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', map { my $at = $_; sum0(map { $_->[$at] } @all) } 0 .. 2;
close $report;
