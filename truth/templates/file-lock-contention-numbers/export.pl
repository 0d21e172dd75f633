# Exports the ledger's rows up to the last number, again and again: at a pace that leaves the disk to others.
use strict;
use warnings;
use Fcntl qw(:flock);
use Time::HiRes qw(sleep);

my $pause = @{hold} / @{rows};

sub last_number {
    my $lock = shift;
    seek $lock, 0, 0;
    my $number = <$lock>;
    return defined $number ? int $number : 0;
}

sub rows_until {
    my $last = shift;
    open my $out, '>', '@{work}/@{ledger}.part' or die $!;
    for my $row (1 .. @{rows}) {
        printf $out "%d;%d;%.2f\n", $last, $row, $row * 17 / 100;
        sleep $pause;
    }
    close $out;
    rename '@{work}/@{ledger}.part', '@{work}/@{ledger}';
}

sub @{fn2} {
    open my $lock, '+>>', '@{work}/@{lock}' or die $!;
    flock $lock, LOCK_EX or die $!;
    my $last = last_number($lock);
    flock $lock, LOCK_UN if '@{guard}' eq 'number';
    rows_until($last);
    close $lock;
}

while (1) {
    @{fn2}();
    sleep @{every};
}
