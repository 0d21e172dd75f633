# The scoreboard of a pageant: asks the tally office for marks and keeps the ranking.
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

my (@free, @spent, %points, @ranking);
my $swept = now();

sub take {
    return shift @free if @free;
    my $line = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{port}, Timeout => 3) or die "office: $!";
    setsockopt($line, IPPROTO_TCP, TCP_NODELAY, 1);
    $line->autoflush(1);
    return $line;
}

sub @{fn} {
    my ($line) = @_;
    if ('@{spent}' eq 'close') {
        close $line;
    } else {
        push @spent, $line;
    }
}

sub sweep {
    $swept = now();
    close $_ for splice @spent;
}

sub mark {
    my ($juror, $act) = @_;
    my $line = take();
    print $line "mark $juror $act\n";
    my $answer = <$line> // die "the office has hung up";
    my ($mark, $then) = split ' ', $answer;
    if ($then eq 'bye') {
        @{fn}($line);
    } else {
        push @free, $line;
    }
    return $mark;
}

my ($units, $busy, $began) = (0, 0, now());
# Some lines are open from the start.
@free = map { take() } 1 .. @{lines};
while (now() - $began < @{seconds}) {
    my $start = now();
    my ($juror, $act) = ($units % 7, $units % 40);
    $points{$act} += mark($juror, $act);
    @ranking = sort { $points{$b} <=> $points{$a} || $a <=> $b } keys %points;
    $busy += now() - $start;
    $units++;
    sweep() if '@{spent}' eq 'sweep' && now() - $swept > @{linger};
    my $rest = $began + $units / @{rate} - now();
    sleep($rest) if $rest > 0;
}
open my $out, '>', '@{report}' or die;
printf $out '{"units": %d, "seconds": %f}', $units, $busy;
close $out;
