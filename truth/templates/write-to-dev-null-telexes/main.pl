#!/usr/bin/perl
# Takes telexes of ships' agents apart, and keeps the table of arrivals.
use strict;
use warnings;
use Fcntl;
use POSIX qw(strftime);
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

my @ships = qw(AURELIA NORDKAP SANTAROSA HALCYON MIRAMAR);
my (%arrivals, $spent);
$spent = 0;

sub now { clock_gettime(CLOCK_MONOTONIC) }

sysopen(my $trace, "@{work}/@{logs}/@{trace}", O_WRONLY | O_APPEND | O_CREAT) or die "trace: $!";

# As it must be there if we die.
sub @{fn} {
    my ($what, @more) = @_;
    my $began = now();
    syswrite($trace, "$what @more\n");
    $spent += now() - $began;
}

sub classify {
    my ($word) = @_;
    return (tonnes => $1) if $word =~ /^(\d+)MT$/;
    return (hour => int($1 / 100)) if $word =~ /^(\d{4})LT$/;
    return (number => $1) if $word =~ /^(\d+)$/;
    return (word => length $word);
}

sub take {
    my ($telex, $text) = @_;
    my %one = (tonnes => 0, hour => 0, words => 0);
    my $line = 0;
    for (split /\r\n/, $text) {
        $line++;
        for my $word (split / /) {
            my ($kind, $value) = classify($word);
            if (@{traced}) {
                @{fn}("line", $line);
                @{fn}("word", $word);
                @{fn}($kind, $value);
            }
            $one{tonnes} += $value if $kind eq "tonnes";
            $one{hour} = $value if $kind eq "hour" && $value > $one{hour};
            $one{ship} //= $word if $kind eq "word";
            $one{words}++;
        }
    }
    $arrivals{$one{ship} . $telex % @{partners}} = \%one;
    @{fn}("telex", $telex, $one{ship}, $one{words}) if @{summary};
}

sub call {
    my ($turn) = @_;
    my @all;
    for my $telex (0 .. 5) {
        my $text = $ships[($turn + $telex) % @ships] . " ETA PILOT " . (1000 + $turn * 7 % 1300) . "LT\r\n";
        for my $line (1 .. @{lines}) {
            $text .= sprintf("HOLD %d GRAIN %dMT DISCH %dLT BERTH %d\r\n", $line % 7, 100 + $line * 13 % 900, 1000 + $line, $telex);
        }
        push @all, $text;
    }
    return \@all;
}

my @calls = map { call($_) } 0 .. 7;
my ($began, $units, $busy) = (now(), 0, 0);
while (now() - $began < @{seconds}) {
    my $start = now();
    my $number = 0;
    take($units * 6 + $number++, $_) for @{$calls[$units % @calls]};
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep($rest) if $rest > 0;
}
open(my $out, ">", "@{report}") or die;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
