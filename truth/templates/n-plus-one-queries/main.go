package main

import (
	"bufio"
	"fmt"
	"hash/crc64"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
)

type store struct {
	line net.Conn
	in   *bufio.Reader
}

// A few lines to the store are shared by all requests.
var lines = make(chan *store, 4)

func (s *store) send(words ...string) {
	var text strings.Builder
	fmt.Fprintf(&text, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&text, "$%d\r\n%s\r\n", len(word), word)
	}
	io.WriteString(s.line, text.String())
}

func (s *store) number() int {
	head, err := s.in.ReadString('\n')
	if err != nil {
		panic(err)
	}
	n, _ := strconv.Atoi(strings.TrimSpace(head[1:]))
	return n
}

func (s *store) text() string {
	part := make([]byte, s.number()+2)
	io.ReadFull(s.in, part)
	return string(part[:len(part)-2])
}

func (s *store) @{fnCamel}(key string) string {
	s.send("GET", key)
	return s.text()
}

func render(s *store, keys []string) string {
	var page strings.Builder
	if @{single} == 1 {
		for _, key := range keys {
			fmt.Fprintf(&page, "<li>%s</li>\n", s.@{fnCamel}(key))
		}
		return page.String()
	}
	s.send(append([]string{"MGET"}, keys...)...)
	for n := s.number(); n > 0; n-- {
		fmt.Fprintf(&page, "<li>%s</li>\n", s.text())
	}
	return page.String()
}

func main() {
	for i := 0; i < cap(lines); i++ {
		line, err := net.Dial("tcp", "127.0.0.1:@{store}")
		if err != nil {
			panic(err)
		}
		lines <- &store{line, bufio.NewReader(line)}
	}
	table := crc64.MakeTable(crc64.ISO)
	http.HandleFunc("/list/", func(w http.ResponseWriter, r *http.Request) {
		first, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/list/"))
		keys := make([]string, @{shown})
		for i := range keys {
			keys[i] = fmt.Sprintf("@{prefix}:%d", (first*@{entries}+i)%(@{entries}*4))
		}
		s := <-lines
		page := render(s, keys)
		lines <- s
		mark := uint64(0)
		for i := 0; i < @{rounds}; i++ {
			mark = crc64.Update(mark, table, []byte(page))
		}
		w.Header().Set("ETag", fmt.Sprint(mark))
		io.WriteString(w, page)
	})
	panic(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
