echo "inside, GEMINI_API_KEY is a placeholder: $GEMINI_API_KEY"
curl -sS "$GOOGLE_GEMINI_BASE_URL/v1beta/models/gemini-demo:generateContent" -H "x-goog-api-key: $GEMINI_API_KEY" -H "content-type: application/json" \
	-d '{"contents":[{"role":"user","parts":[{"text":"Hello?"}]}]}'
echo
