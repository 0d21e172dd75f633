# Plays the water show: works each moment's figure out, and sends the jet that changes most its command.
use strict;
use warnings;
use POSIX qw(:sys_wait_h);
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

my @heights = (0) x @{jets};
my (%out, $starting);
$SIG{CHLD} = 'IGNORE' if '@{collect}' eq 'each';
$starting = 0;

# A command takes its time on the bus, which the music does not wait for.
sub @{fn} {
    my ($jet, $height) = @_;
    my $start = now();
    my $child = fork;
    die "no valve: $!" unless defined $child;
    if (!$child) {
        $0 = "valve $jet";
        my $word = sprintf 'J%02d H%05.1f', $jet, $height;
        open my $bus, '>', "@{work}/@{box}/jet-$jet" or POSIX::_exit(1);
        printf $bus "%s*%02x\n", $word, unpack('%8C*', $word);
        close $bus;
        POSIX::_exit(0);
    }
    $out{$child} = $jet if '@{collect}' eq 'some';
    $starting += now() - $start;
}

sub moment {
    my ($beat) = @_;
    my ($most, $at, $wanted) = (-1, 0, 0);
    for my $jet (0 .. $#heights) {
        my $height = 4 + 3 * sin($beat * 0.21 + $jet * 0.7) + 2 * cos($beat * 0.05 * $jet);
        ($most, $at, $wanted) = (abs($height - $heights[$jet]), $jet, $height) if abs($height - $heights[$jet]) > $most;
    }
    $heights[$at] = $wanted;
    @{fn}($at, $wanted * 10);
    if ($beat % 4 == 3) {
        waitpid($_, WNOHANG) > 0 and delete $out{$_} for keys %out;
    }
}

my ($beat, $busy, $began) = (0, 0, now());
while (now() - $began < @{seconds}) {
    my $start = now();
    moment($beat++);
    $busy += now() - $start;
    my $rest = $began + $beat / @{rate} - now();
    sleep $rest if $rest > 0;
}
open my $report, '>', '@{report}' or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $beat, $busy, $starting;
close $report;
