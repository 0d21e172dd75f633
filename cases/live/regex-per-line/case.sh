NEEDS="g++"
. "$here/../profiled.sh"
HOT="std::|regex|dyncast|dynamic_cast|libstdc"
WORK="lines"
RULES=(regex-backtracking)

build() {
    g++ -O1 -g -fno-omit-frame-pointer -o slow "$here/log.cpp" &&
        g++ -O1 -g -fno-omit-frame-pointer -DFIXED -o fixed "$here/log.cpp"
}
slow_command() { echo ./slow; }
fixed_command() { echo ./fixed; }
