# Sourced, after common.sh, by the scripts that try Whittle in bare roots of Debian's suites. They run as root.
command -v debootstrap >/dev/null || fail "found no debootstrap; hint: scripts/setup --with suites"
[ "$(id -u)" -eq 0 ] || fail "expected to run as root: debootstrap and chroot need it"
mirror=$(sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\).*/\2/p' /etc/apt/sources.list.d/*.sources /etc/apt/sources.list \
         2>/dev/null | sed 1q) || true  # either file may be missing

# make_root SUITE DIR: a bare root of the suite; one that is there is used. What this machine needs to reach the network goes
# along: name servers, the configuration of apt and npm, certificates.
make_root() {
  local suite=$1 bare=$2 cafile
  if [ ! -x "$bare/bin/sh" ] || [ -d "$bare/debootstrap" ]; then  # debootstrap has that folder while it works
    rm -rf --one-file-system "$bare"
    debootstrap --variant=minbase "$suite" "$bare" "$mirror" >"$bare.log" 2>&1 || { tail -n 5 "$bare.log" >&2; return 1; }
  fi
  cp -L /etc/resolv.conf /etc/hosts "$bare/etc/"
  find /etc/apt/apt.conf.d -type f -exec grep -lE '^ *Acquire' {} + | xargs -r cp -t "$bare/etc/apt/apt.conf.d"
  mkdir -p "$bare/etc/ssl/certs"
  [ -e "$bare/etc/ssl/certs/ca-certificates.crt" ] || ! [ -e /etc/ssl/certs/ca-certificates.crt ] ||
    cp -L /etc/ssl/certs/ca-certificates.crt "$bare/etc/ssl/certs/"
  [ ! -e ~/.npmrc ] || cp ~/.npmrc "$bare/root/"
  for cafile in $(sed -nE 's/^cafile *= *"?([^"]*)"?/\1/p' ~/.npmrc 2>/dev/null) ${NODE_EXTRA_CA_CERTS-}; do
    cp -L "$cafile" "$bare/root/certificates.crt"  # a package of the suite would write over the original's place
    sed -i 's,^cafile *=.*,cafile=/root/certificates.crt,' "$bare/root/.npmrc" 2>/dev/null || true
  done
  mountpoint -q "$bare/proc" || mount -t proc proc "$bare/proc"
  mountpoint -q "$bare/sys" || mount -t sysfs sysfs "$bare/sys"
  mountpoint -q "$bare/dev" || { mount --rbind /dev "$bare/dev" && mount --make-rslave "$bare/dev"; }
}

# in_root DIR COMMAND…: runs it there, without this machine's environment.
in_root() {
  local bare=$1
  shift
  env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin CI=true \
    DEBIAN_FRONTEND=noninteractive NODE_EXTRA_CA_CERTS=/root/certificates.crt chroot "$bare" "$@"
}

leave_root() { umount -R "$1/dev" "$1/sys" "$1/proc" 2>/dev/null || true; }
