/* So many a second and CPU, of what may come too often. */
#ifndef WHYSLOW_BUDGET_H
#define WHYSLOW_BUDGET_H
#include "common.bpf.h"

#define SECOND 1000000000ull

struct budget {
	u64 since;
	u64 spent;
};

static __always_inline bool within_budget(struct budget *budget, u64 limit, u64 now)
{
	if (now - budget->since > SECOND) {
		budget->since = now;
		budget->spent = 0;
	}
	return budget->spent++ < limit;
}
#endif
