// A mirror of packages.
package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
)

var sent atomic.Int64

var blocks = sync.Pool{New: func() any {
	block := make([]byte, @{block})
	return &block
}}

// What went out, for the statistics.
type counted struct {
	http.ResponseWriter
	bytes int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.bytes += int64(n)
	return n, err
}

type passing struct{ counted }

func (c *passing) ReadFrom(in io.Reader) (int64, error) {
	n, err := c.ResponseWriter.(io.ReaderFrom).ReadFrom(in)
	c.bytes += n
	return n, err
}

func measured(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if "@{mode}" == "sendfile" {
			c := &passing{counted{ResponseWriter: w}}
			next(c, r)
			sent.Add(c.bytes)
			return
		}
		c := &counted{ResponseWriter: w}
		next(c, r)
		sent.Add(c.bytes)
	}
}

func @{fnCamel}(w http.ResponseWriter, r *http.Request) {
	file, err := os.Open(filepath.Join("@{work}", filepath.Base(r.URL.Path)))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer file.Close()
	state, err := file.Stat()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	size := int64(float64(state.Size()) * @{part})
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	if "@{mode}" == "marked" {
		mark(w, file, size, r.RemoteAddr)
		return
	}
	block := blocks.Get().(*[]byte)
	defer blocks.Put(block)
	io.CopyBuffer(w, io.LimitReader(file, size), *block)
}

func mark(w io.Writer, file io.Reader, size int64, who string) {
	block := make([]byte, 65536)
	for in := io.LimitReader(file, size); ; {
		n, err := in.Read(block)
		if n == 0 || err != nil {
			return
		}
		for i := range block[:n] {
			block[i] ^= who[i%len(who)] & 1
		}
		if _, err := w.Write(block[:n]); err != nil {
			return
		}
	}
}

func main() {
	http.HandleFunc("/", measured(@{fnCamel}))
	panic(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
