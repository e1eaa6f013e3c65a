"""Rows of known_keys.yaml about storage, networks, roles and images, and volumes that pods cannot mount."""

import pytest

from unit.kinds.reading import rows_written


def _class(driver: str, more: str = "", name: str = "c") -> str:
    kind = "apiVersion: storage.k8s.io/v1, kind: StorageClass"
    return f"{{{kind}, metadata: {{name: {name}}}, provisioner: {driver}{more}}}"


def _of(driver: str, parameters: str, more: str = "") -> str:
    return _class(driver, f", parameters: {{{parameters}}}{more}")


_FSX, _LUSTRE, _AZURE = "fsx.csi.aws.com", "lustre.csi.storage.gke.io", "file.csi.azure.com"
_NET = "subnetId: subnet-0a, securityGroupIds: sg-0a, "
_STATIC = "kubernetes.io/no-provisioner"
_LOCAL = rows_written.written("v1", "PersistentVolume", "storageClassName: c, local: {path: /mnt/a}")
_CLAIM = rows_written.written("v1", "PersistentVolumeClaim", "storageClassName: c", "name: d, namespace: a")
_NAMED = rows_written.written(
    "v1", "PersistentVolumeClaim", "storageClassName: c, volumeName: v", "name: d, namespace: a"
)


def _attached(config: str, more: str = "") -> str:
    metadata = f"name: n, namespace: a{more}"
    return rows_written.written("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", f"config: '{config}'", metadata)


_RESOURCE = ", annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rdma}"
_VF = '{"type": "sriov"%s}'


def _pool(kind: str) -> str:
    return rows_written.written("nv-ipam.nvidia.com/v1alpha1", kind, "", "name: rail, namespace: o")


def _network(type_: str = "") -> str:
    ipam = f'{{"type": "nv-ipam", "poolName": "rail"{type_}}}'
    return rows_written.written(
        "sriovnetwork.openshift.io/v1", "SriovNetwork", f"ipam: '{ipam}'", "name: n, namespace: o"
    )


_BY_CIDR = ', "poolType": "cidrpool"'


def _gke(type_: str) -> str:
    reference = "parametersRef: {group: networking.gke.io, kind: GKENetworkParamSet, name: p}"
    return rows_written.written("networking.gke.io/v1", "Network", f"type: {type_}, {reference}")


def _set(spec: str) -> str:
    return rows_written.written("networking.gke.io/v1", "GKENetworkParamSet", f"vpc: v, {spec}", "name: p")


def _role(kind: str) -> str:
    return f"{{apiVersion: rbac.authorization.k8s.io/v1, kind: {kind}, metadata: {{name: r, namespace: a}}}}"


def _binding(role: str, kind: str = "RoleBinding", subject: str = "name: s, namespace: a") -> str:
    metadata = "metadata: {name: b, namespace: a}"
    subjects = f"subjects: [{{kind: ServiceAccount, {subject}}}], roleRef: {{kind: {role}, name: r}}"
    return f"{{apiVersion: rbac.authorization.k8s.io/v1, kind: {kind}, {metadata}, {subjects}}}"


_STAGED = "csi.storage.k8s.io/node-stage-secret-name: s"


def _copied(source: str) -> str:
    spec = f"accessModes: [ReadWriteOnce], dataSource: {{{source}}}"
    return rows_written.written("v1", "PersistentVolumeClaim", spec, "name: d, namespace: a")


def _read_only(more: str) -> str:
    spec = f"accessModes: [ReadOnlyMany], storageClassName: c{more}"
    return rows_written.written("v1", "PersistentVolumeClaim", spec, "name: d, namespace: a")


def _route(more: str) -> str:
    return rows_written.written("route.openshift.io/v1", "Route", "to: {name: vllm}", f"name: r{more}")


def _identified(more: str) -> str:
    spec = "serviceAccountName: s, containers: [{name: c, image: x}]"
    return rows_written.written("v1", "Pod", spec, f"name: p, namespace: a{more}")


_IDENTITY = rows_written.written(
    "v1", "ServiceAccount", "", "name: s, namespace: a, annotations: {azure.workload.identity/client-id: '7'}"
)
_B200 = rows_written.node_of("node.kubernetes.io/instance-type: p6-b200.48xlarge")


