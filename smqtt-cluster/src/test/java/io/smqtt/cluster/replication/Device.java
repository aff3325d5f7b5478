// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A client with a persistent session and a state of its own, as the standard wants it: it repeats what is not acknowledged,
 * uses packet identifiers again, and takes a QoS 2 message at its PUBLISH. One whose name begins with p publishes, with a
 * will; one whose name begins with s subscribes to everything.
 */
final class Device {

    private static final int IDENTIFIERS = 3;

    private static final class Sent {

        final Message message;
        boolean released;

        Sent(Message message) {
            this.message = message;
        }
    }

    private final Model model;
    private final Random random;
    private final String name;
    private final Map<Integer, Sent> unacknowledged = new LinkedHashMap<>();
    private final Set<Long> known = new HashSet<>();
    private Map<String, Long> retainedBefore = Map.of();
    private @Nullable Serving connection;
    private int attempt;
    private boolean running;
    private boolean publishing;
    private boolean hasSession;
    private long number;
    private long progressNanos;

    Device(Model model, String name) {
        this.model = model;
        this.random = model.random();
        this.name = name;
    }

    String name() {
        return name;
    }

    boolean isConnected() {
        return connection != null;
    }

    /** Whether it has a session that was acknowledged by CONNACK. */
    boolean hasSession() {
        return hasSession;
    }

    boolean isConnectedTo(Node node) {
        return connection != null && connection.node() == node;
    }

    boolean hasUnacknowledged() {
        return !unacknowledged.isEmpty();
    }

    void start() {
        running = true;
        connect();
        after(50, this::tick);
    }

    void publishing(boolean now) {
        publishing = now;
        progressNanos = model.nanoTime();
    }

    /** Leaves its connection, with DISCONNECT, by a lost one, or by one that the server does not see end. */
    void leave(int how, long awayMillis) {
        Serving old = connection;
        disconnected();
        running = false;
        if (old != null && how < 2) {
            old.send(serving -> serving.ended(how == 0));
        }
        after(awayMillis, () -> {
            if (!running) {
                running = true;
                connect();
            }
        });
    }

    private void disconnected() {
        connection = null;
        attempt++;
    }

    private void after(long millis, Runnable task) {
        model.simulation().after(millis * 1_000_000, task);
    }

    private void connect() {
        if (!running || connection != null) {
            return;
        }
        int current = ++attempt;
        Node node = model.nodes().get(random.nextInt(model.nodes().size()));
        retainedBefore = model.audit().retainedNumbers();
        if (!node.host().isUp()) {
            retry(current, 50 + random.nextInt(100));
            return;
        }
        after(1, () -> node.host().run(node.host().life(), () -> node.connect(this, current)));
        retry(current, 800 + random.nextInt(400));
    }

    private void retry(int current, long millis) {
        after(millis, () -> {
            if (current == attempt) {
                connect();
            }
        });
    }

    private void tick() {
        boolean stuck = !unacknowledged.isEmpty() && model.nanoTime() - progressNanos > 2_000_000_000;
        if (connection != null && stuck) {
            progressNanos = model.nanoTime();
            leave(1 + random.nextInt(2), 1);
        }
        if (publishing && connection != null && name.startsWith("p")) {
            publish();
        }
        after(60 + random.nextInt(140), this::tick);
    }

    private void publish() {
        int identifier = 1;
        while (unacknowledged.containsKey(identifier)) {
            identifier++;
        }
        if (identifier > IDENTIFIERS) {
            return;
        }
        if (unacknowledged.isEmpty()) {
            progressNanos = model.nanoTime();
        }
        Message message = new Message(name, ++number, 1 + random.nextInt(2), random.nextInt(4) == 0);
        unacknowledged.put(identifier, new Sent(message));
        model.audit().published(message);
        send(identifier, message);
    }

    private void send(int identifier, Message message) {
        if (connection != null) {
            connection.send(serving -> serving.publish(identifier, message));
        }
    }

    // packets

    void connected(int to, Serving serving, boolean present, Outcome.View view) {
        if (to != attempt || !running) {
            serving.send(refused -> refused.ended(false));
            return;
        }
        if (!serving.isThere()) { // the connection ended while CONNACK was under way
            return;
        }
        connection = serving;
        model.audit().connected(this, present, hasSession, retainedBefore, view.retained());
        hasSession = true;
        progressNanos = model.nanoTime();
        unacknowledged.forEach((identifier, sent) -> {
            if (sent.released) {
                serving.send(server -> server.release(identifier));
            } else {
                send(identifier, sent.message);
            }
        });
    }

    void closed(int from) {
        if (from == attempt) {
            disconnected();
            retry(attempt, 20 + random.nextInt(200));
        }
    }

    /** PUBACK. */
    void acknowledged(int from, int identifier) {
        Sent sent = from == attempt ? unacknowledged.remove(identifier) : null;
        if (sent != null) {
            progressed(sent.message);
        }
    }

    /** PUBREC. */
    void received(int from, int identifier) {
        Sent sent = from == attempt ? unacknowledged.get(identifier) : null;
        if (sent != null && connection != null) {
            progressed(sent.message);
            sent.released = true;
            connection.send(serving -> serving.release(identifier));
        }
    }

    /** PUBCOMP. */
    void completed(int from, int identifier) {
        if (from == attempt) {
            unacknowledged.remove(identifier);
        }
    }

    private void progressed(Message message) {
        progressNanos = model.nanoTime();
        model.audit().acknowledged(message);
    }

    /** PUBLISH. */
    void delivered(int from, long identifier, Message message) {
        if (from != attempt || connection == null) {
            return;
        }
        if (message.qos() == 1) {
            model.audit().delivered(name, message);
            connection.send(serving -> serving.remove(identifier));
            return;
        }
        if (known.add(identifier)) {
            model.audit().delivered(name, message);
        }
        connection.send(serving -> serving.received(identifier));
    }

    /** PUBREL. */
    void released(int from, long identifier) {
        if (from == attempt && connection != null) {
            known.remove(identifier);
            connection.send(serving -> serving.remove(identifier));
        }
    }
}
