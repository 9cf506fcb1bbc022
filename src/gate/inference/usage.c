#include "gate/inference/usage.h"

#include "base/cleanup.h"

/* What an open container is: only the way to a usage object matters. */
enum level { LEVEL_OTHER, LEVEL_TOP, LEVEL_WRAP, LEVEL_USAGE };

enum in { IN_NOTHING, IN_STRING, IN_ESCAPE, IN_HEX, IN_NUMBER };

/* line_at: 0 to 4 bytes of "data:" have matched, then: */
enum line { LINE_START = 0, LINE_BLANK = 5, LINE_DATA = 6, LINE_SKIP = 7 };

/* mark_at: 0 to 6 bytes of "[DONE]" are all of an event's data so far, then: */
enum mark { MARK_ALL = 6, MARK_OTHER = 7 };

/* A token has about as many bytes, and an event as many that are no text of the model. */
enum { TOKEN_BYTES = 4, EVENT_BYTES = 512 };

enum field {
	FIELD_INPUT,
	FIELD_OUTPUT,
	FIELD_THOUGHTS,
	FIELD_TOOL_INPUT,
	FIELD_CACHE_READ,
	FIELD_CACHE_WRITE,
	FIELD_TOTAL
};

static const struct {
	enum provider_kind kind;
	const char *name;
	enum field field;
} fields[] = {
	{PROVIDER_ANTHROPIC, "input_tokens", FIELD_INPUT},
	{PROVIDER_ANTHROPIC, "output_tokens", FIELD_OUTPUT},
	{PROVIDER_ANTHROPIC, "cache_read_input_tokens", FIELD_CACHE_READ},
	{PROVIDER_ANTHROPIC, "cache_creation_input_tokens", FIELD_CACHE_WRITE},
	{PROVIDER_OPENAI, "prompt_tokens", FIELD_INPUT},
	{PROVIDER_OPENAI, "completion_tokens", FIELD_OUTPUT},
	{PROVIDER_OPENAI, "input_tokens", FIELD_INPUT},
	{PROVIDER_OPENAI, "output_tokens", FIELD_OUTPUT},
	{PROVIDER_OPENAI, "total_tokens", FIELD_TOTAL},
	{PROVIDER_GEMINI, "promptTokenCount", FIELD_INPUT},
	{PROVIDER_GEMINI, "toolUsePromptTokenCount", FIELD_TOOL_INPUT},
	{PROVIDER_GEMINI, "candidatesTokenCount", FIELD_OUTPUT},
	{PROVIDER_GEMINI, "thoughtsTokenCount", FIELD_THOUGHTS},
	{PROVIDER_GEMINI, "totalTokenCount", FIELD_TOTAL},
};

static const struct {
	const char *usage, *wrap; /* wrap: the member that may hold the usage in a stream */
} places[] = {
	[PROVIDER_ANTHROPIC] = {"usage", "message"},
	[PROVIDER_OPENAI] = {"usage", "response"},
	[PROVIDER_GEMINI] = {"usageMetadata", NULL},
};

/* Events that end a stream, by their type. */
static const struct {
	enum provider_kind kind;
	const char *type;
} ends[] = {
	{PROVIDER_ANTHROPIC, "message_stop"},
	{PROVIDER_OPENAI, "response.completed"},
	{PROVIDER_OPENAI, "response.incomplete"},
	{PROVIDER_OPENAI, "response.failed"},
};

static void start_document(struct usage *u)
{
	u->depth = 0;
	u->in = IN_NOTHING;
	u->name_len = 0;
	u->named = false;
	u->type = false;
	u->field = -1;
}

void usage_init(struct usage *u, enum provider_kind kind, bool sse)
{
	*u = (struct usage){.kind = kind, .sse = sse};
	start_document(u);
}

static enum level level_at(const struct usage *u)
{
	return u->depth && u->depth <= USAGE_LEVELS ? (enum level)u->level[u->depth - 1] : LEVEL_OTHER;
}

static bool is_name(const struct usage *u, const char *name)
{
	return name && u->named && sv_is(sv_n(u->name, u->name_len), name);
}

static void open_container(struct usage *u, char c)
{
	enum level now = level_at(u), next = LEVEL_OTHER;

	if (u->depth == 0) {
		next = LEVEL_TOP; /* an array of chunks is as good as one chunk */
		u->list = u->list || c == '[';
	} else if (now == LEVEL_TOP && !u->named && c == '{')
		next = LEVEL_TOP;
	else if ((now == LEVEL_TOP || now == LEVEL_WRAP) && is_name(u, places[u->kind].usage) && c == '{')
		next = LEVEL_USAGE;
	else if (now == LEVEL_TOP && is_name(u, places[u->kind].wrap) && c == '{')
		next = LEVEL_WRAP;
	if (u->depth < USAGE_LEVELS)
		u->level[u->depth] = (uint8_t)next;
	if (u->depth < UINT32_MAX)
		u->depth++;
	u->named = false;
	u->name_len = 0;
}

