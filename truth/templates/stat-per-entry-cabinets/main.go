// The file cabinet of a law firm: what is in the folder of a case, section by section.
package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"sync/atomic"
)

const cabinets = "@{work}/@{cabinets}"

var visits atomic.Int64

type section struct {
	Documents int    `json:"documents"`
	Newest    string `json:"newest"`
	Bytes     int64  `json:"bytes,omitempty"`
}

type contents map[string]*section

func (c contents) add(file string, bytes int64) {
	folder, name := filepath.Split(file)
	where := filepath.Base(folder)
	s := c[where]
	if s == nil {
		s = &section{}
		c[where] = s
	}
	s.Documents++
	s.Bytes += bytes
	if name > s.Newest {
		s.Newest = name
	}
}

func @{fnCamel}(root string) (contents, error) {
	found := contents{}
	if "@{walk}" == "names" {
		err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				found.add(file, 0)
			}
			return err
		})
		return found, err
	}
	err := filepath.Walk(root, func(file string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			var bytes int64
			if "@{page}" == "sizes" {
				bytes = info.Size()
			}
			found.add(file, bytes)
		}
		return err
	})
	return found, err
}

func show(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(path.Base(r.URL.Path))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	folder := filepath.Join(cabinets, fmt.Sprintf("case-%d", number%(@{last}+1)))
	note := filepath.Join(folder, "@{first}", fmt.Sprintf("%06d-visit.txt", visits.Add(1)))
	if err := os.WriteFile(note, []byte("seen by "+r.RemoteAddr+"\n"), 0o644); err != nil {
		log.Print(err)
	}
	found, err := @{fnCamel}(folder)
	if err != nil {
		log.Print(err)
		http.Error(w, "the cabinet is locked", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(found)
}

func main() {
	http.HandleFunc("/cases/", show)
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
