# Prints the charts of a club of stargazers, one for each member's garden, through the printer's own filter.
use strict;
use warnings;
use POSIX ();
use Time::HiRes qw(time sleep);

my $CLOSE_RANGE = 436;
# What the host may let a process have open; a member's session may have been given some of it.
my $MOST = @{limit};

sub chart {
    my ($garden) = @_;
    my @rows = map { sprintf('%d %d star', $_ * 17 % 640, ($_ * $garden) % 480) } 1 .. @{points} / 10;
    return join("\n", @rows, '');
}

sub @{fn} {
    my ($text) = @_;
    pipe(my $from, my $to) or die;
    my $child = fork() // die;
    if (!$child) {
        POSIX::dup2(fileno($from), 0);
        open(STDOUT, '>', '/dev/null');
        if ('@{how}' eq 'range') {
            syscall($CLOSE_RANGE, 3, 4294967295, 0);
        } else {
            POSIX::close($_) for 3 .. $MOST - 1;
        }
        exec('/bin/cat', '-') or POSIX::_exit(127);
    }
    close($from);
    print $to $text;
    close($to);
    waitpid($child, 0);
    return $?;
}

my ($units, $busy) = (0, 0);
my $end = time + @{seconds};
my $due = time;
while (time < $end) {
    my $start = time;
    @{fn}(chart($units)) == 0 or warn "chart $units: $?";
    $busy += time - $start;
    $units++;
    $due += 1 / @{rate};
    $due = time if $due < time;
    sleep($due - time) if $due > time;
}
open(my $out, '>', '@{report}') or die;
printf $out '{"units": %d, "seconds": %f}', $units, $busy;
close($out);
