#!/usr/bin/perl
# The office of a marina: "moor N" enters a boat into the register of berths. Clerks are there from the start, each takes a gate at a time.
use strict;
use warnings;
use Digest::MD5 qw(md5);
use Fcntl qw(:DEFAULT F_SETLKW F_WRLCK F_UNLCK SEEK_SET);
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(sleep);

use constant RECORD => 64;

my $register;

sub lock_range {
    my ($file, $type, $from, $length) = @_;
    fcntl $file, F_SETLKW, pack('s s x![q] q q l x![q]', $type, SEEK_SET, $from, $length, 0) or die "lock: $!\n";
}

sub berth {
    my ($number) = @_;
    sysseek $register, $number * RECORD, SEEK_SET;
    sysread $register, my $line, RECORD;
    my %berth;
    @berth{qw(number boats dues pier)} = split /;/, $line;
    chomp $berth{pier};
    return \%berth;
}

sub put_back {
    my ($berth) = @_;
    sysseek $register, $berth->{number} * RECORD, SEEK_SET;
    syswrite $register, sprintf "%05d;%010d;%010d;%-35s\n", @{$berth}{qw(number boats dues pier)};
}

sub @{fn} {
    my ($number) = @_;
    lock_range($register, F_WRLCK, $number * RECORD, RECORD);
    my $berth = berth($number);
    $berth->{boats}++;
    put_back($berth);
    lock_range($register, F_UNLCK, $number * RECORD, RECORD);
    return $berth->{boats};
}

# Dues follow the tides: high water of the month, hour by hour.
sub dues_of {
    my ($berth) = @_;
    my $tide = "$berth->{number} $berth->{boats}";
    $tide = md5($tide) for 1 .. @{us} * 2;
    return $berth->{boats} * 1200 % 1_000_000 + ord($tide) * 15;
}

sub @{fn2} {
    my @parts = '@{lock}' eq 'register' ? ([0, 0, 0 .. @{berths} - 1]) : map { [$_ * RECORD, RECORD, $_] } 0 .. @{berths} - 1;
    for my $part (@parts) {
        my ($from, $length, @numbers) = @$part;
        lock_range($register, F_WRLCK, $from, $length);
        for my $number (@numbers) {
            my $berth = berth($number);
            $berth->{dues} = dues_of($berth);
            put_back($berth);
        }
        lock_range($register, F_UNLCK, $from, $length);
    }
}

sub keep_books {
    open my $turn, '+<', '@{work}/office.turn' or die "turn: $!\n";
    lock_range($turn, F_WRLCK, 0, 0);
    while (1) {
        sleep @{every} / 1000;
        @{fn2}();
    }
}

sub clerk {
    my ($door) = @_;
    while (my $gate = $door->accept) {
        setsockopt $gate, IPPROTO_TCP, TCP_NODELAY, 1;
        while (my $line = <$gate>) {
            my ($boat) = $line =~ /^moor (\d+)/ or next;
            my $number = $boat * 31 % @{berths};
            syswrite $gate, sprintf "boat %d berth %d, the %dth\n", $boat, $number, @{fn}($number);
        }
    }
}

sub process {
    my ($work, @arguments) = @_;
    defined(my $pid = fork) or die "fork: $!\n";
    return $pid if $pid;
    $SIG{TERM} = 'DEFAULT';
    sysopen $register, '@{work}/@{register}', O_RDWR or die "register: $!\n";
    $work->(@arguments);
    exit;
}

my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 64, ReuseAddr => 1) or die "door: $!\n";
my @staff = map { process(\&keep_books) } 0 .. @{standby};
push @staff, map { process(\&clerk, $door) } 1 .. @{clients} + 2;
$SIG{TERM} = sub { kill 'TERM', @staff; exit };
wait;
