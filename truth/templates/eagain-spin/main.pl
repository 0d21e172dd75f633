# Mirrors three channels of the exchange into one table.
use strict;
use warnings;
use Errno qw(EAGAIN);
use IO::Select;
use IO::Socket::INET;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my ($units, $busy, $culprit, %table) = (0, 0, 0);
my @channels = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{port}) or die $! } 1 .. 3;
$_->blocking(0) for @channels;
my %rest = map { $_ => '' } @channels;
my $ready = IO::Select->new(@channels);

sub now { clock_gettime(CLOCK_MONOTONIC) }

sub enter {
    my ($line) = @_;
    my $start = now();
    my (undef, $number, $price) = split / /, $line;
    do { $table{$number % 500} = join ',', map { $price * $_ } 1 .. 20 } while now() - $start < @{effort} / 1000;
    $units++;
    $busy += now() - $start;
}

sub @{fn} {
    my ($channel) = @_;
    my $n = sysread $channel, my $bytes, 65536;
    return $!{EAGAIN} ? 0 : die $! unless defined $n;
    $rest{$channel} .= $bytes;
    enter($1) while $rest{$channel} =~ s/^(.*)\n//;
    return $n;
}

my $began = now();
while (now() - $began < @{seconds}) {
    my @now = @{wait} ? $ready->can_read(0.5) : @channels;
    for my $channel (@now) {
        my $start = now();
        my $n = @{fn}($channel);
        if (!$n) {
            my $took = now() - $start;
            $culprit += $took;
            $busy += $took;
        }
        1 while @{wait} == 2 && $n && ($n = @{fn}($channel));
    }
}
open my $out, '>', '@{report}' or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit;
close $out;