static void close_container(struct usage *u)
{
	if (u->depth)
		u->depth--;
	u->named = false;
	u->name_len = 0;
}

static int find_field(const struct usage *u)
{
	size_t i;

	if (level_at(u) != LEVEL_USAGE)
		return -1;
	for (i = 0; i < ARRAY_LEN(fields); i++)
		if (fields[i].kind == u->kind && is_name(u, fields[i].name))
			return (int)fields[i].field;
	return -1;
}

static void start_number(struct usage *u, char c)
{
	u->in = IN_NUMBER;
	u->field = (int8_t)find_field(u);
	u->negative = c == '-';
	u->fraction = u->exponent = false;
	u->number = c == '-' ? 0 : (uint64_t)(c - '0');
}

static void keep_number(struct usage *u)
{
	bool wrapped;

	if (u->field < 0 || u->negative)
		return;
	wrapped = u->depth >= 2 &&
		  u->level[u->depth - 2] == LEVEL_WRAP; /* a field is only found at a depth that has its level */
	u->told = true;
	if (u->exponent)
		u->number = USAGE_MAX;
	if (u->number > u->value[u->field])
		u->value[u->field] = u->number;
	/* message_start of Anthropic has only the first word on output. */
	if (u->field == FIELD_OUTPUT && !(u->kind == PROVIDER_ANTHROPIC && u->sse && wrapped))
		u->final = true;
}

/* True while c belongs to the number. */
static bool number_byte(struct usage *u, char c)
{
	if (c >= '0' && c <= '9') {
		if (!u->fraction && !u->exponent)
			u->number = u->number * 10 + (uint64_t)(c - '0');
		if (u->number > USAGE_MAX)
			u->number = USAGE_MAX;
		return true;
	}
	if (c == '.')
		u->fraction = true;
	else if (c == 'e' || c == 'E')
		u->exponent = true;
	return c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
}

static void outside_byte(struct usage *u, char c)
{
	switch (c) {
	case '{':
	case '[':
		open_container(u, c);
		break;
	case '}':
	case ']':
		close_container(u);
		break;
	case '"':
		u->in = IN_STRING;
		u->type = u->sse && u->depth == 1 && is_name(u, "type");
		u->name_len = 0;
		break;
	case ':':
		u->named = true;
		break;
	case ',':
		u->named = false;
		u->name_len = 0;
		break;
	default:
		if (c == '-' || (c >= '0' && c <= '9'))
			start_number(u, c);
	}
}

/* name_len beyond the array says: too long to matter. */
static void name_byte(struct usage *u, char c)
{
	if (u->name_len < USAGE_NAME)
		u->name[u->name_len] = c;
	if (u->name_len <= USAGE_NAME)
		u->name_len++;
	if (u->name_len > USAGE_NAME)
		u->name_len = USAGE_NAME + 1;
}

static void escape_byte(struct usage *u, char c)
{
	if (c == 'u') {
		u->in = IN_HEX;
		u->hex = 0;
		u->hex_left = 4;
		return;
	}
	u->in = IN_STRING;
	name_byte(u, c == '"' || c == '\\' || c == '/' ? c : '\n');
}

static void hex_byte(struct usage *u, char c)
{
	unsigned v = 16;

	if (c >= '0' && c <= '9')
		v = (unsigned)(c - '0');
	else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		v = (unsigned)((c | 0x20) - 'a' + 10);
	/* Only letters of ASCII are in a name that counts: the first two digits are 0. */
	if (v == 16 || (u->hex_left > 2 && v))
		u->hex = 0xff;
	else if (u->hex != 0xff)
		u->hex = (uint8_t)(u->hex << 4 | v);
	if (--u->hex_left)
		return;
	u->in = IN_STRING;
	name_byte(u, u->hex < 0x80 ? (char)u->hex : '\n');
}

static void end_string(struct usage *u)
{
	size_t i;

	u->in = IN_NOTHING;
	for (i = 0; u->type && i < ARRAY_LEN(ends); i++)
		if (ends[i].kind == u->kind && is_name(u, ends[i].type))
			u->last = true;
	u->type = false;
}

static void json_byte(struct usage *u, char c)
{
	switch (u->in) {
	case IN_STRING:
		if (c == '"')
			end_string(u);
		else if (c == '\\')
			u->in = IN_ESCAPE;
		else
			name_byte(u, c);
		return;
	case IN_ESCAPE:
		escape_byte(u, c);
		return;
	case IN_HEX:
		hex_byte(u, c);
		return;
	case IN_NUMBER:
		if (number_byte(u, c))
			return;
		keep_number(u);
		u->in = IN_NOTHING;
		break;
	default:
		break;
	}
	outside_byte(u, c);
}

static void feed_json(struct usage *u, struct sv s)
{
	size_t i = 0;

	for (; i < s.n; i++) {
		/* Most of a reply is the inside of long strings. */
		while (u->in == IN_STRING && u->name_len > USAGE_NAME && i < s.n && s.p[i] != '"' && s.p[i] != '\\')
			i++;
		if (i < s.n)
			json_byte(u, s.p[i]);
	}
}

