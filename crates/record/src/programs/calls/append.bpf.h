/* Appends pieces of a program's memory to a record. The layout of a piece is crates/record/src/raw.rs's. */
#ifndef WHYSLOW_APPEND_H
#define WHYSLOW_APPEND_H

#define MAX_TEXTS 16
#define MAX_BUFFERS 8
/* Pieces are cut at this; a power of two, so that the verifier follows. */
#define PAGE_BYTES 4096
#define PIECE_LIMIT 1024
#define PIECE_HEADER 4
#define PIECE_CUT 1
#define PIECE_FAULT 2
/* The header of a piece that is none: fills a record up to a multiple of 8 bytes. */
#define PIECE_PAD (15 << 16)

/* The functions below are global, so that the verifier looks at each once and not at all their combinations. What they
 * need travels in here. */
struct piece_reader {
	u64 args[8];
	s64 ret;
	/* the next piece to append */
	u64 from;
	u64 wanted;
	u32 cap;
	u8 arg;
	u8 part;
	u8 text;
	u8 missing; /* of any piece so far */
};

struct record_room {
	char bytes[MAX_RECORD];
};

struct iovec {
	u64 base;
	u64 length;
};

/* struct user_msghdr, include/linux/socket.h */
struct message_header {
	u64 name;
	u32 name_length;
	u32 pad;
	u64 buffers;
	u64 buffer_count;
	u64 control;
	u64 control_length;
	u64 flags;
};

/* Appends the piece that the reader names behind `at`; returns where the next one goes. `barrier_var` keeps clang from
 * dropping a bound that it can prove and the verifier cannot. */
__noinline int append(struct piece_reader *reader, struct record_room *room, u32 at)
{
	u32 flags = 0, length, cap;
	long got;
	char *out;

	if (!reader || !room)
		return at;
	/* Nothing is mapped there (mmap_min_addr): a number that is no address. */
	if (reader->from < 4096)
		return at;
	if (at > MAX_RECORD - 2 * PIECE_LIMIT) {
		reader->missing = 1;
		return at;
	}
	out = room->bytes + at;
	cap = reader->cap;
	if (cap >= PIECE_LIMIT)
		cap = PIECE_LIMIT - 1;
	barrier_var(cap);
	cap &= PIECE_LIMIT - 1;
	if (reader->text) {
		got = bpf_probe_read_user_str(out + PIECE_HEADER, cap + 1, (void *)reader->from);
		if (got < 0) {
			length = 0;
			flags = PIECE_FAULT;
		} else {
			/* The NUL is not kept. A string that fills the room has one in the last place, put there by the helper. */
			length = got ? got - 1 : 0;
			if (length >= cap)
				flags = PIECE_CUT;
		}
	} else {
		length = cap;
		if (reader->wanted > cap)
			flags = PIECE_CUT;
		else
			length = reader->wanted;
		barrier_var(length);
		length &= PIECE_LIMIT - 1;
		if (bpf_probe_read_user(out + PIECE_HEADER, length, (void *)reader->from) < 0) {
			/* The next page may not be there, or not yet: what is on this one is. */
			u32 here = PAGE_BYTES - (reader->from & (PAGE_BYTES - 1));

			flags = PIECE_FAULT;
			if (here < length) {
				length = here;
				flags = PIECE_CUT;
			}
			barrier_var(length);
			length &= PIECE_LIMIT - 1;
			if (flags == PIECE_FAULT ||
			    bpf_probe_read_user(out + PIECE_HEADER, length, (void *)reader->from) < 0) {
				length = 0;
				flags = PIECE_FAULT;
			}
		}
	}
	if (flags & PIECE_FAULT)
		reader->missing = 1;
	barrier_var(length);
	length &= PIECE_LIMIT - 1;
	*(u16 *)out = length;
	out[2] = (reader->arg & 15) | reader->part << 4;
	out[3] = flags;
	length = PIECE_HEADER + ((length + 3) & ~3u);
	/* The next piece is written over it. */
	*(u32 *)(out + length) = PIECE_PAD;
	return at + length;
}

static __always_inline u32 append_bytes(struct piece_reader *reader, struct record_room *room, u32 at, u8 part,
					u64 from, u64 wanted, u32 cap)
{
	reader->part = part;
	reader->from = from;
	reader->wanted = wanted;
	reader->cap = cap;
	reader->text = 0;
	return append(reader, room, at);
}

/* The array of buffers at `from` as part `first - 1` or, of a message, 2; what they hold as the parts from `first` on. */
__noinline int append_buffers(struct piece_reader *reader, struct record_room *room, u32 at, u64 vector, u64 count)
{
	u64 moved;
	u32 cap = settings.payload;
	u32 first;

	if (!reader || !room)
		return at;
	moved = reader->ret > 0 ? reader->ret : 0;
	first = reader->part;
	at = append_bytes(reader, room, at, first == 4 ? 2 : 0, vector,
			  (count < MAX_BUFFERS ? count : MAX_BUFFERS) * sizeof(struct iovec),
			  MAX_BUFFERS * sizeof(struct iovec));
	for (u32 i = 0; i < MAX_BUFFERS; i++) {
		struct iovec buffer = {};
		u64 length;

		if (i >= count || !moved || !cap)
			break;
		if (bpf_probe_read_user(&buffer, sizeof(buffer), (void *)(vector + i * sizeof(buffer))) < 0) {
			reader->missing = 1;
			break;
		}
		length = buffer.length < moved ? buffer.length : moved;
		at = append_bytes(reader, room, at, first + i, buffer.base, length, cap);
		moved -= length;
		cap -= length < cap ? length : cap;
	}
	return at;
}

__noinline int append_message(struct piece_reader *reader, struct record_room *room, u32 at, u64 from)
{
	struct message_header message = {};

	if (!reader || !room || !from)
		return at;
	if (bpf_probe_read_user(&message, sizeof(message), (void *)from) < 0) {
		reader->missing = 1;
		return at;
	}
	at = append_bytes(reader, room, at, 0, from, sizeof(message), sizeof(message));
	at = append_bytes(reader, room, at, 1, message.name, message.name_length, 128);
	at = append_bytes(reader, room, at, 3, message.control, message.control_length, 64);
	reader->part = 4;
	return append_buffers(reader, room, at, message.buffers, message.buffer_count);
}

/* The strings of `argv`, a part each. */
__noinline int append_texts(struct piece_reader *reader, struct record_room *room, u32 at, u64 vector)
{
	if (!reader || !room)
		return at;
	for (u32 i = 0; i < MAX_TEXTS; i++) {
		u64 text = 0;

		if (bpf_probe_read_user(&text, sizeof(text), (void *)(vector + i * sizeof(text))) < 0 || !text)
			break;
		reader->part = i;
		reader->from = text;
		reader->text = 1;
		at = append(reader, room, at);
	}
	return at;
}

/* The words of a futex, kept since the wait began: a piece like any other. */
static __always_inline u32 append_futex(char *record, u32 at, char *words)
{
	char *out = record + at;

	*(u16 *)out = FUTEX_WORDS;
	out[2] = 0;
	out[3] = 0;
	__builtin_memcpy(out + PIECE_HEADER, words, FUTEX_WORDS);
	*(u32 *)(out + PIECE_HEADER + FUTEX_WORDS) = PIECE_PAD;
	return at + PIECE_HEADER + FUTEX_WORDS;
}
#endif