def _plugin(version: str) -> str:
    container = f"{{name: c, image: 'lab/aws-efa-k8s-device-plugin:v{version}'}}"
    return rows_written.written("apps/v1", "DaemonSet", f"template: {{spec: {{containers: [{container}]}}}}")


def _webhook(text: str) -> str:
    kind = "apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: w}"
    return f"{{{kind}, webhooks: [{{{text}}}]}}"


def _allows(rule: str) -> str:
    return f"{{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {{name: r}}, rules: [{{{rule}}}]}}"


def _kept_in(spec: str) -> str:
    return rows_written.written("v1", "PersistentVolume", f"storageClassName: c, {spec}", "name: v")


def _shared(mode: str) -> str:
    spec = f"accessModes: [{mode}], storageClassName: c, volumeName: v"
    return rows_written.written("v1", "PersistentVolumeClaim", spec, "name: d, namespace: a")


def _certificate(name: str) -> str:
    spec = f"dnsNames: [{name}], issuerRef: {{name: i, kind: ClusterIssuer}}"
    return rows_written.written("cert-manager.io/v1", "Certificate", spec, "name: c, namespace: a")


def _issuer(spec: str) -> str:
    return rows_written.written("cert-manager.io/v1", "ClusterIssuer", spec, "name: i")


def _secret(data: str) -> str:
    return f"{{apiVersion: v1, kind: Secret, metadata: {{name: s}}, type: kubernetes.io/dockerconfigjson, {data}}}"


_SECRET = "{apiVersion: v1, kind: Secret, metadata: {name: ngc, namespace: a}, type: Opaque}"


def _pulling(secret: str) -> str:
    kind = "apiVersion: v1, kind: ServiceAccount, metadata: {name: s, namespace: a}"
    return f"{{{kind}, imagePullSecrets: [{{name: {secret}}}]}}"


def _level(label: str) -> str:
    return f"{{apiVersion: v1, kind: Namespace, metadata: {{name: a, labels: {{pod-security.kubernetes.io/{label}}}}}}}"


def _timeout(text: str) -> str:
    annotations = f"annotations: {{nginx.ingress.kubernetes.io/proxy-read-timeout: '{text}'}}"
    return rows_written.written("networking.k8s.io/v1", "Ingress", "", f"name: i, {annotations}")


def _rule(more: str) -> str:
    spec = f"groups: [{{name: g, rules: [{{alert: A, expr: 'up == 0', {more}}}]}}]"
    return rows_written.written("monitoring.coreos.com/v1", "PrometheusRule", spec)


def _lets_in(port: int) -> str:
    spec = f"podSelector: {{matchLabels: {{app: a}}}}, ingress: [{{ports: [{{port: {port}}}]}}]"
    return rows_written.written("networking.k8s.io/v1", "NetworkPolicy", spec, "name: p, namespace: a")


def _served(address: str) -> str:
    spec = f"clusterIP: {address}, selector: {{app: a}}, ports: [{{port: 80, targetPort: 8000}}]"
    return rows_written.written("v1", "Service", spec, "name: head, namespace: a")


_SERVER = rows_written.pod_of()


def _calling(address: str) -> str:
    return rows_written.pod_of().replace("image:", f"args: ['--url=http://{address}/v1'], image:")


def _kept(name: str, source: str, more: str = "") -> str:
    claim = f"claimRef: {{namespace: a, name: {name}}}"
    return rows_written.written("v1", "PersistentVolume", f"{claim}, csi: {{{source}}}{more}", f"name: pv-{name}")


def _account(namespace: str) -> str:
    return rows_written.written("v1", "ServiceAccount", "", f"name: s, namespace: {namespace}")


def _interface(name: str, interface: str, nodes: str = "a: b") -> str:
    spec = f"resourceName: r, nodeSelector: {{{nodes}}}, nicSelector: {{pfNames: ['{interface}']}}"
    metadata = f"name: {name}, namespace: sriov-network-operator"
    return rows_written.written("sriovnetwork.openshift.io/v1", "SriovNetworkNodePolicy", spec, metadata)


_AGENTS = rows_written.written("mellanox.com/v1alpha1", "NicClusterPolicy", "", "name: nic-cluster-policy")


