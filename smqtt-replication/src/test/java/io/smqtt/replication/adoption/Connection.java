// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The node's side of a client's connection. The session is in the group of the node; what is refused there ends the connection. */
final class Connection {

    private static final int WINDOW = 4;

    private final Node node;
    private final Model model;
    private final Client client;
    private final int attempt;
    private final int run;
    private final GroupServer server;
    private final Queue<Runnable> jobs = new ArrayDeque<>();
    private boolean busy;
    private boolean closed;
    private long epoch;
    private long highestSent;

    Connection(Node node, Client client, int attempt, GroupServer server) {
        this.node = node;
        this.model = node.model();
        this.client = client;
        this.attempt = attempt;
        this.server = server;
        run = node.host().run();
    }

    String client() {
        return client.name();
    }

    Node node() {
        return node;
    }

    /** Whether the run of the process that has it still exists. */
    boolean isThere() {
        return node.host().isUp() && node.host().run() == run;
    }

    private boolean isOpen() {
        return !closed && !server.hasEnded();
    }

    /** Opens the session: here if it is settled in this node's group, otherwise by a claim. */
    void open() {
        SessionRows rows = server.state().session(client());
        Register.Place place = node.register().place(client());
        boolean here = place.group() == server.group();
        if (rows != null && !rows.isSealed() && here && rows.epoch() == place.epoch()) {
            attach(rows.epoch(), true);
            return;
        }
        String token = node.id() + "/" + run + "/" + client() + "/" + attempt;
        Claiming.begin(node, server, client(), token, this::isOpen, claim -> {
            if (claim == null) {
                end();
            } else {
                attach(claim.epoch(), claim.present());
            }
        });
    }

    /** CONNACK follows an entry of this node's reign. */
    private void attach(long claimed, boolean present) {
        submit(new Change.Attach(client(), claimed), outcome -> {
            epoch = claimed;
            answer(() -> client.connected(attempt, this, present));
            push();
        });
    }

    /** Closes the connection, and the client learns it. */
    void end() {
        if (!closed) {
            closed = true;
            node.closed(this);
            model.simulation().after(1_000_000, () -> client.closed(attempt));
        }
    }

    /** Something that the client sends arrives a millisecond later, in order. */
    void send(Consumer<Connection> packet) {
        model.simulation()
                .after(
                        1_000_000,
                        () -> node.host().execute(run, () -> {
                            if (isOpen()) {
                                packet.accept(this);
                            }
                        }));
    }

    private void answer(Runnable packet) {
        model.simulation().after(1_000_000, packet);
    }

    // packets

    void publish(int packet, Message message) {
        if (message.qos() == 1) {
            job(() -> route(message, 0, () -> {
                model.audit().acknowledged(message);
                answer(() -> client.acknowledged(attempt, packet));
            }));
        } else if (model.has(Mistake.ROUTED_BEFORE_RECEIVED)) {
            job(() -> route(
                    message, model.unstoredSequence(), () -> receive(packet, sequence -> received(packet, message))));
        } else {
            job(() -> receive(packet, sequence -> route(message, sequence, () -> received(packet, message))));
        }
    }

    private void receive(int packet, Consumer<Long> next) {
        submit(new Change.Receive(client(), epoch, packet), outcome -> next.accept(outcome.number()));
    }

    private void received(int packet, Message message) {
        model.audit().acknowledged(message);
        answer(() -> client.received(attempt, packet));
    }

    void release(int packet) {
        job(() -> submit(new Change.Release(client(), epoch, packet), outcome -> {
            answer(() -> client.completed(attempt, packet));
            next();
        }));
    }

    /** PUBACK or PUBCOMP. */
    void remove(long packet) {
        submit(new Change.Remove(client(), epoch, packet), outcome -> {});
    }

    /** PUBREC. */
    void received(long packet) {
        Runnable release = () -> answer(() -> client.released(attempt, packet));
        boolean early = model.has(Mistake.PUBREL_BEFORE_COMMIT);
        if (early) {
            release.run();
        }
        submit(new Change.Received(client(), epoch, packet), outcome -> {
            if (!early) {
                release.run();
            }
        });
    }

    /** Sends the head of the queue. */
    void push() {
        @Nullable SessionRows rows = server.state().session(client());
        if (rows == null || epoch == 0 || !isOpen() || !server.isOpen()) {
            return;
        }
        List<SessionRows.Queued> queue = rows.queue();
        for (SessionRows.Queued queued : queue.subList(0, Math.min(WINDOW, queue.size()))) {
            long packet = queued.packet();
            if (packet > highestSent) {
                highestSent = packet;
                Runnable sent = queued.released()
                        ? () -> client.released(attempt, packet)
                        : () -> client.delivered(attempt, packet, queued.message());
                answer(sent);
            }
        }
    }

    private void submit(Change change, Consumer<Outcome> done) {
        server.submit(change, outcome -> {
            if (!isOpen()) {
                return;
            }
            if (outcome.accepted()) {
                done.accept(outcome);
            } else {
                end();
            }
        });
    }

    private void route(Message message, long sequence, Runnable done) {
        Routing.route(node, message, sequence, this::isOpen, () -> {
            done.run();
            next();
        });
    }

    private void job(Runnable job) {
        jobs.add(job);
        if (!busy) {
            next();
        }
    }

    private void next() {
        Runnable job = jobs.poll();
        busy = job != null;
        if (job != null) {
            job.run();
        }
    }
}
