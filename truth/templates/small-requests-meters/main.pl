# Hands the readings of electricity meters over to the collector of the grid.
use strict;
use warnings;
use IO::Socket::UNIX;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

my $collector = IO::Socket::UNIX->new(Peer => '@{work}/@{sock}') or die "collector: $!";

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub load_readings {
    my $path = shift;
    my @readings;
    open my $in, '<', $path or die "$path: $!";
    while (my $line = <$in>) {
        chomp $line;
        my ($time, $kilowatts, $origin) = split /;/, $line;
        next if $kilowatts !~ /^\d+\.\d+$/;
        push @readings, { time => $time, watts => int($kilowatts * 1000 + 0.5), measured => $origin eq 'measured' };
    }
    close $in;
    return \@readings;
}

# Of each hour: the mean, and how much of it was measured.
sub by_hour {
    my $readings = shift;
    my %hours;
    for my $reading (@$readings) {
        my $hour = $hours{ int($reading->{time} / 3600) } //= { watts => 0, count => 0, measured => 0 };
        $hour->{watts} += $reading->{watts};
        $hour->{count}++;
        $hour->{measured}++ if $reading->{measured};
    }
    return { map { $_ => sprintf '%.1f W, %d%%', $hours{$_}{watts} / $hours{$_}{count}, 100 * $hours{$_}{measured} / $hours{$_}{count} } keys %hours };
}

sub receipt {
    my $bytes = '';
    while (length $bytes < 8) {
        sysread($collector, $bytes, 8 - length $bytes, length $bytes) or die "the collector is gone\n";
    }
    return unpack 'NN', $bytes;
}

sub @{fn} {
    my ($meter, @readings) = @_;
    my $sum = 0;
    while (my @frame = splice @readings, 0, @{frame}) {
        my $body = join '', map { pack 'NN', $_->{time}, $_->{watts} } @frame;
        syswrite $collector, pack('NN', 4 + length $body, $meter) . $body;
        my ($count, $taken) = receipt();
        die "meter $meter: $count of " . @frame . "\n" if $count != @frame;
        $sum += $taken;
    }
    return $sum;
}

my ($units, $busy, $handing) = (0, 0, 0);
my $began = now();
my @journal;
while ((my $start = now()) - $began < @{seconds}) {
    my $meter = $units % @{meters} + 1;
    my $readings = load_readings("@{work}/@{inbox}/meter-$meter.csv");
    my $hours = by_hour($readings);
    my @due = grep { $_ } map { $_ % @{every} == 0 ? $readings->[$_] : undef } 0 .. $#$readings;
    my $asked = now();
    my $sum = @{fn}($meter, @due);
    $handing += now() - $asked;
    push @journal, sprintf 'meter %d: %d hours, %d readings, %d W', $meter, scalar keys %$hours, scalar @due, $sum;
    shift @journal if @journal > 200;
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{pace} - now();
    sleep $rest if $rest > 0;
}
open my $out, '>', '@{report}' or die $!;
printf $out '{"units": %d, "seconds": %.6f, "culprit": %.6f}', $units, $busy, $handing;
close $out;
