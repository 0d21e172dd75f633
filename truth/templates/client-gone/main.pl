#!/usr/bin/perl
use strict;
use warnings;
use IO::Socket::INET;
use IO::Select;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(time);

# One loop: asks come in, and go out again when their lot is drawn.
$SIG{PIPE} = 'IGNORE';
my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 128, ReuseAddr => 1) or die $!;
my $all = IO::Select->new($server);
my (%asked, @due);

sub @{fn} {
    my ($visitor, $path) = @_;
    my $body = substr("$path\n" x (1 + @{bytes} / length $path), 0, @{bytes});
    my @parts = ("HTTP/1.1 200 OK\r\nContent-Length: " . length($body) . "\r\n\r\n", unpack('(a20000)*', $body));
    for my $part (@parts) {
        next if defined syswrite($visitor, $part);
        warn "visitor: $!\n";
        leave($visitor);
        return;
    }
}

sub leave {
    my ($visitor) = @_;
    $all->remove($visitor);
    delete $asked{$visitor};
    @due = grep { $_->[1] != $visitor } @due;
    close $visitor;
}

sub hear {
    my ($visitor) = @_;
    my $got = sysread($visitor, my $text, 4096);
    # Somebody may have shut only their half.
    return $all->remove($visitor) if defined $got && $got == 0 && grep { $_->[1] == $visitor } @due;
    return leave($visitor) unless $got;
    push @due, [time + @{hold} / 1000 * (0.9 + rand 0.3), $visitor, $1] if $text =~ m{^GET (\S+)};
}

while (1) {
    @due = sort { $a->[0] <=> $b->[0] } @due;
    my $wait = @due ? $due[0][0] - time : 1;
    for my $ready ($all->can_read($wait > 0 ? $wait : 0)) {
        if ($ready == $server) {
            my $visitor = $server->accept or next;
            setsockopt($visitor, IPPROTO_TCP, TCP_NODELAY, 1);
            $all->add($visitor);
            $asked{$visitor} = 1;
        } else {
            hear($ready);
        }
    }
    while (@due && $due[0][0] <= time) {
        my (undef, $visitor, $path) = @{ shift @due };
        @{fn}($visitor, $path);
    }
}
