// Shows documents.
package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
)

type cabinet struct {
	folder string
}

func (c *cabinet) @{fnCamel}(number int) ([]byte, error) {
	return os.ReadFile(filepath.Join(c.folder, fmt.Sprintf("@{doc}-%04d", number%@{count})))
}

func (c *cabinet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(filepath.Base(r.URL.Path))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	text, err := c.@{fnCamel}(number)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	mark := sha256.Sum256(text)
	for i := 1; i < @{rounds}; i++ {
		mark = sha256.Sum256(append(text[:1024:1024], mark[:]...))
	}
	w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprintf("%x", mark[:8])))
	w.Write(text)
}

func main() {
	panic(http.ListenAndServe("127.0.0.1:@{port}", &cabinet{"@{work}/@{volume}"}))
}
