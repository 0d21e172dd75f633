/* Reads the pieces of a program's memory that a call's specification names (crates/record/src/spec.rs). */
#ifndef WHYSLOW_PIECES_H
#define WHYSLOW_PIECES_H

#define MAX_PIECES 6
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

enum { WHEN_EXIT = 0, WHEN_ENTER = 1, WHEN_SUCCESS = 2 };
enum {
	SIZE_TEXT = 0,
	SIZE_FIXED = 1,
	SIZE_ARG = 2,
	SIZE_RET = 3,
	SIZE_ARG_POINTER = 4,
	SIZE_TEXT_ARRAY = 5,
	SIZE_IOVEC = 6,
	SIZE_MESSAGE = 7,
};
enum { SPEC_STATE = 1, SPEC_SKIP = 2, SPEC_ENTER = 4, SPEC_FUTEX = 8 };

struct piece_spec {
	u8 arg;
	u8 when;
	u8 size;
	u8 of;
	u16 scale;
	u16 cap;
	u8 payload;
	u8 pad[3];
};

struct call_spec {
	u8 args;
	u8 pieces;
	u8 flags;
	u8 pad;
	struct piece_spec piece[MAX_PIECES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_CALL_NUMBERS);
	__type(key, u32);
	__type(value, struct call_spec);
} call_specs SEC(".maps");

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

#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFIFO 0010000

/* Whether a descriptor of this thread is a socket or a pipe. */
__noinline int is_stream(u32 fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	/* The verifier lets typed pointers be followed as they are, which costs a fraction of a helper's call. */
	struct fdtable *table = task->files->fdt;
	struct file *file = NULL;
	umode_t mode;

	if (fd >= table->max_fds)
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
	mode = BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT;
	return mode == S_IFSOCK || mode == S_IFIFO;
}

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

__noinline int read_piece(struct piece_reader *reader, struct piece_spec *piece, struct record_room *room, u32 at)
{
	u64 from, of, size;
	s64 ret;
	u32 cap;

	if (!reader || !piece || !room)
		return at;
	from = reader->args[piece->arg & 7];
	of = reader->args[piece->of & 7];
	ret = reader->ret;
	cap = piece->cap;
	reader->arg = piece->arg;
	reader->part = 0;
	if (piece->size == SIZE_IOVEC) {
		reader->part = 1;
		return append_buffers(reader, room, at, from, of);
	}
	if (piece->size == SIZE_MESSAGE)
		return append_message(reader, room, at, from);
	if (piece->payload) {
		cap = settings.payload;
		if (!cap)
			return at;
		/* What is read from files is nobody's business here; what is written may be a log line. */
		if (piece->when == WHEN_SUCCESS && !settings.all_payload && !is_stream(reader->args[0]))
			return at;
	}
	switch (piece->size) {
	case SIZE_TEXT:
		reader->from = from;
		reader->cap = cap < settings.text_cap ? cap : settings.text_cap;
		reader->text = 1;
		return append(reader, room, at);
	case SIZE_TEXT_ARRAY:
		reader->cap = cap;
		return append_texts(reader, room, at, from);
	case SIZE_FIXED:
		size = piece->scale;
		break;
	case SIZE_ARG:
		size = of * piece->scale;
		/* A call that wrote moved no more than it says. */
		if (piece->payload && ret >= 0 && (u64)ret < size)
			size = ret;
		break;
	case SIZE_RET:
		size = ret > 0 ? ret * piece->scale : 0;
		break;
	case SIZE_ARG_POINTER: {
		u32 length = 0;

		if (!of || bpf_probe_read_user(&length, sizeof(length), (void *)of) < 0)
			return at;
		size = length;
		break;
	}
	default:
		return at;
	}
	return append_bytes(reader, room, at, 0, from, size, cap);
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

static __always_inline u32 read_pieces(struct piece_reader *reader, struct call_spec *spec, char *record, u32 at,
				       bool at_enter, bool destroys)
{
#pragma unroll
	for (u32 i = 0; i < MAX_PIECES; i++) {
		struct piece_spec *piece = &spec->piece[i];

		if (i >= spec->pieces)
			break;
		/* What a call would have destroyed is read again where it failed: a page may have been missing at first. */
		if (at_enter ? piece->when != WHEN_ENTER : piece->when == WHEN_ENTER && !(destroys && reader->ret < 0))
			continue;
		if (piece->when == WHEN_SUCCESS && reader->ret < 0)
			continue;
		at = read_piece(reader, piece, (void *)record, at);
		barrier_var(at);
		at &= MAX_RECORD - 1;
	}
	return at;
}
#endif
