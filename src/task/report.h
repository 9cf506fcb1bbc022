/*
 * report: a task's result as a page for any browser (audit/page.h has what such a page is).
 */
#ifndef CORDON_TASK_REPORT_H
#define CORDON_TASK_REPORT_H

#include "base/buf.h"
#include "task/result.h"

void task_report_page(const struct task_result *r, struct buf *out);

#endif
