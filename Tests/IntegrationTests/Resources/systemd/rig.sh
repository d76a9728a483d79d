# Sourced by what needs a real systemd: finds one. Afterwards `rig` is the command that runs its arguments there, as root.
# SYSTEMD_RIG is a command that runs its arguments as root where systemd is process 1 and nothing needs to be kept, in
# a container or a virtual machine, with our standard input and output. Everything that the checks need is sent there through
# the standard input. `env` is such a command for this very machine: it is then installed here, and its systemd is halted for
# seconds. Without it this machine is taken if it is a container of its own; else nothing is run, and why is said.

skip() {
    echo "skipped: $*"
    echo "Name a rig, such as SYSTEMD_RIG='ssh root@a-machine-to-throw-away' or, for this very machine, SYSTEMD_RIG=env."
    exit 0
}
if [ -z "${SYSTEMD_RIG:-}" ]; then
    [ "$(cat /proc/1/comm)" = systemd ] || skip "process 1 of this machine is $(cat /proc/1/comm), not systemd"
    [ "$(id -u)" = 0 ] || skip "only root can install a service here"
    systemd-detect-virt --quiet --container || skip "this machine is no container, so that it may be needed afterwards"
    [ ! -e /usr/bin/purser ] || skip "Purser is installed on this machine"
    SYSTEMD_RIG=env
fi
read -r -a rig <<<"$SYSTEMD_RIG"
