use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub wait_until {
    my $rest = $_[0] - now();
    Time::HiRes::sleep($rest) if $rest > 0;
}

sub report {
    my ($units, $busy, $culprit) = @_;
    open my $out, ">", "@{report}" or die $!;
    printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit;
    close $out;
}

my ($units, $busy, $parsing) = (0, 0, 0);
my %by_status;

# Bytes of each status, by the hour.
sub @{fn} {
    my ($path) = @_;
    my $start = now();
    my %sum;
    open my $log, "<", $path or die "$path: $!";
    while (my $line = <$log>) {
        chomp $line;
        my ($day, $time, $client, $verb, $url, $status, $bytes, $took) = split /\s+/, $line;
        my ($hour) = $time =~ /^(\d+):\d+:\d+$/;
        $sum{$status}{$hour} += $bytes if $url =~ m{^/items/\d+$};
    }
    close $log;
    $parsing += now() - $start;
    return \%sum;
}

my ($kept, $size) = (undef, -1);

sub totals {
    my ($path) = @_;
    if (@{index}) {
        my $length = -s $path;
        ($kept, $size) = (@{fn}($path), $length) if $length != $size;
        return $kept;
    }
    return @{fn}($path);
}

totals("@{log}") if @{index};
$parsing = 0;
my $began = now();
while (now() - $began < @{seconds}) {
    my $start = now();
    my $of = totals("@{log}")->{"@{status}"} || {};
    $by_status{$_} = $of->{$_} for sort keys %$of;
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
report($units, $busy, $parsing);
