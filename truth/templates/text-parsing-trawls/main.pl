# Where the fleet is and what it has caught, drawn anew with each transmission.
use strict;
use warnings;
use IO::Socket::INET;
use Time::HiRes qw(time);
use Time::Local qw(timegm);

my (%fleet, %caught);

sub @{fn} {
    my ($text) = @_;
    my @calls;
    for my $line (split /\n/, $text) {
        next unless $line =~ /^(\d+)-(\d+)-(\d+) (\d+):(\d+):(\d+) \[(\S+)\] (\w+) ship=FV(\d+) lat=(-?[\d.]+) lon=(-?[\d.]+) speed=([\d.]+)kn catch=(\d+)kg/;
        my ($at, $ship, $lat, $lon, $knots, $caught) = (timegm($6, $5, $4, $3, $2 - 1, $1), $9, $10, $11, $12, $13);
        my %more = $line =~ /(\w+)=("[^"]*"|\S+)/g;
        push @calls, [$at, $ship + 0, $lat + 0, $lon + 0, $knots + 0, $caught + 0, $more{gear}];
    }
    return \@calls;
}

sub records {
    my ($body) = @_;
    my @calls;
    for (my $i = 0; $i + 18 <= length $body; $i += 18) {
        my ($at, $ship, $lat, $lon, $knots, $caught) = unpack 'LSllSS', substr $body, $i, 18;
        push @calls, [$at, $ship, $lat / 1e4, $lon / 1e4, $knots / 10, $caught];
    }
    return \@calls;
}

sub take {
    for my $call (@{$_[0]}) {
        $fleet{$call->[1]} = $call;
        $caught{$call->[1]} += $call->[5];
    }
}

sub draw {
    my $fullest = 0;
    for my $row (0 .. @{cells} - 1) {
        for my $column (0 .. @{cells} - 1) {
            my $sum = 0;
            for my $call (values %fleet) {
                $sum += 1 / (1 + ($call->[2] - 30 - $row * 3)**2 + ($call->[3] + 30 - $column * 4)**2);
            }
            $fullest = $sum if $sum > $fullest;
        }
    }
    return $fullest;
}

sub take_in {
    my ($radio, $size) = @_;
    my $got = read $radio, my $room, $size;
    die "the radio is off\n" unless ($got // 0) == $size;
    return $room;
}

my $radio = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{radio}) or die "radio: $!";
my ($units, $busy, $culprit, $fullest) = (0, 0, 0, 0);
my $began = time;
while (time - $began < @{seconds}) {
    my $body = take_in($radio, unpack 'V', take_in($radio, 4));
    my $start = time;
    my $calls = '@{form}' eq 'log' ? @{fn}($body) : records($body);
    $culprit += time - $start if '@{form}' eq 'log';
    take($calls);
    $fullest = draw();
    $units++;
    $busy += time - $start;
}
print "$fullest\n";
open my $out, '>', '@{report}' or die "@{report}: $!";
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit;
close $out;
