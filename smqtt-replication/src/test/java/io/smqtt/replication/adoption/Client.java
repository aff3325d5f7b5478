// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A client with a stored session: it repeats what is not acknowledged, uses packet identifiers again, and takes a QoS 2 message at its PUBLISH. One
 * whose name begins with p publishes; one whose name begins with s gets everything.
 */
final class Client {

    private static final int IDENTIFIERS = 3;
    private static final int WINDOW = 2;
    private static final long CONNECT_NANOS = 1_200_000_000;
    private static final long ANSWER_NANOS = 1_500_000_000;
    private static final long FROZEN_MILLIS = 800;

    private static final class Sent {

        private final Message message;
        private boolean released;

        Sent(Message message) {
            this.message = message;
        }
    }

    private final Model model;
    private final Random random;
    private final String name;
    private final Map<Integer, Sent> unacknowledged = new LinkedHashMap<>();
    private final Set<Long> known = new HashSet<>();
    private @Nullable Connection connection;
    private int attempt;
    private boolean started;
    private boolean publishing;
    private boolean hasSession;
    private int number;
    private int lastIdentifier;
    private long sinceNanos;
    private long lostNanos;

    Client(Model model, String name) {
        this.model = model;
        this.random = model.random();
        this.name = name;
    }

    String name() {
        return name;
    }

    void start() {
        started = true;
        lostNanos = model.nanoTime();
        connect();
        tick();
    }

    void publishing(boolean now) {
        publishing = now && name.startsWith("p");
    }

    /** Whether it is connected to a process that runs. */
    boolean isConnected() {
        return connection != null && connection.isThere();
    }

    /** How long it has known that it has no connection. */
    long lostForNanos() {
        if (!started || connection != null) {
            return 0;
        }
        return model.nanoTime() - lostNanos;
    }

    boolean hasUnacknowledged() {
        return !unacknowledged.isEmpty();
    }

    /** Goes to another node, maybe; the old one does not learn of it. */
    void move() {
        lost(1);
    }

    private void tick() {
        Connection current = connection;
        long waited = model.nanoTime() - sinceNanos;
        if (current == null) {
            if (waited > CONNECT_NANOS) {
                connect();
            }
        } else if (!current.isThere()
                || current.node().host().isFrozenFor(FROZEN_MILLIS)
                || (!unacknowledged.isEmpty() && waited > ANSWER_NANOS)) {
            lost(1 + random.nextInt(100));
        } else if (publishing) {
            publish(current);
        }
        model.simulation().after((120 + random.nextInt(160)) * 1_000_000L, this::tick);
    }

    private void lost(int pauseMillis) {
        if (connection != null) {
            lostNanos = model.nanoTime();
        }
        connection = null;
        sinceNanos = model.nanoTime();
        int ended = ++attempt;
        model.simulation().after(pauseMillis * 1_000_000L, () -> {
            if (attempt == ended) {
                connect();
            }
        });
    }

    private void connect() {
        int current = ++attempt;
        sinceNanos = model.nanoTime();
        Node node = model.nodes().get(random.nextInt(model.nodes().size()));
        if (!node.host().isUp()) {
            model.simulation().after(10_000_000, () -> closed(current));
            return;
        }
        int run = node.host().run();
        model.simulation().after(1_000_000, () -> node.host().execute(run, () -> node.connect(this, current)));
    }

    // packets of the node

    /** The connection was refused, or has ended. */
    void closed(int ofAttempt) {
        if (ofAttempt == attempt) {
            lost(20 + random.nextInt(150));
        }
    }

    void connected(int ofAttempt, Connection made, boolean present) {
        if (ofAttempt != attempt || !made.isThere()) {
            return;
        }
        model.audit().connected(name, present, hasSession);
        hasSession = true;
        connection = made;
        sinceNanos = model.nanoTime();
        unacknowledged.forEach((identifier, sent) -> send(made, identifier, sent));
    }

    void delivered(int ofAttempt, long packet, Message message) {
        Connection current = connection;
        if (ofAttempt != attempt || current == null) {
            return;
        }
        if (message.qos() == 1) {
            model.audit().delivered(name, message);
            current.send(to -> to.remove(packet));
            return;
        }
        if (known.add(packet)) {
            model.audit().delivered(name, message);
        }
        long pauseMillis = random.nextInt(4) == 0 ? random.nextInt(500) : 0;
        model.simulation().after(pauseMillis * 1_000_000, () -> {
            if (ofAttempt == attempt) {
                current.send(to -> to.received(packet));
            }
        });
    }

    void released(int ofAttempt, long packet) {
        Connection current = connection;
        if (ofAttempt == attempt && current != null) {
            known.remove(packet);
            current.send(to -> to.remove(packet));
        }
    }

    /** PUBACK. */
    void acknowledged(int ofAttempt, int identifier) {
        if (ofAttempt == attempt) {
            done(identifier);
        }
    }

    /** PUBREC. */
    void received(int ofAttempt, int identifier) {
        Sent sent = unacknowledged.get(identifier);
        Connection current = connection;
        if (ofAttempt == attempt && sent != null && current != null) {
            sinceNanos = model.nanoTime();
            sent.released = true;
            current.send(to -> to.release(identifier));
        }
    }

    /** PUBCOMP. */
    void completed(int ofAttempt, int identifier) {
        if (ofAttempt == attempt) {
            done(identifier);
        }
    }

    private void done(int identifier) {
        sinceNanos = model.nanoTime();
        unacknowledged.remove(identifier);
    }

    private void publish(Connection to) {
        if (unacknowledged.size() >= WINDOW) {
            return;
        }
        do {
            lastIdentifier = lastIdentifier % IDENTIFIERS + 1;
        } while (unacknowledged.containsKey(lastIdentifier));
        Message message = new Message(name, ++number, random.nextInt(2), 1 + random.nextInt(2));
        Sent sent = new Sent(message);
        if (unacknowledged.isEmpty()) {
            sinceNanos = model.nanoTime();
        }
        unacknowledged.put(lastIdentifier, sent);
        model.audit().published(message);
        send(to, lastIdentifier, sent);
    }

    private static void send(Connection to, int identifier, Sent sent) {
        if (sent.released) {
            to.send(connection -> connection.release(identifier));
        } else {
            to.send(connection -> connection.publish(identifier, sent.message));
        }
    }
}
