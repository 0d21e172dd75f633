//! seccomp: the calls that no reader makes.

use super::filter::{self, Refused, When};
use seccompiler::BpfProgram;

/// The architectures whose numbers are known (`include/uapi/linux/audit.h`).
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: Option<u32> = Some(0xc000_003e);
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: Option<u32> = Some(0xc000_00b7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: Option<u32> = None;

/// Calls that libc has no numbers of yet; the same on all architectures.
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const OPEN_TREE_ATTR: i64 = 467;
const FILE_SETATTR: i64 = 469;

/// Refused whatever is written. They fail with EPERM, so that a library that tries one goes on without.
const ALWAYS: &[i64] = &[
    // Other programs, and the memory of other processes.
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
    // The network, also by what is open.
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // The kernel itself; io_uring makes calls that no filter sees.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // What is mounted where.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    // Who this process is.
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setfsuid,
    libc::SYS_setfsgid,
    libc::SYS_setgroups,
    libc::SYS_capset,
    libc::SYS_unshare,
    libc::SYS_setns,
    // What Landlock does not see of files, and what no output takes.
    libc::SYS_open_by_handle_at,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_truncate,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

/// Refused too where there is no output.
const UNLESS_WRITING: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchown,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    // Its flags lie in memory.
    libc::SYS_openat2,
];

/// The same of those that only x86-64 still has.
#[cfg(target_arch = "x86_64")]
const OLD_ALWAYS: &[i64] = &[
    libc::SYS_kexec_file_load,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_mkdir,
    libc::SYS_mknod,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(target_arch = "x86_64")]
const OLD_UNLESS_WRITING: &[i64] =
    &[libc::SYS_creat, libc::SYS_unlink, libc::SYS_rmdir, libc::SYS_rename, libc::SYS_renameat];
#[cfg(not(target_arch = "x86_64"))]
const OLD_ALWAYS: &[i64] = &[libc::SYS_kexec_file_load];
#[cfg(not(target_arch = "x86_64"))]
const OLD_UNLESS_WRITING: &[i64] = &[libc::SYS_renameat];

/// Opening to write or to make.
const TO_WRITE: u32 =
    (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC | libc::O_TMPFILE & !libc::O_DIRECTORY)
        as u32;
/// Namespaces of its own (clone(2)); a user namespace is where a process has all rights.
const NAMESPACES: u32 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWCGROUP) as u32;

