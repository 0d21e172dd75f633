# Archives pages: reads, recognizes and files them, a process for each step.
use strict;
use warnings;
use IO::Handle;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

sub now { clock_gettime(CLOCK_MONOTONIC) }

# A child that answers each line with another one.
sub step {
    my ($make) = @_;
    pipe my $in, my $to or die $!;
    pipe my $from, my $out or die $!;
    my $pid = fork // die $!;
    if (!$pid) {
        close $to;
        close $from;
        $out->autoflush(1);
        my $answer = $make->();
        while (my $line = <$in>) { print $out $answer->($line) }
        exit 0;
    }
    close $in;
    close $out;
    $to->autoflush(1);
    return sub { print $to $_[0]; return scalar <$from> };
}

sub reader {
    open my $orders, '>', 'orders' or die $!;
    open my $pages, '<', '@{fifo}' or die $!;
    $orders->autoflush(1);
    return sub { print $orders $_[0]; return scalar <$pages> };
}

sub recognizer {
    my $read = step(\&reader);
    return sub {
        my $page = $read->($_[0]);
        my $start = now();
        my %letters;
        do { $letters{$_}++ for split //, $page } while now() - $start < @{effort} / 1000;
        return $page;
    };
}

my $recognize = step(\&recognizer);
sub @{fn} { return $recognize->($_[0] . "\n") }

my ($began, $units, $busy, $culprit) = (now(), 0, 0, 0);
while (now() - $began < @{seconds}) {
    my $start = now();
    my $page = @{fn}($units) or die 'no page';
    $units++;
    my $took = now() - $start;
    $busy += $took;
    $culprit += $took - @{effort} / 1000 if $took > @{effort} / 1000;
    my $rest = @{every} / 1000 - $took;
    sleep $rest if $rest > 0;
}
open my $out, '>', '@{report}' or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit;
close $out;