/* At least one for an event, and more for a large one. */
static uint64_t event_tokens(const struct usage *u)
{
	if (!u->event_has_data)
		return 0;
	return 1 + (u->bytes > EVENT_BYTES ? (u->bytes - EVENT_BYTES) / TOKEN_BYTES : 0);
}

/* Does an event say nothing but "[DONE]"? */
static void match_mark(struct usage *u, struct sv data)
{
	size_t i;

	for (i = 0; i < data.n && u->mark_at != MARK_OTHER; i++)
		if (data.p[i] != ' ')
			u->mark_at = u->mark_at < MARK_ALL && data.p[i] == "[DONE]"[u->mark_at]
					     ? (uint8_t)(u->mark_at + 1)
					     : MARK_OTHER;
}

/* A blank line: the event is over, and with it its document. */
static void end_event(struct usage *u)
{
	if (u->in == IN_NUMBER)
		keep_number(u);
	u->seen += event_tokens(u);
	u->done = u->done || u->last || (u->kind == PROVIDER_OPENAI && u->mark_at == MARK_ALL);
	u->bytes = 0;
	u->mark_at = 0;
	u->event_has_data = u->last = false;
	start_document(u);
}

static void end_line(struct usage *u)
{
	if (u->line_at == LINE_START)
		end_event(u);
	else if (u->line_at == LINE_DATA || u->line_at == LINE_BLANK)
		json_byte(u, '\n'); /* lines of data are joined by it */
	u->line_at = LINE_START;
}

/* One byte of a line outside its data. */
static void line_byte(struct usage *u, char c)
{
	static const char prefix[] = "data:";

	if (u->line_at == LINE_BLANK) {
		u->line_at = LINE_DATA;
		if (c != ' ') {
			match_mark(u, sv_n(&c, 1));
			json_byte(u, c);
		}
	} else if (u->line_at < LINE_BLANK) {
		u->line_at = c == prefix[u->line_at] ? (uint8_t)(u->line_at + 1) : LINE_SKIP;
		if (u->line_at == LINE_BLANK)
			u->event_has_data = true;
	}
}

static void feed_lines(struct usage *u, struct sv s)
{
	size_t i = 0, end;

	while (i < s.n) {
		if (s.p[i] == '\n' && u->after_cr) {
			u->after_cr = false; /* the second half of CR LF */
			i++;
			continue;
		}
		u->after_cr = s.p[i] == '\r';
		if (s.p[i] == '\n' || s.p[i] == '\r') {
			end_line(u);
			i++;
			continue;
		}
		if (u->line_at < LINE_DATA) {
			u->bytes++;
			line_byte(u, s.p[i++]);
			continue;
		}
		for (end = i; end < s.n && s.p[end] != '\n' && s.p[end] != '\r'; end++)
			;
		u->bytes += end - i;
		if (u->line_at == LINE_DATA) {
			match_mark(u, sv_n(s.p + i, end - i));
			feed_json(u, sv_n(s.p + i, end - i));
		}
		i = end;
	}
}

void usage_feed(struct usage *u, struct sv bytes)
{
	if (u->sse) {
		feed_lines(u, bytes);
	} else {
		u->bytes += bytes.n;
		feed_json(u, bytes);
	}
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a + b > USAGE_MAX ? USAGE_MAX : a + b; /* each is at most USAGE_MAX */
}

void usage_now(const struct usage *u, struct usage_tokens *ret)
{
	*ret = (struct usage_tokens){
		.input = sum(u->value[FIELD_INPUT], u->value[FIELD_TOOL_INPUT]),
		.output = sum(u->value[FIELD_OUTPUT], u->value[FIELD_THOUGHTS]),
		.cache_read = u->value[FIELD_CACHE_READ],
		.cache_write = u->value[FIELD_CACHE_WRITE],
	};
}

/* What is in the total and is neither input nor told of: a number that was left out, at the end, when all have come. */
static void count_rest(const struct usage *u, struct usage_tokens *io)
{
	uint64_t total = u->value[FIELD_TOTAL];

	if (total > io->input && total - io->input > io->output)
		io->output = total - io->input;
}

void usage_end(const struct usage *u, uint64_t may, bool whole, struct usage_tokens *ret)
{
	uint64_t least = u->sse ? u->seen + event_tokens(u) : u->bytes / TOKEN_BYTES;
	bool complete = whole || (u->sse ? u->done : u->final && !u->list);

	usage_now(u, ret);
	count_rest(u, ret);
	/* a reply without output may well leave its number out */
	if (may == 0 || (complete && (u->final || (!u->sse && u->told))))
		return;
	if (least > ret->output)
		ret->output = least < USAGE_MAX ? least : USAGE_MAX;
	if (!complete && ret->output < may)
		ret->cut = may - ret->output;
}
