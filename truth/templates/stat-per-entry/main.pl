#!/usr/bin/perl
# Delivers what waits in the tenants' folders, one message of each in turn.
use strict;
use warnings;
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

my $culprit = 0;

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub @{fn} {
    my ($folder) = @_;
    opendir(my $handle, $folder) or die "$folder: $!";
    my @names = grep { !/^\./ } readdir($handle);
    closedir($handle);
    my $asked = now();
    if (@{each}) {
        @names = grep { -f "$folder/$_" } @names;
    } else {
        @names = grep { /\.msg$/ } @names;
    }
    $culprit += now() - $asked;
    if (@{aged}) {
        for my $i (0 .. $#names) {
            next if $i % @{aged};
            my $changed = (stat("$folder/$names[$i]"))[9];
            die "from the future" if $changed > time + 3600;
        }
    }
    return \@names;
}

sub @{fn2} {
    my ($folder, $name, $n) = @_;
    my $text = "$name $n";
    my $sum = 0;
    $sum = ($sum * 31 + ord(substr($text, $_ % length($text), 1))) % 65521 for 1 .. @{extra} * 20;
    rename("$folder/$name", "$folder/@{stem}-n$n-$sum.msg") or die "$name: $!";
}

my ($units, $busy) = (0, 0);
my $began = now();
while (now() - $began < @{seconds}) {
    my $start = now();
    my $folder = '@{work}/@{base}/tenant' . $units % @{tenants};
    my $names = @{fn}($folder);
    @{fn2}($folder, $names->[0], $units);
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep($rest) if $rest > 0;
}
open(my $out, '>', '@{report}') or die $!;
print $out sprintf('{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit);
close($out);
