# Weaves tapestries: each by a motif, whose pattern is found by its name.
use strict;
use warnings;
use Digest::SHA qw(sha256);
use File::Spec;
use JSON::PP;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

my @folders = "@{order}" eq "only" ? () : sort glob "@{work}/@{root}/*";
push @folders, "@{work}/@{shared}";
my ($spent, $cloth, %kept) = (0, "");

sub @{fn} {
    my ($motif) = @_;
    my $start = now();
    my $file;
    for my $folder (@folders) {
        last if open $file, "<", File::Spec->catfile($folder, "$motif@{ending}");
    }
    $spent += now() - $start;
    local $/;
    my $text = <$file>;
    close $file;
    return decode_json($text);
}

sub weave {
    my ($pattern, $rows) = @_;
    my @weft = (@{$pattern->{colours}}) x $pattern->{threads};
    for (1 .. $rows) {
        push @weft, shift @weft;
        $cloth = sha256($cloth . join "|", @weft);
    }
}

my ($units, $busy, $began) = (0, 0, now());
while (now() - $began < @{seconds}) {
    my $start = now();
    my $pattern;
    if (@{once}) {
        my $motif = "motif-" . $units % (@{once} || 1);
        $pattern = $kept{$motif} //= @{fn}($motif);
    } else {
        $pattern = @{fn}("motif-" . $units % (@{last} + 1));
    }
    weave($pattern, @{rounds} * 20);
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    Time::HiRes::sleep($rest) if $rest > 0;
}
open my $out, ">", "@{report}" or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close $out;
