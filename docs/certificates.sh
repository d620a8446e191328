#!/bin/sh
# Certificates for a Dask cluster: an authority of your own, and one certificate for each name that is given.
#
#     docs/certificates.sh FOLDER head node        makes FOLDER/ca.pem, head.pem, head-key.pem, node.pem, node-key.pem
#
# Whoever has one of the certificates may run code on every machine of the cluster. Dask checks that a certificate was
# signed by the authority, not which name it has. The authority's own key (ca-key.pem) belongs on no node.
set -eu
umask 077
folder=$1
shift
mkdir -p "$folder"
cd "$folder"
if [ ! -f ca-key.pem ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj "/CN=cometfuzz cluster" \
    -keyout ca-key.pem -out ca.pem
fi
for name in "$@"; do
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$name" -keyout "$name-key.pem" -out "$name.csr"
  openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 365 -out "$name.pem"
  rm "$name.csr"
done
