/* The records of the rings: their kinds and their header. */
#ifndef WHYSLOW_RECORDS_H
#define WHYSLOW_RECORDS_H

enum record_kind {
	RECORD_PAD = 0, /* nothing up to the ring's end */
	RECORD_CALL = 1,
	RECORD_ENTER = 2, /* a call at its entry: what it will destroy */
	RECORD_COUNTS = 3,
	RECORD_TASK = 4, /* a thread seen for the first time */
	RECORD_FORK = 5,
	RECORD_EXEC = 6,
	RECORD_EXIT = 7,
	RECORD_STRETCH = 8,
	RECORD_WAKEUP = 9,
	RECORD_SAMPLE = 10,
	RECORD_OFFCPU = 11,
	RECORD_BLOCK = 12,
	RECORD_WAIT_STACK = 13, /* the user stack that belongs to waits (RECORD_OFFCPU) of the thread */
	RECORD_NET = 14,
	RECORD_SIGNAL = 15,
	RECORD_TOTALS = 16,
	RECORD_FILE = 17, /* what a thread did with a file; of this kind calls are produced and lost */
	RECORD_PATH = 18, /* the path of a file */
	RECORD_STACK_COPY = 19, /* what unwinds the user part of a sample or a wait: registers and the top of the stack */
	RECORD_MEANWHILE = 20, /* who had the CPU that a thread waited for; of this kind turns are produced and lost */
	RECORD_FRAMES_COPY = 21, /* frames of the same wait that lie in memory of a runtime's own */
	RECORD_CALL_STACK = 22, /* the user stack of a short call as it returns; its kernel part is the call's number alone */
};
#define RECORD_KINDS 32

struct record {
	u16 length; /* bytes, this header included; a multiple of 8 */
	u8 kind;
	u8 flags;
	u32 tid;
	u64 ts; /* ns, CLOCK_MONOTONIC */
};

/* Begins a record. */
static __always_inline void begin_record(struct record *head, u32 length, u32 kind, u32 flags, u32 tid, u64 now)
{
	head->length = length;
	head->kind = kind;
	head->flags = flags;
	head->tid = tid;
	head->ts = now;
}
#endif
