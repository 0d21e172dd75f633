#!/usr/bin/perl
# The counter of a land office: "value N" is answered by what the house of deed N may be worth. A clerk, a process of its own, serves each notary.
use strict;
use warnings;
use Digest::SHA qw(sha256 sha256_hex);
use IO::Socket::INET;
use IO::Socket::UNIX;
use Socket qw(IPPROTO_TCP TCP_NODELAY SOCK_STREAM);

$SIG{CHLD} = 'IGNORE';

sub deed {
    my ($number) = @_;
    my $seal = "deed $number";
    $seal = sha256($seal) for 1 .. @{rounds} / 4;
    my $draw = unpack 'N', $seal;
    return {
        number => $number, seal => substr(sha256_hex($seal), 0, 16), parish => $draw % @{parishes},
        rooms => 1 + $number % 9, metres => 40 + $draw / 3 % 160, year => 1880 + $number * 7 % 140,
    };
}

sub ask_assessor {
    my ($path, $query) = @_;
    my %header = (CONTENT_LENGTH => 0, SCGI => 1, REQUEST_METHOD => 'GET', PATH_INFO => $path, QUERY_STRING => $query);
    my $text = join '', map { "$_\0$header{$_}\0" } sort keys %header;
    my $line = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => '@{work}/@{sock}') or die "assessor: $!\n";
    print {$line} length($text), ':', $text, ',';
    $line->flush;
    my $answer = do { local $/; <$line> };
    close $line;
    my ($head, $body) = split /\r\n\r\n/, $answer // '', 2;
    die "the assessor says $answer\n" unless ($head // '') =~ /^Status: 200/;
    chomp $body;
    return $body;
}

sub @{fn2} {
    my ($deed) = @_;
    my $metre = ask_assessor('/value', join '&', map { "$_=$deed->{$_}" } qw(parish rooms metres year));
    return $metre * $deed->{metres};
}

sub serve {
    my ($notary) = @_;
    setsockopt($notary, IPPROTO_TCP, TCP_NODELAY, 1);
    while (my $line = <$notary>) {
        my ($number) = $line =~ /^value (\d+)/ or next;
        my $deed = deed($number);
        printf {$notary} "%d %s %.0f\n", $number, $deed->{seal}, @{fn2}($deed);
        $notary->flush;
    }
}

my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 64, ReuseAddr => 1) or die "door: $!\n";
if (@{news} && !fork) {
    close $door;
    ask_assessor('/guidelines', '') while getppid != 1;
    exit;
}
while (1) {
    my $notary = $door->accept or next;
    if (!fork) {
        close $door;
        serve($notary);
        exit;
    }
    close $notary;
}
