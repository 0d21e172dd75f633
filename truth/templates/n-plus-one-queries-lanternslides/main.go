// The catalogue of the museum's magic lantern slides: "box 7" is answered with one line that lists the slides of the box.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"strconv"
	"strings"
	"sync"
)

// A connection to redis.
type store struct {
	net.Conn
	in *bufio.Reader
}

func open() *store {
	conn, err := net.Dial("tcp", "127.0.0.1:@{store}")
	if err != nil {
		log.Fatal(err)
	}
	return &store{conn, bufio.NewReader(conn)}
}

func (s *store) answer() ([]string, error) {
	head, err := s.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	head = strings.TrimSpace(head)
	count, _ := strconv.Atoi(head[1:])
	switch head[0] {
	case '$':
		if count < 0 {
			return []string{""}, nil
		}
		text := make([]byte, count+2)
		_, err = io.ReadFull(s.in, text)
		return []string{string(text[:count])}, err
	case '*':
		var all []string
		for i := 0; i < count; i++ {
			one, err := s.answer()
			if err != nil {
				return nil, err
			}
			all = append(all, one...)
		}
		return all, nil
	case '-':
		return nil, fmt.Errorf("redis: %s", head)
	}
	return []string{head[1:]}, nil
}

func (s *store) ask(words ...string) ([]string, error) {
	var text strings.Builder
	fmt.Fprintf(&text, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&text, "$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := io.WriteString(s, text.String()); err != nil {
		return nil, err
	}
	return s.answer()
}

func (s *store) fill() {
	for box := 0; box < @{boxes}; box++ {
		list, captions := []string{"RPUSH", fmt.Sprintf("box:%d", box)}, []string{"MSET"}
		for i := 0; i < @{many}; i++ {
			key := fmt.Sprintf("@{key}:%d", box*1000+i)
			list = append(list, key)
			captions = append(captions, key, fmt.Sprintf("No. %d, a view of the harbour of town %d by moonlight, hand-coloured", i, box*i))
		}
		s.ask(append([]string{"DEL"}, list[1])...)
		s.ask(list...)
		s.ask(captions...)
	}
}

//go:noinline
func (s *store) @{fnCamel}(slides []string) ([]string, error) {
	if "@{way}" == "several" {
		return s.ask(append([]string{"MGET"}, slides...)...)
	}
	var captions []string
	for _, slide := range slides {
		caption, err := s.ask("GET", slide)
		if err != nil {
			return nil, err
		}
		captions = append(captions, caption...)
	}
	return captions, nil
}

func (s *store) page(box int) (string, error) {
	slides, err := s.ask("LRANGE", fmt.Sprintf("box:%d", box%@{boxes}), "0", strconv.Itoa(@{shown}-1))
	if err != nil {
		return "", err
	}
	captions, err := s.@{fnCamel}(slides)
	for i, caption := range captions {
		captions[i] = fmt.Sprintf("%3d %s", i+1, strings.ToUpper(caption[:1])+caption[1:])
	}
	return strings.Join(captions, "; "), err
}

func main() {
	stores := sync.Pool{New: func() any { return open() }}
	first := open()
	first.fill()
	stores.Put(first)
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		visitor, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			defer visitor.Close()
			s := stores.Get().(*store)
			defer stores.Put(s)
			for in := bufio.NewScanner(visitor); in.Scan(); {
				number, _ := strconv.Atoi(strings.TrimPrefix(in.Text(), "box "))
				text, err := s.page(number)
				if err != nil {
					log.Print(err)
					return
				}
				fmt.Fprintf(visitor, "%s\n", text)
			}
		}()
	}
}
