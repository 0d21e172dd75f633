# Lays out the receipts of the tills, and spools them for the printer.
use strict;
use warnings;
use IO::Handle;
use IPC::Open2;
use JSON::PP;
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

my $json = JSON::PP->new->canonical->allow_nonref;
my ($script, $questions, $answers);
my ($made, $laying) = (0, 0);

sub done {
    return if !$script;
    close $questions;
    close $answers;
    waitpid $script, 0;
    undef $script;
}

sub @{fn} {
    my $receipt = shift;
    my $start = now();
    $script ||= open2($answers, $questions, 'node', '@{work}/layout.js');
    print $questions $json->encode($receipt), "\n";
    $questions->flush;
    my $text = $json->decode(scalar <$answers>);
    done() if ++$made % @{life} == 0;
    $laying += now() - $start;
    return $text;
}

sub receipt {
    my $number = shift;
    my @items = map { ['article ' . ($number * 31 + $_ * 7) % 500, ($number * 7919 + $_ * 104729) % 9000] } 1 .. @{items};
    return { number => $number, items => \@items };
}

@{fn}(receipt(0)) if @{life} > 1;
open my $spool, '>', '@{work}/@{spool}' or die $!;
my ($before, $begin, $busy, $units) = ($laying, now(), 0, 0);
while (now() - $begin < @{seconds}) {
    my $start = now();
    print $spool @{fn}(receipt(++$units)), "\n";
    $busy += now() - $start;
    my $left = $begin + $units / @{rate} - now();
    sleep $left if $left > 0;
}
done();
close $spool;
open my $report, '>', '@{report}' or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $laying - $before;
close $report;
