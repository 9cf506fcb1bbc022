#include "audit/audit_command.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/sha256.h"

/* ESCAPED: what a byte may become in JSON. MARK: what says that something was cut. WORD_MIN: with less room no word is
 * begun. */
enum { ESCAPED = 6, MARK = 160, WORD_MIN = 1024 };

static bool fits(struct sv word, size_t room)
{
	AUTO_BUF b = {0};
	struct json j;

	if (word.n * ESCAPED < room - 2)
		return true;
	if (word.n > room)
		return false;
	buf_init(&b, room);
	json_init(&j, &b);
	json_sv(&j, word);
	return !buf_failed(&b);
}

static void put_cut(struct json *j, struct sv word, size_t room)
{
	size_t side = (room - MARK) / ESCAPED / 2;
	char digest[SHA256_HEX];
	AUTO_BUF b = {0};

	sha256_hex_of(word, digest);
	buf_init(&b, room);
	(void)buf_add(&b, word.p, side);
	(void)buf_printf(&b, "[cut: %zu bytes, sha256 %s]", word.n, digest);
	(void)buf_add(&b, word.p + word.n - side, side);
	json_sv(j, buf_view(&b));
}

static void put_rest(struct json *j, char *const *argv)
{
	unsigned char digest[SHA256_SIZE];
	char hex[SHA256_HEX], mark[MARK];
	size_t words = 0, bytes = 0, n;
	struct sha256 hash;

	sha256_init(&hash);
	for (; *argv; argv++) {
		n = strlen(*argv);
		sha256_add(&hash, *argv, n + 1);
		bytes += n;
		words++;
	}
	sha256_done(&hash, digest);
	sha256_hex(digest, hex);
	(void)snprintf(mark, sizeof(mark), "[cut: %zu words more, %zu bytes, sha256 %s]", words, bytes, hex);
	json_str(j, mark);
}

void audit_put_command(struct buf *out, char *const *argv)
{
	struct json j;
	struct sv word;
	size_t room;

	json_init(&j, out);
	json_list(&j);
	for (; *argv; argv++) {
		/* a word that just fits leaves none, and its comma takes of the mark's: which is smaller than that */
		room = out->n < AUDIT_COMMAND_MAX - MARK - 8 ? AUDIT_COMMAND_MAX - MARK - 8 - out->n : 0;
		if (room < WORD_MIN) {
			put_rest(&j, argv);
			break;
		}
		word = sv_of(*argv);
		if (fits(word, room))
			json_sv(&j, word);
		else
			put_cut(&j, word, room);
	}
	json_end(&j);
}
