#!/bin/bash
# What egress holds to whatever runs side by side and whatever a new policy meets under way: budgets, what may be sent, and where a name leads that a proxy resolves. With the tools of
# egress.sh, in a network namespace of its own.
. "$(dirname "$0")/../egress_lib.sh"

printf 'nameserver 127.0.0.1\n' >resolv.conf
cat >hosts <<'END'
10.1.2.3 inner.test
10.1.2.3 two.test
10.9.2.3 two.test
fd00::1 ula.test
fd00::5efe:808:808 isatap.test
fe80::5efe:808:808 link.test
2002:808:808::1 six.test
64:ff9b::808:808 world.test
64:ff9b::a01:203 translated.test
64:ff9b::a09:203 other.test
END
mount --bind resolv.conf /etc/resolv.conf && mount --bind hosts /etc/hosts || exit 99
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 30 -subj "/CN=Test CA" 2>/dev/null
: >plain.log
python3 "$here/upstream.py" 8080 plain.log >ready.plain & pids+=($!)
python3 "$here/echo.py" 8022 echo.log >ready.echo & pids+=($!)
python3 "$here/dns.py" dns.log up.test=127.0.0.1 >ready.dns & pids+=($!)
python3 "$here/proxy.py" 3128 proxy.log >ready.proxy & pids+=($!)
for _ in $(seq 200); do
	[ "$(cat ready.* | grep -c ready)" = 4 ] && break
	sleep 0.05
done

# Requests side by side. Their server, which does not know the name of the limit, thinks for a second and hangs up.
printf 'network: {mode: none}\ninference: {providers: {late: {kind: openai, url: "http://127.0.0.1:8080/late/v1", models: ["*"], max_output_tokens: 100}}}\n' >budget.yaml
# aside BODY: how many of ten such requests went out
aside()
{
	: >plain.log
	run budget.yaml <<<"par 10 POST http://127.0.0.1:8080/late/v1/chat/completions i:0 h:content-type=application/json d:{$1\"model\":\"m\",\"messages\":[]}"
	asked=$(grep -c 'POST /late' plain.log)
}
aside ''
is "requests without a limit do not pass the budget side by side" "$asked" 1
for name in n_predict max_new_tokens max_completion_tokens num_predict; do
	aside "\"$name\":1,"
	is "nor do those that limit themselves by $name, which their server may not know" "$asked" 1
done
aside '"max_tokens":1,'
is "those that limit themselves by the name that all servers know run side by side" "$asked" 10
aside '"max_tokens":1,"options":{"num_predict":5000},'
is "but not with another limit beside it" "$asked" 1

