# Writes the lists of an estate agency: of each house the picture that fits the list, where there is one.
use strict;
use warnings;
use IO::Handle;
use Time::HiRes qw(time sleep);

my @SIZES = (qw(tiny small card wide tall full print poster))[0 .. @{forms} - 1];
my ($units, $busy, $spent) = (0, 0, 0);
my %known;
my %streets;

open(my $log, '>', '@{work}/lists.log') or die "no log: $!";
$log->autoflush(1);

# FNV, in 32 bits: what stands for a link on the shelf.
sub key_of {
    my $link = shift;
    $link =~ s/\?.*// if '@{key}' eq 'picture';
    my $key = unpack('%32C*', $link) * 2654435761 & 0xffffffff;
    $key = ($key ^ $_) * 16777619 & 0xffffffff for unpack 'N*', $link;
    return sprintf '%08x', $key;
}

sub @{fn} {
    my $key = shift;
    my $start = time;
    my $found = 'none';
    my $place = '@{work}/@{shelf}/' . substr($key, 0, 1) . "/$key";
    for my $size (@SIZES) {
        next unless -e "$place-$size@{ending}";
        $found = $size;
        last;
    }
    $spent += time - $start;
    return $found;
}

sub form_of {
    my $key = key_of(shift);
    return $known{$key} if exists $known{$key};
    %known = () if keys %known > 20_000;
    return $known{$key} = @{fn}($key);
}

# The houses that a visitor may see, with links that are good for that visit.
sub houses {
    my $visit = shift;
    my @houses;
    for my $i (0 .. @{pictures} - 1) {
        my $house = ($visit * 41 + $i * 7) % 700;
        my $link = "/houses/$house/front";
        $link .= sprintf('?visit=%d&seal=%07d', $visit, $visit * 7919 + $i) if $i % @{part} == 0;
        push @houses, { house => $house, link => $link, rooms => 1 + $house % 7, cents => 40_000 + $house * 13 };
    }
    return @houses;
}

sub list {
    my $visit = shift;
    my @rows;
    for my $house (@_) {
        my $form = form_of($house->{link});
        my $price = sprintf '%.2f', $house->{cents} / 100;
        1 while $price =~ s/^(\d+)(\d{3})/$1,$2/;
        push @rows, join ';', $house->{house}, $house->{rooms}, $price, $form;
        $streets{ $house->{house} % 90 }++;
    }
    my $text = '';
    $text = join "\n", sort @rows for 1 .. @{rounds};
    return length $text;
}

my $began = my $due = time;
while (time - $began < @{seconds}) {
    $due = $due + 1 / @{rate} > time ? $due + 1 / @{rate} : time;
    my $wait = $due - time;
    sleep $wait if $wait > 0;
    my @houses = houses($units);
    my $start = time;
    my $size = list($units, @houses);
    $busy += time - $start;
    $units++;
    print $log "list $units: $size bytes\n" if $units % 10 == 0;
}
my ($most) = sort { $streets{$b} <=> $streets{$a} } keys %streets;
print $log "most asked for: street $most\n";
open(my $report, '>', '@{report}') or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close $report;