def _kyverno(action: str, rule: str = "") -> str:
    spec = f"validationFailureAction: {action}, rules: [{{{rule}}}]"
    return rows_written.written("kyverno.io/v1", "ClusterPolicy", spec, "name: disallow-host-path")


def _constraint(spec: str) -> str:
    return rows_written.written("constraints.gatekeeper.sh/v1beta1", "K8sPSPHostFilesystem", spec)


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ((_class(_STATIC, name="nvme"),), ["binds a claim"]),
        ((_class(_STATIC, ", volumeBindingMode: WaitForFirstConsumer", "nvme"),), []),
        ((_class(_STATIC),), []),
        ((_class(_STATIC), _LOCAL), ["binds a claim"]),
        ((_class("rancher.io/local-path"),), ["makes a volume on the node"]),
        ((_of(_FSX, _NET + "deploymentType: PERSISTENT_2"),), ["without perUnitStorageThroughput"]),
        ((_of(_FSX, _NET + "deploymentType: PERSISTENT_1, perUnitStorageThroughput: '100'"),), []),
        ((_of(_FSX, _NET + "deploymentType: PERSISTENT_1, perUnitStorageThroughput: '125'"),), ["asks for 125"]),
        ((_of(_FSX, _NET + "deploymentType: SCRATCH_2, perUnitStorageThroughput: '200'"),), ["for scratch"]),
        (
            (
                _of(
                    _FSX, _NET + "deploymentType: PERSISTENT_2, perUnitStorageThroughput: '250', s3ImportPath: 's3://b'"
                ),
            ),
            ["sets s3ImportPath"],
        ),
        ((_of(_FSX, "deploymentType: SCRATCH_2"),), ["without subnetId"]),
        ((_class(_FSX),), []),
        ((_class(_LUSTRE),), ["without perUnitStorageThroughput"]),
        ((_of(_LUSTRE, "perUnitStorageThroughput: '100'"),), ["asks for 100"]),
        ((_of(_LUSTRE, "perUnitStorageThroughput: '1000'"),), []),
        ((_of("driver.longhorn.io", "dataLocality: strict-local, numberOfReplicas: '3'"),), ["strict-local"]),
        ((_of("driver.longhorn.io", "dataLocality: strict-local, numberOfReplicas: '1'"),), []),
        ((_of("csi.juicefs.com", "a: b"),), ["of JuiceFS"]),
        ((_of("csi.juicefs.com", "csi.storage.k8s.io/node-publish-secret-name: s"),), []),
        ((_kept("d", "driver: csi.juicefs.com, volumeHandle: h"),), ["without nodePublishSecretRef"]),
        ((_kept("d", "driver: csi.juicefs.com, volumeHandle: h, nodePublishSecretRef: {name: s}"),), []),
        (("{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {metaurl: 'redis://r/1'}}",), ["metaurl"]),
        (("{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {metaurl: cmVkaXM=, name: YQ==}}",), []),
        ((_of("nfs.csi.k8s.io", "server: 10.0.0.1"),), ["without the parameter share"]),
        ((_of("rook-ceph.cephfs.csi.ceph.com", f"clusterID: c, {_STAGED}"),), ["without fsName"]),
        ((_of("rook-ceph.cephfs.csi.ceph.com", f"fsName: f, {_STAGED}"),), []),
        ((_of("rbd.csi.ceph.com", "pool: p"),), ["node-stage-secret-name"]),
        ((_copied("kind: VolumeSnapshot, name: s"),), ["without its apiGroup"]),
        ((_copied("kind: VolumeSnapshot, name: s, apiGroup: snapshot.storage.k8s.io"),), []),
        ((_copied("kind: PersistentVolumeClaim, name: s"),), []),
        ((_read_only(""), _class("pd.csi.storage.gke.io")), ["so it stays empty"]),
        ((_read_only(", dataSource: {kind: PersistentVolumeClaim, name: s}"), _class("pd.csi.storage.gke.io")), []),
        ((_read_only(""), _class("nfs.csi.k8s.io")), []),
        ((_secret("stringData: {config.json: a}"),), ["without the key"]),
        ((_secret("data: {.dockerconfigjson: e30=}"),), []),
        ((_pulling("ngc"), _SECRET), ["read Secrets of the type"]),
        ((_pulling("other"), _SECRET), []),
        ((_level("enforce: restricted-v2"),), ["level restricted-v2"]),
        ((_level("enforce: restricted"),), []),
        ((_level("enforce-version: '1.30'"),), ["the version 1.30"]),
        ((_timeout("600s"),), ["a timeout of 600s"]),
        ((_timeout("600"),), []),
        ((_route(""),), ["ends a request"]),
        ((_route(", annotations: {haproxy.router.openshift.io/timeout: 5m}"),), []),
        ((_identified(""), _IDENTITY), ["they get no token"]),
        ((_identified(", labels: {azure.workload.identity/use: 'true'}"), _IDENTITY), []),
        ((_identified(", annotations: {iam.gke.io/gcp-service-account: a}"),), ["on ServiceAccounts alone"]),
        ((_plugin("0.5.3"), _B200), ["before 0.5.10"]),
        ((_plugin("0.5.10"), _B200), []),
        ((_webhook("name: w, rules: [{resources: [pod]}]"),), ["asked about pod", "three parts"]),
        ((_webhook("name: w.example.com, rules: [{resources: [pods, '*']}]"),), []),
        ((_webhook("name: w.example.com, clientConfig: {url: 'http://a/b'}"),), ["by https alone"]),
        ((_allows("apiGroups: [''], resources: [jobs]"),), ["jobs without the group batch"]),
        ((_allows("apiGroups: [batch], resources: [jobs]"),), []),
        ((_allows("apiGroups: [batch.volcano.sh], resources: [jobs]"),), []),
        ((_allows("apiGroups: [batch], resources: [pods]"),), ["pods without the core group"]),
        ((_allows("apiGroups: [metrics.k8s.io], resources: [pods]"),), []),
        ((_allows("apiGroups: [apps/v1], resources: ['*']"),), ["have no version there"]),
        ((_allows("apiGroups: [batch], resources: [Job]"),), ["plural and in small letters"]),
        (
            (_kept_in("local: {path: /mnt/a}, accessModes: [ReadWriteMany], nodeAffinity: {required: {}}"),),
            ["on one node"],
        ),
        ((_shared("ReadWriteMany"), _kept_in("hostPath: {path: /mnt/a}")), ["for itself (hostPath)"]),
        ((_shared("ReadWriteOnce"), _kept_in("hostPath: {path: /mnt/a}")), []),
        ((_certificate("w.a.svc"), _issuer("acme: {server: 'https://a/b'}")), ["an ACME issuer"]),
        ((_certificate("w.example.com"), _issuer("acme: {server: 'https://a/b'}")), []),
        ((_certificate("w.a.svc"), _issuer("selfSigned: {}")), []),
        ((_rule("for: 5min"),), ["duration 5min"]),
        ((_rule("for: 1h30m"),), []),
        ((_lets_in(80), _served("None"), _SERVER), ["lets in port 80"]),
        ((_lets_in(8000), _served("None"), _SERVER), []),
        ((_served("None"), _calling("head:80")), ["is headless"]),
        ((_served("None"), _calling("head:8000")), []),
        ((_served("10.0.0.7"), _calling("head:80")), []),
        ((_of(_AZURE, "protocol: nfs, skuName: Standard_LRS"),), ["with Standard_LRS"]),
        ((_of(_AZURE, "protocol: nfs, skuName: Premium_LRS", ", mountOptions: [nconnect=4]"),), []),
        ((_of(_AZURE, "protocol: nfs", ", mountOptions: [dir_mode=0777]"),), ["dir_mode=0777 of SMB"]),
        ((_of(_AZURE, "skuName: Standard_LRS", ", mountOptions: [dir_mode=0777]"),), []),
        ((_CLAIM, _class("s3.csi.aws.com")), ["its driver makes none"]),
        ((_NAMED, _class("s3.csi.aws.com")), []),
        ((_CLAIM, _class("efs.csi.aws.com")), []),
        ((_attached(_VF % ""),), ["without the annotation"]),
        ((_attached(_VF % "", _RESOURCE),), []),
        ((_attached(_VF % ', "deviceID": "0000:03:02.0"'),), []),
        ((_attached('{"type": "host-device", "device": "ens1"}'),), []),
        ((_attached('{"type": "host-device"}'),), ["names no device"]),
        ((_network(), _pool("CIDRPool")), ["looks for an IPPool"]),
        ((_network(_BY_CIDR), _pool("CIDRPool")), []),
        ((_network(_BY_CIDR), _pool("IPPool")), ["with the poolType cidrpool"]),
        ((_network(), _pool("CIDRPool"), _pool("IPPool")), []),
        ((_gke("Device"), _set("vpcSubnet: s")), ["no deviceMode"]),
        ((_gke("Device"), _set("deviceMode: NetDevice")), []),
        ((_gke("L3"), _set("vpcSubnet: s")), ["no podIPv4Ranges"]),
        ((_set("deviceMode: NetDevice, podIPv4Ranges: {rangeNames: [x]}"),), ["does not take together"]),
        ((_binding("ClusterRole"), _role("Role")), ["gives the ClusterRole r"]),
        ((_binding("Role"), _role("Role")), []),
        ((_binding("ClusterRole"), _role("Role"), _role("ClusterRole")), []),
        ((_binding("Role"), _role("ClusterRole")), ["gives the Role r"]),
        ((_binding("Role", "ClusterRoleBinding"),), ["refers to a Role"]),
        ((_binding("ClusterRole", "ClusterRoleBinding", "name: s"),), ["without its namespace"]),
        ((_binding("ClusterRole", "ClusterRoleBinding"),), []),
        ((_binding("Role", subject="name: s, namespace: b"), _account("a")), ["these files have it in a"]),
        ((_binding("Role"), _account("a")), []),
        ((_binding("Role", subject="name: s, namespace: b"), _account("a"), _account("b")), []),
        ((_attached('{"type": "macvlan"'),), ["has no valid JSON"]),
        ((_attached("{{ config }}"),), []),
        ((_interface("b", "ens1f0"), _interface("a", "ens1f0#0-3")), ["chooses the whole interface ens1f0"]),
        ((_interface("b", "ens1f0#4-7"), _interface("a", "ens1f0#0-3")), []),
        ((_interface("b", "ens1f0"), _interface("a", "ens1f0", "other: node")), []),
        ((_AGENTS, _kyverno("Enforce")), ["of Kyverno refuses"]),
        ((_AGENTS, _kyverno("Audit")), []),
        ((_AGENTS, _kyverno("Enforce", "exclude: {any: [{resources: {namespaces: [gpu-operator]}}]}")), []),
        ((_AGENTS, _constraint("match: {}")), ["of Gatekeeper refuses"]),
        ((_AGENTS, _constraint("match: {excludedNamespaces: [gpu-operator]}")), []),
        ((_AGENTS, _constraint("enforcementAction: dryrun")), []),
    ],
)
def test_objects_beside_pods_say_what_their_controllers_take(texts: tuple[str, ...], found: list[str]) -> None:
    said = rows_written.findings(*texts)
    assert len(said) == len(found)
    assert all(part in text for part, text in zip(found, said, strict=True)), said


