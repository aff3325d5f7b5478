// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The groups that a node serves: its own one, and those that it has adopted. */
final class Servers {

    private static final long GRACE_MILLIS = 2_500;

    private final Node node;
    private final Model model;
    private final Map<Integer, GroupServer> servers = new TreeMap<>();
    private final Map<Integer, Long> reigning = new HashMap<>();

    Servers(Node node) {
        this.node = node;
        model = node.model();
    }

    @Nullable
    GroupServer of(int group) {
        return servers.get(group);
    }

    Collection<GroupServer> all() {
        return List.copyOf(servers.values());
    }

    /** Ends the own store, if it has not led for too long. */
    void tick() {
        GroupServer own = of(node.id());
        if (own != null && own.isSuspendedFor(GRACE_MILLIS) && !model.has(Mistake.SERVED_WITH_OLD_REIGN)) {
            end(node.id());
        }
    }

    /** A member here leads. */
    void leading(int group) {
        GroupServer server = of(group);
        long reign = ((GroupState) node.member(group).state()).reign();
        if (server != null && (server.reign() == reign || model.has(Mistake.SERVED_WITH_OLD_REIGN))) {
            server.resume();
            node.connected().forEach(Connection::push);
        } else if (group == node.id()) {
            reign(group);
        }
    }

    /** A member here leads no more. */
    void following(int group) {
        GroupServer server = of(group);
        if (server != null) {
            server.suspend();
            if (group != node.id() && !isFormerAdopter(group)) {
                end(group);
            }
        }
    }

    /** Begins to reign, unless that is under way in this leadership. */
    void reign(int group) {
        Raft member = node.member(group);
        long term = member.term();
        if (reigning.getOrDefault(group, 0L) != term) {
            reigning.put(group, term);
            member.propose(new Command.Reign(node.id(), node.host().run()), outcome -> {});
        }
    }

    /** The entry of a reign was applied here. */
    void reigns(int group, long index, Command.Reign reign) {
        Raft member = node.member(group);
        GroupServer server = of(group);
        boolean isOwn = reign.node() == node.id() && reign.run() == node.host().run() && member.leads();
        if (isOwn) {
            model.audit().reigns(node.id(), group);
        }
        if (isOwn && server != null && model.has(Mistake.BATCH_OF_ANOTHER_TAKEN_FOR_OWN)) {
            server.resumeAs(index);
        } else if (isOwn) {
            end(group);
            servers.put(group, new GroupServer(this, node, group, index));
        } else if (!isFormerAdopter(group) && !goesOn()) {
            end(group);
        }
    }

    private boolean goesOn() {
        return model.has(Mistake.SERVED_WITH_OLD_REIGN) || model.has(Mistake.BATCH_OF_ANOTHER_TAKEN_FOR_OWN);
    }

    /** Whether this node goes on to serve a group that it has adopted, by mistake. */
    boolean isFormerAdopter(int group) {
        return group != node.id() && model.has(Mistake.ADOPTER_KEEPS_SERVING);
    }

    private void end(int group) {
        GroupServer server = servers.remove(group);
        if (server != null) {
            server.end();
            if (group == node.id()) {
                node.connected().forEach(Connection::end);
            }
        }
    }
}
