#!/bin/bash
# The program cordon-relay: what is in it, what is not, and that it keeps the promises of its parts.
. "$(dirname "$0")/../lib.sh"
relay=$CORDON_BUILD/cordon-relay

# Names of our own functions in the program that begin with one of these.
has_symbols()
{
	nm "$relay" | awk '{ print $NF }' | grep -E "^($1)"
}

# What holds, fetches, mints or injects a credential.
has_no_vault()
{
	! has_symbols 'secret_new|secret_use|vault_|grant_|grants_|inject_|mint_|credential|source_|runner_|placeholder_make|tls_ca_|sigv4'
}

has_no_egress()
{
	! has_symbols 'egress_|tls_client_(new|free|open)$|stream_tls_client|roots_|resolve|dial_|scrub_|pool_|ares_'
}

ok "the relay is there" test -x "$relay"
ok "its symbols can be read" has_symbols 'relay_tunnel_start'
ok "code that holds credentials is not in the relay" has_no_vault
ok "code that reaches out is not in the relay" has_no_egress
for part in core door limits; do
	ok "the program keeps the promises of its parts ($part)" "$CORDON_BUILD/tests/test-relay_$part" "$relay"
done
ok "it says who starts it" sh -c '"$1" 2>&1 </dev/null | grep -q "is started by cordon"' - "$relay"
finish
