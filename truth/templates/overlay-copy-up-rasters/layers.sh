# The layers of the forecast's container, while it runs.
cd @{work}
trap 'umount -l run; exit 0' TERM INT
mount -t overlay forecast -o lowerdir=base,upperdir=upper,workdir=scratch run || exit 1
while true; do
    sleep 30 &
    wait
done
