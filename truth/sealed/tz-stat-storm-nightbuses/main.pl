# Reads what the buses of the night sent about their stops, and makes the tables of the depot out of it: how many stops in each quarter of an hour.
use strict;
use warnings;
use Time::HiRes qw(time sleep);

$ENV{TZ} = '@{zone}' if '@{zone}' ne 'none';

package Table {
    sub new { my ($class) = @_; return bless { quarters => {}, spent => 0 }, $class }

    sub @{fn} {
        my ($self, $at) = @_;
        my (undef, $minute, $hour) = localtime($at);
        return $hour * 4 + int($minute / 15);
    }

    sub add {
        my ($self, $times) = @_;
        my $start = Time::HiRes::time();
        my @quarters;
        if (@{each}) {
            @quarters = map { $self->@{fn}($_) } @$times;
        } else {
            my $first = $self->@{fn}($times->[0]);
            @quarters = map { ($first + int(($_ - $times->[0]) / 900)) % 96 } @$times;
        }
        $self->{spent} += Time::HiRes::time() - $start;
        $self->{quarters}{$_}++ for @quarters;
    }
}

sub receive {
    my ($trip) = @_;
    my $at = 1_700_000_000 + $trip * 86_400;
    return [map { $at += 20 + ($_ * 7 + $trip) % @{lines} } 1 .. @{stops}];
}

my $table = Table->new;
my ($units, $busy) = (0, 0);
my $began = time;
my $due = $began;
while (time - $began < @{seconds}) {
    my $start = time;
    $table->add(receive($units));
    $busy += time - $start;
    $units++;
    $due += 1 / @{rate};
    $due = time if $due < time;
    sleep($due - time) if $due > time;
}
open(my $out, '>', '@{report}') or die;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $table->{spent};
close($out);
