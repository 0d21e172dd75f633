# Tours of an operator: says what a change of a stop would cost. The change is tried on a draft, the tour stays as it is. A process for each agent.
use strict;
use warnings;
use IO::Socket::INET;
use JSON::PP;
use List::Util qw(min sum0);
use Socket qw(IPPROTO_TCP TCP_NODELAY);

$SIG{CHLD} = 'IGNORE';
my $DEGREE = atan2(0, -1) / 180;
# The longest tours are sold in parts.
my $DAYS = @{days} > 10 ? 4 + int(@{days} / 10) : @{days};
my $json = JSON::PP->new->canonical;

sub new_stop {
    my $number = shift;
    return {
        place => {
            name      => "place-$number " . 'x' x @{text},
            latitude  => 46 + $number * 37 % 900 / 100,
            longitude => 6 + $number * 53 % 1100 / 100,
        },
        minutes => 20 + $number % 70,
        cents   => 300 + $number * 131 % 4000,
        guide   => 'guide-' . $number % 17,
    };
}

sub new_tour {
    my $days = shift;
    my @days;
    for my $d (0 .. $days - 1) {
        push @days, { stops => [ map { new_stop($d * 100 + $_) } 0 .. @{stops} - 1 ] };
    }
    return { title => 'lakes and towns', days => \@days };
}

sub kilometres {
    my ($from, $to) = @_;
    my ($a1, $b1, $c1) = map { $_ * $DEGREE } $from->{latitude}, $to->{latitude}, $to->{longitude} - $from->{longitude};
    my $cosine = min(1, sin($a1) * sin($b1) + cos($a1) * cos($b1) * cos($c1));
    return 6371 * atan2(sqrt(1 - $cosine * $cosine), $cosine);
}

# Each day's order of stops, going on to the next one that is nearest; a bus, and the tickets.
sub cost {
    my $tour = shift;
    my ($way, $cents) = (0, 0);
    for my $day (map { $_->{stops} } @{ $tour->{days} }) {
        my ($first, @left) = @$day;
        my $at = $first->{place};
        while (@left) {
            my ($best, $nearest) = (0, 40_000);
            for my $i (0 .. $#left) {
                my $here = kilometres($at, $left[$i]{place});
                ($best, $nearest) = ($i, $here) if $here < $nearest;
            }
            my ($next) = splice @left, $best, 1;
            $way += $nearest;
            $at = $next->{place};
        }
        $cents += sum0 map { $_->{cents} } @$day;
    }
    return $cents + int($way * 90);
}

sub @{fn} {
    my ($from, $day) = @_;
    if ('@{copy}' eq 'day') {
        my %draft = %$from;
        $draft{days} = [ @{ $from->{days} } ];
        $draft{days}[$day] = { stops => [ @{ $from->{days}[$day]{stops} } ] };
        return \%draft;
    }
    return $json->decode($json->encode($from));
}

sub change {
    my ($tour, $number) = @_;
    my $day   = $number % $DAYS;
    my $draft = @{fn}($tour, $day);
    $draft->{days}[$day]{stops}[ $number % @{stops} ] = new_stop($number * 7919 % 100_003);
    return sprintf "tour %.2f, day %d\n", cost($draft) / 100, $day + 1;
}

my $tour = new_tour($DAYS);
my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 64, ReuseAddr => 1) or die "door: $@";
while (1) {
    my $agent = $door->accept or next;
    if (!fork) {
        close $door;
        $agent->setsockopt(IPPROTO_TCP, TCP_NODELAY, 1);
        while (my $line = <$agent>) {
            my ($number) = $line =~ /(\d+)/ or next;
            syswrite $agent, change($tour, $number);
        }
        exit 0;
    }
    close $agent;
}
