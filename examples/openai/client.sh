echo "inside, OPENAI_API_KEY is a placeholder: $OPENAI_API_KEY"
curl -sS "$OPENAI_BASE_URL/chat/completions" -H "authorization: Bearer $OPENAI_API_KEY" -H "content-type: application/json" \
	-d '{"model":"gpt-demo","messages":[{"role":"user","content":"Hello?"}]}'
echo
