for model in gpt-demo gpt-private; do
	curl -sS "$OPENAI_BASE_URL/chat/completions" -H "content-type: application/json" -d "{\"model\":\"$model\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello?\"}]}"
	echo
done