# Behind a proxy: where a name leads, as this machine sees it, holds for each request, whoever dialled the connection, and after a reload.
proxy=(proxy http://127.0.0.1:3128)
# inner FILE MORE: a name, and the rule of the range that it leads to; MORE goes into the rule of the range, or stands behind the rules
inner()
{
	printf 'network: {mode: allowlist, allow: [{host: "*.test", ports: [8080, 8022]}, {cidr: 10.1.0.0/16, ports: [8080, 8022]%s}\n' "$2" >"$1"
}
inner open.yaml '}]'
inner get.yaml ', methods: [GET]}]'
inner rate.yaml ', rate: 1/h}]'
inner deny.yaml '}], deny: [{cidr: 10.1.2.0/24}]'
: >plain.log
run get.yaml "${proxy[@]}" <<'END'
req GET http://inner.test:8080/first
req POST http://inner.test:8080/second d:a=1
req GET http://inner.test:8080/third
END
is "a connection through a proxy is for those alone that the range's rule allows" "$(count '= 200 OK')/$(count '= failed policy_denied')/$(grep -o '/[a-z]* HTTP' plain.log | xargs)" \
	"2/1//first HTTP /third HTTP"
: >plain.log
run open.yaml "${proxy[@]}" <<'END'
req GET http://inner.test:8080/first
policy deny.yaml
req GET http://inner.test:8080/second
END
is "nor is it used where a new policy denies what the name leads to" "$(count '= 200 OK')/$(count '= failed policy_denied')/$(grep -c second plain.log)" 1/1/0
run open.yaml "${proxy[@]}" <<<'req POST http://inner.test:8080/echo unended policy:deny.yaml d:a=1'
is "what is under way ends with it" "$(count '= 200 OK')/$(count '= failed policy_denied')" 0/1
run open.yaml "${proxy[@]}" <<'END'
hold inner.test 8022
held
policy deny.yaml
held
END
like "and so do tunnels" "$out" "= open"$'\n'".*cut: the policy no longer allows it"$'\n'"= cut"
run open.yaml "${proxy[@]}" <<'END'
hold inner.test 8022
policy open.yaml
held
req GET http://inner.test:8080/first
END
is "a policy that changes nothing ends nothing" "$(count '= open')/$(count '= 200 OK')" 1/1
run rate.yaml "${proxy[@]}" <<'END'
req GET http://inner.test:8080/first
req GET http://inner.test:8080/second
END
is "the rate of the range counts behind a proxy" "$(count '= 200 OK')/$(count '= failed budget_used_up')" 1/1
: >proxy.log
run open.yaml "${proxy[@]}" <<<'req GET http://two.test:8080/first'
is "one address of many that is closed is one too many" "$(count '= failed policy_denied')/$(cat proxy.log)" 1/

# Addresses that carry one of IPv4 in themselves.
printf 'network: {mode: public, deny: [{cidr: "2002::/16"}]}\n' >public.yaml
: >proxy.log
run public.yaml "${proxy[@]}" <<'END'
req GET http://ula.test:8080/
req GET http://isatap.test:8080/
req GET http://link.test:8080/
req GET http://six.test:8080/
req GET http://translated.test:8080/
req GET http://world.test:8080/
END
is "an address is not fine because one that it carries is" "$(count '= failed policy_denied')/$(cut -d' ' -f2 proxy.log | xargs)" 5/http://world.test:8080/
: >proxy.log
run get.yaml "${proxy[@]}" <<'END'
req GET http://translated.test:8080/first
req POST http://translated.test:8080/second d:a=1
req GET http://other.test:8080/third
END
is "but one that a translator made is what it was made of" "$(count '= 200 OK')/$(count '= failed policy_denied')/$(cut -d' ' -f2 proxy.log | xargs)" 1/2/http://translated.test:8080/first
inner deny64.yaml '}], deny: [{cidr: "64:ff9b::/96"}]'
run open.yaml "${proxy[@]}" <<'END'
req GET http://translated.test:8080/first
policy deny64.yaml
req GET http://translated.test:8080/second
END
is "unless it is denied itself" "$(count '= 200 OK')/$(count '= failed policy_denied')" 1/1

# A body that is under way when a policy comes that minds the method.
printf 'network: {mode: allowlist, allow: [{host: up.test, ports: [8080]}]}\n' >any.yaml
printf 'network: {mode: allowlist, allow: [{host: up.test, ports: [8080], methods: [POST]}]}\n' >post.yaml
printf 'network: {mode: allowlist, allow: [{host: inner.test, ports: [8080]}, {cidr: 10.1.0.0/16, ports: [8080], methods: [POST]}]}\n' >range.yaml
pins=(pin up.test=127.0.0.1)
form=h:content-type=application/x-www-form-urlencoded
: >plain.log
run any.yaml "${pins[@]}" <<END
req POST http://up.test:8080/echo $form unended policy:post.yaml d:a=1& then:_method=DELETE
req POST http://up.test:8080/echo $form d:a=1
END
is "a form whose beginning nobody looked into does not go on under a rule about methods" "$(count '= 200 OK')/$(count 'failed policy_denied')/$(grep -c _method plain.log)" 1/1/0
: >plain.log
run any.yaml "${pins[@]}" <<END
open POST http://up.test:8080/slow $form d:a=1
policy any.yaml
policy post.yaml
opened 4
END
is "the answer to one that was sent comes" "$(count '= 200 OK')/$(count 'body 4 slow')" 1/1
: >plain.log
run post.yaml "${pins[@]}" <<END
req POST http://up.test:8080/echo $form unended policy:post.yaml d:a=1& then:b=2
req POST http://up.test:8080/echo $form unended policy:any.yaml d:a=1& then:_method=PUT
req POST http://up.test:8080/echo $form unended policy:post.yaml d:a=1& then:b=2
END
is "one that was looked into all the time goes on, and is free where the policy is" "$(count '= 200 OK')/$(count 'failed policy_denied')" 2/1
run open.yaml "${proxy[@]}" <<END
req POST http://inner.test:8080/echo $form unended policy:range.yaml d:a=1& then:_method=PUT
END
is "the rule of a range minds it as well" "$(count '= 200 OK')/$(count 'failed policy_denied')" 0/1

# Who wants to send more than is left ends it for all that would begin, whatever it was to be.
printf 'network: {mode: allowlist, max_bytes_out: 8K, allow: [{host: "*.test", ports: [8080, 8022]}]}\n' >quota.yaml
long=$(printf 'x%.0s' {1..12000})
# ends WHAT COMMAND: does the command end it?
ends()
{
	run quota.yaml "${pins[@]}" <<END
req GET http://up.test:8080/before
$2
req GET http://up.test:8080/after
tunnel up.test 8022 abc
END
	is "after $1 that is too large nothing new begins" "$(count 'body [0-9]* hello /before')/$(count 'body [0-9]* hello /after')/$(count 'got hi')/$(count 'failed budget_used_up')" 1/0/0/3
}
ends "a head" "req GET http://up.test:8080/head h:x-long=$long"
ends "a body" "req POST http://up.test:8080/echo n:12000 len:12000"
ends "a body in chunks" "req POST http://up.test:8080/echo n:12000"
ends "a trailer" "req POST http://up.test:8080/echo d:a t:x-long=$long"
run quota.yaml "${pins[@]}" <<END
fleet 1 up.test 8022
req GET http://up.test:8080/after
END
is "nor after a tunnel that wants more" "$(count 'granted [1-9]')/$(count 'failed budget_used_up')" 1/1
printf 'network: {mode: allowlist, max_bytes_out: 300, allow: [{host: "*.test", ports: [8080, 8022]}]}\n' >few.yaml
: >dns.log
run few.yaml "${pins[@]}" <<END
tunnel ${long:0:60}.${long:0:60}.${long:0:60}.test 8022 abc
req GET http://up.test:8080/after
END
is "nor after a name that DNS may not be asked for" "$(count 'failed budget_used_up')/$(cat dns.log)" 2/

# A question that nobody answers is asked again: 18 bytes besides the name, each time.
name=silent.${long:0:60}.${long:0:60}.test
each=$((${#name} + 18))
: >dns.log
run quota.yaml <<<"tunnel $name 8022 abc"
asked=$(grep -c "^$name" dns.log)
is "names count as often as DNS is asked for them" "$((asked > 2))/$(grep -o 'out [0-9]*' <<<"$out" | tail -1)" "1/out $((asked * each))"
sed "s/300/$((2 * each + 10))/" few.yaml >once.yaml
: >dns.log
run once.yaml <<<"tunnel $name 8022 abc"
is "and are not asked for again beyond what may be sent" "$(grep -c "^$name" dns.log)/$(count '= failed')" 2/1

# More at once than connections may be made: they wait for those that become free, and not for long
ulimit -n "$(ulimit -Hn)"
python3 "$here/upstream.py" 8081 many.log >ready.many & pids+=($!)
until [ -s ready.many ]; do sleep 0.05; done
printf 'network: {mode: allowlist, allow: [{cidr: 127.0.0.0/8, ports: [8081]}]}\n' >many.yaml
run many.yaml <<<'par 520 GET http://127.0.0.1:8081/think/3'
like "more requests at once than connections to a server: the others go when these are free" "$out" '= 520 of 520 ok, 520 done'
: >many.log
run many.yaml <<<'par 520 GET http://127.0.0.1:8081/ws ws'
is "websockets, too" "$(count '520 done')/$(grep -c 'GET /ws' many.log)" 1/520
run many.yaml <<<'par 2060 GET http://127.0.0.#:8081/think/3'
like "those to other servers, where no more may be made at all" "$out" '= 2060 of 2060 ok, 2060 done'
run many.yaml <<<'par 514 GET http://127.0.0.1:8081/think/14'
like "who would wait for longer than ten seconds is told" "$out" '= 512 of 514 ok, 514 done'
like "... what it is about" "$out" 'GET http://127\.0\.0\.1:8081/think/14 .*none became free within ten seconds'

is "no sanitizer complained" "$(cat complaints)" ""
finish
