use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use Time::HiRes qw(time sleep);

my $door = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => @{port}, Listen => @{backlog}, ReuseAddr => 1, Proto => "tcp") or die $!;
my $guests = IO::Select->new($door);
my (%asked, $next);
$next = time;

sub @{fn} {
    my ($guest) = @_;
    my $got = sysread $guest, my $ask, 200;
    if ($got) {
        $asked{$ask}++;
        syswrite $guest, "ok $ask";
        return;
    }
    $guests->remove($guest);
    close $guest;
}

# New guests are let in at fixed times, those inside are served at once.
while (1) {
    my $admit = time >= $next;
    my $all = $admit ? $guests : IO::Select->new(grep { $_ != $door } $guests->handles);
    my $rest = $next - time;
    unless ($all->count) {
        sleep $rest if $rest > 0;
        next;
    }
    for my $ready ($all->can_read($admit ? undef : $rest > 0 ? $rest : 0)) {
        if ($ready == $door) {
            for (1 .. 8) {
                my $guest = $door->accept or last;
                $guests->add($guest);
                last unless IO::Select->new($door)->can_read(0);
            }
            $next = time + @{tick} / 1000;
        } else {
            @{fn}($ready);
        }
    }
    %asked = () if keys %asked > 1000;
}
