# The service of high scores: a post is a line with player and points; the answer is the player's rank.
use strict;
use warnings;
use IO::Socket::INET;
use Time::HiRes qw(time);

my %best;

sub @{fn2} {
    my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{scores}, ReuseAddr => 1, Listen => @{queue})
        or die "scores: $!";
    return $door;
}

sub rank {
    my ($player, $points) = @_;
    my $until = time + @{think} / 1000;
    $best{$player} = $points if !defined $best{$player} || $best{$player} < $points;
    my $rank = 0;
    do {
        $rank = 1 + grep { $_ > $best{$player} } values %best;
    } while (time < $until);
    return $rank;
}

my $door = @{fn2}();
while (1) {
    my $game = $door->accept or next;
    my $line = <$game>;
    if (defined $line && $line =~ /^(\S+) (\d+)/) {
        print $game rank($1, $2), "\n";
    }
    close $game;
}
