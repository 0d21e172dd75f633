WEIGHT=6
NEEDS="go ruby gzip"
ONLY_LIVE=1
SAYS=("in the end for render.rb (" "gzip, in compress_page" "(render.rb:")
CALM=(fixed)

build() { GO111MODULE=off GOCACHE=${GOCACHE:-$HOME/.cache/go-build} go build -o gateway "$here/gateway.go"; }

# The client alone is named to the recorder; $2 is how the renderer compresses.
recorded_client() {
    local recording=$1 how=$2 port renderer_port
    renderer_port=$(free_port) port=$(free_port)
    seq 200000 >"page-$recording"
    begin_chain
    link_of_chain ruby "$here/render.rb" "$renderer_port" "page-$recording" "$how"
    until_true 100 listening "$renderer_port" || return 1
    link_of_chain ./gateway "$port" "$renderer_port"
    until_true 100 listening "$port" || return 1
    link_of_chain python3 "$here/client.py" "$port"
    record_chain "$recording" "$pid"
}

slow() { recorded_client slow command; }
fixed() { recorded_client fixed once; }
