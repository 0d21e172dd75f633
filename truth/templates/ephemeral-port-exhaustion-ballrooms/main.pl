#!/usr/bin/perl
use strict;
use warnings;
use Socket qw(:all);
use Time::HiRes qw(time sleep);
use IO::Handle;

# Waltz or tango: balances the orchestra's programme against what the dancers still can book.
my ($line, $asked, $waited) = (undef, 0, 0);

sub @{fn} {
    socket(my $to, PF_INET, SOCK_STREAM, 0) or die "socket: $!";
    setsockopt($to, IPPROTO_TCP, TCP_NODELAY, 1);
    # Only these ports may leave our network.
    setsockopt($to, 0, 51, pack("L", @{lowest} | (@{lowest} + @{ports} - 1) << 16)) if @{fenced};
    unless (connect($to, pack_sockaddr_in(@{desk}, inet_aton("127.0.0.1")))) {
        close $to;
        return undef;
    }
    $to->autoflush(1);
    return $to;
}

sub free {
    my ($night) = @_;
    until ($line) {
        my $began = time;
        next if $line = @{fn}();
        sleep(@{pause} / 1000);
        $waited += time - $began;
    }
    print $line "free $night\n";
    my $answer = <$line>;
    if (++$asked % @{turns} == 0) {
        close $line;
        undef $line;
    }
    return $answer;
}

sub programme {
    my ($answer) = @_;
    my %left = map { split /:/ } split /,/, (split / /, $answer)[1];
    my ($tempo, @evening) = (0);
    for my $dance (sort { $left{$b} <=> $left{$a} } keys %left) {
        push @evening, sprintf("%-20s %3d", $dance, $left{$dance});
    }
    $tempo = ($tempo * 31 + $_) % 65521 for 1 .. @{seats} / 4;
    return join("\n", @evening, $tempo);
}

my ($began, $units, $busy, $size) = (time, 0, 0, 0);
while (time - $began < @{seconds}) {
    my $start = time;
    $size += length programme(free($units));
    $units++;
    $busy += time - $start;
    my $rest = $began + $units / @{rate} - time;
    sleep($rest) if $rest > 0;
}
open(my $out, ">", "@{report}") or die "report: $!";
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $waited;
close $out;