_BUCKET = "driver: s3.csi.aws.com, volumeHandle: %s"
_CACHED = "/root/.cache/huggingface"
_BLOB = "driver: blob.csi.azure.com, volumeHandle: h"
_USER = "securityContext: {runAsUser: 1000}, "


_EFA = "vpc.amazonaws.com/efa: 4"


def _pod(volumes: str, spec: str = "", metadata: str = "") -> str:
    mounts = "volumeMounts: [{name: v, mountPath: /a}, {name: w, mountPath: /b}]"
    container = f"{{name: c, image: 'lab/c:1', {mounts}}}"
    whole = f"{spec}containers: [{container}], volumes: [{volumes}]"
    return rows_written.written("v1", "Pod", whole, f"name: p, namespace: a{metadata}")


def _claims(first: str, second: str) -> str:
    return ", ".join(
        f"{{name: {name}, persistentVolumeClaim: {{claimName: {claim}}}}}"
        for name, claim in (("v", first), ("w", second))
    )


_FUSE = "{name: v, csi: {driver: gcsfuse.csi.storage.gke.io%s}}"
_ANNOTATED = ", annotations: {gke-gcsfuse/volumes: 'true'}"
_CONFIGURED = "{apiVersion: v1, kind: ConfigMap, metadata: {name: m, namespace: a}, data: {monitor.json: '{}'}}"


