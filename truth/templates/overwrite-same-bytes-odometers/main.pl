# Counts the kilometres of shared bicycles from what their locks send.
use strict;
use warnings;
use Fcntl qw(O_RDWR O_CREAT SEEK_SET);
use Time::HiRes qw(time sleep);

my $row = 16;
my ($spent, $place) = (0, 0);
my @bicycles = map { [0, 0, 0] } 1 .. @{vehicles};
my $image = pack('d<f<2', 0, 0, 0) x @bicycles;
sysopen(my $table, '@{work}/@{table}', O_RDWR | O_CREAT) or die "no table: $!";

# The messages that have come since the last time.
sub messages {
    my ($number) = @_;
    return map {
        my $bicycle = ($number * 31 + $_ * 7) % @{vehicles};
        my $at = $_;
        join ';', $bicycle, map { (($bicycle + $_ * 3) % 900) . '.5,' . (($number + $at + $_ * 5) % 700) . '.25' } 1 .. @{points};
    } 1 .. @{positions};
}

sub ride {
    my ($line) = @_;
    my ($number, @points) = split /;/, $line;
    my $bicycle = $bicycles[$number] or return;
    for my $point (@points) {
        my ($x, $y) = split /,/, $point;
        $bicycle->[0] += sqrt(($x - $bicycle->[1])**2 + ($y - $bicycle->[2])**2);
        @$bicycle[1, 2] = ($x, $y);
    }
    substr($image, $number * $row, $row) = pack('d<f<2', @$bicycle);
    return $number;
}

sub put {
    my ($at, $bytes) = @_;
    my $start = time;
    sysseek($table, $at, SEEK_SET) // die "seek: $!";
    my $done = syswrite($table, $bytes) // die "write: $!";
    die "only $done bytes" if $done != length $bytes;
    $spent += time - $start;
}

# All that is known goes to the disk.
sub @{fn} {
    put(0, $image);
}

# Only what has changed, in the next place; the oldest goes for it.
sub note {
    my $bytes = join '', map { pack('Q<', $_) . substr($image, $_ * $row, $row) } @_;
    $place = 0 if $place + length $bytes > @{ring_kb} << 10;
    put($place, $bytes);
    $place += length $bytes;
}

my ($units, $busy, $began, $due) = (0, 0, time, time);
while (time - $began < @{seconds}) {
    my @lines = messages($units);
    $due += 1 / @{rate};
    $due = time if $due < time;
    sleep($due - time) if $due > time;
    my $start = time;
    my @changed;
    for my $line (@lines) {
        my $number = ride($line);
        next unless defined $number;
        @{fn}() if '@{save}' eq 'each';
        push @changed, $number;
    }
    note(@changed) if '@{save}' eq 'ring';
    @{fn}() if '@{save}' eq 'batch';
    $busy += time - $start;
    $units++;
    printf "%d batches, %.1f m\n", $units, $bicycles[0][0] if $units % 100 == 0;
}
open(my $report, '>', '@{report}') or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close $report;
