WEIGHT=4
NEEDS="javac"
FIRES=(archive-reread)
FIRST="archive-reread"
NAMES=("archive-reread: app-with-swagger.jar")
GONE=(archive-reread)

build() { javac -d . "$here/Service.java" && java -cp . Service --make app-with-swagger.jar; }

# The service asked sixty times; $2… are settings of the JVM.
recorded_service() {
    local recording=$1 port
    shift
    port=$(free_port)
    background java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 "$@" -cp "$work" Service "$port" "$work/app-with-swagger.jar"
    until_true 100 listening "$port" || return 1
    attach "$recording" "$pid" || return 1
    python3 "$here/../load.py" "$port" /user/relations 30/60 1
    detach
    kill "$pid"
}

slow() { recorded_service slow; }
fixed() { recorded_service fixed -Dkeep=true; }
