// Sells fishing licences: GET /licence/N. There are a few lines to the keeper of the waters, and whoever wants a licence takes one as long as need be.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path"
	"strconv"
	"time"
)

type line struct{ conn net.Conn }

type keeper struct{ lines chan *line }

func newKeeper(count int) (*keeper, error) {
	k := &keeper{lines: make(chan *line, count)}
	for i := 0; i < count; i++ {
		conn, err := net.Dial("unix", "@{work}/@{sock}")
		if err != nil {
			return nil, err
		}
		k.lines <- &line{conn}
	}
	return k, nil
}

func (l *line) ask(question any) (map[string]any, error) {
	text, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	l.conn.SetDeadline(time.Now().Add(8 * time.Second))
	if _, err := l.conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)); err != nil {
		return nil, err
	}
	var length uint32
	if err := binary.Read(l.conn, binary.BigEndian, &length); err != nil {
		return nil, err
	}
	answer := make([]byte, length)
	if _, err := io.ReadFull(l.conn, answer); err != nil {
		return nil, err
	}
	var said map[string]any
	return said, json.Unmarshal(answer, &said)
}

//go:noinline
func (k *keeper) @{fnCamel}(lake, angler int) (map[string]any, error) {
	l := <-k.lines
	defer func() { k.lines <- l }()
	return l.ask(map[string]int{"lake": lake, "angler": angler})
}

// The seal of a licence, derived in many turns so that nobody guesses it.
func seal(number int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(number)))
	for turn := 1; turn < @{turns}*4; turn++ {
		sum = sha256.Sum256(sum[:])
	}
	return hex.EncodeToString(sum[:12])
}

func main() {
	k, err := newKeeper(@{workers})
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/licence/", func(answer http.ResponseWriter, question *http.Request) {
		number, err := strconv.Atoi(path.Base(question.URL.Path))
		if err != nil {
			http.Error(answer, "which licence?", http.StatusBadRequest)
			return
		}
		said, err := k.@{fnCamel}(number%@{lakes}, number)
		if err != nil {
			http.Error(answer, err.Error(), http.StatusBadGateway)
			return
		}
		said["licence"], said["seal"] = number, seal(number)
		body, _ := json.Marshal(said)
		answer.Header().Set("Content-Type", "application/json")
		answer.Header().Set("Content-Length", fmt.Sprint(len(body)))
		answer.Write(body)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
