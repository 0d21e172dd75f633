# The pickers: a process for each, which waits for what it is told.
use strict;
use warnings;

my $house = $$;
for my $number (1 .. @{pickers}) {
    next if fork;
    $0 = sprintf 'picker-%04d of hall %d', $number, $number % 4;
    $SIG{USR1} = 'IGNORE';
    sleep 2 while getppid == $house;
    exit 0;
}
open my $up, '>', '@{work}/pickers.up' or die $!;
close $up;
sleep 3600 while 1;
