# The editor's server: an author sees what a page will look like. A process for each author.
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);

$SIG{CHLD} = 'IGNORE';

sub preview {
    my ($desk, $page) = @_;
    syswrite $desk, pack 'nN', $page % 50, $page;
    my $answer = '';
    while (length $answer < 8) {
        sysread($desk, $answer, 8 - length $answer, length $answer) or exit 0;
    }
    return unpack 'NN', $answer;
}

my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 64, ReuseAddr => 1) or die $@;
while (1) {
    my $author = $listener->accept or next;
    if (fork) {
        close $author;
        next;
    }
    close $listener;
    my $desk = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{desk}) or die $@;
    $_->setsockopt(IPPROTO_TCP, TCP_NODELAY, 1) for $desk, $author;
    while (my $line = <$author>) {
        my ($page) = $line =~ /(\d+)/;
        syswrite $author, sprintf "preview %d %08x\n", preview($desk, $page // 0);
    }
    exit 0;
}
