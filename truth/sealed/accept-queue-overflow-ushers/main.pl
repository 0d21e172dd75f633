#!/usr/bin/perl
# Gives the ushers at the doors the plan of the house: who sits where, and which seats are free.
use strict;
use warnings;
use IO::Socket::INET;

my ($rows, $seats) = (@{rows}, 20);
my @taken = map { [(0) x $seats] } 1 .. $rows;

sub sell {
    $taken[rand $rows][rand $seats] = 1 for 1 .. 3;
    my $sold = 0;
    for my $row (@taken) { $sold += grep { $_ } @$row }
    @taken = map { [(0) x $seats] } 1 .. $rows if $sold > $rows * $seats * 3 / 4;
}

# The way to a seat is through the row's nearer end that has fewer people in it.
sub way {
    my ($row, $seat, $door) = @_;
    my ($left, $right) = ($door % 3, ($door + 1) % 3);
    for my $at (0 .. $seats - 1) {
        my $cost = $row->[$at] ? 3 : 1;
        if ($at < $seat) { $left += $cost } else { $right += $cost }
    }
    return $left < $right ? $left : $right;
}

sub plan {
    my ($door) = @_;
    my $plan = "";
    for my $row (@taken) {
        my $walk = 0;
        $walk += way($row, $_, $door) for 0 .. $seats - 1;
        $plan .= join("", map { $_ ? "#" : "." } @$row) . " $walk\n";
    }
    return $plan . "END\n";
}

sub @{fn} {
    my ($port) = @_;
    my $house = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $port, Listen => @{queue}, ReuseAddr => 1)
        or die "port $port: $!";
    while (1) {
        my $door = $house->accept or next;
        my $line = <$door>;
        if (defined $line && $line =~ /^DOOR (\d+)/) {
            sell();
            print $door plan($1);
        }
        close $door;
    }
}

$SIG{PIPE} = "IGNORE";
@{fn}(@{port});
