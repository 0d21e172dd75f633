# Keeps accounts and their history: one process books, another closes the day.
use strict;
use warnings;
use Fcntl qw(:flock);
use Time::HiRes qw(sleep time);

sub take {
    my ($name) = @_;
    open my $file, '>>', $name or die $!;
    flock $file, LOCK_EX or die $!;
    return $file;
}

sub @{fn} {
    my ($done, @files) = @_;
    my $first = take($files[0]);
    sleep @{nap} / 1000 if @{nap};
    my $second = take($files[1]);
    my ($start, $sum) = (time, 0);
    while (time() - $start < @{inside} / 1000) { $sum += $_ for 1 .. 50 }
    open my $out, '>>', $done or die $!;
    print $out '.';
    close $out;
}

sub repeat {
    my ($every, @task) = @_;
    while (1) {
        @{fn}(@task);
        sleep $every / 1000;
    }
}

my ($began, @children) = (time);
my @other = @{order} ? ('@{one}', '@{two}') : ('@{two}', '@{one}');
for my $task ([@{gap} * 3, 'done-a', '@{one}', '@{two}'], [@{gap} * 4, 'done-b', @other]) {
    my $pid = fork // die $!;
    repeat(@$task) if !$pid;
    push @children, $pid;
}
sleep @{seconds};
kill 'KILL', @children;
open my $out, '>', '@{report}' or die $!;
printf $out '{"units": %d, "seconds": %f}', (-s 'done-a') + (-s 'done-b'), time - $began;
close $out;
