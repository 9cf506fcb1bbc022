/*
 * place: does a text say where something is, for a provider to fetch it?
 *
 * Who fetches cleans first: blanks of all kinds before a URL are dropped (Python's strip()), line ends and tabs within
 * it (as the URL standard has it, and urllib), and "https:x" and "https:\\x" are "https://x". So blanks and controls do
 * not count here, wherever they are. Text is canonical, as json_scan gives it. Pure.
 */
#ifndef CORDON_GATE_INFERENCE_PLACE_H
#define CORDON_GATE_INFERENCE_PLACE_H

#include <stdbool.h>

#include "base/sv.h"

/* Of what is base64 otherwise: there is a colon where a URL has that of its scheme. */
bool place_has_scheme(struct sv text);

/* Of what may be any text: it begins as a URL does that says what server. */
bool place_is_url(struct sv text);

#endif
