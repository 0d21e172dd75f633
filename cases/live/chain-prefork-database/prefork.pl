# Reserves seats in the database, by workers that were forked before: prefork.pl PORT DATABASE_PORT.
use strict;
use warnings;
use IO::Socket::INET;

my ($port, $database_port) = @ARGV;
my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $port, Listen => 64, ReuseAddr => 1) or die $!;

# The answer's messages up to the one that says that the session is ready.
sub read_answer {
    my ($database) = @_;
    while (1) {
        read($database, my $head, 5) == 5 or die "the database left";
        my ($kind, $length) = unpack("aN", $head);
        read($database, my $body, $length - 4) if $length > 4;
        die $body if $kind eq "E";
        return if $kind eq "Z";
    }
}

sub query {
    my ($database, $text) = @_;
    print $database "Q" . pack("N", length($text) + 5) . "$text\0";
    read_answer($database);
}

sub open_session {
    my $database = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $database_port) or die $!;
    $database->autoflush(1);
    my $words = "user\0shop\0database\0postgres\0\0";
    print $database pack("NN", length($words) + 8, 196608) . $words;
    read_answer($database);
    return $database;
}

sub serve {
    my $database = open_session();
    while (my $client = $server->accept) {
        my $line = readline($client);
        query($database, "UPDATE seats SET taken = taken + 1 WHERE id = 1");
        print $client "reserved\n";
        close $client;
    }
}

for (1 .. 3) {
    fork or serve();
}
wait;
