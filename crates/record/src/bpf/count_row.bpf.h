/* Calls of one kind, counted and timed: what system calls and probed functions are added up in. */
#ifndef WHYSLOW_COUNT_ROW_H
#define WHYSLOW_COUNT_ROW_H

#define COUNT_BUCKETS 32

struct count_row {
	u64 key; /* thread << 32 | number of the call + 1; 0 where free */
	u64 calls;
	u64 errors;
	u64 total; /* ns */
	u64 shortest;
	u64 longest;
	u32 buckets[COUNT_BUCKETS]; /* by the binary logarithm of the ns */
};

static __always_inline u32 binary_log(u64 value)
{
	u32 log = 0, low = value;

	if (value >> 32)
		return COUNT_BUCKETS - 1;
	if (low >> 16) {
		low >>= 16;
		log += 16;
	}
	if (low >> 8) {
		low >>= 8;
		log += 8;
	}
	if (low >> 4) {
		low >>= 4;
		log += 4;
	}
	if (low >> 2) {
		low >>= 2;
		log += 2;
	}
	return log + (low >> 1);
}
#endif
