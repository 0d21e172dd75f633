use Fcntl qw(:flock);
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub wait_until {
    my $rest = $_[0] - now();
    Time::HiRes::sleep($rest) if $rest > 0;
}

sub report {
    my ($units, $busy, $culprit) = @_;
    open my $out, ">", "@{report}" or die $!;
    printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit;
    close $out;
}

# The limit is that of the service.
if (!$ENV{SERVICE_LIMIT}) {
    $ENV{SERVICE_LIMIT} = @{limit};
    exec "bash", "-c", 'ulimit -n $SERVICE_LIMIT; exec perl "$0"', $0;
}

my (@claims, $left);
$left = 0;

sub @{fn} {
    my ($task) = @_;
    my $claim;
    if (!open $claim, "<", sprintf "@{work}/@{folder}/part-%d.txt", $task % 40) {
        $left++;
        return;
    }
    flock $claim, LOCK_SH;
    my $line = <$claim>;
    flock $claim, LOCK_UN;
    push @claims, $claim;
    close shift @claims if @{closes} && @claims > @{cap};
    return $line;
}

my ($tasks, $busy, $began) = (0, 0, now());
while (now() - $began < @{seconds}) {
    my $start = now();
    @{fn}($tasks);
    $tasks++;
    $busy += now() - $start;
    wait_until($began + $tasks / @{rate});
}
@claims = ();
print "$left left\n";
report($tasks, $busy, 0);
