WEIGHT=4
NEEDS="java javac jcmd"
HOT="java.util.regex"
WORK="lines"
FIRES=(regex-backtracking)
GONE=(regex-backtracking)
# shellcheck source-path=SCRIPTDIR source=../profiled.sh
. "$here/../profiled.sh"
# The start of the JVM is in the window, and on a busy machine is more of it.
SHARES[0]="slow >= 20: $HOT"
# The names are asked for while it runs.
PROFILE_WITH="--jvm-names --seconds 2"

build() { javac -d . "$here/Log.java"; }
slow_command() { echo java -XX:+PreserveFramePointer -XX:TieredStopAtLevel=1 Log slow; }
fixed_command() { echo java -XX:+PreserveFramePointer -XX:TieredStopAtLevel=1 Log fixed; }
