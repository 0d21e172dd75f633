use strict;
use warnings;
use IO::Handle;
use IO::Socket::INET;
use IO::Socket::UNIX;
use POSIX ();
use Socket qw(AF_UNIX SOCK_STREAM PF_UNSPEC IPPROTO_TCP TCP_NODELAY);

# The counter of a locksmith: "key 17" is answered with the cuts of the key of that lock.
# Counter, bench and vault are processes of their own: only the vault may speak with the maker's safe.

sub helper {
    my ($name, $work) = @_;
    socketpair(my $mine, my $theirs, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die "socketpair: $!";
    $_->autoflush(1) for $mine, $theirs;
    my $pid = fork() // die "fork: $!";
    if (!$pid) {
        close($mine);
        $0 = $name;
        while (defined(my $line = <$theirs>)) {
            chomp($line);
            print {$theirs} $work->($line), "\n";
        }
        POSIX::_exit(0);
    }
    close($theirs);
    return $mine;
}

sub ask {
    my ($whom, $text) = @_;
    print {$whom} "$text\n";
    my $answer = <$whom> // die "no answer to $text";
    chomp($answer);
    return $answer;
}

# The blade as the cutter sees it: between two cuts it climbs by no more than the angle of the wheel.
sub blade {
    my ($code) = @_;
    my @pins = split //, $code;
    my $metal = 0;
    for my $i (0 .. 12 * @pins - 1) {
        my $height = 9;
        for my $pin (0 .. $#pins) {
            my $here = 9 - $pins[$pin] * 0.6 + abs($i - $pin * 12 - 6) * 0.2;
            $height = $here if $here < $height;
        }
        $metal += 9 - $height;
    }
    return sprintf('code %s cuts %d metal %.2f', $code, scalar(@pins), $metal / 12);
}

my $safe;

sub @{fn} {
    my ($series) = @_;
    $safe //= IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => '@{work}/@{safe}') // die "the safe is shut: $!";
    return ask($safe, $series);
}

sub counter {
    my ($door) = @_;
    my $vault = helper('vault', \&@{fn});
    my $bench = helper('bench', sub { return blade(ask($vault, $_[0] % 997)) });
    close($vault);
    while (my $customer = $door->accept) {
        setsockopt($customer, IPPROTO_TCP, TCP_NODELAY, 1);
        $customer->autoflush(1);
        while (defined(my $line = <$customer>)) {
            print {$customer} $line =~ /^key (\d+)/ ? ask($bench, $1) : 'what?', "\n";
        }
        close($customer);
    }
}

my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 50, ReuseAddr => 1) or die "door: $!";
$SIG{PIPE} = 'IGNORE';
for my $n (1 .. @{clients} + 1) {
    my $pid = fork() // die "fork: $!";
    if (!$pid) {
        $0 = "counter $n";
        counter($door);
        POSIX::_exit(0);
    }
}
$SIG{TERM} = sub { local $SIG{TERM} = 'IGNORE'; kill 'TERM', -getpgrp(0) if getpgrp(0) == $$; exit 0 };
1 while wait() > 0;
