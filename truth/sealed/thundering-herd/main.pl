# Tells visitors the time, in a language of their choice.
use strict;
use warnings;
use IO::Socket::INET;
use IO::Select;

my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 128, ReuseAddr => 1) or die $!;
my %greeting = (en => 'It is', de => 'Es ist', fr => 'Il est');
my $fresh = 0;
$SIG{USR1} = sub { $fresh = 1 };

sub @{fn} {
    my ($ready) = @_;
    $ready->can_read if $ready;
    return scalar $listener->accept;
}

sub work {
    my $beat = "alive-$$";
    open my $sign, '>', $beat or die $!;
    close $sign;
    my $ready = @{alone} ? undef : IO::Select->new($listener);
    $listener->blocking(@{alone});
    while (1) {
        my $visitor = @{fn}($ready);
        # A sign of life, for whoever watches.
        utime undef, undef, $beat;
        if ($fresh) {
            $greeting{en} = 'The time is';
            $fresh = 0;
        }
        next unless $visitor;
        $visitor->blocking(1);
        my $line = <$visitor>;
        print $visitor "$greeting{en} " . localtime() . "\n" if $line;
        close $visitor;
    }
}

my @workers;
for (1 .. @{workers}) {
    my $pid = fork // die $!;
    work() if !$pid;
    push @workers, $pid;
}
$SIG{TERM} = sub { kill 'TERM', @workers; exit 0 };
while (1) {
    sleep(@{news} || 1000);
    kill 'USR1', @workers if @{news};
}
