# Makes documents: each connection has a process, and that one a helper that sets the text and leaves it in a folder.
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(usleep time);

$SIG{CHLD} = 'IGNORE';
my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 64, ReuseAddr => 1) or die $!;

sub typeset {
    my ($from, $to) = @_;
    while (my $line = <$from>) {
        chomp $line;
        my ($number, $text) = split /\t/, $line, 2;
        my ($began, $sum) = (time(), 0);
        while (time() - $began < @{render} / 1000) { $sum += ord($_) for split //, $text x 5 }
        open my $out, '>', "@{spool}/$number.tmp" or die $!;
        print $out "$text $sum\n";
        close $out;
        rename "@{spool}/$number.tmp", "@{spool}/$number.txt";
        syswrite $to, "$number\n";
    }
}

sub @{fn} {
    my ($number, $from) = @_;
    my $file = "@{spool}/$number.txt";
    if (@{notify}) {
        sysread $from, my $said, 100;
    } else {
        usleep(@{tick} * 1000) until -e $file;
    }
    open my $in, '<', $file or die "$file: $!";
    my $text = <$in>;
    close $in;
    unlink $file;
    return $text;
}

sub connection {
    my ($client) = @_;
    pipe my $in, my $to_helper;
    pipe my $from_helper, my $out;
    if (!fork) {
        close $to_helper;
        typeset($in, $out);
        exit 0;
    }
    close $in;
    close $out;
    $to_helper->autoflush(1);
    my $count = 0;
    while (my $line = <$client>) {
        chomp $line;
        my $number = "$$-" . ++$count;
        print $to_helper "$number\t$line\n";
        my $text = @{fn}($number, $from_helper);
        syswrite $client, $text;
    }
}

if (@{notify} && @{tick}) {
    if (!fork) {
        while (1) { usleep(@{tick} * 1000); stat '@{spool}' }
    }
}
while (1) {
    my $client = $listener->accept or next;
    setsockopt $client, IPPROTO_TCP, TCP_NODELAY, 1;
    if (!fork) { local $SIG{CHLD} = 'DEFAULT'; connection($client); exit 0 }
    close $client;
}
