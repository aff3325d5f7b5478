// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.thread.AnyThread;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jgroups.Address;
import org.jgroups.Event;
import org.jgroups.View;
import org.jgroups.stack.Protocol;
import org.jspecify.annotations.Nullable;

/**
 * Decides what follows from different views of the nodes, when the network carries frames in one direction only, or between some nodes
 * only. Directly above the verification of suspicions.
 *
 * <ul>
 *   <li>This node was excluded: a node of its view has a later view without it, or one of the same time. The members of that view send it no heartbeats and no
 *   views any more, and do not expect it to answer. They count as failed at once.
 *   <li>The coordinator of a view does not answer: there is no merge. It would wait for that coordinator, and then take the nodes that
 *   do answer out of its view.
 *   <li>Otherwise the views are merged.
 * </ul>
 */
@AnyThread
final class MergeGuard extends Protocol {

    private volatile @Nullable View own;

    @Override
    public @Nullable Object down(Event event) {
        if (event.getType() == Event.VIEW_CHANGE) {
            own = event.getArg();
        }
        return super.down(event);
    }

    @Override
    public @Nullable Object up(Event event) {
        if (event.getType() != Event.MERGE) {
            return super.up(event);
        }
        Map<Address, View> views = event.getArg();
        Set<Address> excluding = excluding(views);
        if (!excluding.isEmpty()) {
            log.debug("%s: excluded by %s", local_addr, excluding);
            return super.up(new Event(Event.SUSPECT, List.copyOf(excluding)));
        }
        for (View view : views.values()) {
            if (!views.containsKey(view.getCoord())) {
                log.debug("%s: no merge, %s does not answer", local_addr, view.getCoord());
                return null;
            }
        }
        return super.up(event);
    }

    /**
     * Returns the members of this node's view that have installed a later one without this node. One with the same number is another one,
     * if two nodes have excluded each other and a third one has followed the other one.
     */
    private Set<Address> excluding(Map<Address, View> views) {
        Set<Address> excluding = new LinkedHashSet<>();
        View current = own;
        if (current != null) {
            for (Map.Entry<Address, View> other : views.entrySet()) {
                View view = other.getValue();
                if (current.containsMember(other.getKey())
                        && view.getViewId().getId() >= current.getViewId().getId()
                        && !view.containsMember(local_addr)) {
                    excluding.addAll(view.getMembers());
                }
            }
            excluding.retainAll(current.getMembers());
        }
        return excluding;
    }
}
