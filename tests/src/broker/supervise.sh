# Keeps one process of a test: $1 is the folder that it owns, $2 its log, the rest the command.
#
# The test holds the other end of standard input. When the test closes it, or ends in any way at all, the process is killed
# and the folder removed. This shell stays the parent, so the process id cannot be given to anybody else before that.
folder=$1 log=$2
shift 2

start() {
    # A background job leads no process group, so setsid does not fork: $! leads the group of all that it starts.
    setsid "$@" </dev/null >>"$log" 2>&1 &
    leader=$!
    echo "$leader"
}
signal() { kill "-$1" "-$leader" 2>/dev/null; }
# The leader is a child and can be waited for; the others of its group only be looked at.
end() {
    signal "$1"
    wait "$leader" 2>/dev/null
    signal KILL
    for _ in $(seq 100); do
        signal 0 || break
        sleep 0.02
    done
}

start "$@"
while read -r order; do
    case $order in
        start) start "$@" ;;
        kill) end KILL; echo ended ;;
        terminate) end TERM; echo ended ;;
        freeze) signal STOP; echo frozen ;;
        thaw) signal CONT; echo thawed ;;
    esac
done
end KILL
rm -rf -- "$folder"
