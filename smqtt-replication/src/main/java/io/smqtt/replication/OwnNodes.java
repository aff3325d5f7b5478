// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jgroups.Address;
import org.jgroups.Event;
import org.jgroups.Message;
import org.jgroups.View;
import org.jgroups.stack.Protocol;
import org.jgroups.util.MessageBatch;
import org.jspecify.annotations.Nullable;

/**
 * Hides nodes that have no part with this one from the groups above: they are in no view, and their messages are dropped. A node that was alone
 * first and meets the others later is in the view of the channel without having been asked to join it.
 *
 * <p>Of nodes with one name, which can meet in the same way, the first one of the view stays. The others leave out everybody else. So no name
 * counts twice, and all decide the same.
 *
 * <p>It is above flow control, which waits for all nodes of the channel.
 */
final class OwnNodes extends Protocol {

    private final Predicate<@Nullable Address> isForeign;
    private final Consumer<View> whole;
    private final Object views = new Object();
    private @Nullable View last; // guarded by views
    private @Nullable View passed; // guarded by views
    private volatile Set<Address> leftOut = Set.of();

    /**
     * Creates the protocol.
     *
     * @param isForeign whether a node has no part with this one; asked for each message
     * @param whole receives each view with all nodes, on the thread of the channel
     */
    OwnNodes(Predicate<@Nullable Address> isForeign, Consumer<View> whole) {
        this.isForeign = isForeign;
        this.whole = whole;
    }

    @Override
    public @Nullable Object up(Event event) {
        if (event.getType() == Event.VIEW_CHANGE && event.<Object>getArg() instanceof View view) {
            synchronized (views) {
                last = view;
                passed = own(view);
                whole.accept(view);
                return up_prot.up(new Event(Event.VIEW_CHANGE, passed));
            }
        }
        return up_prot.up(event);
    }

    /** Applies changed verdicts to the last view, and passes it on to the groups if its members differ now. */
    void judgeAgain() {
        synchronized (views) {
            View view = last;
            if (view != null
                    && !own(view)
                            .getMembers()
                            .equals(Objects.requireNonNull(passed).getMembers())) {
                up(new Event(Event.VIEW_CHANGE, view));
            }
        }
    }

    /**
     * The nodes of a view whose names other ones in front of them have.
     *
     * @param isForeign the nodes that are left out for another reason, and do not count
     */
    static Set<Address> doubles(View view, Predicate<@Nullable Address> isForeign) {
        Set<String> names = new HashSet<>();
        Set<Address> found = new HashSet<>();
        for (Address member : view.getMembersRaw()) {
            String name = GroupMembers.nameOf(member);
            if (name != null && !isForeign.test(member) && !names.add(name)) {
                found.add(member);
            }
        }
        return found;
    }

    private View own(View view) {
        Set<Address> doubles = doubles(view, isForeign);
        if (doubles.contains(local_addr)) {
            doubles.addAll(view.getMembers());
            doubles.remove(local_addr);
        }
        leftOut = doubles;
        List<Address> own = Arrays.stream(view.getMembersRaw())
                .filter(member -> !isLeftOut(member))
                .toList();
        return own.size() == view.size() ? view : new View(view.getViewId(), own);
    }

    private boolean isLeftOut(@Nullable Address node) {
        if (node != null && node.equals(local_addr)) {
            return false; // also if it has learned that it is replaced, and is about to end
        }
        Set<Address> doubles = leftOut;
        return !doubles.isEmpty() && node != null && doubles.contains(node) || isForeign.test(node);
    }

    @Override
    public @Nullable Object up(Message message) {
        return isLeftOut(message.getSrc()) ? null : up_prot.up(message);
    }

    @Override
    public void up(MessageBatch batch) {
        MessageBatch rest = new MessageBatch(
                batch.dest(), batch.sender(), batch.clusterName(), batch.multicast(), batch.mode(), batch.size());
        for (Message message : batch) {
            if (!isLeftOut(message.getSrc())) {
                rest.add(message);
            }
        }
        if (!rest.isEmpty()) {
            up_prot.up(rest);
        }
    }
}
