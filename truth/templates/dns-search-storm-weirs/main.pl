# Regulates a river: works out from the levels how far each gate is to open, and tells the gate.
use strict;
use warnings;
use Socket qw(getaddrinfo SOCK_DGRAM AF_INET);
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

# The plant's own settings of the network, as in its container: unshare, and two mounts.
sub enter {
    my ($from, $to, $none, $root) = ('@{work}/resolv.conf', '/etc/resolv.conf', 'none', '/');
    die "network: $!" if syscall(272, 0x20000) || syscall(165, $none, $root, $none, 0x44000, 0) || syscall(165, $from, $to, $none, 0x1000, 0);
}

my @gates = map { { host => sprintf('gate%02d.@{zone}@{root}', $_), level => 2, opening => 0 } } 1 .. @{river};
my $looking = 0;

sub @{fn} {
    my ($gate) = @_;
    my $start = now();
    my ($wrong, $found) = getaddrinfo($gate->{host}, @{command}, { socktype => SOCK_DGRAM });
    die "$gate->{host}: $wrong" if $wrong;
    @$gate{qw(address asked)} = ($found->{addr}, now());
    $looking += now() - $start;
}

sub flow {
    my ($minute) = @_;
    my ($above, $n) = (3.2 + sin($minute * 0.01), 0);
    for my $gate (@gates) {
        my $through = $gate->{opening} * sqrt(2 * 9.81 * ($above > 0 ? $above : 0));
        $gate->{level} += 0.1 * ($above - $gate->{level}) - 0.004 * $through;
        my $opening = $gate->{opening} + 0.2 * ($gate->{level} - 2.4 + 0.02 * $n++);
        $gate->{opening} = $opening < 0 ? 0 : $opening > 1 ? 1 : $opening;
        $above = $gate->{level};
    }
}

enter();
socket my $line, AF_INET, SOCK_DGRAM, 0 or die $!;
my ($units, $busy, $began) = (0, 0, now());
while (now() - $began < @{seconds}) {
    my $start = now();
    flow($units);
    my $gate = $gates[$units % @gates];
    @{fn}($gate) if !$gate->{address} || now() - $gate->{asked} >= @{keep};
    send $line, sprintf('open %.6s %.3f at %.2f', @$gate{qw(host opening level)}), 0, $gate->{address};
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep $rest if $rest > 0;
}
open my $report, '>', '@{report}' or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $looking * @{wasted};
close $report;