def _reading(file: str) -> str:
    pod = _pod("{name: w, configMap: {name: m}}")
    return pod.replace("image: 'lab/c:1', ", f"image: 'lab/c:1', args: ['--config={file}'], ")


_IN_MEMORY, _IMAGE = "{name: v, emptyDir: {medium: Memory, sizeLimit: %s}}", "image: 'lab/c:1', "
_LIMIT = "resources: {limits: {memory: 4Gi}}, "
_CACHE = "{name: gke-gcsfuse-cache, ephemeral: {volumeClaimTemplate: {spec: {}}}}"


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ((_pod(_claims("d", "d")),), ["by two volumes, v and w"]),
        ((_pod(_claims("d", "e")),), []),
        ((_pod(_claims("d", "e")), _kept("d", _BUCKET % "h"), _kept("e", _BUCKET % "h")), ["one volumeHandle, h"]),
        ((_pod(_claims("d", "e")), _kept("d", _BUCKET % "h"), _kept("e", _BUCKET % "i")), []),
        ((_kept("e", _BUCKET % "h"), _kept("d", _BUCKET % "h")), ["as PersistentVolume pv-d has"]),
        (
            (
                _kept("e", "driver: efs.csi.aws.com, volumeHandle: h"),
                _kept("d", "driver: efs.csi.aws.com, volumeHandle: h"),
            ),
            [],
        ),
        ((_pod(_claims("d", "e"), _USER), _kept("d", _BUCKET % "h")), ["lets root alone in"]),
        ((_pod(_claims("d", "e"), _USER), _kept("d", _BUCKET % "h", ", mountOptions: [allow-other]")), []),
        ((_pod(_claims("d", "e")), _kept("d", _BUCKET % "h")), []),
        ((_pod(_claims("d", "e")).replace("/a", _CACHED), _kept("d", _BUCKET % "h")), ["keeps its cache of models"]),
        ((_pod(_claims("d", "e")).replace("/a", _CACHED), _kept("d", _BLOB)), []),
        ((_pod("", "", ', annotations: {k8s.v1.cni.cncf.io/networks: \'[{"name": "n"},]\'}'),), ["has no valid JSON"]),
        ((_pod("", "", ", annotations: {k8s.v1.cni.cncf.io/networks: 'n, m'}"),), []),
        ((_pod(_claims("d", "e"), _USER), _kept("d", _BLOB)), ["blobfuse lets root alone in"]),
        ((_pod(_claims("d", "e"), _USER), _kept("d", _BLOB, ", mountOptions: [-o allow_other]")), []),
        ((_pod(_FUSE % "", _USER, _ANNOTATED),), ["cannot write there"]),
        ((_pod(_FUSE % ", readOnly: true", _USER, _ANNOTATED),), []),
        ((_pod(_FUSE % ", volumeAttributes: {mountOptions: 'uid=1000'}", _USER, _ANNOTATED),), []),
        ((_pod(_FUSE % "", "securityContext: {runAsUser: 1000, fsGroup: 7}, ", _ANNOTATED),), []),
        ((_pod(_FUSE % "", "hostNetwork: true, ", _ANNOTATED),), ["in the network of its node"]),
        (
            (_pod(_FUSE % ", volumeAttributes: {hostNetworkPodKSA: 'true'}", "hostNetwork: true, ", _ANNOTATED),),
            [],
        ),
        ((_pod(_FUSE % ", volumeAttributes: {bucketName: 'gs://b'}", "", _ANNOTATED),), ["names the bucket gs://b"]),
        ((_pod(_CACHE, "", _ANNOTATED),), ["without fsGroup"]),
        ((_reading("/b/gpu.json"), _CONFIGURED), ["reads /b/gpu.json"]),
        ((_reading("/b/monitor.json"), _CONFIGURED), []),
        ((_reading("/b/monitor.json.bak/x"), _CONFIGURED), []),
        ((_reading("/c/gpu.json"), _CONFIGURED), []),
        ((_pod(_CACHE, "securityContext: {fsGroup: 7}, ", _ANNOTATED),), []),
        ((_pod(_IN_MEMORY % "8Gi").replace(_IMAGE, _IMAGE + _LIMIT),), ["above the memory limits"]),
        ((_pod(_IN_MEMORY % "2Gi").replace(_IMAGE, _IMAGE + _LIMIT),), []),
        ((_pod(_IN_MEMORY % "8Gi").replace(_IMAGE, _IMAGE + _LIMIT).replace("/a", "/dev/shm"),), []),
        ((_pod(_IN_MEMORY % "8Gi"),), []),
    ],
)
def test_pods_can_mount_their_volumes_and_write_there(texts: tuple[str, ...], found: list[str]) -> None:
    said = rows_written.findings(*texts)
    assert len(said) == len(found)
    assert all(part in text for part, text in zip(found, said, strict=True)), said


