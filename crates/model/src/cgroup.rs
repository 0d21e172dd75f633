//! What the path of a control group tells: the container, pod or systemd unit whose group it is.

/// The id of the container that the path of a control group names, whole: `docker-ID.scope`, `/docker/ID`,
/// `cri-containerd-ID.scope`, `crio-ID.scope`, `libpod-ID.scope`, `/kubepods/…/ID`. Runtimes use 64 hexadecimal digits,
/// Amazon's ECS 32 and a number behind a dash.
pub fn container_of(path: &str) -> Option<&str> {
    // The innermost one: containers nest.
    path.rsplit('/').find_map(|part| {
        let scope = part.strip_suffix(".scope").unwrap_or(part);
        // Podman's monitor process is not in the container.
        if scope.contains("-conmon-") {
            return None;
        }
        let hex =
            |text: &str| !text.is_empty() && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let id = scope.rsplit(['-', ':']).next().unwrap_or(scope);
        if id.len() == 64 && hex(id) {
            return Some(id);
        }
        let (task, number) = scope.split_once('-')?;
        let is_task = task.len() == 32 && hex(task) && number.bytes().all(|byte| byte.is_ascii_digit());
        (is_task && path.contains("/ecs/")).then_some(scope)
    })
}

/// The innermost systemd unit that the path names: a service or scope, else a slice below the top.
pub fn unit_of(path: &str) -> Option<&str> {
    let ends = |part: &&str, end: &str| part.len() > end.len() && part.ends_with(end);
    let innermost = |end: &str| path.rsplit('/').find(|part| ends(part, end));
    // A container's scope is named by the container.
    let scope = innermost(".scope").filter(|part| container_of(part).is_none());
    innermost(".service").or(scope).or_else(|| innermost(".slice"))
}

/// The id of the Kubernetes pod that the path names: `/kubepods/burstable/podUID/…`, `kubepods-besteffort-podU_I_D.slice`.
pub fn pod_of(path: &str) -> Option<String> {
    let (_, below) = path.split_once("kubepods")?;
    let start = below.find("/pod").or_else(|| below.find("-pod"))? + "/pod".len();
    let id: String = below
        .get(start..)?
        .chars()
        .take_while(|letter| letter.is_ascii_hexdigit() || matches!(letter, '-' | '_'))
        .map(|letter| if letter == '_' { '-' } else { letter })
        .collect();
    (id.len() >= 32).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers() {
        let id = "3f4e5d6c7b8a99887766554433221100ffeeddccbbaa00112233445566778899";
        for path in [
            format!("/docker/{id}"),
            format!("/system.slice/docker-{id}.scope"),
            format!("/system.slice/docker-{id}.scope/init.scope"),
            format!(
                "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1_2.slice/cri-containerd-{id}.scope"
            ),
            format!("/kubepods/burstable/pod12345678-1234-1234-1234-123456789012/{id}"),
            format!("/system.slice/containerd.service/kubepods-burstable-podx.slice:cri-containerd:{id}"),
            format!("/machine.slice/libpod-{id}.scope/container"),
            format!("/crio-{id}.scope"),
            format!("/docker/{}/docker/{id}", id.replace('3', "4")),
        ] {
            assert_eq!(container_of(&path), Some(id), "{path}");
        }
        let task = format!("{}-1234567890", &id[..32]);
        assert_eq!(container_of(&format!("/ecs/{}/{task}", &id[..32])), Some(task.as_str()));
        for path in [
            "/",
            "",
            "/system.slice/nginx.service",
            "/user.slice/user-1000.slice",
            &format!("/x/{}", &id[1..]),
        ] {
            assert_eq!(container_of(path), None, "{path}");
        }
        assert_eq!(container_of(&format!("/machine.slice/libpod-conmon-{id}.scope")), None);
    }

    #[test]
    fn units_and_pods() {
        assert_eq!(unit_of("/system.slice/redis.service"), Some("redis.service"));
        assert_eq!(unit_of("/user.slice/user-1000.slice/session-3.scope"), Some("session-3.scope"));
        assert_eq!(unit_of("/user.slice/user-1000.slice"), Some("user-1000.slice"));
        assert_eq!(unit_of("/a/b"), None);
        let uid = "12345678-1234-1234-1234-123456789012";
        assert_eq!(pod_of(&format!("/kubepods/burstable/pod{uid}/x")).as_deref(), Some(uid));
        let slice = format!(
            "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{}.slice/x",
            uid.replace('-', "_")
        );
        assert_eq!(pod_of(&slice).as_deref(), Some(uid));
        assert_eq!(pod_of("/podman/pod1"), None);
    }
}
