# Writes the bills of a switchboard: what a call costs depends on how busy the lines are.
use strict;
use warnings;
use Digest::MD5 qw(md5_hex);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

sub now { clock_gettime(CLOCK_MONOTONIC) }

my $asking = 0;
my %account;

sub @{fn} {
    my $start = now();
    my $used = 0;
    open my $list, '<', '/proc/net/@{source}' or die "@{source}: $!";
    while (my $line = <$list>) {
        my @word = split ' ', $line;
        if (@word > 9) {
            my ($address, $port) = split /:/, $word[1];
            $used++ if $word[3] eq '01' && hex $port == @{port};
        }
        elsif ($word[0] eq 'TCP:') {
            $used = $word[2] / 2;
        }
    }
    close $list;
    $asking += now() - $start;
    return $used;
}

sub bill {
    my ($call) = @_;
    my $busy = @{fn}() / @{lines};
    my $cents = int(5 + 40 * $busy * $busy * @{limit} / 100);
    my $who = md5_hex("subscriber " . $call % 50);
    push @{$account{$who}}, sprintf '%06d: %d ct', $call, $cents;
    shift @{$account{$who}} if @{$account{$who}} > 20;
}

my ($units, $busy) = (0, 0);
my $began = now();
while (now() - $began < @{seconds}) {
    my $start = now();
    bill($units);
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{calls} - now();
    sleep $rest if $rest > 0;
}
open my $report, '>', '@{report}' or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $asking;
close $report;
