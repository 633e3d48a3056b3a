#!/usr/bin/env bash
# Boots a virtual machine with our program in it, runs a script there and gives back what it wrote.
#
#   boot.sh FOLDER STAGE MOVER -- QEMU OPTIONS...
#
# FOLDER/guest.sh is run as root in the guest by busybox's shell; what it writes to $RESULTS comes to FOLDER/results. FOLDER/overlay,
# if there, is laid over the guest's root. The console goes to FOLDER/console. Emulated (TCG): it proves placement, no speed.
# Ends with 0; 77 when this machine lacks something, told on stdout; 1 when the guest did not come to its end.
set -u
folder=$1 stage=$2 mover=$3
shift 4
limit_s=${HBMARK_VM_LIMIT_S:-200}

absent() {
  echo "$1"
  exit 77
}

# A kernel of Debian's with NUMA, serial console and initramfs built in (linux-image-cloud-amd64 or linux-image-amd64).
find_kernel() {
  local file cache=${HBMARK_VM_CACHE:-$folder/..}
  for file in "${HBMARK_VM_KERNEL:-}" /boot/vmlinuz-*-amd64 "$cache"/kernel/boot/vmlinuz-*; do
    if [ -n "$file" ] && [ -r "$file" ]; then echo "$file"; return; fi
  done
  [ "${HBMARK_VM:-}" = required ] || return
  # As root apt would drop its rights, and then not reach our folder.
  local package
  package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -1)
  mkdir -p "$cache/kernel" && (cd "$cache/kernel" && apt-get -o APT::Sandbox::User=root download "$package" && dpkg -x ./linux-image-*.deb .) >&2
  ls "$cache"/kernel/boot/vmlinuz-* 2>/dev/null | head -1
}

# Programs and the libraries they name, each at its own path.
copy_with_libraries() {
  local root=$1 file library
  shift
  for file in "$@"; do
    ldd "$file" | grep -o '/[^ ]*' | while read -r library; do
      [ -e "$root$library" ] && continue
      mkdir -p "$root$(dirname "$library")"
      cp -L "$library" "$root$library"
    done
  done
}

make_initramfs() {
  local root=$folder/initramfs
  rm -rf "$root"
  mkdir -p "$root"/{bin,dev,proc,sys,run,tmp,eaten,usr/bin}
  cp "$busybox" "$root/bin/busybox"
  cp -r "$stage" "$root/hbmark"
  cp "$mover" "$root/bin/move_pages_of"
  copy_with_libraries "$root" "$root"/hbmark/bin/* "$root"/hbmark/lib/hbmark/backends/*.so "$mover"
  cp "$folder/guest.sh" "$root/guest.sh"
  [ -d "$folder/overlay" ] && cp -r "$folder/overlay/." "$root"
  cat >"$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin:/hbmark/bin HOME=/tmp RESULTS=/dev/ttyS1
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
stty -F /dev/ttyS1 raw
sh /guest.sh
echo "### the guest came to its end" >/dev/ttyS1
poweroff -f
INIT
  chmod +x "$root/init"
  # Not compressed: unpacking would cost an emulated CPU more than copying.
  (cd "$root" && find . | "$busybox" cpio -o -H newc 2>/dev/null) >"$folder/initramfs.cpio"
  rm -rf "$root"
}

command -v qemu-system-x86_64 >/dev/null || absent "qemu-system-x86_64 is not installed: apt-get install qemu-system-x86"
busybox=$(command -v busybox) || absent "busybox is not installed: apt-get install busybox-static"
ldd "$busybox" >/dev/null 2>&1 && absent "$busybox needs libraries: apt-get install busybox-static"
kernel=$(find_kernel)
[ -n "$kernel" ] || absent "no kernel to boot: apt-get install linux-image-cloud-amd64, name one in HBMARK_VM_KERNEL, or let HBMARK_VM=required fetch it"
make_initramfs || exit 1
rm -f "$folder/results"
timeout "$limit_s" qemu-system-x86_64 -accel tcg,thread=multi -machine q35 "$@" -kernel "$kernel" -initrd "$folder/initramfs.cpio" \
  -append "console=ttyS0 panic=-1 quiet numa_balancing=disable" -display none -no-reboot -monitor none \
  -serial "file:$folder/console" -serial "file:$folder/results" </dev/null >"$folder/qemu.log" 2>&1
rm -f "$folder/initramfs.cpio"
tail -n 1 "$folder/results" 2>/dev/null | grep -q "### the guest came to its end" && exit 0
echo "the guest did not come to its end in $limit_s s; its console ends with:"
tail -n 20 "$folder/console" "$folder/qemu.log"
exit 1
