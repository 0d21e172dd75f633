use strict;
use warnings;
use IO::Socket::INET;
use Time::HiRes qw(time);

# The customers in the order of their names: for each the number of its record.
my ($size, $rows, $step) = (@{row}, @{rows}, @{stride});
$step += 2 while $rows % $step == 0;
my @order = map { ($_ * $step + 5) % $rows } 0 .. $rows - 1;
my %sum;

sub @{fn} {
    my ($file) = @_;
    my @found;
    for my $number (@order) {
        sysseek $file, $number * $size, 0;
        sysread $file, my $record, $size;
        push @found, substr $record, 0, 4;
    }
    return \@found;
}

sub @{fn2} {
    my ($file) = @_;
    my (@found, $block);
    my ($each, $rest) = (int(262144 / $size) * $size, $size - 4);
    while (my $got = sysread $file, $block, $each) {
        push @found, unpack "(a4 x$rest)*", $block;
    }
    return [@found[@order]];
}

sub some {
    my ($file) = @_;
    my ($record, @found) = ("\0" x $size);
    for (1 .. @{lookups}) {
        syscall 17, fileno $file, $record, $size, int(rand $rows) * $size;    # pread
        push @found, substr $record, 0, 4;
    }
    return \@found;
}

my $courier = IO::Socket::INET->new(PeerAddr => "127.0.0.1:@{port}") or die "courier: $!";
printf $courier "%.3f %d\n", @{load} * 400000 / $rows, $rows;
$courier->flush;
my ($began, $units, $busy, $culprit) = (time, 0, 0, 0);
my %by = (each => \&@{fn}, sorted => \&@{fn2}, some => \&some);
while (time - $began < @{seconds} and defined(my $path = <$courier>)) {
    my $start = time;
    chomp $path;
    open my $file, '<:raw', $path or die "$path: $!";
    my $found = $by{"@{mode}"}->($file);
    $culprit += time - $start;
    close $file;
    $sum{unpack "C", $found->[$_ * 10]}++ for 0 .. $#$found / 10;
    unlink $path;
    $units++;
    $busy += time - $start;
}
open my $out, '>', "@{report}" or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit;
close $out;
