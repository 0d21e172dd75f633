# The ledger: a process for each who books. A frame: how many entries (2 bytes), then number (4) and cents (4) of each. The answer: how many there are (4).
use strict;
use warnings;
use IO::Handle;
use IO::Socket::UNIX;
use Time::HiRes qw(sleep);

$SIG{CHLD} = 'IGNORE';
my $text = 'entry ' x (@{bytes} / 6 + 1);

sub exactly {
    my ($from, $size) = @_;
    my $bytes = '';
    while (length $bytes < $size) {
        sysread($from, $bytes, $size - length $bytes, length $bytes) or exit 0;
    }
    return $bytes;
}

my $booked = 0;

sub @{fn} {
    my ($journal, $number, $cents) = @_;
    syswrite $journal, sprintf "%010d %08d %s\n", $number, $cents, substr $text, 0, @{bytes};
    $booked++;
    $journal->sync if @{every} && $booked % @{every} == 0;
}

sub serve {
    my $client = shift;
    open my $journal, '>>', '@{work}/@{journal}' or die $!;
    while (1) {
        my $count = unpack 'n', exactly($client, 2);
        my @entries = unpack 'N*', exactly($client, 8 * $count);
        while (my ($number, $cents) = splice @entries, 0, 2) {
            @{fn}($journal, $number, $cents);
        }
        syswrite $client, pack 'N', $booked;
    }
}

sub keep {
    open my $journal, '>>', '@{work}/@{journal}' or die $!;
    my $ledger = getppid;
    while (getppid == $ledger) {
        sleep @{period};
        $journal->sync;
    }
    exit 0;
}

keep() if !@{every} && !fork;
my $door = IO::Socket::UNIX->new(Local => '@{work}/@{ledger}', Listen => 64) or die $!;
while (1) {
    my $client = $door->accept or next;
    if (!fork) {
        close $door;
        serve($client);
    }
    close $client;
}
