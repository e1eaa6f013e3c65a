-- The statements of a merge: `Database.execute` and `Database.rows` take their names. `?` is a parameter.

-- name: present
CREATE TEMP TABLE present AS SELECT cluster, count(DISTINCT shard) AS shards FROM audits GROUP BY cluster;

-- name: kept_findings
-- Shards know all objects without a namespace, and each shard reports them.
CREATE TEMP TABLE kept_findings AS
SELECT findings.* EXCLUDE (shard, fingerprint, namespace) REPLACE (
    CASE WHEN namespace = '' AND list_contains(getvariable('about_workloads'), code)
        THEN fsum(gpus) OVER same ELSE gpus END AS gpus
)
FROM findings JOIN present USING (cluster)
WINDOW same AS (PARTITION BY cluster, fingerprint, namespace)
QUALIFY namespace <> '' OR (
    shard = min(shard) OVER same
    AND (NOT list_contains(getvariable('about_absence'), code) OR count(DISTINCT shard) OVER same >= shards)
);

-- name: kept_readiness
-- Items about tenants look at the workloads of the shard, so an item gets the verdict of the worst shard.
CREATE TEMP TABLE kept_readiness AS
SELECT cluster, id, min(area) AS area, min(title) AS title,
    CASE WHEN list_contains(getvariable('proven_once'), id) AND bool_or(standing = 'pass') THEN 'pass'
    ELSE arg_min(standing, list_position(['fail', 'not known', 'pass', 'does not apply', standing], standing)) END
    AS standing
FROM readiness GROUP BY cluster, id;

-- name: teams_of_workloads
-- Without measured usage, a part may have no table of teams; and a team may have only findings.
INSERT INTO usage (cluster, shard, "by", name, workloads, gpus_now)
SELECT cluster, shard, 'team', coalesce(team, ''), count(*), fsum(gpus_now) FROM workloads
WHERE NOT EXISTS (
    FROM usage WHERE usage.cluster = workloads.cluster AND usage.shard = workloads.shard AND usage."by" = 'team'
) GROUP BY ALL;

-- name: teams_of_findings
INSERT INTO usage (cluster, shard, "by", name, workloads, gpus_now)
SELECT DISTINCT cluster, 0, 'team', coalesce(team, ''), 0, 0.0 FROM kept_findings
WHERE NOT EXISTS (
    FROM usage WHERE usage.cluster = kept_findings.cluster AND usage.name = coalesce(kept_findings.team, '')
    AND usage."by" = 'team'
);

-- name: chosen
CREATE TEMP TABLE chosen AS SELECT unnest(?::INTEGER[]) AS cluster, unnest(?::VARCHAR[]) AS name,
    unnest(?::VARCHAR[]) AS id, unnest(?::VARCHAR[]) AS taken, unnest(?::INTEGER[]) AS shards,
    unnest(?::INTEGER[]) AS shards_missing, unnest(?::BOOLEAN[]) AS complete;

-- name: clusters
CREATE TEMP TABLE fleet_clusters AS
WITH a AS (
    SELECT cluster,
        -- Nodes are in shard 0 alone.
        sum(nodes) FILTER (shard = 0) AS nodes,
        fsum(gpus) FILTER (shard = 0) AS gpus,
        fsum(gpus_allocatable) FILTER (shard = 0) AS gpus_allocatable,
        -- Each shard subtracts from the GPUs of usable nodes what its own pods hold there, if it knows all of them.
        CASE WHEN count(gpus_free) = count(*)
            THEN fsum(gpus_usable) FILTER (shard = 0) - fsum(gpus_usable - gpus_free) END AS gpus_left,
        fsum(gpus_allocated) AS gpus_allocated,
        fsum(gpus_waiting) AS gpus_waiting,
        fsum(gpus_never) AS gpus_never,
        fsum(gpus_half_started) AS gpus_half_started,
        sum(workloads_never) AS workloads_never,
        coalesce(sum(objects), 0) AS objects,
        coalesce(sum(pods), 0) AS pods,
        arg_min(server, shard) AS server,
        arg_min(version, shard) AS version,
        fsum(allocated) AS allocated, fsum(measured) AS measured, fsum(used) AS used, fsum(idle) AS idle,
        round(fsum(memory_share * measured) / fsum(measured) FILTER (memory_share IS NOT NULL), 6) AS share,
        fsum(not_priced) AS not_priced
    FROM audits GROUP BY cluster
),
w AS (SELECT cluster, count(*) AS workloads, coalesce(fsum(gpus_now), 0) AS gpus_now FROM workloads GROUP BY cluster),
f AS (SELECT cluster, count(*) AS findings FROM kept_findings GROUP BY cluster),
r AS (
    SELECT cluster, count(*) FILTER (standing = 'fail') AS readiness_failed FROM kept_readiness GROUP BY cluster
)
SELECT chosen.*, nodes, workloads_never, objects, pods, server, version, share,
    -- As a document shows them, so that the rows of its table add up to their sum.
    round(gpus, 6) AS gpus, round(gpus_allocatable, 6) AS gpus_allocatable,
    -- The pods of a missing shard hold some of the accelerators that the other shards count as free.
    CASE WHEN shards_missing = 0 AND gpus_left IS NOT NULL THEN round(greatest(0, gpus_left), 6) END AS gpus_free,
    round(gpus_allocated, 6) AS gpus_allocated, round(gpus_waiting, 6) AS gpus_waiting,
    round(gpus_never, 6) AS gpus_never, round(gpus_half_started, 6) AS gpus_half_started,
    round(allocated, 6) AS allocated, round(measured, 6) AS measured, round(used, 6) AS used, round(idle, 6) AS idle,
    round(not_priced, 6) AS not_priced, round(coalesce(gpus_now, 0), 6) AS gpus_now,
    coalesce(workloads, 0) AS workloads, coalesce(findings, 0) AS findings, readiness_failed,
    least(row_number() OVER (
        ORDER BY coalesce(round(idle, 6), 0) DESC, coalesce(round(gpus_allocated, 6), 0) DESC,
            coalesce(round(gpus, 6), 0) DESC, name
    ), ?) AS place
