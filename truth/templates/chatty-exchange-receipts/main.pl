#!/usr/bin/perl
# The till of a shop: takes the sales of a shift, computes taxes, and has each receipt signed by the fiscal device.
use strict;
use warnings;
use Digest::MD5 qw(md5_hex);
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(time sleep);

my %TAX = (food => 0.07, drink => 0.19, book => 0.07, tool => 0.19);
my @KINDS = sort keys %TAX;
my ($units, $busy, $spent) = (0, 0, 0);

my $device = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{device}) or die "device: $!";
setsockopt($device, IPPROTO_TCP, TCP_NODELAY, 1);

sub sales_of {
    my ($shift, $receipt) = @_;
    my @lines;
    for my $line (1 .. @{lines}) {
        my $draw = hex(substr(md5_hex("$shift/$receipt/$line"), 0, 6));
        push @lines, { article => sprintf('article %04d', $draw % 7000), kind => $KINDS[$draw % @KINDS], many => 1 + $draw % 4, cents => 49 + $draw % 5000 };
    }
    return \@lines;
}

sub totals {
    my ($lines) = @_;
    my (%by_kind, $check);
    for my $round (1 .. @{rounds}) {
        %by_kind = ();
        for my $line (@$lines) {
            my $sum = $line->{many} * $line->{cents};
            $by_kind{$line->{kind}}{net} += $sum / (1 + $TAX{$line->{kind}});
            $by_kind{$line->{kind}}{gross} += $sum;
            $check = md5_hex(($check // '') . $line->{article} . $sum);
        }
    }
    return (\%by_kind, $check);
}

sub command {
    my ($text) = @_;
    syswrite($device, "$text\n");
    my $answer = <$device> // die "the device is gone\n";
    $answer =~ /^OK (\S+)/ or die "the device says $answer";
    return $1;
}

sub @{fn} {
    my ($number, $lines, $by_kind) = @_;
    if (@{whole}) {
        my @words = ("receipt $number");
        push @words, $_->{article}, $_->{many}, $_->{cents} for @$lines;
        push @words, "$_ $by_kind->{$_}{gross}" for sort keys %$by_kind;
        return command('RECEIPT ' . join('|', @words));
    }
    command("OPEN receipt $number");
    for my $line (@$lines) {
        command("TEXT $line->{article}");
        command("COUNT $line->{many}");
        command("PRICE $line->{cents}");
    }
    command("TAX $_ $by_kind->{$_}{gross}") for sort keys %$by_kind;
    return command('CLOSE');
}

my ($began, $journal) = (time, '');
while (time - $began < @{seconds}) {
    my $start = time;
    for my $receipt (1 .. @{receipts}) {
        my $lines = sales_of($units, $receipt);
        my ($by_kind, $check) = totals($lines);
        my $asked = time;
        my $signed = @{fn}("$units-$receipt", $lines, $by_kind);
        $spent += time - $asked;
        $journal = substr("$journal$check $signed\n", -4000);
    }
    $units++;
    $busy += time - $start;
    my $rest = $began + $units / @{rate} - time;
    sleep($rest) if $rest > 0;
}
open(my $out, '>', '@{report}') or die "report: $!";
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close $out;
