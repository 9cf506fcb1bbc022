echo "inside, ANTHROPIC_API_KEY is a placeholder: $ANTHROPIC_API_KEY"
curl -sS "$ANTHROPIC_BASE_URL/v1/messages" -H "x-api-key: $ANTHROPIC_API_KEY" -H "content-type: application/json" \
	-d '{"model":"claude-demo","max_tokens":20,"messages":[{"role":"user","content":"Hello?"}]}'
echo
echo "another model is refused:"
curl -sS "$ANTHROPIC_BASE_URL/v1/messages" -H "content-type: application/json" -d '{"model":"other","max_tokens":20,"messages":[]}'
echo
