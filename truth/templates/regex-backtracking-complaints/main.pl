# Sorts the complaints of a day: what each is about, and which order it belongs to.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub read_day {
    my $path = shift;
    local $/ = "\n\n";
    my @complaints;
    open my $in, '<', $path or die "$path: $!";
    while (my $letter = <$in>) {
        my %complaint;
        for my $line (split /\n/, $letter) {
            my ($name, $value) = split /: /, $line, 2;
            $complaint{$name} = $value;
        }
        push @complaints, \%complaint;
    }
    close $in;
    return @complaints;
}

sub @{fn} {
    my $text = shift;
    if ('@{expression}' eq 'strict') {
        my ($rest, $order) = $text =~ /\A((?:[^;]*+;)*+) order=(\d+)\z/ or return;
        my @parts = split /;/, $rest;
        return ($parts[0], $parts[-1], $order);
    }
    my @parts = $text =~ /^(.*);(.*);.* order=(\d+)$/;
    return @parts;
}

# How often customers use each word, and which words go together.
sub count_words {
    my ($words, $text) = @_;
    my $before = '';
    for my $word (grep { length } split /[ ;=]/, $text) {
        $words->{$word}++;
        $words->{"$before+$word"}++;
        $before = $word;
    }
}

my (%words, %subjects, @unsorted);
my ($units, $sorted, $busy, $taking) = (0, 0, 0, 0);
my $began = now();
while ((my $start = now()) - $began < @{seconds}) {
    my $path = sprintf '@{work}/@{inbox}/day-%d.txt', $units % @{days} + 1;
    for my $complaint (read_day($path)) {
        $subjects{ $complaint->{subject} }++;
        count_words(\%words, $complaint->{text});
        my $asked = now();
        my ($first, $last, $order) = @{fn}($complaint->{text});
        $taking += now() - $asked;
        if (defined $order) {
            $sorted++;
        } elsif (@unsorted < 1000) {
            push @unsorted, $complaint->{from};
        }
    }
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{pace} - now();
    sleep $rest if $rest > 0;
}
open my $out, '>', '@{report}' or die $!;
printf $out '{"units": %d, "seconds": %.6f, "culprit": %.6f}', $units, $busy, $taking;
close $out;
printf "%d sorted, %d not, %d words\n", $sorted, scalar @unsorted, scalar keys %words;
