// A reading room: shows pages of parish registers, each with the mark by which it can be cited.
package main

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
)

const pageSize = @{page_kb} << 10

type Register struct {
	file  *os.File
	pages uint32
}

func open(path string) (*Register, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	about, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return &Register{file, uint32(min(about.Size()/pageSize, @{open}))}, nil
}

// Readers look at whatever family they are after.
func (r *Register) place(number uint32) int64 {
	return int64((number*2654435761)>>4%r.pages) * pageSize
}

//go:noinline
func (r *Register) @{fnCamel}(number uint32) ([]byte, error) {
	page := make([]byte, pageSize)
	_, err := r.file.ReadAt(page, r.place(number))
	return page, err
}

func cite(page []byte) string {
	sum := sha1.Sum(page)
	letters := [26]int{}
	for _, c := range page {
		letters[c%26]++
	}
	return fmt.Sprintf("%s-%d", hex.EncodeToString(sum[:6]), letters[4])
}

func main() {
	register, err := open("@{work}/@{disk}/@{data}")
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/page/", func(w http.ResponseWriter, r *http.Request) {
		number, err := strconv.ParseUint(strings.TrimPrefix(r.URL.Path, "/page/"), 10, 32)
		if err != nil {
			http.Error(w, "no such page", http.StatusNotFound)
			return
		}
		page, err := register.@{fnCamel}(uint32(number) + 1)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("X-Cite", cite(page))
		w.Write(page)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
