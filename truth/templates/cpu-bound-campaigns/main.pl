#!/usr/bin/perl
# Two workers that tell an editor how many readers a campaign has.
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);

open(my $file, '<', '@{work}/@{gone}') or die $!;
chomp(my @left = map { lc } <$file>);
close($file);
my %known = '@{way}' eq 'set' ? map { $_ => 1 } @left : ();

sub readers_of {
    my ($segment) = @_;
    return map { lc sprintf('Reader%d@mail%d.example', ($segment * 977 + $_ * 613) % 100003, $_ % 9) } 0 .. @{readers} - 1;
}

sub @{fn} {
    my ($reader) = @_;
    for my $one (@left) {
        return 1 if $one eq $reader;
    }
    return 0;
}

sub has_left {
    my ($reader) = @_;
    return %known ? exists $known{$reader} : @{fn}($reader);
}

sub providers {
    my %count;
    for (@_) { $count{$1}++ if /@(.+)$/ }
    my @best = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
    splice(@best, 4) if @best > 4;
    return join(',', map { "$_=$count{$_}" } @best);
}

sub answer {
    my ($line) = @_;
    my ($word, $number) = split ' ', $line;
    return "error: campaign NUMBER\n" if $word ne 'campaign';
    my @readers = readers_of($number);
    my @wanted = grep { !has_left($_) } @readers;
    return sprintf("%d %d of %d %s\n", $number, scalar @wanted, scalar @readers, providers(@wanted));
}

my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 20, ReuseAddr => 1) or die $!;
$SIG{PIPE} = 'IGNORE';
for (1 .. @{clients}) {
    my $worker = fork() // die $!;
    next if $worker;
    while (my $client = $door->accept) {
        setsockopt($client, IPPROTO_TCP, TCP_NODELAY, 1);
        $client->autoflush(1);
        while (my $line = <$client>) { print $client answer($line) }
        close($client);
    }
    exit 0;
}
1 while wait() > 0;
