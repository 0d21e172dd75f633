# A gateway for positions of buses: smooths the last ones of each, and says how late it is.
use strict;
use warnings;
use IO::Handle;
use IO::Socket::INET;
use Time::HiRes 'time';

my %conf;
open my $file, '<', '@{app}.conf' or die "conf: $!";
while (<$file>) {
    $conf{$1} = $2 if /^(\w+)\s*=\s*(\S+)/;
}
close $file;

open my $debug, '>>', $conf{debug_log} or die "$conf{debug_log}: $!";
$debug->autoflush(1);
my ($spent, %last, %late) = (0);

sub @{fn} {
    my $start = time;
    my ($text, @rest) = @_;
    printf $debug $text, @rest;
    $spent += time - $start;
}

sub smoothed {
    my ($bus) = @_;
    my $window = $last{$bus};
    my ($lat, $lon, $speed, $all) = (0, 0, 0, 0);
    for my $i (0 .. $#$window) {
        my $weight = 1 / (1 + ($#$window - $i) * 0.5);
        my $fix = $window->[$i];
        $lat   += $fix->[0] * $weight;
        $lon   += $fix->[1] * $weight;
        $speed += $fix->[2] * $weight;
        $all   += $weight;
        @{fn}("DEBUG bus %d step %d of %d: lat %.6f lon %.6f speed %d weight %.3f sums %.6f %.6f %.3f\n",
            $bus, $i, scalar @$window, @$fix, $weight, $lat, $lon, $all) if $conf{level} eq 'all';
    }
    return ($lat / $all, $lon / $all, $speed / $all);
}

# How far it is from where the timetable has it, in minutes.
sub lateness {
    my ($bus, $lat, $lon, $speed) = @_;
    my ($best, $stop) = (1e9, 0);
    for my $number (0 .. 19) {
        my $north = $lat - 48 - sin($bus + $number) ** 2;
        my $east  = ($lon - 11 - cos($bus * $number) ** 2) * 0.67;
        my $far   = sqrt($north * $north + $east * $east) * 111;
        ($best, $stop) = ($far, $number) if $far < $best;
    }
    return $best * 60 / ($speed + 5) - $stop % 3;
}

my $radio = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{port}) or die "radio: $!";
my ($began, $units, $busy) = (time, 0, 0);
while (time - $began < @{seconds}) {
    my $head = <$radio> // last;
    my $start = time;
    my ($count) = $head =~ /^BATCH (\d+)/ or die "radio: $head";
    for (1 .. $count) {
        my ($bus, @fix) = split /;/, scalar <$radio>;
        push @{ $last{$bus} }, \@fix;
        shift @{ $last{$bus} } if @{ $last{$bus} } > $conf{window};
        $late{$bus} = lateness($bus, smoothed($bus));
    }
    @{fn}("batch of %d, %d buses known\n", $count, scalar keys %late) if $conf{level} ne 'none';
    $units++;
    $busy += time - $start;
}
my @worst = sort { $late{$b} <=> $late{$a} } keys %late;
printf "latest: bus %d, %.1f minutes\n", $worst[0], $late{ $worst[0] } if @worst;
open my $out, '>', '@{report}' or die "report: $!";
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
