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

my ($reading, $units, $busy) = (0, 0, 0);

sub @{fn} {
    my ($path, $count) = @_;
    my ($sum, $piece) = (0, "");
    open my $in, "<:raw", $path or die "$path: $!";
    my $start = now();
    if (@{block}) {
        while (sysread $in, $piece, @{block}) {
            $sum += $piece =~ tr/\n//;
        }
    } else {
        for (1 .. $count) {
            sysread $in, $piece, @{size} or last;
            $sum++ if ord $piece == 10;
        }
        $reading += now() - $start;
    }
    close $in;
    return $sum;
}

my $began = now();
while (now() - $began < @{seconds}) {
    my $start = now();
    @{fn}("@{file}", @{used});
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
report($units, $busy, $reading);
