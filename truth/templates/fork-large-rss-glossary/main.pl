# Rates the loans of a library by all loans of the past, which are in memory; a program of the city's writes the reminder.
use strict;
use warnings;
use IO::Handle;
use Socket;
use Time::HiRes qw(time sleep);

my $TOOL = '@{work}/bin/@{tool}';
my ($units, $busy, $spent) = (0, 0, 0);
my ($past, $count);

# A clerk for starts: a small process that was there before the loans were read.
sub clerk {
    socketpair(my $here, my $there, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die "no pair: $!";
    $_->autoflush(1) for $here, $there;
    my $pid = fork // die "no clerk: $!";
    if ($pid == 0) {
        close $here;
        while (my $line = <$there>) {
            chomp $line;
            my $status = system $TOOL, split / /, $line;
            print $there "$status\n";
        }
        exit 0;
    }
    close $there;
    return $here;
}

my $clerk = '@{how}' eq 'spawn' ? clerk() : undef;

sub read_loans {
    my $block = join '', map { pack 'N', $_ * 2654435761 % 4294967291 } 1 .. 65_536;
    $past = $block x (@{held_mb} * 4);
    $count = length($past) / 4;
}

# How late such a reader is: the loans of the past that are like this one tell.
sub rating {
    my ($reader, $book) = @_;
    my ($sum, $like) = (0, 0);
    my $at = ($reader * 7919 + $book * 104_729) % $count;
    for my $look (1 .. @{words} * 24) {
        my $loan = unpack 'N', substr($past, $at * 4, 4);
        if (($loan ^ $reader) % 5 == 0) {
            $sum += $loan % 60;
            $like++;
        }
        $at = ($at + $loan) % $count;
    }
    substr($past, $at * 4, 4, pack('N', $reader));
    return $like ? $sum / $like : 0;
}

sub @{fn} {
    my @words = @_;
    if ($clerk) {
        print $clerk "@words\n";
        return 0 + <$clerk>;
    }
    return system $TOOL, @words;
}

open(my $log, '>', '@{work}/loans.log') or die "no log: $!";
read_loans();
my $began = my $due = time;
while (time - $began < @{seconds}) {
    $due = $due + 1 / @{rate} > time ? $due + 1 / @{rate} : time;
    my $wait = $due - time;
    sleep $wait if $wait > 0;
    my $start = time;
    my ($reader, $book) = ($units * 37 % 5000, $units * 101 % 90_000);
    my $late = sprintf '%.1f', rating($reader, $book);
    my $asked = time;
    @{fn}($reader, $book, $late) == 0 or die "no reminder for $reader\n";
    $spent += time - $asked;
    print $log "reader $reader, book $book: $late days\n";
    $busy += time - $start;
    $units++;
}
open(my $report, '>', '@{report}') or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close $report;
