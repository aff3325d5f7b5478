// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import io.smqtt.cluster.replication.Outcome.Ownership;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A node: replicas of groups, unless it is a front node, and the connections of clients. */
final class Node {

    /** A sign of life. */
    private record Alive(int life) {}

    /** What the leader of a group sends to the server of a session: its lease, and the head of the queue. */
    record Push(int group, String client, long epoch, List<SessionState.Queued> head) {}

    /** Answer of a node that does not serve a session in this epoch. */
    record NotServed(int group, String client, long epoch) {}

    private final Model model;
    private final int id;
    private final Host host;
    private final Consensus.Engine engine;
    private final Map<Integer, Disk> disks = new TreeMap<>();
    private final SortedMap<Integer, Consensus> replicas = new TreeMap<>();
    private final Map<String, Serving> connections = new LinkedHashMap<>();
    private final Set<String> leaving = new HashSet<>();
    private final Map<Integer, Long> heard = new HashMap<>();
    private final Map<Integer, Integer> lives = new HashMap<>();
    private Calls calls;
    private GroupWatch watch;
    private int ticks;

    Node(Model model, int id, Consensus.Engine engine) {
        this.model = model;
        this.id = id;
        this.engine = engine;
        host = new Host(model.simulation());
        calls = new Calls(model, host, id);
        watch = new GroupWatch(this);
        for (int group = 0; group < model.groups(); group++) {
            for (int member : model.members(group)) {
                if (member == id) {
                    disks.put(group, new Disk(0, true));
                }
            }
        }
    }

    Model model() {
        return model;
    }

    int id() {
        return id;
    }

    Host host() {
        return host;
    }

    Calls calls() {
        return calls;
    }

    SortedMap<Integer, Consensus> replicas() {
        return replicas;
    }

    /** Starts the process with what is on its disk. */
    void start() {
        host.start();
        replicas.clear();
        connections.clear();
        leaving.clear();
        heard.clear();
        lives.clear();
        calls = new Calls(model, host, id);
        watch = new GroupWatch(this);
        disks.forEach((group, disk) -> replicas.put(group, engine.start(this, group, disk)));
        for (Node other : model.nodes()) {
            heard.put(other.id, model.nanoTime());
        }
        host.after(model.random().nextInt(100), this::tick);
    }

    /** Replaces the disk of a process that does not run by an empty one. */
    void wipe() {
        disks.replaceAll((group, disk) -> disk.wiped());
    }

    /** Whether each of its replicas counts, or it has none. */
    boolean isComplete() {
        return disks.values().stream().allMatch(disk -> disk.voter);
    }

    private void tick() {
        ticks++;
        replicas.values().forEach(Consensus::tick);
        if (ticks % 3 == 0) {
            model.nodes().forEach(other -> model.links().send(id, other.id, new Alive(host.life())));
            List.copyOf(connections.values()).forEach(Serving::tick);
        }
        watch.tick(ticks % 5 == 0);
        host.after(85 + model.random().nextInt(30), this::tick);
    }

    void arrive(int from, Object message) {
        host.run(host.life(), () -> receive(from, message));
    }

    private void receive(int from, Object message) {
        if (message instanceof RaftMessage raft) {
            Consensus replica = replicas.get(raft.group());
            if (replica != null) {
                replica.receive(from, raft);
            }
        } else if (message instanceof Calls.Proposal proposal) {
            propose(from, proposal);
        } else if (message instanceof Calls.Answer answer) {
            calls.answered(answer);
        } else if (message instanceof Calls.Redirect redirect) {
            calls.redirected(from, redirect);
        } else if (message instanceof Push push) {
            pushed(from, push);
        } else if (message instanceof NotServed notServed) {
            watch.notServed(notServed);
        } else if (message instanceof Alive alive) {
            heard.put(from, model.nanoTime());
            lives.merge(from, alive.life(), Math::max);
        }
    }

    private void propose(int from, Calls.Proposal proposal) {
        Consensus replica = replicas.get(proposal.group());
        if (replica == null || !replica.leads()) {
            int leader = replica == null ? -1 : replica.leader();
            model.links().send(id, from, new Calls.Redirect(proposal.call(), leader));
        } else if (model.has(Mistake.OLD_TERM_READS) && proposal.command() instanceof Command.Lookup) {
            model.links()
                    .send(
                            id,
                            from,
                            new Calls.Answer(proposal.call(), replica.state().view()));
        } else {
            replica.propose(
                    proposal.command(),
                    outcome -> model.links().send(id, from, new Calls.Answer(proposal.call(), outcome)));
        }
    }

    private void pushed(int from, Push push) {
        Serving serving = connections.get(push.client());
        if (serving != null && serving.epoch() == push.epoch()) {
            serving.pushed(push.head());
        } else if ((serving == null || serving.epoch() >= 0) && !leaving.contains(push.client())) {
            model.links().send(id, from, new NotServed(push.group(), push.client(), push.epoch()));
        }
    }

    /** The end of a connection is about to be written, for 5 s at most. */
    void leaving(String client) {
        leaving.add(client);
        host.after(5_000, () -> leaving.remove(client));
    }

    /** A replica that leads has applied an entry. */
    void applied(int group, Command command) {
        watch.applied(group, command);
    }

    /** Whether a node, or that run of it, has failed, as far as this node can tell. */
    boolean isGone(int node, int life) {
        long silent = model.nanoTime() - heard.getOrDefault(node, 0L);
        return silent > 1_000_000_000 || lives.getOrDefault(node, life) > life;
    }

    /** A client connects. */
    void connect(Device device, int attempt) {
        Serving previous = connections.get(device.name());
        if (previous != null) {
            previous.close();
        }
        Serving serving = new Serving(this, device, attempt);
        connections.put(device.name(), serving);
        serving.open();
    }

    void closed(Serving serving) {
        connections.remove(serving.device().name(), serving);
    }

    /** What this node's replica knows of owners, right or wrong; null on a front node. */
    @Nullable
    GroupState clusterView() {
        Consensus replica = replicas.get(Model.CLUSTER);
        return replica == null ? null : replica.state();
    }

    /** Where a session is to live that is served here: in this node's group if it leads that, else where it is. */
    int groupFor(int present) {
        Consensus own = replicas.get(model.groupOf(id));
        if (own != null && own.leads()) {
            return model.groupOf(id);
        }
        return present >= 0 ? present : 1 + model.random().nextInt(model.replicas());
    }

    Ownership viewOf(String client) {
        GroupState view = clusterView();
        return view == null ? Ownership.NONE : view.owner(client);
    }
}
