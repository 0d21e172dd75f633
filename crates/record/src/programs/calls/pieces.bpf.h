/* Reads the pieces of a program's memory that a call's specification names (crates/record/src/spec.rs). */
#ifndef WHYSLOW_PIECES_H
#define WHYSLOW_PIECES_H

#define MAX_PIECES 4
#define MAX_TEXTS 16
#define MAX_BUFFERS 8
/* Pieces are cut at this; a power of two, so that the verifier follows. */
#define PIECE_LIMIT 1024
#define PIECE_HEADER 4
#define PIECE_CUT 1
#define PIECE_FAULT 2

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

struct piece_reader {
	struct task_struct *task;
	u64 *args;
	s64 ret;
	char *futex; /* what stood there when the wait began */
	bool at_enter;
	bool missing;
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
static __always_inline bool is_stream(struct task_struct *task, u32 fd)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **slots = BPF_CORE_READ(table, fd);
	struct file *file = NULL;
	umode_t mode;

	if (fd >= BPF_CORE_READ(table, max_fds))
		return false;
	bpf_probe_read_kernel(&file, sizeof(file), slots + fd);
	mode = BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT;
	return mode == S_IFSOCK || mode == S_IFIFO;
}

/* Appends `wanted` bytes at `from` (a string where `text`), at most `cap`. */
static __always_inline u32 append(struct piece_reader *reader, char *record, u32 at, u8 arg, u8 part, u64 from,
				  u64 wanted, u32 cap, bool text)
{
	u32 flags = 0, length;
	long got;
	char *out;

	if (!from || at > MAX_RECORD - 2 * PIECE_LIMIT) {
		if (from)
			reader->missing = true;
		return at;
	}
	out = record + at;
	if (cap >= PIECE_LIMIT)
		cap = PIECE_LIMIT - 1;
	if (text) {
		got = bpf_probe_read_user_str(out + PIECE_HEADER, cap + 1, (void *)from);
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
		length = wanted > cap ? cap : wanted;
		if (wanted > cap)
			flags = PIECE_CUT;
		length &= PIECE_LIMIT - 1;
		if (bpf_probe_read_user(out + PIECE_HEADER, length, (void *)from) < 0) {
			length = 0;
			flags = PIECE_FAULT;
		}
	}
	if (flags & PIECE_FAULT)
		reader->missing = true;
	length &= PIECE_LIMIT - 1;
	*(u16 *)out = length;
	out[2] = (arg & 15) | part << 4;
	out[3] = flags;
	at += PIECE_HEADER + ((length + 3) & ~3u);
	return at & (MAX_RECORD - 1);
}

/* The array of buffers as part `first`, and what the buffers hold as the parts behind it. */
static __always_inline u32 append_buffers(struct piece_reader *reader, char *record, u32 at, u8 arg, u8 array_part,
					  u8 first_part, u64 vector, u64 count, u64 moved)
{
	u32 cap = settings.payload;

	at = append(reader, record, at, arg, array_part, vector,
		    (count < MAX_BUFFERS ? count : MAX_BUFFERS) * sizeof(struct iovec),
		    MAX_BUFFERS * sizeof(struct iovec), false);
	for (u32 i = 0; i < MAX_BUFFERS; i++) {
		struct iovec buffer = {};
		u64 length;

		if (i >= count || !moved || !cap)
			break;
		if (bpf_probe_read_user(&buffer, sizeof(buffer), (void *)(vector + i * sizeof(buffer))) < 0) {
			reader->missing = true;
			break;
		}
		length = buffer.length < moved ? buffer.length : moved;
		at = append(reader, record, at, arg, first_part + i, buffer.base, length, cap, false);
		moved -= length;
		cap -= length < cap ? length : cap;
	}
	return at;
}

