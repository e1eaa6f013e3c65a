# METADATA
# title: Node pools
# description: |
#   The declared pools on which pods may run, and the boards of a gang. A gang that fits pools with different boards
#   stays on one board only if usher.yaml says so (`gangs.differentBoards: narrow`).
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.pools

import data.usher.lib.queueable
import data.usher.lib.workload

# METADATA
# title: Pools on which the pods may run
# description: In the order of usher.yaml; those of one board for a gang that usher.yaml keeps on one board.
fits(pod_set) := [fit | some fit in pod_set.fits; fit.board == _board] if _narrows

else := pod_set.fits

# METADATA
# title: Whether the pods may run on more pools than those where they belong
# description: usher.yaml keeps a gang on one board, or a pool is for other pods.
is_narrowed(pod_set) if count(fits(pod_set)) < count(pod_set.fits)

is_narrowed(pod_set) if {
	count(pod_set.fits) > 0
	pod_set.keptOff
}

# METADATA
# title: Why the pods of a gang may run on different boards
# description: Undefined for pods on one board, and where Kueue chooses the nodes, one flavor for all pods of a pod set.
why_different_boards := $"its pods may land on nodes with different boards ({concat(", ", sort(_boards))}), and all pods of a gang wait for the slowest; {_remedy}" if {
	not _narrows
	_on_different_boards
}

_remedy := "no board fits all its pod sets, so select the nodes of one" if {
	input.site.narrowsGangs
} else := "select the nodes of one pool, or set gangs.differentBoards of usher.yaml to narrow"

_narrows if {
	input.site.narrowsGangs
	_on_different_boards
	_board
}

_on_different_boards if {
	count(_boards) > 1
	input.workload.gang.wanted
	workload.makes_several_pods
	not queueable.places_pods
}

_boards := {fit.board |
	some pod_set in workload.accelerator_pod_sets
	some fit in pod_set.fits
}

# The first board, in the order of the pools in usher.yaml, that fits every pod set.
_board := [fit.board |
	some fit in workload.accelerator_pod_sets[0].fits
	every pod_set in workload.accelerator_pod_sets {
		some other in pod_set.fits
		other.board == fit.board
	}
][0]
