#!/usr/bin/perl
# Makes the playlists of a station's loudspeakers: of each announcement the clips, with their times.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime sleep CLOCK_MONOTONIC);

my $voices = "@{work}/@{voices}";
my @order = map("$voices/layer-$_/@{sub}", 1 .. @{layers});
push @order, "$voices/@{last}/@{sub}";
my (%known, $spent);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

# The folders by their order; what comes first is heard.
sub list_all {
    for my $folder (reverse @order) {
        opendir my $entries, $folder or die "$folder: $!";
        $known{$_} = "$folder/$_" for grep { !/^\./ } readdir $entries;
        closedir $entries;
    }
}

sub @{fn} {
    my ($clip) = @_;
    return $known{$clip} if $known{$clip};
    for my $folder (@order) {
        my $path = "$folder/$clip";
        if (-e $path) {
            $known{$clip} = $path if "@{way}" eq "first";
            return $path;
        }
    }
    die "no clip $clip";
}

sub announcement {
    my ($number) = @_;
    return map { { clip => "c" . (($number * 131 + $_ * 7) % @{used}) . "@{ext}", pause => 40 + ($number + $_) % 160, stress => $_ % 3 } } 1 .. @{words};
}

sub playlist {
    my ($number) = @_;
    my ($at, @lines) = (0);
    for my $word (announcement($number)) {
        my $start = now();
        my $path = @{fn}($word->{clip});
        $spent += now() - $start;
        # How loud, by the hour and by the noise on the platform.
        my $level = 60 + 8 * sin($number / 86.4) + 2 * $word->{stress};
        push @lines, sprintf("%08d %5.1f dB %s", $at, $level, $path);
        $at += 300 + length($word->{clip}) * 35 + $word->{pause};
    }
    return join("\n", @lines);
}

list_all() if "@{way}" eq "listed";
if ("@{way}" eq "first") {
    @{fn}("c$_@{ext}") for 0 .. @{used} - 1;
}
$spent = 0;
my ($units, $busy, $bytes, $began) = (0, 0, 0, now());
while (now() - $began < @{seconds}) {
    my $start = now();
    $bytes += length playlist($units);
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep($rest) if $rest > 0;
}
print "$bytes bytes of playlists\n";
open my $out, ">", "@{report}" or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close $out;
