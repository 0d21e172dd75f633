#!/usr/bin/perl
# Barriers of a city's garages: tells cars where to go, and works out what the garages have taken.
use strict;
use warnings;
use Digest::MD5 qw(md5_hex);
use IO::Select;
use IO::Socket::INET;
use POSIX qw(:sys_wait_h);
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(time);

my $STEP = 7200;
my @price = map { my $hour = $_; map { $hour < 7 || $hour >= 21 ? 132 : $_ >= 5 ? 312 : 468 } 0 .. 6 } 0 .. 23;
my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 64, ReuseAddr => 1) or die "door: $!";
my $all = IO::Select->new($door);
my (%text, %level, $entered);

sub tickets_of {
    my ($garage) = @_;
    my @tickets;
    open(my $file, '<', "@{work}/@{tickets}/garage-$garage.csv") or return;
    while (my $line = <$file>) {
        chomp $line;
        my ($number, $from, $to, $kind) = split /;/, $line;
        push @tickets, [$number, $from, $to] if $kind ne 'season';
    }
    close $file;
    return @tickets;
}

sub @{fn} {
    my ($garage) = @_;
    my ($cents, $stays, @by_hour) = (0, 0, (0) x 24);
    for my $ticket (tickets_of($garage)) {
        my (undef, $from, $to) = @$ticket;
        for (my $at = $from; $at <= $to; $at += $STEP) {
            my $hour = int($at / 3600) % 24;
            my $price = $price[$hour * 7 + int($at / 86400) % 7];
            $by_hour[$hour] += $price;
            $cents += $price;
        }
        $stays++;
    }
    open(my $sheet, '>', "@{work}/garage-$garage.sum") or return;
    print $sheet "$stays stays, $cents cents\n", map { "$_: $by_hour[$_]\n" } 0 .. 23;
    close $sheet;
}

sub settle {
    my ($garage) = @_;
    return @{fn}($garage) if '@{place}' eq 'here';
    1 while waitpid(-1, WNOHANG) > 0;
    my $child = fork();
    if (defined $child && !$child) {
        @{fn}($garage);
        POSIX::_exit(0);
    }
}

sub enter {
    my ($number) = @_;
    my $garage = $number % 60;
    my ($best) = sort { ($level{$garage}{$a} // 0) <=> ($level{$garage}{$b} // 0) } 1 .. 5;
    $level{$garage}{$best}++;
    my $code = "car $number";
    $code = md5_hex($code) for 1 .. 200;
    $entered++;
    return "open level $best ticket $code $entered\n";
}

sub hear {
    my ($line) = @_;
    if ($line == $door) {
        my $car = $door->accept or return;
        setsockopt($car, IPPROTO_TCP, TCP_NODELAY, 1);
        $text{$car} = '';
        return $all->add($car);
    }
    if (!sysread($line, $text{$line}, 4096, length $text{$line})) {
        $all->remove($line);
        delete $text{$line};
        return close $line;
    }
    while ($text{$line} =~ s/^enter (\d+)\n//) {
        syswrite($line, enter($1));
    }
}

$SIG{PIPE} = 'IGNORE';
my ($garage, $due) = (0, time + @{every} / 1000);
while (1) {
    my $rest = $due - time;
    hear($_) for $all->can_read($rest > 0 ? $rest : 0);
    next if time < $due;
    settle($garage);
    $garage = ($garage + 1) % 60;
    $due = time + @{every} / 1000;
}
