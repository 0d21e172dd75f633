# Gets pictures from a camera, stamps them, and gives them to the recorder.
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(SOL_SOCKET SO_SNDBUF);
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

my $sending = 0;
my $base = join '', map { chr(33 + $_ * 7 % 90) } 1 .. 1024;

sub shoot {
    my $number = shift;
    my $size = int(@{kilobytes} * 1024 / @{shrink});
    my $picture = $base x ($size / 1024 + 1);
    substr($picture, 0, 40) = sprintf 'camera 1 picture %010d at %010.1f', $number, now();
    return substr $picture, 0, $size;
}

sub @{fn} {
    my ($recorder, $picture) = @_;
    my $start = now();
    my $frame = pack('N', length $picture) . $picture;
    my $done = 0;
    while ($done < length $frame) {
        $done += syswrite($recorder, $frame, length($frame) - $done, $done) // die "recorder: $!";
    }
    $sending += now() - $start;
}

my $recorder = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{recorder}) or die "recorder: $!";
setsockopt $recorder, SOL_SOCKET, SO_SNDBUF, 512 << 10;
my ($begin, $busy, $units) = (now(), 0, 0);
while (now() - $begin < @{seconds}) {
    my $start = now();
    @{fn}($recorder, shoot($units));
    $units++;
    $busy += now() - $start;
    my $left = $start + 1 / @{rate} - now();
    sleep $left if $left > 0;
}
open my $report, '>', '@{report}' or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $sending;
close $report;
