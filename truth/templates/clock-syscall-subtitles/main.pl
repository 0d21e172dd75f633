# Fits the words of subtitles to the words that were heard, scene by scene, and keeps account of what that takes.
use strict;
use warnings;
use Time::HiRes qw(time sleep clock_gettime CLOCK_PROCESS_CPUTIME_ID);

my (@marks, $last, $n, $culprit) = ();
($last, $n, $culprit) = (0, 0, 0);

sub @{fn} {
    for my $stage (0 .. @{marks} - 1) {
        my $now = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
        $marks[$stage] += $now - $last;
        $last = $now;
    }
}

sub scene {
    my $state = $_[0] * 40503 + 1;
    my (@said, @heard);
    for my $i (0 .. @{words} / 4) {
        $state = ($state * 1664525 + 1013904223) & 0xffffffff;
        push @said, $state >> 20;
        push @heard, [($state >> 20) ^ ($state >> 9 & 1), $i * 310];
    }
    return (\@said, \@heard);
}

sub fit {
    my ($said, $heard) = @_;
    my ($drift, @begins) = (0);
    for my $i (0 .. $#$said) {
        my ($best, $at) = (1 << 31, $i);
        for my $k ($i .. ($i + 1 > $#$heard ? $#$heard : $i + 1)) {
            my $off = $said->[$i] ^ $heard->[$k][0];
            ($best, $at) = ($off, $k) if $off < $best;
        }
        push @begins, $heard->[$at][1];
        $drift += $at - $i;
        next unless @{every} && $i % (@{every} || 1) == 0;
        # One in 16 is measured, and stands for the others.
        if (@{every} > 1 || ++$n % 16 == 0) {
            my $from = time;
            @{fn}();
            $culprit += (time - $from) * (@{every} > 1 ? 1 : 16);
        } else {
            @{fn}();
        }
    }
    return $drift;
}

my ($units, $busy, $drift) = (0, 0, 0);
my $began = time;
while (time - $began < @{seconds}) {
    my $start = time;
    $drift += fit(scene($units));
    @{fn}() unless @{every};
    $units++;
    $busy += time - $start;
    my $rest = $began + $units / @{rate} - time;
    sleep $rest if $rest > 0;
}
print "$drift @marks\n";
open my $out, '>', '@{report}' or die "@{report}: $!";
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit;
close $out;
