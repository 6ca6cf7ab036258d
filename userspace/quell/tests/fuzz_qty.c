// SPDX-License-Identifier: GPL-2.0
/*
 * Any text as a quantity of any unit: an accepted one must survive being written and read again.
 */
#include <stdlib.h>
#include <string.h>

#include "qty.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[256], written[QTY_TEXT_LEN];
	uint64_t value, back;
	uint32_t unit;

	if (!size || size > sizeof(text))
		return 0;
	unit = data[0] % 10;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';

	if (qty_parse(text, unit, &value))
		return 0;
	qty_format(written, sizeof(written), unit, value);
	if (qty_parse(written, unit, &back) || back != value)
		abort();
	return 0;
}
