NEEDS="java javac jcmd"
. "$here/../profiled.sh"
HOT="java.util.regex"
WORK="lines"
RULES=(regex-backtracking)
# The names are asked for while it runs.
PROFILE_WITH="--jvm-names --seconds 3"

build() { javac -d . "$here/Log.java"; }
slow_command() { echo java -XX:+PreserveFramePointer -XX:TieredStopAtLevel=1 Log slow; }
fixed_command() { echo java -XX:+PreserveFramePointer -XX:TieredStopAtLevel=1 Log fixed; }
