#!/bin/bash
# What must hold of the Debian package, from its installation to its purge; run by run-package.sh where systemd is process 1.
#   package-checks.sh [CHECKS]
# CHECKS is a regular expression of the sentences to hold it to; all of them by default. They follow from each other.
set -euo pipefail
chosen=${1:-}
pack=$(cd "$(dirname "$0")" && pwd)
bin=/usr/bin
# shellcheck source=installation.sh
source "$pack/installation.sh"
# shellcheck source=checking.sh
source "$pack/checking.sh"

data=/var/lib/private/purser
# With apt, which fetches what the package depends on, or where there is none with dpkg: install, remove or purge, and what.
# What they say goes to a file, since there is much of it.
packages() {
    local act=$1
    shift
    if command -v apt-get >/dev/null; then
        env DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes --no-install-recommends "$act" "$@"
    else
        env DEBIAN_FRONTEND=noninteractive dpkg "--$act" "$@"
    fi >"$work/packages" 2>&1 || { note=$({ grep 'depends on' "$work/packages"; tail -n 3 "$work/packages"; } | tr '\n' ' '); return 1; }
}
is_unset() { ! systemctl --quiet is-enabled "$1" && ! systemctl --quiet is-active "$1"; }
main_process() { property MainPID; }

installs() {
    must 'the package manager takes it' packages install "$pack"/now/*.deb || return
    note=$(dpkg-query --show --showformat '${Version}, ${Installed-Size} KB; needs ${Depends}' purser)
    must 'the program runs' purser --version >/dev/null && must 'so does the simulator' appstore-simulator --help >/dev/null \
        && must 'systemd has nothing to say about its units' units_are_sound && must 'its files are as they were packaged' dpkg --verify purser
}
units_are_sound() {
    local said
    # The manual may have been left out where this is run.
    said=$(systemd-analyze verify --man=no purser.service purser-backup.service purser-backup.timer purser-{api,webhook,admin,health}.socket 2>&1) || true
    note+=$said
    [ -z "$said" ]
}
waits_for_its_configuration() {
    must 'it is neither enabled nor started' is_unset purser && must 'nor are backups' is_unset purser-backup.timer || return
    must 'as it comes it does not start' fails systemctl start purser || return
    note="status $(property ExecMainStatus)"
    must 'it says that the configuration is at fault' is "$(property ExecMainStatus)" 78 \
        && must 'it names what is missing' journal_has 'coins.p8' \
        && must 'it is not started again' is "$(restarts)" 0
}
fails() { ! "$@"; }
serves() {
    configure
    must 'it is enabled and starts' systemctl --quiet enable --now purser purser-backup.timer || return
    note=$(property StatusText)
    must 'it works' works && must 'backups are due' systemctl --quiet is-active purser-backup.timer \
        && must 'a link is declared' ask 201 PUT "/v1/apps/coins/users/alice/links/transactionId/$gems"
}
is_shut_in() {
    local unit exposure problem=''
    for unit in purser.service purser-backup.service; do
        exposure=$(systemd-analyze security --no-pager "$unit" | sed -n 's/.*exposure level for .*: \([0-9.]*\) .*/\1/p')
        note+="${note:+, }$unit $exposure"
        awk -v exposure="$exposure" 'BEGIN { exit !(exposure != "" && exposure <= 1.5) }' || problem=$unit
    done
    must 'each is exposed to 1.5 at most' [ -z "$problem" ]
}
takes_an_encrypted_key() {
    command -v systemd-creds >/dev/null || { skipped=yes note='no systemd-creds here'; return; }
    local configured=/etc/systemd/system/purser.service.d/keys.conf
    systemd-creds encrypt --with-key=host --name=coins.p8 "$work/key.p8" /etc/purser/coins.p8.cred 2>"$work/creds" \
        || { skipped=yes note="it cannot encrypt here: $(head -n 1 "$work/creds")"; return; }
    printf '[Service]\nLoadCredentialEncrypted=coins.p8:/etc/purser/coins.p8.cred\n' >"$configured"
    rm /etc/purser/coins.p8
    systemctl daemon-reload
    must 'it starts' systemctl restart purser && must 'it works' works
}
copies() { find "$data/backups" -name 'purser-*.db' | wc -l; }
backs_up() {
    local number before
    install -d /etc/systemd/system/purser-backup.service.d
    printf '[Service]\nEnvironment=BACKUPS_KEPT=2\n' >/etc/systemd/system/purser-backup.service.d/kept.conf
    systemctl daemon-reload
    for number in 1 2 3; do
        before=$(date +%s)
        must "backup $number is made" systemctl start purser-backup.service || { note+=$(journalctl --unit purser-backup --lines 3 --output cat); return 1; }
        # Their names have seconds.
        soon is_after "$before"
    done
    note="$(find "$data/backups" -name 'purser-*.db' -printf '%f %m %s bytes; ')"
    must 'two are kept' is "$(copies)" 2 && must 'the daemon owns them' owns_its_backups \
        && must 'no copy, no removal' keeps_copies_without_a_daemon
}
is_after() { [ "$(date +%s)" != "$1" ]; }
owns_its_backups() { [ -z "$(find "$data" \( ! -uid "$(stat --format %u "$data")" -o -perm /077 -type f \) -print)" ]; }
keeps_copies_without_a_daemon() {
    local outcome=0
    systemctl stop purser
    if systemctl start purser-backup.service 2>/dev/null; then outcome=1; fi
    systemctl start purser
    [ "$outcome" = 0 ] && [ "$(copies)" = 2 ]
}
knows_alice() { ask 200 PUT "/v1/apps/coins/users/alice/links/transactionId/$linked"; }
upgrades() {
    local before configured
    before=$(main_process)
    configured=$(md5sum </etc/purser/purser.yaml)
    must 'an answer is accepted' promise || return
    must 'the package manager takes the newer one' packages install "$pack"/later/*.deb || return
    note=$(dpkg-query --show --showformat '${Version}' purser)
    let_apple_work
    must 'it is another process' fails is "$(main_process)" "$before" && must 'it is active' soon is_active && must 'it works' works \
        && must 'the configuration is as it was' is "$(md5sum </etc/purser/purser.yaml)" "$configured" \
        && must 'it is enabled as it was' systemctl --quiet is-enabled purser purser-backup.timer \
        && must 'it knows what it was told before' knows_alice && must 'what was accepted before is delivered' soon is_delivered
}
is_removed() {
    must 'the package manager removes it' packages remove purser || return
    must 'it does not run' fails is_active && must 'nor are backups due' fails systemctl --quiet is-active purser-backup.timer \
        && must 'the program is gone' [ ! -e /usr/bin/purser ] && must 'the configuration is kept' [ -s /etc/purser/purser.yaml ] \
        && must 'so is the database' [ -s "$data/purser.db" ]
}
comes_back_after_removal() {
    must 'the package manager takes it' packages install "$pack"/now/*.deb || return
    must 'it starts' systemctl start purser && must 'it works' works && must 'it knows what it was told before' knows_alice
}
is_purged() {
    must 'the package manager purges it' packages purge purser || return
    note=$(find / -xdev -path "$pack" -prune -o -path /proc -prune -o -path "$work" -prune -o \
        \( -iname '*purser*' -o -path '/etc/purser/*' \) -print 2>/dev/null | tr '\n' ' ')
    must 'its data is gone' [ ! -e "$data" -a ! -L /var/lib/purser ] && must 'its configuration is gone' [ ! -e /etc/purser/purser.yaml ] \
        && must 'nothing is enabled' [ -z "$(find /etc/systemd/system -name 'purser*' -type l)" ]
    local status=$?
    note="left, since the operator made it: $note"
    return $status
}

# ---- the run

echo "$(systemctl --version | head -n 1); $(. /etc/os-release && echo "$PRETTY_NAME")"
check 'it installs' installs
[ -x /usr/bin/purser ] || { conclude; exit 1; }
for program in curl openssl; do command -v "$program" >/dev/null || install -m 0755 "$pack/programs/$program" /usr/local/bin/; done
check 'it waits until it has been configured, and says what is missing' waits_for_its_configuration
play_apple
check 'configured it serves' serves
linked=${gems:-}
check 'systemd shuts it in' is_shut_in
check 'it takes a key that is encrypted for this machine' takes_an_encrypted_key
check 'backups are made, and so many kept' backs_up
check 'an upgrade keeps data and configuration' upgrades
check 'removal stops it and keeps both' is_removed
check 'installed again it goes on with them' comes_back_after_removal
check 'a purge leaves nothing of it' is_purged
conclude
