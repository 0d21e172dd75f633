use IO::Select;
use IO::Socket::INET;
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

# One child for each line; each tells the parent of what it has done.
sub @{fn} {
    my ($to, $text) = @_;
    syswrite $to, "$text\n" or return;
    if (@{limit}) {
        return unless IO::Select->new($to)->can_read(@{limit});
    }
    sysread $to, my $answer, 1000 or return;
    return $answer;
}

sub child {
    my ($line, $news) = @_;
    my ($socket, $units, $began) = (undef, 0, now());
    while (1) {
        my $start = now();
        syswrite $news, pack "NCd", $line, 0, $start;
        while (1) {
            $socket ||= IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => @{port}, Proto => "tcp") or die $!;
            last if @{fn}($socket, "parcel $units");
            undef $socket;
        }
        syswrite $news, pack "NCd", $line, 1, now() - $start;
        $units++;
        wait_until($began + $units / @{rate});
    }
}

pipe my $news, my $tell or die $!;
my @children;
for my $line (0 .. @{workers} - 1) {
    my $pid = fork;
    if (!$pid) {
        child($line, $tell);
        exit;
    }
    push @children, $pid;
}
if (@{idle}) {
    my $pid = fork;
    if (!$pid) {
        IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 5, Proto => "tcp")->accept;
        exit;
    }
    push @children, $pid;
}
my ($units, $busy, $hanging, %asked) = (0, 0, 0);
my $select = IO::Select->new($news);
my $end = now() + @{seconds};
while ((my $rest = $end - now()) > 0) {
    $select->can_read($rest) or next;
    sysread $news, my $told, 13;
    my ($line, $done, $time) = unpack "NCd", $told;
    if ($done) {
        $units++;
        $busy += $time;
        delete $asked{$line};
    } else {
        $asked{$line} = $time;
    }
}
$hanging += now() - $_ for values %asked;
kill "TERM", @children;
waitpid $_, 0 for @children;
report($units, $busy + $hanging, $hanging);
