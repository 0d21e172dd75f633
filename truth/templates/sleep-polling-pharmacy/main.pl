#!/usr/bin/perl
# A pharmacy's counter, and beside it the process that knows which drugs must not go together.
use strict;
use warnings;
use IPC::SysV qw(IPC_PRIVATE IPC_NOWAIT IPC_RMID S_IRUSR S_IWUSR);
use POSIX qw(ENOMSG EINTR);
use Time::HiRes qw(time sleep);

my ($ASKED, $ANSWERED) = (1, 2);
my $box = msgget(IPC_PRIVATE, S_IRUSR | S_IWUSR) // die "queue: $!";
my ($waited, $units, $busy) = (0, 0, 0);

sub worst_of {
    my @drugs = @_;
    my $worst = 0;
    for my $i (1 .. $#drugs) {
        for my $third (1 .. @{drugs} / 2) {
            my $risk = ($drugs[$i] * 31 + $third * 17) % 101 * (($drugs[$i - 1] * 13 + $third * 7) % 89);
            $worst = $risk if $risk > $worst;
        }
    }
    return $worst;
}

sub check {
    local $SIG{TERM} = 'DEFAULT';
    while (msgrcv($box, my $ask, 256, $ASKED, 0)) {
        my ($kind, $number, @drugs) = unpack 'l! N*', $ask;
        msgsnd($box, pack('l! N N', $ANSWERED, $number, worst_of(@drugs)), 0);
    }
    exit 0;
}

sub @{fn} {
    my $answer;
    until (msgrcv($box, $answer, 256, $ANSWERED, '@{answer}' eq 'look' ? IPC_NOWAIT : 0)) {
        die "queue: $!" unless $! == ENOMSG || $! == EINTR;
        sleep @{pause} / 1000 if $! == ENOMSG;
    }
    return (unpack 'l! N N', $answer)[2];
}

my $checker = fork // die "fork: $!";
check() unless $checker;

sub close_shop {
    kill 'TERM', $checker;
    waitpid $checker, 0;
    msgctl($box, IPC_RMID, 0);
}

open my $log, '>', '@{work}/till.log' or die $!;
$log->autoflush(1);
$SIG{ALRM} = sub { print $log "$units prescriptions\n" };
$SIG{TERM} = sub { close_shop(); exit 1 };
Time::HiRes::setitimer(Time::HiRes::ITIMER_REAL(), @{beat_ms} / 1000, @{beat_ms} / 1000);

my $began = time;
open my $prescriptions, '<', '@{work}/prescriptions' or die $!;
while (time - $began < @{seconds} and defined(my $line = <$prescriptions>)) {
    my $start = time;
    my ($number, @drugs) = split ' ', $line;
    msgsnd($box, pack('l! N*', $ASKED, $number, @drugs), 0);
    my $before = time;
    my $worst = @{fn}();
    $waited += time - $before;
    print "prescription $number: ", $worst > 8500 ? 'ask the doctor' : 'hand over', "\n";
    $units++;
    $busy += time - $start;
}
open my $report, '>', '@{report}' or die $!;
print $report qq({"units": $units, "seconds": $busy, "culprit": $waited});
close $report;
close_shop();