@pytest.mark.parametrize(
    ("container", "spec", "found"),
    [
        ("securityContext: {privileged: true, allowPrivilegeEscalation: false}", "", ["in a privileged container"]),
        ("securityContext: {privileged: true}", "", []),
        (
            "securityContext: {allowPrivilegeEscalation: false, capabilities: {add: [CAP_SYS_ADMIN]}}",
            "",
            ["adds CAP_SYS_ADMIN", "names the capability"],
        ),
        ("securityContext: {allowPrivilegeEscalation: false, capabilities: {add: [SYS_ADMIN]}}", "", []),
        ("", "hostUsers: false, hostIPC: true, ", ["shares a namespace"]),
        ("", "hostUsers: false, hostNetwork: true, ", ["feature gate"]),
        ("", "hostUsers: false, ", []),
        ("", "dnsPolicy: None, ", ["without nameservers"]),
        ("", "dnsPolicy: None, dnsConfig: {nameservers: [10.0.0.1]}, ", []),
        ("securityContext: {runAsUser: 0, runAsNonRoot: true}", "", ["runs as root"]),
        ("securityContext: {runAsUser: 0}", "securityContext: {runAsNonRoot: true}, ", ["runs as root"]),
        ("securityContext: {runAsUser: 0, runAsNonRoot: false}", "securityContext: {runAsNonRoot: true}, ", []),
        ("", "securityContext: {runAsUser: 0, runAsNonRoot: true}, ", ["runs as root"]),
        ("securityContext: {runAsUser: 7}", "securityContext: {runAsUser: 0, runAsNonRoot: true}, ", []),
        ("image: 'nvidia/cuda:12.8.1-base-ubuntu24.04', args: ['nvcc -o a a.cu']", "", ["starts nvcc"]),
        ("image: 'nvidia/cuda:12.8.1-devel-ubuntu24.04', args: ['nvcc -o a a.cu']", "", []),
        ("image: 'nvcr.io/nvidia/cuda:12.8.1-runtime-ubuntu24.04', command: [python3, t.py]", "", ["starts python3"]),
        (
            "image: 'nvidia/cuda:12.8.1-runtime-ubuntu24.04', command: [sh, -c, 'apt-get update && python3 t.py']",
            "",
            [],
        ),
        ("image: 'nvidia/cuda:12.8.1-base-ubuntu24.04', command: [nvidia-smi]", "", []),
        ("volumeMounts: [{name: v, mountPath: /a, subPath: /b}]", "", ["mounts the subPath /b"]),
        ("volumeMounts: [{name: v, mountPath: /a, subPath: b/c..d}]", "", []),
        ("securityContext: {seccompProfile: {type: Localhost}}", "", ["without localhostProfile"]),
        ("", "securityContext: {seccompProfile: {type: Localhost}}, ", ["without localhostProfile"]),
        ("", "securityContext: {seccompProfile: {type: RuntimeDefault, localhostProfile: a}}, ", ["of another type"]),
        ("securityContext: {capabilities: {add: [CAP_IPC_LOCK]}}", "", ["names the capability CAP_IPC_LOCK"]),
        ("command: [kubectl, get, pods]", "automountServiceAccountToken: false, ", ["without the token"]),
        ("command: [sh, -c, 'kubectl get pods']", "", ["called default"]),
        ("command: [sh, -c, 'kubectl get pods']", "serviceAccountName: s, ", []),
        ("image: 'https://ghcr.io/a/b:1'", "", ["has no scheme"]),
        ("image: 'ghcr.io/Acme/b:1'", "", ["in small letters"]),
        ("image: 'Registry.Example.com/a/b:V1'", "", []),
        ("image: 'ghcr.io/OWNER/b:1'", "", []),
        ("image: 'ghcr.io/a/b:1:2'", "", ["two tags"]),
        ("image: 'localhost:5000/a/b@sha256:0a'", "", []),
        (
            f"resources: {{limits: {{{_EFA}}}}}",
            "volumes: [{name: v, hostPath: {path: /dev/infiniband}}], ",
            ["of its node"],
        ),
        ("", "volumes: [{name: v, hostPath: {path: /dev/infiniband}}], ", []),
        ("resources: {limits: {hugepages-2Mi: 1Gi}}", "", ["without cpu or memory"]),
        ("resources: {limits: {hugepages-2Mi: 1Gi, memory: 1Gi}}", "", []),
        ("env: [{name: UCX_NET_DEVICES, value: 'mlx5_0,mlx5_1:1'}]", "", ["names mlx5_0"]),
        ("env: [{name: UCX_NET_DEVICES, value: 'mlx5_0:1,eth0'}]", "", []),
        ("env: [{name: NCCL_DEBUG, value: DEBUG}]", "", ["NCCL_DEBUG to DEBUG"]),
        ("env: [{name: NCCL_DEBUG, value: info}]", "", []),
        ("env: [{name: NCCL_P2P_LEVEL, value: nvl}]", "", ["sets the level nvl"]),
        ("env: [{name: NCCL_NET_GDR_LEVEL, value: '5'}]", "", []),
        ("env: [{name: NCCL_IB_HCA, value: 'mlx5_0,ib1'}]", "", ["chooses ib1"]),
        ("env: [{name: NCCL_IB_HCA, value: '=mlx5_bond_0:1,ibp12s0'}]", "", []),
        ("env: [{name: FI_PROVIDER, value: tcp}], resources: {limits: {vpc.amazonaws.com/efa: 4}}", "", ["to tcp"]),
        ("env: [{name: FI_PROVIDER, value: tcp}]", "", []),
    ],
)
def test_containers_start_as_their_user_with_their_programs(container: str, spec: str, found: list[str]) -> None:
    image = "" if "image:" in container else "image: 'lab/c:1', "
    whole = f"{spec}containers: [{{name: c, {image}{container}}}]"
    said = rows_written.findings(rows_written.written("v1", "Pod", whole, "name: p, namespace: a"))
    assert len(said) == len(found)
    assert all(part in text for part, text in zip(found, said, strict=True)), said


