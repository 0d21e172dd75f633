#!/usr/bin/perl
# Month's end at a bank: writes each customer's statement and has gzip pack it for the archive.
use strict;
use warnings;
use IO::Handle;
use POSIX qw(WNOHANG strftime);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

use constant ARCHIVE => '@{work}/@{archive}';
my @parties = qw(rent salary groceries tram telephone insurance pharmacy books);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

open my $log, '>>', '@{work}/statements.log' or die "statements.log: $!\n";
$log->autoflush(1);

sub note {
    my ($format, @values) = @_;
    printf $log "%s $format\n", strftime('%F %T', localtime), @values;
}

sub bookings {
    my ($account) = @_;
    srand $account;
    return map { [$_ % 30 + 1, $parties[rand @parties], int(rand 190_000) - 90_000] } 1 .. @{bookings};
}

sub statement {
    my ($account, $out) = @_;
    my $balance = $account * 100 % 70_000;
    printf $out "STATEMENT %010d\ncarried forward %14.2f\n", $account, $balance / 100;
    for my $booking (sort { $a->[0] <=> $b->[0] || $a->[1] cmp $b->[1] } bookings($account)) {
        my ($day, $party, $cents) = @$booking;
        $balance += $cents;
        printf $out "%02d %-14s%12.2f%14.2f\n", $day, $party, $cents / 100, $balance / 100;
    }
}

# Starts gzip; its number.
sub packer {
    my ($name) = @_;
    my $pid = fork // die "fork: $!\n";
    return $pid if $pid;
    open STDIN, '<', $name or POSIX::_exit(2);
    open STDOUT, '>', "$name.gz" or POSIX::_exit(2);
    exec 'gzip', '-9c' or POSIX::_exit(2);
}

# The seconds of the processor that went into packing.
sub packing {
    my @times = times;
    return $times[2] + $times[3];
}

sub @{fn} {
    my ($pid) = @_;
    if ('@{wait}' eq 'told') {
        waitpid $pid, 0;
        return $?;
    }
    while (waitpid($pid, WNOHANG) == 0) {
        Time::HiRes::sleep(@{pause} / 1000);
    }
    return $?;
}

# Packs one statement; how long that was waited for beyond what gzip had to do.
sub archived {
    my ($account) = @_;
    my $name = sprintf '%s/%04d.txt', ARCHIVE, $account % 40;
    open my $out, '>', $name or die "$name: $!\n";
    statement($account, $out);
    close $out or die "$name: $!\n";
    my ($asked, $spent) = (now(), packing());
    my $pid = packer($name);
    die "gzip of $name failed\n" if @{fn}($pid);
    my $late = now() - $asked - (packing() - $spent);
    unlink $name;
    note('%010d: %d bytes', $account, -s "$name.gz");
    return $late > 0 ? $late : 0;
}

# Counts beside the work what is in the archive.
sub counter {
    my $parent = getppid;
    while (getppid == $parent) {
        Time::HiRes::sleep(@{tick} / 1000);
        opendir my $folder, ARCHIVE or die ARCHIVE . ": $!\n";
        note('%d in the archive', scalar grep { /gz$/ } readdir $folder);
        closedir $folder;
    }
    POSIX::_exit(0);
}

mkdir ARCHIVE;
my $counter = fork // die "fork: $!\n";
counter() unless $counter;
my ($units, $busy, $late, $began) = (0, 0, 0, now());
while (now() - $began < @{seconds}) {
    my $start = now();
    $late += archived(4_000_000 + $units);
    $busy += now() - $start;
    $units++;
    my $rest = $began + $units / @{rate} - now();
    Time::HiRes::sleep($rest) if $rest > 0;
}
kill 'TERM', $counter;
waitpid $counter, 0;
open my $out, '>', '@{report}' or die "$!\n";
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $late;
close $out;
