# The cabins of all lifts: now and then, after a night's silence or a power cut, they tell all that they have noted.
use strict;
use warnings;
use IO::Socket::UNIX;
use Socket qw(SOCK_DGRAM);
use Time::HiRes qw(time sleep);

my $room;
my $parent = getppid;
until ($room = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Peer => '@{work}/room.sock')) {
    sleep 0.02;
}
my ($burst, $due) = (0, time);
my $text = 'door opened at floor; load measured; brake tested; ' x 12;
while (1) {
    $burst++;
    my $events = join '', map { sprintf "%06d.%03d %s\n", $burst, $_, substr $text, $_ % 40, @{bytes} } 1 .. @{burst};
    for my $part (unpack '(a30000)*', $events) {
        # The last part of a burst has no mark.
        my $more = length($part) == 30000 ? '+' : '=';
        $room->send(sprintf('%d %s %s', $burst % @{buildings}, $more, $part)) or exit 0;
    }
    $due += 1 / @{rate};
    $due = time if $due < time - 0.5;
    my $rest = $due - time;
    sleep $rest if $rest > 0;
    exit 0 if getppid != $parent;
}
