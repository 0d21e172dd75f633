#!/usr/bin/perl
# Plans the rounds of the beekeepers of a co-operative. `round N` is answered by one line: the hives to open today, the most urgent first, and the way between them.
use strict;
use warnings;
use IO::Handle;
use IO::Socket::INET;
use IO::Socket::UNIX;
use POSIX qw(ceil);
use Socket qw(IPPROTO_TCP TCP_NODELAY);

use constant { KEEPERS => @{keepers}, TODAY => 20260331 };

package HiveBook;

sub new {
    my ($class, $path) = @_;
    my $line = IO::Socket::UNIX->new(Peer => $path) or die "no book: $!";
    $line->autoflush(1);
    return bless { line => $line }, $class;
}

sub ask {
    my ($self, $question) = @_;
    print { $self->{line} } "$question\n";
    my $answer = readline $self->{line};
    die "the book is closed\n" unless defined $answer;
    chomp $answer;
    return $answer;
}

sub parse {
    my %visit;
    @visit{qw(hive day weight mites queen x y)} = split ' ', shift;
    return \%visit;
}

sub hives {
    my ($self, $keeper) = @_;
    my (undef, @hives) = split ' ', $self->ask("apiary $keeper");
    return @hives;
}

sub last_visit {
    my ($self, $hive) = @_;
    return parse($self->ask("visit $hive") =~ s/^visit //r);
}

sub last_visits {
    my ($self, @hives) = @_;
    return map { parse($_) } split /; /, $self->ask("visits @hives") =~ s/^visits //r;
}

package main;

my (%weights, %shelf);

sub read_weights {
    open my $in, '<', '@{work}/weights.conf' or die "weights.conf: $!";
    while (<$in>) {
        $weights{$1} = $2 if /^\s*(\w+)\s*=\s*([\d.]+)/;
    }
    close $in;
}

sub @{fn} {
    my ($book, @hives) = @_;
    return map { $book->last_visit($_) } @hives if '@{way}' eq 'one';
    return $book->last_visits(@hives) if '@{way}' eq 'list';
    return map { $shelf{$_} } @hives;
}

sub urgency {
    my $visit = shift;
    return (TODAY - $visit->{day}) * $weights{days} + $visit->{mites} * $weights{mites} + $visit->{queen} * $weights{queen} - $visit->{weight} / 10;
}

sub apart {
    my ($one, $other) = @_;
    return sqrt(($one->{x} - $other->{x})**2 + ($one->{y} - $other->{y})**2);
}

# From each hive to the nearest that is left.
sub way {
    my ($at, @left) = @_;
    my $path = 0;
    while (@left) {
        my ($nearest, $least) = (0, apart($at, $left[0]));
        for my $i (1 .. $#left) {
            my $far = apart($at, $left[$i]);
            ($nearest, $least) = ($i, $far) if $far < $least;
        }
        $path += $least;
        $at = splice @left, $nearest, 1;
    }
    return $path;
}

sub plan_round {
    my ($book, $keeper) = @_;
    my @visits = sort { urgency($b) <=> urgency($a) } @{fn}($book, $book->hives($keeper));
    my @chosen = @visits[0 .. ceil(@visits * $weights{keep}) - 1];
    return sprintf 'keeper %d hives %s metres %d', $keeper, join(' ', map { $_->{hive} } @chosen), way(@chosen);
}

sub serve {
    my $client = shift;
    setsockopt $client, IPPROTO_TCP, TCP_NODELAY, 1;
    $client->autoflush(1);
    my $book = HiveBook->new('@{work}/@{book}');
    my $rounds = 0;
    while (my $line = readline $client) {
        my ($number) = $line =~ /(\d+)/ or next;
        print {$client} plan_round($book, $number % KEEPERS), "\n";
        print STDERR "$rounds rounds planned\n" if ++$rounds % 200 == 0;
    }
}

read_weights();
if ('@{way}' eq 'shelf') {
    my $book = HiveBook->new('@{work}/@{book}');
    for my $keeper (0 .. KEEPERS - 1) {
        $shelf{$_} = $book->last_visit($_) for $book->hives($keeper);
    }
}
local $SIG{CHLD} = 'IGNORE';
my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 64, ReuseAddr => 1) or die "listen: $!";
while (1) {
    my $client = $door->accept or next;
    my $child = fork // die "fork: $!";
    if ($child == 0) {
        close $door;
        serve($client);
        exit 0;
    }
    close $client;
}
