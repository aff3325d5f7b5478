// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import io.smqtt.cluster.replication.Command.Change;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A node's side of a client's connection: it serves the session in one epoch. Its writes have numbers and are made one after
 * the other; a write that is refused ends it, and so does a lease that the group's leader does not renew.
 */
final class Serving {

    private static final long LEASE_NANOS = 3_000_000_000L;

    private final Node node;
    private final Model model;
    private final Device device;
    private final int attempt;
    private final int life;
    private final Queue<Runnable> jobs = new ArrayDeque<>();
    private boolean busy;
    private boolean closed;
    private long epoch = -1;
    private int group;
    private long operations;
    private long highestSent;
    private long leaseNanos;

    Serving(Node node, Device device, int attempt) {
        this.node = node;
        this.model = node.model();
        this.device = device;
        this.attempt = attempt;
        life = node.host().life();
    }

    Device device() {
        return device;
    }

    /** The epoch in which it serves; -1 before the claim is settled. */
    long epoch() {
        return epoch;
    }

    Node node() {
        return node;
    }

    /** Whether the run of the process that has it still exists. */
    boolean isThere() {
        return node.host().isUp() && node.host().life() == life;
    }

    void open() {
        Claiming.serve(node, device.name(), attempt, this::isOpen, this::claimed);
    }

    private boolean isOpen() {
        return !closed;
    }

    private void claimed(Claiming.@Nullable Claim claim) {
        if (claim == null) {
            fenced();
            return;
        }
        epoch = claim.epoch();
        group = claim.group();
        leaseNanos = model.nanoTime();
        model.audit().served(device.name(), epoch, node.id() + "/" + life + "/" + attempt);
        answer(() -> device.connected(attempt, this, claim.present(), claim.view()));
    }

    void tick() {
        if (epoch >= 0 && model.nanoTime() - leaseNanos > LEASE_NANOS) {
            fenced();
        }
    }

    /** Another one serves the session, or nobody knows: the client is disconnected. */
    private void fenced() {
        close();
        answer(() -> device.closed(attempt));
    }

    void close() {
        closed = true;
        node.closed(this);
    }

    /** Something that the client sends arrives a millisecond later, in order. */
    void send(Consumer<Serving> packet) {
        model.simulation()
                .after(
                        1_000_000,
                        () -> node.host().run(life, () -> {
                            if (!closed) {
                                packet.accept(this);
                            }
                        }));
    }

    private void answer(Runnable packet) {
        model.simulation().after(1_000_000, packet);
    }

    // packets

    /** The connection ends, with DISCONNECT or without. */
    void ended(boolean withDisconnect) {
        close();
        if (epoch >= 0) {
            node.leaving(device.name());
            long deadline = model.nanoTime() + 5_000_000_000L;
            BooleanSupplier wanted = () -> model.nanoTime() < deadline;
            Change leave = new Change.Leave(withDisconnect);
            Command write = new Command.Write(device.name(), epoch, ++operations, leave);
            node.calls().propose(group, write, wanted, outcome -> {});
        }
    }

    void publish(int identifier, Message message) {
        long arrived = model.nanoTime();
        job(() -> {
            if (message.qos() == 1) {
                route(message, 0, () -> {
                    acknowledge(message, arrived);
                    answer(() -> device.acknowledged(attempt, identifier));
                });
                return;
            }
            write(new Change.Receive(identifier, message), outcome -> {
                Outcome.Known known = (Outcome.Known) outcome;
                route(known.message(), known.sequence(), () -> {
                    acknowledge(message, arrived);
                    answer(() -> device.received(attempt, identifier));
                });
            });
        });
    }

    void release(int identifier) {
        job(() -> write(new Change.Release(identifier), outcome -> {
            answer(() -> device.completed(attempt, identifier));
            next();
        }));
    }

    /** PUBACK or PUBCOMP. */
    void remove(long identifier) {
        job(() -> write(new Change.Remove(identifier), outcome -> next()));
    }

    /** PUBREC. */
    void received(long identifier) {
        boolean early = model.has(Mistake.RELEASED_BEFORE_COMMIT);
        if (early) {
            answer(() -> device.released(attempt, identifier));
        }
        job(() -> write(new Change.Received(identifier), outcome -> {
            if (!early) {
                answer(() -> device.released(attempt, identifier));
            }
            next();
        }));
    }

    /** The leader of the group renews the lease and sends the head of the queue. */
    void pushed(List<SessionState.Queued> head) {
        leaseNanos = model.nanoTime();
        for (SessionState.Queued queued : head) {
            long identifier = queued.identifier();
            if (identifier <= highestSent) {
                continue;
            }
            highestSent = identifier;
            if (queued.released()) {
                answer(() -> device.released(attempt, identifier));
            } else {
                answer(() -> device.delivered(attempt, identifier, queued.message()));
            }
        }
    }

    // writes

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

    private void write(Change change, Consumer<Outcome> done) {
        Command write = new Command.Write(device.name(), epoch, ++operations, change);
        propose(group, write, done);
    }

    private void propose(int target, Command command, Consumer<Outcome> done) {
        node.calls().propose(target, command, this::isOpen, outcome -> {
            if (outcome instanceof Outcome.Refused) {
                fenced();
            } else {
                done.accept(outcome);
            }
        });
    }

    private void route(Message message, long sequence, Runnable done) {
        Runnable route = () -> Routing.route(node, message, device.name(), sequence, this::isOpen, done);
        if (message.retain()) {
            Command retain = new Command.Retain(device.name(), epoch, ++operations, message.number());
            propose(Model.CLUSTER, retain, outcome -> route.run());
        } else {
            route.run();
        }
    }

    /** The message is where it has to be: it is acknowledged, and the next packet is processed. */
    private void acknowledge(Message message, long arrived) {
        if (model.links().isMinoritySince(node.id(), arrived)) {
            model.audit().fail("node %d acknowledges %s without a majority", node.id(), message);
        }
        next();
    }
}
