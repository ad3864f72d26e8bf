use strict;
use warnings;
use HTTP::Tiny;

my $headers = { 'X-API-Key' => $ENV{KEY}, 'Content-Type' => 'application/json' };
print HTTP::Tiny->new->post($ENV{INGEST_URL}, { headers => $headers, content => $ENV{READING} })->{content};
