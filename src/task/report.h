/*
 * report: a task's result as a page for any browser (audit/page.h has what such a page is).
 */
#ifndef CORDON_TASK_REPORT_H
#define CORDON_TASK_REPORT_H

#include "base/buf.h"
#include "task/result.h"

/* files: what is linked, as paths relative to the page's folder; NULL-terminated, or NULL. Their names end in what
 * browsers show as text, or not at all. */
void task_report_page(const struct task_result *r, const char *const *files, struct buf *out);

#endif
