#include "audit/report.h"

#include <errno.h>
#include <stdlib.h>

#include "audit/report_log.h"
#include "audit/report_page.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"

enum { PAGE_MAX = 16 << 20 };

int report_write(const struct place *place, const struct report_request *req, struct error *err)
{
	struct report_log *l = calloc(1, sizeof(*l));
	struct text_shown shown;
	AUTO_BUF page = {0};
	int r;

	if (!l)
		return error_sys(err, ENOMEM, "--report");
	if (report_log_read(req->log, req->last_hash, l, err) < 0) {
		free(l);
		return error_prefix(err, "--report");
	}
	buf_init(&page, PAGE_MAX);
	report_page(l, req, &page);
	report_log_done(l);
	free(l);
	r = buf_failed(&page) ? buf_failed(&page) : place_write(place, buf_view(&page));
	return r < 0 ? error_sys(err, r, "--report: write %s", text_show(&shown, sv_of(place->name))) : 0;
}
