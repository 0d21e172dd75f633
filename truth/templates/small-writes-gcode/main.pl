use strict;
use warnings;
use IO::Handle;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

sub clock { return clock_gettime(CLOCK_MONOTONIC) }

my $spent = 0;
open(my $out, '>', '@{path}') or die "@{path}: $!";
$out->autoflush(1) if @{prompt};    # so that the simulator's window can follow
print {$out} "%\nO@{feed}\nG21 G90 G17\n";

sub @{fn} {
    my ($path, $depth) = @_;
    my $start = clock();
    my $first = 1;
    print {$out} "G0 Z5000\n";
    for my $point (@$path) {
        print {$out} $first ? 'G0' : 'G1';
        print {$out} ' X', $point->[0];
        print {$out} ' Y', $point->[1];
        if ($first) {
            print {$out} "\nG1 Z-$depth";
            print {$out} ' F', @{feed};
            $first = 0;
        }
        print {$out} "\n";
    }
    $spent += clock() - $start;
}

# The way of the tool's centre through a pocket: a spiral, in microns.
sub spiral {
    my ($number, $count) = @_;
    my ($cx, $cy, $radius) = (40 * cos($number * 0.7), 40 * sin($number * 0.7), @{stepover});
    my @path;
    for my $i (0 .. $count - 1) {
        my $angle = $i * 0.19 + $number;
        my $r = $radius * (1 + 0.18 * abs(cos(2 * $angle)));
        push @path, [int(($cx + $r * cos($angle)) * 1000), int(($cy + $r * sin($angle)) * 1000)];
        $radius += @{stepover} * 0.19 / 6.2832;
    }
    return \@path;
}

my $began = clock();
my ($pockets, $busy, $moves) = (0, 0, 0);
while (clock() - $began < @{seconds}) {
    my $start = clock();
    my $path = spiral($pockets, @{count});
    $moves += @$path;
    @{fn}($path, int(@{depth} * 1000));
    $pockets++;
    $busy += clock() - $start;
    my $rest = $began + $pockets / @{rate} - clock();
    sleep($rest) if $rest > 0;
}
print {$out} "M30\n%\n";
close($out);
print "$pockets pockets, $moves moves\n";

open(my $report, '>', '@{report}') or die $!;
printf {$report} '{"units": %d, "seconds": %.6f, "culprit": %.6f}', $pockets, $busy, $spent;
close($report);
