ONLY_LIVE=1
OWN="service|python"
NEEDS="losetup mkfs.ext4 mount"
DISK=1
FIRES=(temp-file-churn)
NAMES=("temp-file-churn: {uuid}/{n}.txt")
GONE=(temp-file-churn)

# A slow disk of our own: a file as a device, with a file system that writes at once, and a limit where the kernel has it.
ready() {
    { dd if=/dev/zero of=disk.img bs=1M count=160 status=none && mkfs.ext4 -q disk.img && mkdir disk &&
        loop=$(losetup --find --show disk.img 2>/dev/null); } || skip "no loop device can be had here"
    mount -o sync "$loop" disk 2>/dev/null || { losetup -d "$loop"; skip "a loop device cannot be mounted here"; }
    new_group blkio && echo "$(cat "/sys/block/${loop#/dev/}/dev") 20000000" >"$group_dir/blkio.throttle.write_bps_device"
    return 0
}
gone() {
    umount "$work/disk"
    losetup -d "$loop"
}

# The host while the service answers one request, or some for two seconds; $2 is its setting.
recorded_service() {
    local recording=$1 setting=$2 port service
    port=$(free_port)
    # shellcheck disable=SC2086  # no setting is no argument
    background python3 "$here/service.py" "$port" "$work/disk" $setting
    service=$pid
    [ -z "$group_dir" ] || echo "$service" >"$group_dir/cgroup.procs"
    until_true 100 listening "$port" || return 1
    attach_host "$recording" || return 1
    python3 "$here/../load.py" "$port" / 12/4 1 30
    detach
    kill "$service"
    wait "$service" 2>/dev/null
    return 0
}
slow() { recorded_service slow ""; }
fixed() { recorded_service fixed memory; }