static __always_inline u32 append_message(struct piece_reader *reader, char *record, u32 at, u8 arg, u64 from, u64 moved)
{
	struct message_header message = {};

	if (!from || bpf_probe_read_user(&message, sizeof(message), (void *)from) < 0) {
		reader->missing = true;
		return at;
	}
	at = append(reader, record, at, arg, 0, from, sizeof(message), sizeof(message), false);
	at = append(reader, record, at, arg, 1, message.name, message.name_length, 128, false);
	at = append(reader, record, at, arg, 3, message.control, message.control_length, 64, false);
	return append_buffers(reader, record, at, arg, 2, 4, message.buffers, message.buffer_count, moved);
}

static __noinline u32 read_piece(struct piece_reader *reader, struct piece_spec *piece, char *record, u32 at)
{
	u64 from = reader->args[piece->arg & 7];
	u64 of = reader->args[piece->of & 7];
	s64 ret = reader->ret;
	u32 cap = piece->cap;
	u64 size;

	at &= MAX_RECORD - 1;
	if (piece->size == SIZE_IOVEC)
		return append_buffers(reader, record, at, piece->arg, 0, 1, from, of, ret > 0 ? ret : 0);
	if (piece->size == SIZE_MESSAGE)
		return append_message(reader, record, at, piece->arg, from, ret > 0 ? ret : 0);
	if (piece->payload) {
		cap = settings.payload;
		if (!cap)
			return at;
		/* What is read from files is nobody's business here; what is written may be a log line. */
		if (piece->when == WHEN_SUCCESS && !is_stream(reader->task, reader->args[0]))
			return at;
	}
	switch (piece->size) {
	case SIZE_TEXT:
		return append(reader, record, at, piece->arg, 0, from, 0, cap < settings.text_cap ? cap : settings.text_cap,
			      true);
	case SIZE_FIXED:
		return append(reader, record, at, piece->arg, 0, from, piece->scale, cap, false);
	case SIZE_ARG:
		size = of * piece->scale;
		/* A call that wrote moved no more than it says. */
		if (piece->payload && ret >= 0 && (u64)ret < size)
			size = ret;
		return append(reader, record, at, piece->arg, 0, from, size, cap, false);
	case SIZE_RET:
		return append(reader, record, at, piece->arg, 0, from, ret > 0 ? ret * piece->scale : 0, cap, false);
	case SIZE_ARG_POINTER: {
		u32 length = 0;

		if (!of || bpf_probe_read_user(&length, sizeof(length), (void *)of) < 0)
			return at;
		return append(reader, record, at, piece->arg, 0, from, length, cap, false);
	}
	case SIZE_TEXT_ARRAY:
		for (u32 i = 0; i < MAX_TEXTS; i++) {
			u64 text = 0;

			if (bpf_probe_read_user(&text, sizeof(text), (void *)(from + i * sizeof(text))) < 0 || !text)
				break;
			at = append(reader, record, at, piece->arg, i, text, 0, cap, true);
		}
		return at;
	}
	return at;
}

/* The words of a futex, kept since the wait began: a piece of 16 bytes like any other. */
static __always_inline u32 append_futex(struct piece_reader *reader, char *record, u32 at)
{
	char *out = record + (at & (MAX_RECORD - 1));

	*(u16 *)out = FUTEX_WORDS;
	out[2] = 0;
	out[3] = 0;
	__builtin_memcpy(out + PIECE_HEADER, reader->futex, FUTEX_WORDS);
	return at + PIECE_HEADER + FUTEX_WORDS;
}

static __always_inline u32 read_pieces(struct piece_reader *reader, struct call_spec *spec, char *record, u32 at)
{
	if (reader->futex)
		at = append_futex(reader, record, at);
#pragma unroll
	for (u32 i = 0; i < MAX_PIECES; i++) {
		struct piece_spec *piece = &spec->piece[i];

		if (i >= spec->pieces)
			break;
		if ((piece->when == WHEN_ENTER) != reader->at_enter)
			continue;
		if (piece->when == WHEN_SUCCESS && reader->ret < 0)
			continue;
		at = read_piece(reader, piece, record, at);
	}
	return at;
}
#endif
