// The turnstiles of a ski lift: may the bearer of this pass ride?
package main

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

const office = "@{work}/@{sock}"

var seal = []byte("lift company, valley station")

type desk struct {
	conn    net.Conn
	answers *bufio.Reader
}

func (d *desk) ask(question string) (string, error) {
	if _, err := fmt.Fprintln(d.conn, question); err != nil {
		return "", err
	}
	answer, err := d.answers.ReadString('\n')
	return strings.TrimSpace(answer), err
}

type lift struct {
	desks   chan *desk
	revoked sync.Map
	journal *log.Logger
}

func open() (*desk, error) {
	conn, err := net.DialTimeout("unix", office, 2*time.Second)
	if err != nil {
		return nil, err
	}
	return &desk{conn, bufio.NewReader(conn)}, nil
}

func (l *lift) borrow() (*desk, error) {
	select {
	case d := <-l.desks:
		return d, nil
	default:
		return open()
	}
}

func (l *lift) giveBack(d *desk) {
	select {
	case l.desks <- d:
	default:
		d.conn.Close()
	}
}

//go:noinline
func (l *lift) @{fnCamel}(pass int) (int, error) {
	d, err := l.borrow()
	if err != nil {
		return 0, err
	}
	d.conn.SetDeadline(time.Now().Add(8 * time.Second))
	answer, err := d.ask(fmt.Sprint("PUNCH ", pass))
	if err != nil {
		d.conn.Close()
		return 0, err
	}
	l.giveBack(d)
	words := strings.Fields(answer)
	if len(words) != 3 || words[0] != "OK" {
		return 0, fmt.Errorf("the office says %q", answer)
	}
	return strconv.Atoi(words[2])
}

// The seal that the chip of a pass carries, derived in many steps so that it cannot be guessed.
func sealed(pass int) string {
	sum := []byte(strconv.Itoa(pass))
	for i := 0; i < 2500; i++ {
		mac := hmac.New(sha256.New, seal)
		mac.Write(sum)
		sum = mac.Sum(nil)
	}
	return hex.EncodeToString(sum[:8])
}

func (l *lift) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	pass, err := strconv.Atoi(path.Base(r.URL.Path))
	if err != nil {
		http.Error(w, "which pass?", http.StatusBadRequest)
		return
	}
	chip := sealed(pass)
	rides, err := l.@{fnCamel}(pass)
	if err != nil {
		l.journal.Print(err)
		http.Error(w, "the office is away", http.StatusBadGateway)
		return
	}
	_, out := l.revoked.Load(pass)
	l.journal.Printf("pass %d ride %d", pass, rides)
	json.NewEncoder(w).Encode(map[string]any{"pass": pass, "chip": chip, "rides": rides, "open": !out})
}

func (l *lift) listen() {
	d, err := open()
	for err == nil {
		var news string
		if news, err = d.ask("NEWS"); err == nil {
			pass, _ := strconv.Atoi(strings.TrimPrefix(news, "REVOKED "))
			l.revoked.Store(-pass, true)
		}
	}
	l.journal.Print(err)
}

func main() {
	out, err := os.Create("@{work}/gates.log")
	if err != nil {
		log.Fatal(err)
	}
	l := &lift{desks: make(chan *desk, 16), journal: log.New(out, "", log.LstdFlags)}
	if @{news} == 1 {
		go l.listen()
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", l))
}