_READ_ON_PODS = "sidecar.istio.io/inject: 'false'"


def _annotated(version: str, kind: str, spec: str) -> str:
    return rows_written.written(version, kind, spec, f"name: j, annotations: {{{_READ_ON_PODS}}}")


def _flag(name: str) -> str:
    data = f"userData: 'kubelet: {{flags: [\"--{name}=x\"]}}'"
    return rows_written.written("karpenter.k8s.aws/v1", "EC2NodeClass", data)


_WORKER = "pytorchReplicaSpecs: {Worker: {template: {metadata: {annotations: {%s}}}}}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (_annotated("batch/v1", "Job", "template: {}"), ["sidecar.istio.io/inject"]),
        (_annotated("batch/v1", "Job", f"template: {{metadata: {{labels: {{{_READ_ON_PODS}}}}}}}"), []),
        (_annotated("kubeflow.org/v1", "PyTorchJob", _WORKER % ""), ["sidecar.istio.io/inject"]),
        (_annotated("kubeflow.org/v1", "PyTorchJob", _WORKER % _READ_ON_PODS), []),
        (_flag("image-pull-progress-deadline"), ["image-pull-progress-deadline"]),
        (_flag("container-runtime-endpoint"), []),
    ],
)
def test_keys_stand_where_they_are_read(text: str, found: list[str]) -> None:
    said = [each for each in rows_written.findings(text) if "annotation" in each or "flag" in each]
    assert len(said) == len(found)
    assert all(part in text for part, text in zip(found, said, strict=True)), said
