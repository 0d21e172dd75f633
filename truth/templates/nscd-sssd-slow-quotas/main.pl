# Writes the bills of a printing house's machines: each job in the list is paid for by the user who sent it.
use strict;
use warnings;
use IO::Handle;
use Time::HiRes qw(time sleep);

my ($units, $busy, $spent) = (0, 0, 0);
my (%known, %owed);

# The users are those of the printing house; their name service is at its own /run.
sub enter {
    my ($run, $none, $root, $there) = (shift, 'none', '/', '/run');
    my ($unshare, $mount, $own, $private, $bind) = (272, 165, 0x20000, 0x44000, 0x1000);
    syscall($unshare, $own) == 0 or die "no room of its own: $!";
    syscall($mount, $none, $root, 0, $private, 0) == 0 or die "not private: $!";
    syscall($mount, $run, $there, 0, $bind, 0) == 0 or die "$run: $!";
}

# A list of jobs, as the machines send it each time.
sub jobs {
    my $round = shift;
    return map {
        { number => $round * 100 + $_, user => @{first} + ($round + $_) % @{users}, pages => 1 + ($round * 7 + $_ * 3) % 90, colour => $_ % 3 == 0 }
    } 1 .. @{files};
}

sub @{fn} {
    my $number = shift;
    my $start = time;
    my $name = getpwuid $number;
    $spent += time - $start;
    return $name // "#$number";
}

sub name_of {
    my $number = shift;
    return @{fn}($number) unless @{known};
    return $known{$number} //= @{fn}($number);
}

# What the sheets of a job cost: as many as fit are put on one, in the way that needs least.
sub price {
    my $job = shift;
    my $best;
    for my $way (1 .. @{effort} * 6) {
        my $on_one = 1 + $way % 8;
        my $sheets = int(($job->{pages} + $on_one - 1) / $on_one);
        my $cents = $sheets * ($job->{colour} ? 19 : 6) + $on_one * 2 + $way % 7;
        $best = $cents if !defined $best || $cents < $best;
    }
    return $best;
}

sub bill {
    my ($out, @jobs) = @_;
    for my $job (@jobs) {
        my $name = name_of($job->{user});
        my $cents = price($job);
        $owed{$name} += $cents;
        printf $out "%-20s job %6d %3d pages %6.2f\n", $name, $job->{number}, $job->{pages}, $cents / 100;
    }
    my ($most) = sort { $owed{$b} <=> $owed{$a} || $a cmp $b } keys %owed;
    print $out "most so far: $most\n";
}

open(my $out, '>', '@{work}/bills.txt') or die "no bills: $!";
enter('@{work}/run');
my $began = my $due = time;
while (time - $began < @{seconds}) {
    $due = $due + 1 / @{rate} > time ? $due + 1 / @{rate} : time;
    my $wait = $due - time;
    sleep $wait if $wait > 0;
    my @jobs = jobs($units);
    my $start = time;
    bill($out, @jobs);
    $out->flush;
    $busy += time - $start;
    $units++;
}
open(my $report, '>', '@{report}') or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close $report;
