#!/usr/bin/perl
# The dunning run: reminds the customers of each district of what they owe.
use strict;
use warnings;

package Ledger;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);

sub new {
    my ($class, $port) = @_;
    my $line = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Proto => 'tcp') or die "ledger: $!\n";
    $line->setsockopt(IPPROTO_TCP, TCP_NODELAY, 1);
    $line->autoflush(1);
    return bless { line => $line }, $class;
}

sub rows {
    my ($self, $statement) = @_;
    my $line = $self->{line};
    print $line "$statement\n";
    my @rows;
    while (defined(my $row = <$line>)) {
        chomp $row;
        return @rows if $row eq '';
        die "the ledger does not understand: $statement\n" if $row eq 'ERROR';
        push @rows, [split /\t/, $row];
    }
    die "the ledger went away\n";
}

sub customers {
    my ($self, $district) = @_;
    return map { $_->[0] } $self->rows("SELECT id FROM customers WHERE district = $district");
}

package main;
use POSIX qw(strftime);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

use constant FIELDS => 'customer, number, age, cents';

sub now { return clock_gettime(CLOCK_MONOTONIC) }

# The open invoices, by customer.
sub @{fn} {
    my ($ledger, @customers) = @_;
    my %open;
    if ('@{select}' eq 'all') {
        my $in = join ', ', @customers;
        push $open{$_->[0]}->@*, $_ for $ledger->rows("SELECT " . FIELDS . " FROM invoices WHERE customer IN ($in)");
        return \%open;
    }
    for my $customer (@customers) {
        $open{$customer} = [$ledger->rows("SELECT " . FIELDS . " FROM invoices WHERE customer = $customer")];
    }
    return \%open;
}

# What is owed after so many days: four in the hundred a year from the thirtieth day on.
sub owed {
    my ($cents, $age) = @_;
    my $owed = $cents;
    $owed *= 1 + 0.04 / 365 for 31 .. $age;
    return $owed;
}

sub letter {
    my ($customer, $invoices) = @_;
    my ($sum, @lines) = (0);
    for my $invoice (sort { $b->[2] <=> $a->[2] } @$invoices) {
        my ($number, $age, $cents) = @$invoice[1 .. 3];
        next if $age < 14;
        my $owed = owed($cents, $age);
        $sum += $owed;
        push @lines, sprintf '%-10s %4d days %10.2f', $number, $age, $owed / 100;
    }
    return '' unless @lines;
    return join "\n", "Dear customer $customer,", 'may we remind you of', @lines, sprintf('%.2f in all', $sum / 100), strftime('%d.%m.%Y', localtime), '', '';
}

my $ledger = Ledger->new(@{ledger});
open my $printer, '>', '@{work}/reminders.txt' or die "reminders.txt: $!\n";
my ($units, $busy, $selecting, $began) = (0, 0, 0, now());
while (now() - $began < @{seconds}) {
    my $start = now();
    my @customers = $ledger->customers($units % 400);
    my $asked = now();
    my $open = @{fn}($ledger, @customers);
    $selecting += now() - $asked;
    print $printer letter($_, $open->{$_}) for @customers;
    $busy += now() - $start;
    $units++;
    my $rest = $began + $units / @{rate} - now();
    Time::HiRes::sleep($rest) if $rest > 0;
}
close $printer or die "reminders.txt: $!\n";
open my $out, '>', '@{report}' or die "$!\n";
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $selecting;
close $out;
