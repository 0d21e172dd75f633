#!/usr/bin/perl
# Transports of samples for a laboratory: each ward has a process of its own, that labels its samples and books their courier.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use IO::Handle;
use IO::Socket::INET;
use List::Util qw(min);
use POSIX ();
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(time sleep);

my %KIND = (0 => 'blood', 1 => 'swab', 2 => 'tissue', 3 => 'urine');
my $courier;

sub connected {
    my $line = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{port}) or die "courier: $!";
    setsockopt($line, IPPROTO_TCP, TCP_NODELAY, 1);
    return $line;
}

# One exchange with the courier: the status, and the text.
sub exchange {
    my ($method, $path, $body) = @_;
    my $text = "$method $path HTTP/1.1\r\nHost: courier\r\nContent-Type: application/json\r\nContent-Length: " . length($body) . "\r\n\r\n$body";
    syswrite($courier, $text) // die "courier: $!";
    my ($status, $length) = (0, 0);
    while (defined(my $line = <$courier>)) {
        $line =~ s/\r?\n$//;
        last if $line eq '';
        $status = $1 if $line =~ m{^HTTP/1\.1 (\d+)};
        $length = $1 if $line =~ /^content-length:\s*(\d+)/i;
    }
    die "the courier has hung up\n" if !$status;
    read($courier, my $answer, $length);
    return ($status, $answer);
}

sub sample_of {
    my ($number) = @_;
    my $code = "sample $number";
    my $check = 0;
    for my $round (1 .. @{rounds}) {
        $code = sha256_hex($code);
        $check = ($check * 31 + hex(substr($code, 0, 4))) % 9973;
    }
    return { number => $number, depot => $number % 4, kind => $KIND{$number % 4}, check => $check, tries => 0 };
}

sub @{fn} {
    my ($sample) = @_;
    my $body = sprintf '{"number": %d, "depot": %d, "kind": "%s", "check": %d}', @$sample{qw(number depot kind check)};
    my ($status) = exchange('PUT', "/@{topic}/$sample->{number}", $body);
    return $status == 201;
}

sub ward {
    my ($ward, $results) = @_;
    my ($units, $busy, $repeated, $count, @later) = (0, 0, 0, 0);
    $courier = connected();
    open(my $log, '>>', "@{work}/ward-$ward.log") or die "log: $!";
    my $began = time;
    while (time - $began < @{seconds}) {
        my @turn = grep { $_->{due} <= time } @later;
        @later = grep { my $one = $_; !grep { $_ == $one } @turn } @later;
        my $start = time;
        push @turn, sample_of($count * @{workers} + $ward);
        for my $sample (@turn) {
            my $taken = @{fn}($sample);
            my $first = time;
            my $left = @{again};
            $taken = @{fn}($sample) while !$taken && $left-- > 0;
            $repeated += time - $first;
            if ($taken) {
                $units++;
                printf $log "%s %d goes from depot %d, check %d\n", @$sample{qw(kind number depot check)};
            } else {
                $sample->{due} = time + min(2, @{first} * 1.6**$sample->{tries}++) * (0.8 + rand() * 0.4);
                push @later, $sample;
            }
        }
        $busy += time - $start;
        my $rest = $began + ++$count / @{rate} - time;
        sleep($rest) if $rest > 0;
    }
    syswrite($results, "$units $busy $repeated\n");
    close $log;
}

# The state of the day for the entrance.
sub entrance {
    $courier = connected();
    while (1) {
        exchange('GET', '/@{topic}/today', '');
        sleep(@{board} / 1000);
    }
}

pipe(my $from, my $to) or die "pipe: $!";
my (@wards, $board);
for my $ward (0 .. @{workers} - 1) {
    my $child = fork() // die "fork: $!";
    if (!$child) {
        ward($ward, $to);
        POSIX::_exit(0);
    }
    push @wards, $child;
}
if (@{board}) {
    $board = fork() // die "fork: $!";
    entrance() if !$board;
}
waitpid($_, 0) for @wards;
kill('TERM', $board) if $board;
close $to;
my ($units, $busy, $repeated) = (0, 0, 0);
while (my $line = <$from>) {
    my @one = split ' ', $line;
    $units += $one[0];
    $busy += $one[1];
    $repeated += $one[2];
}
open(my $out, '>', '@{report}') or die "report: $!";
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $repeated;
close $out;
