WEIGHT=4
NEEDS="g++"
FIRST="tz-stat-storm"
FIRES=(tz-stat-storm)
NAMES=("tz-stat-storm: /etc/localtime" "tz-stat-storm: per write" "tz-stat-storm: TZ=:/etc/localtime")
GONE=(tz-stat-storm)

build() { g++ -O1 -o abs_format "$here/abs_format.cc" && mkdir out; }
slow() { run_traced slow env -u TZ ./abs_format out 1; }
fixed() { run_traced fixed env TZ=:/etc/localtime ./abs_format out 1; }