FROM chosen JOIN a USING (cluster) LEFT JOIN w USING (cluster) LEFT JOIN f USING (cluster) LEFT JOIN r USING (cluster);

-- name: cluster_sums
-- By place, where those after the largest have one place together; and of all clusters, where the place is null.
SELECT place, count(*) AS clusters, min(name) AS name, min(id) AS id, min(server) AS server, min(version) AS version,
    max(taken) AS taken, bool_and(complete) AS complete, sum(shards) AS shards, sum(shards_missing) AS shards_missing,
    sum(nodes) AS nodes, fsum(gpus) AS gpus, fsum(gpus_allocatable) AS gpus_allocatable, fsum(gpus_free) AS gpus_free,
    fsum(gpus_allocated) AS gpus_allocated, fsum(gpus_waiting) AS gpus_waiting, fsum(gpus_never) AS gpus_never,
    fsum(gpus_half_started) AS gpus_half_started, sum(workloads) AS workloads, sum(workloads_never) AS workloads_never,
    sum(objects) AS objects, sum(pods) AS pods, sum(findings) AS findings, sum(readiness_failed) AS readiness_failed,
    fsum(gpus_now) AS gpus_now, fsum(allocated) AS allocated, fsum(measured) AS measured, fsum(used) AS used,
    fsum(idle) AS idle, fsum(share * coalesce(measured, 0)) AS memory,
    fsum(coalesce(measured, 0)) FILTER (share IS NOT NULL) AS weight, fsum(not_priced) AS not_priced,
    count(*) FILTER (complete) AS clusters_complete,
    count(*) FILTER (gpus IS NULL) AS clusters_without_nodes,
    count(*) FILTER (gpus_allocated IS NULL) AS clusters_without_pods,
    count(*) FILTER (gpus IS NOT NULL AND gpus_free IS NULL) AS clusters_without_free,
    count(*) FILTER (measured IS NULL) AS clusters_not_measured
FROM fleet_clusters GROUP BY GROUPING SETS ((place), ()) ORDER BY place;

-- name: cluster_costs
WITH costs AS (
    SELECT cluster, currency, round(fsum(cost_allocated), 6) AS allocated, round(fsum(cost_idle), 6) AS idle
    FROM audits WHERE cost_allocated IS NOT NULL AND currency <> '' GROUP BY cluster, currency
)
SELECT place, currency, fsum(costs.allocated) AS allocated, fsum(costs.idle) AS idle
FROM costs JOIN fleet_clusters USING (cluster)
GROUP BY GROUPING SETS ((place, currency), (currency)) ORDER BY place, currency;

-- name: savings_sum
SELECT count(*) AS number, coalesce(fsum(gpu_hours), 0) AS gpu_hours FROM savings WHERE adds_up;

-- name: saved_money
SELECT audits.currency, fsum(savings.cost) AS cost FROM savings JOIN audits USING (cluster, shard)
WHERE savings.adds_up AND savings.cost IS NOT NULL AND audits.currency <> '' GROUP BY audits.currency
ORDER BY audits.currency;

-- name: outcomes
SELECT outcome AS name, count(*) AS number FROM kept_findings GROUP BY ALL ORDER BY ALL LIMIT 20;

