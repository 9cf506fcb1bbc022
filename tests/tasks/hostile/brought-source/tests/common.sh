verify_it()
{
	grep -qx 42 /app/answer.txt
}
