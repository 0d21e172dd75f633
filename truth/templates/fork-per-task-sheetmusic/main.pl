#!/usr/bin/perl
# Takes scores into the library: who has the same one already, what shelf mark it gets, and the line of the catalogue.
use strict;
use warnings;
use Digest::MD5;
use Digest::SHA;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

my @keys = qw(C G D A E B F# Db Ab Eb Bb F);
my ($started, %known) = (0);
my @scores = sort glob('@{work}/@{shelf}/*');

sub digest {
    my ($path) = @_;
    my $digest = '@{tool}' eq 'md5sum' ? Digest::MD5->new : Digest::SHA->new('@{tool}' eq 'sha1sum' ? 1 : 256);
    open(my $in, '<:raw', $path) or die "$path: $!";
    return $digest->addfile($in)->hexdigest;
}

sub @{fn} {
    my @paths = @_;
    return map { digest($_) } @paths if '@{prints}' eq 'here';
    my $began = now();
    open(my $said, '-|', '@{tool}', @paths) or die "@{tool}: $!";
    my @prints = map { (split)[0] } <$said>;
    close $said or die "@{tool} ended with $?";
    $started += now() - $began;
    return @prints;
}

sub mark {
    my ($print) = @_;
    my $value = 0;
    $value = ($value * 16 + hex) % 99991 for split //, $print;
    return sprintf '%s-%05d', $keys[$value % 12], $value;
}

sub take {
    my ($number, $many) = @_;
    my @paths = map { $scores[($number * $many + $_) % @scores] } 0 .. $many - 1;
    my @prints = @{fn}(@paths);
    for my $i (0 .. $#prints) {
        my $score = $known{$prints[$i]} ||= { mark => mark($prints[$i]), copies => 0 };
        $score->{name} = $paths[$i];
        $score->{copies}++;
    }
}

my ($began, $busy, $units) = (now(), 0, 0);
while (now() - $began < @{seconds}) {
    my $start = now();
    take($units++, @{parcel});
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep($rest) if $rest > 0;
}
open(my $out, '>', '@{report}') or die "report: $!";
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $started;
close $out;