-- name: severities
SELECT severity AS name, count(*) AS number FROM kept_findings GROUP BY ALL ORDER BY ALL LIMIT 20;

-- name: exceptions
-- The number of exceptions in all clusters that end soon. The shards of one cluster read the same exceptions.
SELECT coalesce(sum(number), 0) AS number
FROM (SELECT max(exceptions_ending) AS number FROM audits GROUP BY cluster);

-- name: ranked_groups
CREATE OR REPLACE TEMP TABLE ranked AS
SELECT name, least(row_number() OVER (
    ORDER BY coalesce(fsum(idle), -1) DESC, coalesce(fsum(gpus_now), 0) DESC, sum(workloads) DESC, name
), ?) AS place
FROM usage WHERE "by" = ? GROUP BY name;

-- name: groups
SELECT place, min(name) AS name, count(DISTINCT name) AS names, count(DISTINCT cluster) AS clusters,
    coalesce(sum(workloads), 0)::BIGINT AS workloads, coalesce(fsum(gpus_now), 0) AS gpus_now,
    fsum(allocated) AS allocated, fsum(measured) AS measured, fsum(used) AS used, fsum(idle) AS idle,
    fsum(memory_share * measured) AS memory, fsum(measured) FILTER (memory_share IS NOT NULL) AS weight,
    fsum(not_priced) AS not_priced
FROM usage JOIN ranked USING (name) WHERE "by" = ? GROUP BY place ORDER BY place;

-- name: group_costs
SELECT place, currency, fsum(cost_allocated) AS allocated, fsum(cost_used) AS used, fsum(cost_idle) AS idle,
    fsum(cost_idle_memory) AS idle_memory
FROM usage JOIN ranked USING (name) WHERE "by" = ? AND cost_allocated IS NOT NULL AND currency <> ''
GROUP BY place, currency ORDER BY place, currency;

-- name: group_findings
SELECT place, count(*) AS findings FROM kept_findings JOIN ranked ON coalesce(team, '') = name GROUP BY place;

-- name: codes
SELECT code, min("check") AS name, min(title) AS title, min(nullif(list_position(?, severity), 0)) AS worst,
    count(*) AS findings, count(DISTINCT cluster) AS clusters, coalesce(fsum(gpus), 0) AS gpus,
    count(*) FILTER (never) AS never
FROM kept_findings GROUP BY code ORDER BY coalesce(worst, 9), findings DESC, code LIMIT ?;

-- name: places
SELECT code, cluster, count(*) AS findings FROM kept_findings GROUP BY code, cluster
QUALIFY row_number() OVER (PARTITION BY code ORDER BY count(*) DESC, cluster) <= ?
ORDER BY code, findings DESC, cluster;

-- name: idle_workloads
SELECT cluster, coalesce(team, '') AS team, coalesce(gpus_now, 0) AS gpus_now, idle, cost_idle AS cost,
    {'api_version': coalesce(api_version, ''), 'kind': coalesce(kind, ''), 'namespace': coalesce(namespace, ''),
     'name': coalesce(name, '')} AS subject,
    coalesce(currency, '') AS currency
FROM workloads WHERE idle > 0
ORDER BY idle DESC, cluster, namespace, kind, name, api_version LIMIT ?;

-- name: accelerators
SELECT coalesce(resource, '') AS resource, count(DISTINCT cluster) AS clusters, sum(nodes)::BIGINT AS nodes,
    fsum(capacity) AS capacity, fsum(allocated) AS allocated, fsum(waiting) AS waiting, fsum(never) AS never
FROM accelerators GROUP BY resource ORDER BY greatest(fsum(capacity), fsum(allocated), 0) DESC, resource LIMIT ?;

-- name: largest_savings
SELECT cluster, saving AS kind, coalesce(team, '') AS team, change, coalesce(gpu_hours, 0) AS gpu_hours, cost,
    {'api_version': coalesce(api_version, ''), 'kind': coalesce(savings.kind, ''), 'namespace': coalesce(namespace, ''),
     'name': coalesce(savings.name, '')} AS subject,
    coalesce(audits.currency, '') AS currency
FROM savings JOIN audits USING (cluster, shard) WHERE adds_up
ORDER BY savings.gpu_hours DESC, cluster, namespace, savings.kind, savings.name, saving, change LIMIT ?;

-- name: readiness
SELECT id, standing, min(area) AS area, min(title) AS title, count(DISTINCT cluster) AS clusters,
    list_sort(list(DISTINCT cluster))[1:10] AS some
FROM kept_readiness GROUP BY id, standing ORDER BY id, standing LIMIT 2000;
