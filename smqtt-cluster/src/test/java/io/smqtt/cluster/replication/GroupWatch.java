// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Duties of a leader for the sessions of its groups: it sends their messages and leases to their servers, adopts those whose
 * node is gone or whose claim was left half done, and publishes wills that are due.
 */
final class GroupWatch {

    private static final int HEAD = 8;

    private final Node node;
    private final Map<String, Long> sealedSince = new HashMap<>();
    private final Map<String, Long> unsettledSince = new HashMap<>();
    private final Set<String> adopting = new HashSet<>();
    private final Set<String> wills = new HashSet<>();
    private long adoptions;

    GroupWatch(Node node) {
        this.node = node;
    }

    /** Called about ten times a second, and sometimes to push all sessions. */
    void tick(boolean push) {
        node.replicas().forEach((group, replica) -> {
            if (group != Model.CLUSTER && replica.leads()) {
                List.copyOf(replica.state().sessions()).forEach(session -> tick(group, session, push));
            }
        });
    }

    private void tick(int group, SessionState session, boolean push) {
        if (push) {
            push(group, session);
        }
        if (isAbandoned(group, session)) {
            adopt(group, session.client);
        }
        if (session.sealedBy == 0 && !session.dueWills.isEmpty()) {
            publishWill(group, session.client, session.dueWills.first()); // one after the other, like all of a line
        }
    }

    /** The replica of a group that leads has applied an entry. */
    void applied(int group, Command command) {
        String client = null;
        if (command instanceof Command.Enqueue enqueue) {
            client = enqueue.client();
        } else if (command instanceof Command.Install install) {
            client = install.client();
        }
        SessionState session =
                client == null ? null : node.replicas().get(group).state().session(client);
        if (session != null) {
            push(group, session);
            if (command instanceof Command.Enqueue enqueue && session.sealedBy == 0) {
                compare(group, session, enqueue.epoch());
            }
        }
    }

    /** A session that routers know by another epoch for long was installed by a claim that never settled. */
    private void compare(int group, SessionState session, long routed) {
        String key = group + session.client;
        if (routed == session.epoch) {
            unsettledSince.remove(key);
        } else if (isOver(unsettledSince, key)) {
            unsettledSince.remove(key);
            adopt(group, session.client);
        }
    }

    /** A node does not serve the session that it should: its connection ended unnoticed, or its claim was overtaken. */
    void notServed(Node.NotServed answer) {
        Consensus replica = node.replicas().get(answer.group());
        SessionState session = replica.state().session(answer.client());
        if (replica.leads() && session != null && session.epoch == answer.epoch() && session.server >= 0) {
            adopt(answer.group(), answer.client());
        }
    }

    private void push(int group, SessionState session) {
        if (session.server >= 0 && session.sealedBy == 0) {
            List<SessionState.Queued> head =
                    List.copyOf(session.queue.subList(0, Math.min(HEAD, session.queue.size())));
            Node.Push push = new Node.Push(group, session.client, session.epoch, head);
            node.model().links().send(node.id(), session.server, push);
        }
    }

    private boolean isAbandoned(int group, SessionState session) {
        String key = group + session.client;
        if (session.sealedBy == 0) {
            sealedSince.remove(key);
            return session.server >= 0 && node.isGone(session.server, session.serverLife);
        }
        return isOver(sealedSince, key);
    }

    /** Whether something that is half done has been so for 1.5 s. */
    private boolean isOver(Map<String, Long> since, String key) {
        long now = node.model().nanoTime();
        return now - since.computeIfAbsent(key, absent -> now) > 1_500_000_000;
    }

    private void adopt(int group, String client) {
        if (!adopting.add(client)) {
            return;
        }
        BooleanSupplier wanted = () -> node.replicas().get(group).leads() && adopting.contains(client);
        Claiming.adopt(node, client, group, adoptions++, wanted, claim -> adopting.remove(client));
        node.host().after(1_500, () -> adopting.remove(client));
    }

    private void publishWill(int group, String client, long epoch) {
        String key = group + client + epoch;
        if (!wills.add(key)) {
            return;
        }
        BooleanSupplier wanted = () -> node.replicas().get(group).leads() && wills.contains(key);
        Message will = Message.will(client, epoch);
        node.model().audit().published(will);
        Routing.route(node, will, will.publisher(), epoch, wanted, () -> {
            node.model().audit().acknowledged(will);
            Command routed = new Command.WillRouted(client, epoch);
            node.calls().propose(group, routed, wanted, outcome -> wills.remove(key));
        });
        node.host().after(2_000, () -> wills.remove(key));
    }
}