/// The filter of a reader, `writing` where it has an output.
pub(super) fn filter(writing: bool) -> Result<BpfProgram, String> {
    let Some(architecture) = ARCHITECTURE else {
        return Err("the numbers of this architecture's calls are not known".to_string());
    };
    let own = std::process::id();
    let refused = |call, when, errno| Refused { call, when, errno };
    let mut all: Vec<Refused> = [ALWAYS, OLD_ALWAYS]
        .concat()
        .into_iter()
        .map(|call| refused(call, When::Always, libc::EPERM))
        .collect();
    all.extend([
        // abort(3) signals its own process.
        refused(libc::SYS_kill, When::IsNot(0, own), libc::EPERM),
        refused(libc::SYS_tgkill, When::IsNot(0, own), libc::EPERM),
        refused(libc::SYS_clone, When::Any(0, NAMESPACES), libc::EPERM),
        // Its flags lie in memory; without it clone(2) is taken.
        refused(libc::SYS_clone3, When::Always, libc::ENOSYS),
        // What is typed at the terminal, for the shell to run.
        refused(libc::SYS_ioctl, When::Is(1, libc::TIOCSTI as u32), libc::EPERM),
    ]);
    if !writing {
        let calls = [UNLESS_WRITING, OLD_UNLESS_WRITING].concat();
        all.extend(calls.into_iter().map(|call| refused(call, When::Always, libc::EPERM)));
        all.push(refused(libc::SYS_openat, When::Any(2, TO_WRITE), libc::EPERM));
        #[cfg(target_arch = "x86_64")]
        all.push(refused(libc::SYS_open, When::Any(1, TO_WRITE), libc::EPERM));
    }
    Ok(filter::of(architecture, &all))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    const HERE: u32 = 0xc000_003e;

    /// What the filter answers, as the kernel runs it: `None` if it is allowed, else the errno.
    fn verdict(filter: &BpfProgram, architecture: u32, call: i64, arguments: [u64; 2]) -> Option<u32> {
        let (mut at, mut value) = (0, 0);
        loop {
            let step = &filter[at];
            at += 1;
            let jump = |met: bool| usize::from(if met { step.jt } else { step.jf });
            match u32::from(step.code) {
                0x20 => {
                    value = match step.k {
                        0 => call as u32,
                        4 => architecture,
                        16 => arguments[0] as u32,
                        24 => arguments[1] as u32,
                        32 => 0,
                        other => panic!("a load at {other}"),
                    }
                }
                0x15 => at += jump(value == step.k),
                0x35 => at += jump(value >= step.k),
                0x45 => at += jump(value & step.k != 0),
                0x06 if step.k == libc::SECCOMP_RET_ALLOW => return None,
                0x06 => {
                    assert_eq!(step.k & 0xffff_0000, libc::SECCOMP_RET_ERRNO, "refused, not killed");
                    return Some(step.k & 0xffff);
                }
                other => panic!("an instruction {other:#x}"),
            }
        }
    }

    #[test]
    fn what_is_refused_fails_with_eperm_and_the_rest_is_allowed() {
        let eperm = Some(libc::EPERM as u32);
        for writing in [false, true] {
            let filter = filter(writing).expect("x86-64");
            assert!(filter.len() < 4096, "the kernel takes no longer ones (BPF_MAXINSNS)");
            for call in ALWAYS.iter().chain(OLD_ALWAYS) {
                assert_eq!(verdict(&filter, HERE, *call, [0, 0]), eperm, "{call}");
            }
            let when_read = if writing { None } else { eperm };
            for call in UNLESS_WRITING.iter().chain(OLD_UNLESS_WRITING) {
                assert_eq!(verdict(&filter, HERE, *call, [0, 0]), when_read, "{call}");
            }
            for call in
                [libc::SYS_read, libc::SYS_write, libc::SYS_mmap, libc::SYS_exit_group, libc::SYS_statx]
            {
                assert_eq!(verdict(&filter, HERE, call, [0, 0]), None, "{call}");
            }
            let open = |flags: i32| verdict(&filter, HERE, libc::SYS_open, [0, flags as u64]);
            assert_eq!(open(libc::O_RDONLY | libc::O_CLOEXEC | libc::O_DIRECTORY), None);
            for flags in [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC, libc::O_TMPFILE] {
                assert_eq!(open(flags), when_read, "{flags:#o}");
            }
            let own = u64::from(std::process::id());
            for call in [libc::SYS_kill, libc::SYS_tgkill] {
                assert_eq!(verdict(&filter, HERE, call, [own, 6]), None);
                assert_eq!(verdict(&filter, HERE, call, [1, 9]), eperm);
            }
            assert_eq!(verdict(&filter, HERE, libc::SYS_ioctl, [0, libc::TCGETS]), None);
            assert_eq!(verdict(&filter, HERE, libc::SYS_ioctl, [0, libc::TIOCSTI]), eperm);
            let thread = (libc::CLONE_VM | libc::CLONE_THREAD) as u64;
            assert_eq!(verdict(&filter, HERE, libc::SYS_clone, [thread, 0]), None);
            let own_users = libc::CLONE_NEWUSER as u64;
            assert_eq!(verdict(&filter, HERE, libc::SYS_clone, [own_users, 0]), eperm);
            assert_eq!(verdict(&filter, HERE, libc::SYS_clone3, [0, 0]), Some(libc::ENOSYS as u32));
            // x32, and a call of 32 bits.
            assert_eq!(verdict(&filter, HERE, libc::SYS_read | 1 << 30, [0, 0]), eperm);
            assert_eq!(verdict(&filter, 0x4000_0003, 3, [0, 0]), eperm);
        }
    }
}
