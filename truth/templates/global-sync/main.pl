# Keeps the index of a mailbox: each message that comes changes it, and the index is put down anew.
use strict;
use warnings;
use Fcntl;
use Time::HiRes qw(time sleep);

my $SYNC = 162;    # of x86-64
my ($spent, $busy, $units) = (0, 0, 0);
my %flags;

sub @{fn} {
    my ($path) = @_;
    sysopen(my $out, $path, O_WRONLY | O_CREAT) or die "$path: $!";
    print $out join("\n", map { "$_ $flags{$_}" } sort { $a <=> $b } keys %flags);
    close($out) or die;
}

sub settle {
    my $start = time;
    syscall($SYNC);
    $spent += time - $start;
}

my $began = time;
my $due = $began;
while (time - $began < @{seconds}) {
    my $start = time;
    $flags{ $units % @{entries} } = "seen answered $units";
    @{fn}('@{work}/@{index}');
    settle() if '@{sync}' eq 'all' or '@{sync}' eq 'end' and $units % 64 == 63;
    $busy += time - $start;
    $units++;
    $due += 1 / @{per_s};
    $due = time if $due < time;
    sleep($due - time) if $due > time;
}
open(my $out, '>', '@{report}') or die;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close($out);
