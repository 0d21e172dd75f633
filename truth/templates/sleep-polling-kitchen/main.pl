# The kitchen's side of a restaurant's orders: which stove does what, and a ticket for each table.
use strict;
use warnings;
use Fcntl;
use IO::Handle;
use List::Util qw(max min);
use Time::HiRes 'sleep';

my $TABLE = '@{table}';
my $TICK  = @{tick} / 1000;

sysopen my $bell,    'bell',    O_RDWR or die "bell: $!";
sysopen my $printer, 'tickets', O_RDWR or die "tickets: $!";
open my $orders, '<', $TABLE or die "$TABLE: $!";
$printer->autoflush(1);

my @stoves = map { { number => $_, free_at => 0 } } 1 .. @{stoves};
my ($done, $clock, $rest) = (0, 0, '');

sub state_of_things {
    open my $out, '>', 'kitchen.state' or die "kitchen.state: $!";
    printf $out "orders %d\nlatest stove %d\n", $done, max(map { $_->{free_at} } @stoves);
    close $out;
}

# The rows that the tills have appended since.
sub new_rows {
    seek $orders, 0, 1;
    my @rows;
    while (my $line = <$orders>) {
        $rest .= $line;
        last unless $rest =~ /\n\z/;
        chomp $rest;
        push @rows, $rest;
        $rest = '';
    }
    return @rows;
}

sub @{fn} {
    while (1) {
        my @rows = new_rows();
        return @rows if @rows;
        if (@{rings}) {
            my $ready = '';
            vec($ready, fileno $bell, 1) = 1;
            if (select $ready, undef, undef, $TICK) {
                sysread $bell, my $rung, 64;
            }
            else {
                state_of_things();
            }
        }
        else {
            sleep $TICK;
        }
    }
}

# The stove that is free first and not too far from the pass.
sub stove_for {
    my ($dish) = @_;
    my ($best, $cost);
    for my $stove (@stoves) {
        my $walk  = abs($stove->{number} - $dish % @stoves) * 0.4;
        my $wait  = max(0, $stove->{free_at} - $clock) + $walk;
        ($best, $cost) = ($stove, $wait) if !defined $cost || $wait < $cost;
    }
    return $best;
}

sub cook {
    my ($number, $table, @dishes) = @_;
    my @plan;
    for my $round (1 .. 8) {
        for my $dish (sort { $b % 7 <=> $a % 7 } @dishes) {
            my $stove = stove_for($dish + $round);
            $stove->{free_at} = max($clock, $stove->{free_at}) + 2 + $dish % 9;
            push @plan, "$dish\@$stove->{number}";
        }
    }
    $clock += 1.5;
    $done++;
    syswrite $printer, "$number table $table: @plan[0 .. min(8, $#plan)]\n";
}

state_of_things();
while (1) {
    for my $row (@{fn}()) {
        my ($number, $table, $dishes) = split /;/, $row;
        next unless defined $dishes;
        cook($number, $table, split /,/, $dishes);
    }
}
