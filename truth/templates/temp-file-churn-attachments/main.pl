#!/usr/bin/perl
# Checks the mail of a tax office: what is attached must be papers, and none that have been handed in before. Each checker is a process.
use strict;
use warnings;
use Compress::Raw::Zlib ();
use File::Temp ();
use IO::Socket::UNIX;
use Socket qw(SOCK_STREAM);
use Time::HiRes qw(time);

my ($units, $busy, $files) = (0, 0, 0);
my %seen;

sub @{fn} {
    my ($data) = @_;
    my $began = time;
    my ($out, $path) = File::Temp::tempfile('@{prefix}XXXXXXXX', DIR => '@{work}/@{scratch}');
    binmode $out;
    syswrite($out, $$data) == length $$data or die "$path: $!\n";
    close $out;
    $files += time - $began;
    return $path;
}

sub content {
    my ($path) = @_;
    my $began = time;
    open(my $in, '<:raw', $path) or die "$path: $!\n";
    sysread($in, my $data, -s $in);
    close $in;
    unlink $path;
    $files += time - $began;
    return \$data;
}

sub taken {
    my ($data) = @_;
    return length $$data > @{most} ? content(@{fn}($data)) : $data;
}

sub check {
    my ($name, $data) = @_;
    my $sum = Compress::Raw::Zlib::crc32($$data);
    return "$name is no paper" if substr($$data, 0, 5) ne '%PDF-';
    return "$name was here" if $seen{$sum}++;
    return ();
}

sub verdict {
    my $text = taken(@_);
    my ($boundary) = $$text =~ /boundary="([^"]*)"/ or return 'no parts';
    my @faults;
    my $at = index($$text, "--$boundary\r\n");
    while ($at >= 0) {
        my $next = index($$text, "--$boundary", $at + 4);
        last if $next < 0;
        my $body = index($$text, "\r\n\r\n", $at) + 4;
        my ($name) = substr($$text, $at, $body - $at) =~ /filename="([^"]*)"/;
        push @faults, check($name, taken(\substr($$text, $body, $next - $body - 2)));
        $at = substr($$text, $next + length("--$boundary"), 2) eq '--' ? -1 : $next;
    }
    return join('; ', @faults) || 'clean';
}

sub work {
    my ($end) = @_;
    my $line = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => '@{work}/@{sock}') or die "postmaster: $!\n";
    while (time < $end) {
        syswrite $line, "NEXT\n";
        my ($number, $length) = split ' ', scalar <$line>;
        read($line, my $text, $length) == $length or die "the postmaster hung up\n";
        my $began = time;
        syswrite $line, "VERDICT $number " . substr(verdict(\$text), 0, 200) . "\n";
        $units++;
        $busy += time - $began;
    }
}

my $end = time + @{seconds};
my @reports;
for (2 .. @{workers}) {
    pipe(my $read, my $write) or die "pipe: $!\n";
    if (!fork) {
        work($end);
        print {$write} "$units $busy $files\n";
        close $write;
        exit;
    }
    close $write;
    push @reports, $read;
}
work($end);
for my $read (@reports) {
    my ($more_units, $more_busy, $more_files) = split ' ', scalar <$read>;
    $units += $more_units;
    $busy += $more_busy;
    $files += $more_files;
}
open(my $out, '>', '@{report}') or die "report: $!\n";
printf {$out} '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $files;
close $out;
