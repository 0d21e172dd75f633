WEIGHT=4
NEEDS="g++"
HOT="std::|regex|dyncast|dynamic_cast|libstdc"
WORK="lines"
FIRES=(regex-backtracking)
GONE=(regex-backtracking)
# shellcheck source-path=SCRIPTDIR source=../profiled.sh
. "$here/../profiled.sh"

build() {
    g++ -O1 -g -fno-omit-frame-pointer -o slow "$here/log.cpp" &&
        g++ -O1 -g -fno-omit-frame-pointer -DFIXED -o fixed "$here/log.cpp"
}
slow_command() { echo ./slow; }
fixed_command() { echo ./fixed; }
