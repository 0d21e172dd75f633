// Pledge tickets for the counters of a chain of pawnshops.
package main

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"log"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
)

const toolEach = @{tool_each}

var issued atomic.Int64

var articles = []string{"ring", "watch", "violin", "camera", "necklace", "brooch", "fur coat", "candlestick"}

type ticket struct {
	Number int      `json:"number"`
	Lines  []string `json:"lines"`
	Loan   int      `json:"loan"`
	Seal   string   `json:"seal"`
}

func appraise(number int) ([]string, int) {
	lines, loan := make([]string, 0, @{lines}), 0
	for i := 0; i < @{lines}; i++ {
		value := (number*7919 + i*104729) % 48000
		interest := value * (100 + i%7) / 10000
		loan += value*2/3 - interest
		lines = append(lines, fmt.Sprintf("%2d  %-12s %6d.%02d  interest %d", i+1, articles[(number+i)%len(articles)], value/100, value%100, interest))
	}
	return lines, loan
}

//go:noinline
func @{fnCamel}(text string) (string, error) {
	tool := exec.Command("@{algorithm}sum")
	tool.Stdin = strings.NewReader(text)
	answer, err := tool.Output()
	if err != nil {
		return "", err
	}
	return strings.Fields(string(answer))[0], nil
}

func digest(text string) string {
	kinds := map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New}
	sum := kinds["@{algorithm}"]()
	sum.Write([]byte(text))
	return fmt.Sprintf("%x", sum.Sum(nil))
}

func pledge(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/pledges/"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	lines, loan := appraise(number)
	text := fmt.Sprintf("%d\n%s\n%d\n", number, strings.Join(lines, "\n"), loan)
	seal := ""
	if count := issued.Add(1); toolEach > 0 && count%max(toolEach, 1) == 0 {
		seal, err = @{fnCamel}(text)
	} else {
		seal = digest(text)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(ticket{number, lines, loan, seal})
}

func main() {
	http.HandleFunc("/pledges/", pledge)
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
