// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** A node: members of groups, the servers of those that it serves, and connections of clients, whose sessions are in its own group. */
final class Node {

    private final Model model;
    private final int id;
    private final Host host;
    private final SortedMap<Integer, Disk> disks = new TreeMap<>();
    private final SortedMap<Integer, Raft> members = new TreeMap<>();
    private final Map<String, Connection> connections = new LinkedHashMap<>();
    private Calls calls;
    private Servers servers;
    private Succession succession;
    private Leftovers leftovers;

    Node(Model model, int id) {
        this.model = model;
        this.id = id;
        host = new Host(model.simulation());
        calls = new Calls(model, host, id);
        servers = new Servers(this);
        succession = new Succession(this);
        leftovers = new Leftovers(this);
        for (int group = 0; group <= model.register(); group++) {
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

    SortedMap<Integer, Raft> members() {
        return members;
    }

    Servers servers() {
        return servers;
    }

    /** What this node knows of the register. */
    Register register() {
        return (Register) member(model.register()).state();
    }

    /** The member of a group that is here. */
    Raft member(int group) {
        Raft member = members.get(group);
        if (member == null) {
            throw new IllegalStateException("node " + id + " is no member of group " + group);
        }
        return member;
    }

    /** Starts the process with what is on its disk. */
    void start() {
        host.start();
        members.clear();
        connections.clear();
        calls = new Calls(model, host, id);
        servers = new Servers(this);
        succession = new Succession(this);
        leftovers = new Leftovers(this);
        disks.forEach((group, disk) -> members.put(group, new Raft(this, group, disk)));
        host.after(model.random().nextInt(200), this::tick);
    }

    /** Replaces the disk of a process that does not run by an empty one. */
    void wipe() {
        disks.replaceAll((group, disk) -> new Disk(disk.number() + 1, model.has(Mistake.WIPED_NODE_VOTES)));
    }

    /** Whether each of its members may vote. */
    boolean isComplete() {
        return disks.values().stream().allMatch(disk -> disk.voter);
    }

    /** Whether it runs, and its member of a group may vote. */
    boolean mayVote(int group) {
        Disk disk = disks.get(group);
        return host.isUp() && disk != null && disk.voter;
    }

    private void tick() {
        members.values().forEach(Raft::tick);
        succession.tick();
        leftovers.tick();
        servers.tick();
        host.after(170 + model.random().nextInt(60), this::tick);
    }

    // groups

    /** A member here leads. */
    void leading(int group) {
        if (group != model.register()) {
            servers.leading(group);
        }
    }

    /** A member here leads no more. */
    void following(int group) {
        servers.following(group);
    }

    /** An entry was applied here. */
    void applied(int group, long index, Command command, Outcome outcome) {
        GroupServer server = servers.of(group);
        long committedNanos = model.audit().applied(group, index);
        if (command instanceof Command.Reign reign) {
            servers.reigns(group, index, reign);
        } else if (command instanceof Command.Batch batch && server != null) {
            server.applied(batch, outcome, committedNanos);
            Connection connection = group == id ? connections.get(batch.change().client()) : null;
            if (connection != null) {
                connection.push();
            }
        }
    }

    // messages

    void receive(int from, Object message) {
        if (message instanceof RaftMessage raft) {
            member(raft.group()).receive(from, raft);
        } else if (message instanceof Calls.Question question) {
            asked(from, question);
        } else if (message instanceof Calls.Answer answer) {
            calls.answered(answer);
        } else if (message instanceof Calls.Redirect redirect) {
            calls.redirected(from, redirect);
        }
    }

    private void asked(int from, Calls.Question question) {
        Raft member = member(question.group());
        GroupServer server = servers.of(question.group());
        if (question.body() instanceof Command command && member.leads()) {
            member.propose(command, outcome -> answer(from, question, outcome));
        } else if (question.body() instanceof Change change
                && server != null
                && (server.isOpen() || servers.isFormerAdopter(question.group()))) {
            server.submit(change, outcome -> {
                takenOver(question.group(), change, outcome);
                answer(from, question, outcome);
            });
        } else {
            model.network().send(id, from, new Calls.Redirect(question.call(), member.leader()));
        }
    }

    /** Ends the connection of a session that another node has claimed. */
    private void takenOver(int group, Change change, Outcome outcome) {
        Connection connection = group == id ? connections.get(change.client()) : null;
        if (connection != null && change instanceof Change.Seal && outcome.accepted()) {
            connection.end();
        }
    }

    private void answer(int to, Calls.Question question, Outcome outcome) {
        model.network().send(id, to, new Calls.Answer(question.call(), outcome));
    }

    // clients

    /** A client connects. It is refused while this node does not serve its own group. */
    void connect(Client client, int attempt) {
        Connection previous = connections.get(client.name());
        if (previous != null) {
            previous.end();
        }
        GroupServer own = servers.of(id);
        if (own == null || !own.isOpen()) {
            model.simulation().after(1_000_000, () -> client.closed(attempt));
            return;
        }
        Connection connection = new Connection(this, client, attempt, own);
        connections.put(client.name(), connection);
        connection.open();
    }

    List<Connection> connected() {
        return List.copyOf(connections.values());
    }

    void closed(Connection connection) {
        connections.remove(connection.client(), connection);
    }
}
