# Sends the photos of damages to the archive.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

my $archive = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{archive}) or die "archive: $!";
setsockopt $archive, IPPROTO_TCP, TCP_NODELAY, 1;
binmode $archive;
my $asking = 0;

# The status of an answer, and its text.
sub answer {
    my $status = <$archive> // die 'the archive has gone';
    my $length = 0;
    while (defined(my $line = <$archive>)) {
        last if $line =~ /^\r?\n$/;
        $length = $1 if $line =~ /^content-length:\s*(\d+)/i;
    }
    read $archive, my $text, $length if $length;
    return ((split ' ', $status)[1], $text);
}

sub put {
    my $bytes = shift;
    my $done = 0;
    while ($done < length $bytes) {
        $done += syswrite($archive, $bytes, length($bytes) - $done, $done) // die "archive: $!";
    }
}

sub @{fn} {
    my ($number, $photo) = @_;
    my $head = "PUT /claims/$number HTTP/1.1\r\nHost: archive\r\nContent-Type: image/jpeg\r\nContent-Length: " . length($photo) . "\r\n";
    if (@{ask}) {
        put("${head}Expect: 100-continue\r\n\r\n");
        my $start = now();
        answer() if IO::Select->new($archive)->can_read(@{patience} / 1000);
        $asking += now() - $start;
        put($photo);
    } else {
        put("$head\r\n$photo");
    }
    my ($status) = answer();
    die "the archive answered $status" if $status != 201;
}

my $photo = join('', map { chr } 0 .. 255) x (4 * @{kilobytes});
my ($begin, $busy, $units) = (now(), 0, 0);
while (now() - $begin < @{seconds}) {
    my $start = now();
    @{fn}($units, pack('N', $units) . $photo);
    $units++;
    $busy += now() - $start;
    my $left = $begin + $units / @{rate} - now();
    sleep $left if $left > 0;
}
open my $report, '>', '@{report}' or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $asking;
close $report;
