use strict;
use warnings;
use Time::HiRes qw(time sleep);

# A father takes the orders, a child prices them: both talk by lines.
my %kept;

sub @{fn} {
    my ($key) = @_;
    if (@{kept}) {
        return $kept{$key};
    }
    open my $table, '<', "@{work}/@{table}" or die $!;
    my $price = 0;
    while (my $line = <$table>) {
        my ($code, $found) = split /;/, $line, 3;
        $price = $found if $code eq $key;
    }
    close $table;
    return $price;
}

sub price_orders {
    my ($in, $out) = @_;
    if (@{kept}) {
        open my $table, '<', "@{work}/@{table}" or die $!;
        while (my $line = <$table>) {
            my ($code, $price) = split /;/, $line, 3;
            $kept{$code} = $price;
        }
    }
    my $n = 0;
    while (my $key = <$in>) {
        chomp $key;
        my $start = time;
        my $price = 0;
        $price += @{fn}($_) for split ' ', $key;
        my $took = time - $start;
        if (@{notices} && $n++ % 4 == 0) {
            open my $notice, '<', "@{work}/@{notice}" or die $!;
            my @lines = <$notice>;
        }
        syswrite $out, sprintf "%s %.7f\n", $price, $took;
    }
}

pipe my $orders, my $to_child or die $!;
pipe my $from_child, my $prices or die $!;
my $child = fork // die $!;
if ($child == 0) {
    close $to_child;
    close $from_child;
    price_orders($orders, $prices);
    exit 0;
}
close $orders;
close $prices;
my $rate = @{load} * 3.6e5 / @{rows};
$rate = 50 if $rate > 50;
my ($units, $busy, $culprit, $began) = (0, 0, 0, time);
while (time - $began < @{seconds}) {
    my $start = time;
    syswrite $to_child, join(" ", map { sprintf "K%06d", ($units * 37 + $_) % @{rows} } 1 .. 4) . "\n";
    my ($price, $took) = split ' ', scalar <$from_child>;
    $culprit += $took;
    $units++;
    $busy += time - $start;
    my $rest = $began + $units / $rate - time;
    sleep $rest if $rest > 0;
}
close $to_child;
waitpid $child, 0;
open my $out, '>', "@{report}" or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit;
close $out;
